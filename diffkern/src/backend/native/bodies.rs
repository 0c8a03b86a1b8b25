//! The bodies that `#[diff_kernel]` generates for the host.

use super::Chunk;
use crate::kernel::ScalarTy;

/// Body of a program on the host, for one chunk of the domain.
pub type NativeBody = fn(&Chunk<'_>);

/// The host's bodies of a kernel, for one scalar type.
#[derive(Clone, Copy)]
pub struct Native {
    /// What `F` is in them.
    pub scalar: ScalarTy,
    /// The kernel.
    pub primal: NativeBody,
    /// Its adjoint.
    pub adjoint: NativeBody,
    /// Its tangent.
    pub tangent: NativeBody,
    /// See [`KernelDef::directions`](crate::kernel::KernelDef::directions). Absent also where packs run one of the kernel, its
    /// tangent and this, and do not run another, and where functions have tangents or replays written by hand.
    pub directions: Option<NativeBody>,
    /// See [`KernelDef::clear`](crate::kernel::KernelDef::clear).
    pub clear: Option<NativeBody>,
    /// The adjoint and its tangent in one, with the feature `second-order`.
    pub second: Option<NativeBody>,
    /// Whether the adjoint is fast where bars are one, see [`KernelDef::places`](crate::kernel::KernelDef::places).
    pub in_place: bool,
    /// What keeps the kernel and its adjoint from packs of lanes.
    pub lacks: [Option<&'static str>; 2],
}
