//! CubeCL's names that have another spelling here, or none: each is refused by its own name, with what to write.

/// Whether a type of the signature or of an annotation is one of CubeCL's.
pub fn refused_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "Tensor" | "TensorMap" => {
            "arrays are flat here: take `&Array<T>` and the sizes, and index `x[row * columns + column]`"
        }
        "Slice" | "SliceMut" | "ReadOnly" | "ReadWrite" => {
            "take `&Array<T>` and an offset; on the host `array.slice(from..to)` is a view"
        }
        "Line" | "Vector" => {
            "the launcher chooses the width: write the scalar, or `Vec2/3/4<F>` where components belong together"
        }
        "Atomic" => {
            "atomics are elements of a `&mut Array<Atomic<T>>`, changed by `y[i].fetch_add(e)`, or by `y[i] += e` without \
             `Atomic`"
        }
        "SharedMemory" | "Shared" => {
            "cubes are the launcher's business: accumulate with `y[i] += e`, or split into two kernels"
        }
        "Sequence" => "write a local array, `[a, b, c]`, or a tuple",
        "RuntimeCell" => "write `let mut`",
        "Option" | "ComptimeOption" | "CubeOption" => "pass a `bool` beside the value, `#[comptime]` if it is known",
        "Barrier" | "Pipeline" => "cubes are the launcher's business",
        _ => return None,
    })
}

/// Whether a variable is one of CubeCL's.
pub fn refused_variable(name: &str) -> Option<&'static str> {
    let stem = name.trim_end_matches(['X', 'Y', 'Z']).trim_end_matches('_');
    match stem {
        "CUBE_POS" | "UNIT_POS" | "CUBE_DIM" | "CUBE_COUNT" | "CUBE_CLUSTER_DIM" | "CUBE_POS_CLUSTER" | "PLANE_DIM"
        | "PLANE_POS" | "UNIT_POS_PLANE" => {
            Some("cubes are the launcher's business: use ABSOLUTE_POS or ABSOLUTE_POS_X/Y/Z")
        }
        _ => None,
    }
}

/// Whether a function, or the owner of one (`SharedMemory::new`), is one of CubeCL's.
pub fn refused_function(path: &[String]) -> Option<&'static str> {
    if let [owner, ..] = path
        && let Some(way) = refused_type(owner)
        && path.len() > 1
    {
        return Some(way);
    }
    let name = path.last()?.as_str();
    if name.starts_with("plane_") {
        return Some("planes are the launcher's business: accumulate with `y[i] += e`");
    }
    Some(match name {
        "sync_cube" | "sync_plane" | "sync_storage" | "sync_proxy_shared" => {
            "threads do not wait for each other; split the kernel in two, a launch sees all of the launch before"
        }
        "range_stepped" => "write `for k in 0..turns` and compute `lo + k * step`",
        "reinterpret_slice" | "reinterpret_slice_mut" => "arrays have one type of element",
        "set_polyfill" | "register_scalar" => "not part of the kernel language",
        _ => return None,
    })
}
