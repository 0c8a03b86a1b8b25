//! Do the digits of an index tell all threads of a launch apart?

use crate::buffer::LaunchArg;
use crate::kernel::{Digit, Extent, Term};

/// A launch as the digits see it.
pub(super) struct Counts<'a, B> {
    pub(super) dims: [u32; 3],
    pub(super) args: &'a [LaunchArg<'a, B>],
}

impl<B> Counts<'_, B> {
    /// Whether no two threads have an index in common by any of `forms`.
    pub(super) fn tell_apart(&self, forms: &[&[Term]]) -> bool {
        forms.iter().all(|form| self.covers(form) && self.keeps_in(form).unwrap_or(false))
    }

    /// Whether threads that have the same digits are one.
    fn covers(&self, form: &[Term]) -> bool {
        let has = |wanted: fn(&Digit) -> bool| form.iter().any(|term| wanted(&term.digit));
        let along = |axis: usize, digit: fn(&Digit) -> bool| self.dims[axis] <= 1 || has(digit);
        let divided =
            has(|digit| matches!(digit, Digit::Quotient(_))) && has(|digit| matches!(digit, Digit::Remainder(_)));
        has(|digit| matches!(digit, Digit::Pos))
            || (divided && self.divisor(form).is_some())
            || (along(0, |d| matches!(d, Digit::X))
                && along(1, |d| matches!(d, Digit::Y))
                && along(2, |d| matches!(d, Digit::Z)))
    }

    /// What all quotients and remainders are by, if it is one number and not zero.
    fn divisor(&self, form: &[Term]) -> Option<u64> {
        let mut divisors = form.iter().filter_map(|term| match term.digit {
            Digit::Quotient(by) | Digit::Remainder(by) => Some(self.extent(by)),
            _ => None,
        });
        let first = divisors.next()??;
        (first > 0 && divisors.all(|by| by == Some(first))).then_some(first)
    }

    /// Whether no digit reaches the weight of the next, and the last does not wrap around.
    fn keeps_in(&self, form: &[Term]) -> Option<bool> {
        let mut k = 0;
        while k < form.len() {
            let weight = self.product(form[k].weight)?;
            let of_weight = form[k..].iter().take_while(|term| term.weight.len() == form[k].weight.len());
            // Digits of one weight: their sum.
            let most =
                of_weight.clone().try_fold(0u64, |sum, term| Some(sum + self.count(term.digit)?.saturating_sub(1)))?;
            k += of_weight.count();
            let next = match form.get(k) {
                Some(term) => self.product(term.weight)?,
                None => 1 << u32::BITS,
            };
            if (most + 1).checked_mul(weight)? > next {
                return Some(false);
            }
        }
        Some(true)
    }

    fn product(&self, factors: &[Extent]) -> Option<u64> {
        factors.iter().try_fold(1u64, |product, &factor| product.checked_mul(self.extent(factor)?))
    }

    /// How many values it has.
    fn count(&self, digit: Digit) -> Option<u64> {
        let threads = self.dims.iter().map(|&n| u64::from(n)).product::<u64>();
        Some(match digit {
            Digit::Pos => threads,
            Digit::X => self.dims[0].into(),
            Digit::Y => self.dims[1].into(),
            Digit::Z => self.dims[2].into(),
            Digit::Quotient(by) => threads.div_ceil(self.extent(by).filter(|&by| by > 0)?),
            Digit::Remainder(by) => self.extent(by)?.min(threads),
            Digit::Below(end) => self.extent(end)?,
        })
    }

    fn extent(&self, extent: Extent) -> Option<u64> {
        Some(u64::from(match extent {
            Extent::Number(n) => n,
            Extent::Scalar(slot) => match self.args[slot] {
                LaunchArg::U32(n) | LaunchArg::Usize(n) => n,
                LaunchArg::I32(n) => u32::try_from(n).ok()?,
                _ => return None,
            },
            Extent::Len(slot) => match self.args[slot] {
                LaunchArg::Buffer { len, .. } | LaunchArg::Place { len, .. } | LaunchArg::Absent { len } => len,
                _ => return None,
            },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: Extent = Extent::Number(3);
    /// 4 here, and 5.
    const W: Extent = Extent::Scalar(0);
    const LEN: Extent = Extent::Len(1);

    macro_rules! form {
        ($($digit:expr $(, $weight:expr)*);*) => {
            &[$(Term { digit: $digit, weight: &[$($weight),*] }),*] as &[Term]
        };
    }

    fn told_apart(dims: [u32; 3], forms: &[&[Term]]) -> bool {
        let args: [LaunchArg<'_, ()>; 2] = [LaunchArg::Usize(4), LaunchArg::Absent { len: 5 }];
        Counts { dims, args: &args }.tell_apart(forms)
    }

    #[test]
    fn no_digit_reaches_the_weight_of_the_next() {
        let plane = form!(Digit::X; Digit::Y, W);
        assert!(told_apart([4, 9, 1], &[plane]) && told_apart([3, 9, 1], &[plane]));
        assert!(!told_apart([5, 9, 1], &[plane]));
        let space = form!(Digit::X; Digit::Y, W; Digit::Z, W, LEN);
        assert!(told_apart([4, 5, 100], &[space]) && !told_apart([4, 6, 100], &[space]));
        let rows = [form!(Digit::Pos, N), form!(Digit::Below(N); Digit::Pos, N)];
        assert!(told_apart([7, 1, 1], &rows) && told_apart([7, 2, 3], &rows));
        assert!(!told_apart([7, 1, 1], &[form!(Digit::Below(W); Digit::Pos, N)]));
        let columns = form!(Digit::Pos; Digit::Below(N), LEN);
        assert!(told_apart([5, 1, 1], &[columns]) && !told_apart([6, 1, 1], &[columns]));
        assert!(told_apart([9, 1, 1], &[form!(Digit::Below(N); Digit::Below(N), N; Digit::Pos, N, N)]));
        assert!(told_apart([9, 1, 1], &[form!(Digit::Below(N); Digit::Below(N); Digit::Pos, LEN)]), "0..=4");
        assert!(!told_apart([9, 1, 1], &[form!(Digit::Below(N); Digit::Below(W); Digit::Pos, LEN)]), "0..=5");
    }

    #[test]
    fn digits_cover_the_domain() {
        let (x, plane) = (form!(Digit::X), form!(Digit::X; Digit::Y, W));
        assert!(told_apart([4, 1, 1], &[x]) && !told_apart([4, 2, 1], &[x]) && !told_apart([4, 2, 2], &[plane]));
        assert!(told_apart([1, 9, 1], &[form!(Digit::Y)]) && told_apart([1, 1, 9], &[form!(Digit::Z, N)]));
        let turned = form!(Digit::Quotient(W); Digit::Remainder(W), LEN);
        assert!(
            told_apart([20, 1, 1], &[turned]) && !told_apart([21, 1, 1], &[turned]),
            "{} rows of 4",
            21_u32.div_ceil(4)
        );
        assert!(!told_apart([8, 1, 1], &[form!(Digit::Quotient(W); Digit::Remainder(N), LEN)]), "by two numbers");
        assert!(!told_apart([8, 1, 1], &[form!(Digit::Remainder(W))]));
    }

    #[test]
    fn indices_that_wrap_around_tell_nothing() {
        let pairs = form!(Digit::Pos, Extent::Number(2));
        assert!(told_apart([1 << 30, 2, 1], &[pairs]) && !told_apart([(1 << 30) + 1, 2, 1], &[pairs]));
        let zero = form!(Digit::Quotient(Extent::Number(0)); Digit::Remainder(Extent::Number(0)), W);
        assert!(
            !told_apart([2, 1, 1], &[zero])
                && !told_apart([2, 1, 1], &[form!(Digit::Pos; Digit::Below(N), Extent::Number(0))])
        );
        assert!(!told_apart([2, 1, 1], &[form!(Digit::Pos, Extent::Scalar(1))]), "an array");
    }
}
