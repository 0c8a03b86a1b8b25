//! Kernel bodies compiled for the instructions that this machine has.
//!
//! In f32 a body runs on packs of lanes where it can, and has no scalar one beside it where the program is compiled for such a machine; else in
//! scalar: there the bits are the same on every machine, since no
//! multiplication is fused with an addition unless the kernel says so, and `floor`, `round` and `fma` are exact with and
//! without an instruction for them.
//!
//! Crates with debug assertions compile the scalar body of their kernels only; the generated `lanecheck` compiles the others there.

use super::chunk::Chunk;
use crate::float::Float;
use crate::float::lanes::{Lanes, Portable};
use crate::kernel::ScalarTy;

/// A generated body. Its `run` and `run_lanes` are `#[inline(always)]`, so that each function that calls them compiles them
/// for its own instructions.
///
/// Those functions are methods with a body here, not functions over a `Body`: rustc puts a method next to the type that it
/// is for, so that each module of kernels is compiled apart from the others, in parallel, and again only where it has changed.
/// Functions over a `Body` would all be one unit of this module. They are never inlined: rustc compiles a generic function that
/// might be in each crate that names it, and finds one that is not in the crates below.
pub trait Body {
    /// The real scalar.
    type Real: Float;
    /// Whether the crate that it belongs to has debug assertions: then it runs in scalar alone, which compiles in a fraction of the time where nothing
    /// is optimised.
    const CHECKED: bool = false;
    /// Whether there is a body of lanes.
    const LANES: bool = false;
    /// Whether there is one that is the better one where bars are [`in_place`].
    const LANES_IN_PLACE: bool = false;
    /// What in it has no lanes, and where, if it runs in scalar for want of them.
    const LACKS: Option<&'static str> = None;

    /// Runs the positions of `chunk`.
    fn run(chunk: &Chunk<'_>);

    /// Runs the positions of `chunk`, several at once.
    #[inline(always)]
    fn run_lanes<S: Lanes<F = Self::Real>>(chunk: &Chunk<'_>) {
        Self::run(chunk);
    }

    /// [`Body::run`] for any machine, compiled once.
    #[inline(never)]
    fn scalar(chunk: &Chunk<'_>) {
        Self::run(chunk);
    }

    /// [`Body::run_lanes`] in plain arrays, on any machine.
    #[inline(never)]
    fn arrays(chunk: &Chunk<'_>) {
        Self::run_lanes::<Portable<Self::Real>>(chunk);
    }

    /// [`Body::run`] with AVX2.
    ///
    /// # Safety
    /// The machine has these instructions.
    #[inline(never)]
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn scalar_v3(chunk: &Chunk<'_>) {
        Self::run(chunk);
    }

    /// [`Body::run_lanes`] with AVX2.
    ///
    /// # Safety
    /// The machine has these instructions.
    #[inline(never)]
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn lanes_v3(chunk: &Chunk<'_>) {
        Self::run_lanes::<<Self::Real as Float>::Narrow>(chunk);
    }

    /// [`Body::run_lanes`] with AVX-512.
    ///
    /// # Safety
    /// The machine has these instructions.
    #[inline(never)]
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn lanes_v4(chunk: &Chunk<'_>) {
        Self::run_lanes::<<Self::Real as Float>::Wide>(chunk);
    }
}

/// A way to run bodies: generated code is instantiated for those that a program names.
pub trait Kind {
    /// For messages.
    const NAME: &'static str;

    /// Whether this machine has the instructions.
    fn is_here() -> bool;

    /// Runs a body, in scalar where it has no body of lanes. The machine has the instructions.
    fn run<B: Body>(chunk: &Chunk<'_>);
}

/// One position at a time.
pub struct OneByOne;

impl Kind for OneByOne {
    const NAME: &'static str = "scalar";

    fn is_here() -> bool {
        true
    }

    fn run<B: Body>(chunk: &Chunk<'_>) {
        B::scalar(chunk);
    }
}

/// Packs in plain arrays, on any machine and in both precisions.
pub struct Arrays;

impl Kind for Arrays {
    const NAME: &'static str = "packs in arrays";

    fn is_here() -> bool {
        true
    }

    fn run<B: Body>(chunk: &Chunk<'_>) {
        if const { B::LANES } || const { B::LANES_IN_PLACE } && chunk.in_place() {
            return packs(chunk, || B::arrays(chunk));
        }
        B::scalar(chunk);
    }
}

/// Packs of AVX2, in f32.
#[cfg(target_arch = "x86_64")]
pub struct Narrow;

#[cfg(target_arch = "x86_64")]
impl Kind for Narrow {
    const NAME: &'static str = "packs of AVX2";

    fn is_here() -> bool {
        is_x86_64_v3()
    }

    fn run<B: Body>(chunk: &Chunk<'_>) {
        if const { on_lanes::<B>() } || const { on_lanes_in_place::<B>() } && chunk.in_place() {
            // SAFETY: the machine has the instructions.
            return packs(chunk, || unsafe { B::lanes_v3(chunk) });
        }
        B::scalar(chunk);
    }
}

/// Packs of AVX-512, in f32.
#[cfg(target_arch = "x86_64")]
pub struct Wide;

#[cfg(target_arch = "x86_64")]
impl Kind for Wide {
    const NAME: &'static str = "packs of AVX-512";

    fn is_here() -> bool {
        is_x86_64_v4()
    }

    fn run<B: Body>(chunk: &Chunk<'_>) {
        if const { on_lanes::<B>() } || const { on_lanes_in_place::<B>() } && chunk.in_place() {
            // SAFETY: the machine has the instructions.
            return packs(chunk, || unsafe { B::lanes_v4(chunk) });
        }
        B::scalar(chunk);
    }
}

/// Elsewhere there are packs in arrays only.
#[cfg(not(target_arch = "x86_64"))]
pub type Narrow = Arrays;
/// Elsewhere there are packs in arrays only.
#[cfg(not(target_arch = "x86_64"))]
pub type Wide = Arrays;

/// Whether the program is compiled for machines with AVX2, as by `-C target-cpu=native` on one.
#[cfg(target_arch = "x86_64")]
const V3: bool = cfg!(all(
    target_feature = "avx2",
    target_feature = "fma",
    target_feature = "bmi1",
    target_feature = "bmi2",
    target_feature = "lzcnt",
    target_feature = "popcnt"
));

/// The same with AVX-512.
#[cfg(target_arch = "x86_64")]
const V4: bool = V3
    && cfg!(all(
        target_feature = "avx512f",
        target_feature = "avx512bw",
        target_feature = "avx512dq",
        target_feature = "avx512vl"
    ));

/// Runs a body with the best instructions that this machine has. A program that is compiled for machines with AVX2 or AVX-512 has bodies for these alone,
/// about half of the code.
#[inline(never)]
pub fn dispatch<B: Body>(chunk: &Chunk<'_>) {
    #[cfg(target_arch = "x86_64")]
    if const { !B::CHECKED } {
        if const { on_lanes::<B>() } || const { on_lanes_in_place::<B>() } && chunk.in_place() {
            if V4 || !V3 && is_x86_64_v4() {
                return Wide::run::<B>(chunk);
            }
            if !V4 && (V3 || is_x86_64_v3()) {
                return Narrow::run::<B>(chunk);
            }
        } else if !V3 && is_x86_64_v3() {
            // SAFETY: the machine has these instructions.
            return unsafe { B::scalar_v3(chunk) };
        }
    }
    B::scalar(chunk);
}

/// Whether a body runs on packs of special instructions.
#[cfg(target_arch = "x86_64")]
const fn on_lanes<B: Body>() -> bool {
    B::LANES && matches!(<B::Real as Float>::SCALAR, ScalarTy::F32)
}

/// Whether a body does so where bars are one.
#[cfg(target_arch = "x86_64")]
const fn on_lanes_in_place<B: Body>() -> bool {
    B::LANES_IN_PLACE && matches!(<B::Real as Float>::SCALAR, ScalarTy::F32)
}

/// Whether [`dispatch`] runs a body fast where one bar is in the place of another.
pub fn in_place<B: Body>() -> bool {
    #[cfg(target_arch = "x86_64")]
    if const { !B::CHECKED && on_lanes_in_place::<B>() } {
        return is_x86_64_v3();
    }
    false
}

/// Runs a body of lanes, where the arrays are made for it.
#[inline(always)]
fn packs(chunk: &Chunk<'_>, run: impl FnOnce()) {
    match chunk.unfit_for_lanes() {
        None => run(),
        Some(fault) => drop(chunk.fault.set(fault)),
    }
}

/// The answer is cached by the standard library: loads and tests.
#[cfg(target_arch = "x86_64")]
fn is_x86_64_v3() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn is_x86_64_v4() -> bool {
    is_x86_64_v3()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}
