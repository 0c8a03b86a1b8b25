//! Elements of arrays as packs: component `c` of all lanes is one pack of reals.

use super::memory::Lanes;
use super::values::MOST;
use crate::element::Element;

/// The element whose components are those of lane `k`.
#[inline(always)]
pub fn lane<T: Element, const C: usize>(components: &[[T::Scalar; MOST]; C], k: usize) -> T {
    assert!(T::COMPONENTS == C, "a mistake in generated code");
    let mut element = T::ZERO;
    let at = (&raw mut element).cast::<T::Scalar>();
    for (c, lanes) in components.iter().enumerate() {
        // SAFETY: an `Element` is `COMPONENTS` scalars in a row.
        unsafe { at.add(c).write(lanes[k]) };
    }
    element
}

/// The components of an element.
#[inline(always)]
pub fn components<T: Element, const C: usize>(element: &T) -> [T::Scalar; C] {
    assert!(T::COMPONENTS == C, "a mistake in generated code");
    let at = (&raw const *element).cast::<T::Scalar>();
    // SAFETY: an `Element` is `COMPONENTS` scalars in a row.
    std::array::from_fn(|c| unsafe { at.add(c).read() })
}

/// Elements of `C` reals at `base + offset[k]`, by lanes.
///
/// # Safety
/// Valid for reads of `C` reals there, of four where `C` is three; offsets are under 2^31.
#[inline(always)]
pub unsafe fn gather<S: Lanes, const C: usize>(base: *const S::F, offset: S::I) -> [S::R; C] {
    let zero = S::splat(S::F::default());
    let mut all = [zero; C];
    // SAFETY: by the caller's promise.
    unsafe {
        match C {
            1 => all.copy_from_slice(&S::gather1(base, offset)),
            2 => all.copy_from_slice(&S::gather2(base, offset)),
            3 => all.copy_from_slice(&S::gather4(base, offset)[..3]),
            4 => all.copy_from_slice(&S::gather4(base, offset)),
            9 => {
                all[..4].copy_from_slice(&S::gather4(base, offset));
                all[4..8].copy_from_slice(&S::gather4(base.add(4), offset));
                // The last four, of which three are known.
                all[8] = S::gather4(base.add(5), offset)[3];
            }
            _ => {
                for (c, one) in all.iter_mut().enumerate() {
                    *one = S::gather1(base.add(c), offset)[0];
                }
            }
        }
    }
    all
}

/// `N` elements of `C` reals in a row, by lanes.
///
/// # Safety
/// Valid for reads of `N` elements, of one real more where `C` is three.
#[inline(always)]
pub unsafe fn load<S: Lanes, const C: usize>(base: *const S::F) -> [S::R; C] {
    // SAFETY: by the caller's promise.
    unsafe {
        let mut all = [S::splat(S::F::default()); C];
        match C {
            1 => all.fill(S::load(base)),
            2 => all.copy_from_slice(&S::load2(base)),
            3 => all.copy_from_slice(&S::load3(base)),
            _ => return gather::<S, C>(base, S::mul_i(S::count(), S::splat_i(C as u32))),
        }
        all
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
            _ => {
                for (c, one) in all.into_iter().enumerate() {
                    if C == 1 {
                        S::store(base, one);
                    } else {
                        single::<S>(base.add(c), C, one);
                    }
                }
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
