//! Kernel bodies compiled for the instructions that this machine has.
//!
//! The bits are the same for each: no multiplication is fused with an addition unless the kernel says so, and `floor`,
//! `round` and `fma` are exact with and without an instruction for them.
//!
//! Builds with debug assertions compile each body once only, in half the time.

use super::chunk::Chunk;

/// A generated body. Its `run` is `#[inline(always)]`, so that it is compiled anew inside [`dispatch`]; a function passed
/// by value would not be.
pub trait Body {
    /// Runs the positions of `chunk`.
    fn run(chunk: &Chunk<'_>);
}

/// Runs a body with the best instructions that this machine has.
pub fn dispatch<B: Body>(chunk: &Chunk<'_>) {
    #[cfg(all(target_arch = "x86_64", any(test, not(debug_assertions))))]
    if is_x86_64_v3() {
        // SAFETY: the machine has these instructions.
        return unsafe { x86_64_v3::<B>(chunk) };
    }
    B::run(chunk);
}

/// The answer is cached by the standard library: loads and tests.
#[cfg(all(target_arch = "x86_64", any(test, not(debug_assertions))))]
fn is_x86_64_v3() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

#[cfg(all(target_arch = "x86_64", any(test, not(debug_assertions))))]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn x86_64_v3<B: Body>(chunk: &Chunk<'_>) {
    B::run(chunk);
}
