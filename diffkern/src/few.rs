//! A vector that needs no memory of its own while it is short: what a launch collects about its arguments.

use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

/// A vector whose first `N` elements lie in it.
pub(crate) struct Few<T, const N: usize> {
    inline: [MaybeUninit<T>; N],
    /// Of `inline`, all before this are there; 0 when `spilled` has them.
    len: usize,
    spilled: Vec<T>,
}

impl<T, const N: usize> Few<T, N> {
    #[inline(always)]
    pub(crate) fn new() -> Few<T, N> {
        Few { inline: [const { MaybeUninit::uninit() }; N], len: 0, spilled: Vec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.spilled.is_empty() && self.len < N {
            self.inline[self.len].write(item);
            self.len += 1;
        } else {
            self.spill(item);
        }
    }

    #[cold]
    fn spill(&mut self, item: T) {
        let len = std::mem::take(&mut self.len);
        // SAFETY: the first `len` are there, and no longer counted, so each is moved once.
        self.spilled.extend(self.inline[..len].iter().map(|item| unsafe { item.assume_init_read() }));
        self.spilled.push(item);
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self.spilled.is_empty() {
            // SAFETY: the first `len` are there, and `MaybeUninit<T>` has the layout of `T`.
            true => unsafe { std::slice::from_raw_parts(self.inline.as_ptr().cast(), self.len) },
            false => &self.spilled,
        }
    }
}

impl<T, const N: usize> DerefMut for Few<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self.spilled.is_empty() {
            // SAFETY: as in `deref`.
            true => unsafe { std::slice::from_raw_parts_mut(self.inline.as_mut_ptr().cast(), self.len) },
            false => &mut self.spilled,
        }
    }
}

impl<T, const N: usize> Drop for Few<T, N> {
    fn drop(&mut self) {
        let len = std::mem::take(&mut self.len);
        // SAFETY: the first `len` are there, and nobody sees them afterwards.
        self.inline[..len].iter_mut().for_each(|item| unsafe { item.assume_init_drop() });
    }
}

impl<T, const N: usize> FromIterator<T> for Few<T, N> {
    #[inline(always)]
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Few<T, N> {
        let mut few = Few::new();
        few.extend(items);
        few
    }
}

/// In place, where what is collected would be moved.
impl<T, const N: usize> Extend<T> for Few<T, N> {
    #[inline(always)]
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            self.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn elements_stay_in_order_and_are_dropped_once() {
        let shared = Rc::new(());
        for n in [0, 1, 3, 4, 5, 9] {
            let mut few: Few<(usize, Rc<()>), 4> = (0..n).map(|k| (k, shared.clone())).collect();
            assert!(few.iter().map(|(k, _)| *k).eq(0..n));
            assert_eq!(Rc::strong_count(&shared), 1 + n);
            few.reverse();
            assert!(few.iter().map(|(k, _)| *k).eq((0..n).rev()));
            drop(few);
            assert_eq!(Rc::strong_count(&shared), 1);
        }
    }
}
