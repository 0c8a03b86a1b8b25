//! What the rest of the crate asks of a backend.

use std::any::Any;

use super::{Buffer, HostBuffer, Pool};
use crate::domain::Domain;
use crate::error::Result;
use crate::kernel::{ElemTy, KernelDef, Program, ScalarTy};

/// Memory of one array on the device it belongs to.
pub(crate) enum Storage {
    Host(HostBuffer),
    /// Of a type that the backend knows.
    #[cfg_attr(not(feature = "cubecl"), expect(dead_code, reason = "the CPU has memory of the host"))]
    Device(Box<dyn Any + Send + Sync>),
}

/// Memory that a backend gives.
pub(crate) struct Block {
    pub(crate) storage: Storage,
    /// Memory of the host that counts as zero, whatever is in it: it is cleared before its first use, or written whole.
    pub(crate) dirty: bool,
}

/// A buffer from some byte on.
pub(crate) type Part<'a> = (&'a Buffer, usize);

/// Where arrays live and programs run. Nothing here knows of arrays, launches or tapes.
///
/// A caller that passes a destination holds its only reference, or the lock of the array that does; sources may be shared. The
/// bytes that it names are inside the buffers, which are of this backend.
pub(crate) trait Backend: Any + Send + Sync {
    /// `cpu`, `wgpu` or `cuda`.
    fn name(&self) -> &str;

    /// What it is, for people.
    fn description(&self) -> String;

    /// Whether its memory is that of the host.
    fn is_cpu(&self) -> bool;

    /// Whether it is more than software on the processor.
    fn is_hardware(&self) -> bool;

    fn supports_f64(&self) -> bool;

    /// Whether the same launches give the same bits in each run.
    fn is_deterministic(&self) -> bool;

    fn set_deterministic(&self, on: bool);

    /// Programs that it has been asked to run, and how often the host has waited.
    fn queued(&self) -> (u64, u64);

    /// Bytes from the host, and to it.
    fn transferred(&self) -> (u64, u64);

    /// The account of its memory.
    fn pool(&self) -> &Pool;

    /// Waits until everything asked for so far is done.
    fn wait(&self) -> Result<()>;

    fn alloc(&self, bytes: usize, zero: bool) -> Result<Block>;

    /// Takes back the memory of a dropped buffer.
    fn reclaim(&self, storage: Storage, bytes: usize);

    /// Copies between buffers that are not the same one.
    fn copy(&self, from: Part<'_>, to: Part<'_>, bytes: usize) -> Result<()>;

    /// Repeats `pattern`, whose size divides `bytes`.
    fn fill(&self, to: Part<'_>, bytes: usize, pattern: &[u8]) -> Result<()>;

    /// From the host.
    fn upload(&self, to: Part<'_>, data: &[u8]) -> Result<()>;

    /// To the host.
    fn download(&self, from: Part<'_>, data: &mut [u8]) -> Result<()>;

    /// Adds `bytes` of scalars to others, which are in another buffer.
    fn accumulate(&self, ty: ScalarTy, from: Part<'_>, to: Part<'_>, bytes: usize) -> Result<()>;

    fn run(&self, run: &Run<'_>) -> Result<()>;
}

/// A program to be run once per index of `domain`. `args` fit its parameters, and the caller keeps the promise of
/// [`LaunchArg::Buffer`].
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) def: &'static KernelDef,
    pub(crate) program: &'static Program,
    /// Another one, by whose work and accumulations the domain is divided: the kernel of tangents, so that their sums have one
    /// order whichever program computes them. Its parameters are the first of the program.
    pub(crate) divided_as: Option<&'static Program>,
    /// What the backend has of it besides its text: for the CPU its body.
    pub(crate) body: &'a dyn Any,
    pub(crate) scalar: ScalarTy,
    pub(crate) domain: Domain,
    pub(crate) args: &'a [LaunchArg<'a, Buffer>],
    /// The arrays of which it is not known that no two threads store to one element.
    pub(crate) unproven: &'a [usize],
}

/// An argument of a program, its arrays in buffers of type `B`.
pub(crate) enum LaunchArg<'a, B> {
    /// `len` elements of `elem` from element `offset` on. The launcher guarantees that nothing else writes to them
    /// meanwhile, and that a written range overlaps no other argument of the launch, except that bars may be the same
    /// range twice when both only accumulate.
    Buffer {
        buffer: &'a B,
        offset: u32,
        len: u32,
        elem: ElemTy,
    },
    /// One of two whole bars that are one buffer, by one of [`KernelDef::places`]; on the host. What is taken out of the
    /// buffer is taken for the last time, what is added counts as added to zero.
    Place {
        buffer: &'a B,
        len: u32,
        elem: ElemTy,
    },
    /// An array that is not read (only its length may be asked for), or a gradient that is not asked for: reads are zero,
    /// adds are dropped.
    Absent {
        len: u32,
    },
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
