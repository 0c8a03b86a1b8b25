//! What is asked of every kernel.

/// The gradient of a kernel at these arguments, on packs of lanes too; or, in a build for other devices, what these give.
#[allow(unused_macros, reason = "each test binary uses a part of what they share")]
macro_rules! check {
    ($kernel:ident $(::<$law:ident>)?, $($arg:expr),*) => {
        $kernel $(::<$law>)?::gradcheck($($arg),*)?;
        // Of the CPU alone, and most of what there is to compile: once is enough.
        #[cfg(not(any(feature = "wgpu", feature = "wgpu-spirv", feature = "cuda")))]
        $kernel $(::<$law>)?::lanecheck($($arg),*)?;
        #[cfg(any(feature = "wgpu", feature = "wgpu-spirv", feature = "cuda"))]
        for device in diffkern::gradcheck::devices()? {
            $kernel $(::<$law>)?::devicecheck(&device, $($arg),*)?;
        }
    };
}
#[allow(unused_imports, reason = "each test binary uses a part of what they share")]
pub(crate) use check;
