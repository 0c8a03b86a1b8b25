//! Elements of `C` reals next to each other, real by real: real `e` of a row is in lane `e % N` of pack `e / N`.

use super::values::{Values, each, map};

/// As [`super::Lanes::load_some`].
///
/// # Safety
/// As there.
#[inline(always)]
pub unsafe fn load_some<S: Values, const C: usize>(base: *const S::F, m: S::M, row: [S::R; C]) -> [S::R; C] {
    let (bits, mut row) = (S::bits(m), map(row, S::put));
    for k in (0..S::N).filter(|k| bits >> k & 1 == 1) {
        for e in C * k..C * (k + 1) {
            // SAFETY: by the caller's promise.
            row[e / S::N][e % S::N] = unsafe { base.wrapping_add(e).read() };
        }
    }
    map(row, |pack| S::get(&pack))
}

/// As [`super::Lanes::unpack`].
#[inline(always)]
pub fn unpack<S: Values, const C: usize>(row: [S::R; C]) -> [S::R; C] {
    let row = map(row, S::put);
    let real = |e: usize| row[e / S::N][e % S::N];
    each(|c| S::get(&each(|k| if k < S::N { real(C * k + c) } else { S::F::default() })))
}

/// As [`super::Lanes::add_some`].
///
/// # Safety
/// As there.
#[inline(always)]
pub unsafe fn add_some<S: Values, const C: usize>(base: *mut S::F, m: S::M, a: [S::R; C]) {
    let (bits, a) = (S::bits(m), map(a, S::put));
    for k in (0..S::N).filter(|k| bits >> k & 1 == 1) {
        for (c, a) in a.iter().enumerate() {
            let at = base.wrapping_add(C * k + c);
            // SAFETY: by the caller's promise.
            unsafe { at.write(at.read() + a[k]) };
        }
    }
}
