//! CubeCL's names that have another spelling here, or none: each is refused by its own name, with what to write.

/// Whether a type of the signature or of an annotation is one of CubeCL's.
pub fn refused_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "Tensor" | "TensorMap" | "VirtualTensor" => {
            "arrays are flat here: take `&Array<T>` and the sizes, and index `x[row * columns + column]`"
        }
        "View" | "ViewMut" | "LinearView" | "LinearViewMut" | "Coords1d" | "Coords2d" | "Coords3d" => {
            "arrays are flat here: take `&Array<T>`, and compute the index from the position and the sizes"
        }
        "Slice" | "SliceMut" | "ReadOnly" | "ReadWrite" => {
            "take `&Array<T>` and an offset; on the host `array.slice(from..to)` is a view"
        }
        "Line" | "Vector" => {
            "a vector as wide as the launcher chooses is `Vector<F, N>` with `N: Size`; where components belong together \
             write `Vec2/3/4<F>`"
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
        "Option" | "ComptimeOption" | "CubeOption" => {
            "an option is a parameter by value, of an integer or a `bool`; else pass a `bool` beside the value"
        }
        "FastDivmod" => "pass the divisor as a `u32`, and write `i / n` and `i % n`",
        "InputScalar" => "pass a scalar of its own type, `value: F`",
        "StorageType" | "ElemType" => "a launch knows the types of its arrays; remove the parameter",
        "Barrier" | "Pipeline" | "Matrix" => "cubes are the launcher's business",
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
    if let [owner, .., name] = path
        && (!is_vector(owner) || of_components(name))
    {
        if owner == "cmma" || owner == "tma" {
            return Some("cubes are the launcher's business: write the sum of products as a loop");
        }
        if is_vector(owner) {
            return Some("it is of the components of a vector: write `Vec2/3/4<F>`; `Vector<F, N>` has one here");
        }
        if let Some(way) = refused_type(owner) {
            return Some(way);
        }
    }
    let name = path.last()?.as_str();
    if name.starts_with("plane_") {
        return Some("planes are the launcher's business: accumulate with `y[i] += e`");
    }
    Some(match name {
        "sync_cube"
        | "sync_plane"
        | "sync_storage"
        | "sync_units"
        | "sync_proxy_shared"
        | "sync_async_proxy_shared" => {
            "threads do not wait for each other; split the kernel in two, a launch sees all of the launch before"
        }
        "reinterpret_slice" | "reinterpret_slice_mut" => "arrays have one type of element",
        "set_polyfill" | "register_scalar" => "not part of the kernel language",
        _ => return None,
    })
}

/// Whether this owns functions of vectors as wide as the launcher chooses.
pub fn is_vector(owner: &str) -> bool {
    owner == "Line" || owner == "Vector"
}

/// Functions of a vector that depend on its width, or take its components apart.
pub fn of_components(name: &str) -> bool {
    matches!(
        name,
        "normalize"
            | "magnitude"
            | "dot"
            | "vector_sum"
            | "empty"
            | "zeroed"
            | "load"
            | "store"
            | "extract"
            | "insert"
            | "extract_dynamic"
            | "insert_dynamic"
            | "reinterpret"
    )
}

/// CubeCL's traits of numbers, whose functions may be called by the trait: `Max::max(a, b)`.
pub fn is_operation(owner: &str) -> bool {
    const TRAITS: [&str; 44] = [
        "Abs",
        "ArcCos",
        "ArcCosh",
        "ArcSin",
        "ArcSinh",
        "ArcTan",
        "ArcTan2",
        "ArcTanh",
        "Ceil",
        "Clamp",
        "Cos",
        "Cosh",
        "Degrees",
        "Dot",
        "Erf",
        "Exp",
        "FloatOps",
        "Floor",
        "Hypot",
        "InverseSqrt",
        "IsInf",
        "IsNan",
        "Log",
        "Log1p",
        "Magnitude",
        "Max",
        "Min",
        "Normalize",
        "Powf",
        "Powi",
        "Radians",
        "Recip",
        "Remainder",
        "Rhypot",
        "Round",
        "Sin",
        "Sinh",
        "Sqrt",
        "SaturatingSub",
        "Tan",
        "Tanh",
        "Trunc",
        "Numeric",
        "Float",
    ];
    TRAITS.contains(&owner)
}

/// What to write in place of a macro.
pub fn refused_macro(name: &str) -> &'static str {
    match name {
        "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
            "check arguments on the host, before the launch"
        }
        "panic" | "unreachable" | "todo" | "unimplemented" => {
            "a kernel cannot stop the program: let the last arm or `else` be one that computes something"
        }
        "debug_print" | "println" | "print" | "eprintln" => "write what you want to see to an array",
        "intrinsic" => "CubeCL's compiler cannot be seen from here; write what it computes",
        _ => "of macros a kernel has `terminate!()` and `comptime!(..)`; write it out",
    }
}
