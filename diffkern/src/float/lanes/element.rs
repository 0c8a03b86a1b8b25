//! Elements of arrays as packs: component `c` of all lanes is one pack of reals.

use super::memory::Lanes;
use super::values::{MOST, each};
use crate::element::Element;

/// The element whose components are those of lane `k`.
#[inline(always)]
pub fn lane<T: Element, const C: usize>(components: &[[T::Scalar; MOST]; C], k: usize) -> T {
    assert!(T::COMPONENTS == C, "a mistake in generated code");
    let mut element = T::ZERO;
    let at = (&raw mut element).cast::<T::Scalar>();
    // SAFETY: an `Element` is `COMPONENTS` scalars in a row.
    each::<_, C>(|c| unsafe { at.add(c).write(components[c][k]) });
    element
}

/// The components of an element.
#[inline(always)]
pub fn components<T: Element, const C: usize>(element: &T) -> [T::Scalar; C] {
    assert!(T::COMPONENTS == C, "a mistake in generated code");
    let at = (&raw const *element).cast::<T::Scalar>();
    // SAFETY: an `Element` is `COMPONENTS` scalars in a row.
    each(|c| unsafe { at.add(c).read() })
}

/// Elements of `C` reals at `base + offset[k]`, by lanes.
///
/// # Safety
/// Valid for reads of `C` reals there, of four where `C` is three; offsets are under 2^31.
#[inline(always)]
pub unsafe fn gather<S: Lanes, const C: usize>(base: *const S::F, offset: S::I) -> [S::R; C] {
    // SAFETY: by the caller's promise.
    unsafe {
        match C {
            1 => first(S::gather1(base, offset)),
            2 => first(S::gather2(base, offset)),
            3 | 4 => first(S::gather4(base, offset)),
            9 => {
                // The last four, of which three are known.
                let fours =
                    [S::gather4(base, offset), S::gather4(base.add(4), offset), S::gather4(base.add(5), offset)];
                each(|c| fours[c / 4][if c == 8 { 3 } else { c % 4 }])
            }
            _ => each(|c| S::gather1(base.add(c), offset)[0]),
        }
    }
}

/// The first `C` of `N`.
#[inline(always)]
fn first<R: Copy, const N: usize, const C: usize>(all: [R; N]) -> [R; C] {
    each(|c| all[c])
}

/// `N` elements of `C` reals in a row, by lanes.
///
/// # Safety
/// Valid for reads of `N` elements, of one real more where `C` is three.
#[inline(always)]
pub unsafe fn load<S: Lanes, const C: usize>(base: *const S::F) -> [S::R; C] {
    // SAFETY: by the caller's promise.
    unsafe {
        match C {
            1 => first([S::load(base)]),
            2 => first(S::load2(base)),
            3 => first(S::load3(base)),
            _ => gather::<S, C>(base, S::mul_i(S::count(), S::splat_i(C as u32))),
        }
    }
}

/// Lanes to `N` elements of `C` reals in a row.
///
/// # Safety
/// Valid for writes of `N` elements; nobody else accesses them.
#[inline(always)]
pub unsafe fn store<S: Lanes, const C: usize>(base: *mut S::F, all: [S::R; C]) {
    // SAFETY: by the caller's promise.
    unsafe {
        match C {
            2 => S::store2(base, [all[0], all[1]]),
            3 => S::store3(base, [all[0], all[1], all[2]]),
            4 => S::store4(base, 4, [all[0], all[1], all[2], all[3]]),
            9 => {
                S::store4(base, 9, [all[0], all[1], all[2], all[3]]);
                S::store4(base.add(4), 9, [all[4], all[5], all[6], all[7]]);
                single::<S>(base.add(8), 9, all[8]);
            }
            1 => S::store(base, all[0]),
            _ => {
                each::<_, C>(|c| single::<S>(base.add(c), C, all[c]));
            }
        }
    }
}

/// # Safety
/// Valid for writes at `at + stride k`.
#[inline(always)]
unsafe fn single<S: Lanes>(at: *mut S::F, stride: usize, a: S::R) {
    let a = S::put(a);
    for (k, a) in a[..S::N].iter().enumerate() {
        // SAFETY: by the caller's promise.
        unsafe { at.add(stride * k).write(*a) };
    }
}
