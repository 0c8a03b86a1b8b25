//! Where programs run. The rest of the crate sees [`Storage`], [`LaunchArg`] and, per backend, one function that
//! runs a program.

#[cfg(feature = "cubecl")]
pub(crate) mod cubecl;
pub(crate) mod host;
pub(crate) mod native;

pub(crate) use host::HostBuffer;

use crate::kernel::ElemTy;

/// Memory of one array on the device it belongs to.
pub(crate) enum Storage {
    Host(HostBuffer),
    #[cfg(feature = "cubecl")]
    Cube(cubecl::CubeBuffer),
}

/// An argument of a program, its arrays in buffers of type `B`.
pub(crate) enum LaunchArg<'a, B> {
    /// `len` elements of `elem` from element `offset` on. The launcher guarantees that nothing else writes to them
    /// meanwhile, and that a written range overlaps no other argument of the launch, except that bars may be the same
    /// range twice when both only accumulate.
    Buffer { buffer: &'a B, offset: u32, len: u32, elem: ElemTy },
    /// An array that is not read (only its length may be asked for), or a gradient that nobody wants: reads are zero,
    /// adds are dropped.
    Absent { len: u32 },
    Real(f64),
    U32(u32),
    I32(i32),
    /// Index.
    Usize(u32),
    Bool(bool),
}

impl<B> Clone for LaunchArg<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for LaunchArg<'_, B> {}

/// The first index out of range in a launch: the access was clamped (read) or dropped (write).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Parameter of the program.
    pub slot: u32,
    /// Source line of the access.
    pub line: u32,
    pub index: u32,
    pub len: u32,
}
