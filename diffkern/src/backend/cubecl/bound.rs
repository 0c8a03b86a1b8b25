//! How large an integer of a kernel can be, from what the host knows at launch: scalars, lengths, the domain.

use std::sync::Arc;

use diffkern_ir::{BinaryOp, Slot};

/// An integer of a kernel as far as the host can follow it.
#[derive(Clone, Debug)]
pub(crate) enum Sym {
    Const(i64),
    /// A scalar parameter of the kernel.
    Scalar(Slot),
    /// Length of an array parameter of the kernel.
    Len(Slot),
    /// Linear position (3) or one coordinate of it (0, 1, 2).
    Pos(usize),
    Binary(BinaryOp, Arc<Sym>, Arc<Sym>),
    /// Counts from the first up to the second, exclusive.
    Index(Arc<Sym>, Arc<Sym>),
    /// One of the two.
    Either(Arc<Sym>, Arc<Sym>),
    /// From 0 up to this, inclusive.
    UpTo(Arc<Sym>),
    /// Number of turns of a loop between the two: their difference, or 0.
    Turns(Arc<Sym>, Arc<Sym>),
}

/// What the host knows at a launch.
pub(crate) struct Known<'a> {
    /// Value of an integer scalar parameter, by slot.
    pub scalar: &'a dyn Fn(Slot) -> Option<i64>,
    /// Length of an array parameter, by slot.
    pub len: &'a dyn Fn(Slot) -> Option<i64>,
    pub dims: [u32; 3],
}

type Range = (i64, i64);

/// What `if cond { then } else { or_else }` can be.
pub(crate) fn select(cond: Option<&Arc<Sym>>, then: Arc<Sym>, or_else: Arc<Sym>) -> Arc<Sym> {
    // How the adjoint counts the turns of a loop: `if lo < hi { hi - lo } else { 0 }`.
    if let (Some(Sym::Binary(BinaryOp::Lt, lo, hi)), Sym::Binary(BinaryOp::Sub, a, b), Sym::Const(0)) =
        (cond.map(Arc::as_ref), &*then, &*or_else)
        && Arc::ptr_eq(lo, b)
        && Arc::ptr_eq(hi, a)
    {
        return Arc::new(Sym::Turns(lo.clone(), hi.clone()));
    }
    Arc::new(Sym::Either(then, or_else))
}

impl Sym {
    /// Least and greatest value; `None` when it may wrap around or is not bounded by what is known.
    pub fn range(&self, known: &Known<'_>) -> Option<Range> {
        match self {
            Self::Const(v) => Some((*v, *v)),
            Self::Scalar(slot) => (known.scalar)(*slot).map(|v| (v, v)),
            Self::Len(slot) => (known.len)(*slot).map(|v| (v, v)),
            Self::Pos(3) => Some((0, known.dims.iter().map(|&d| i64::from(d)).product::<i64>() - 1)),
            Self::Pos(k) => Some((0, known.dims.get(*k).map_or(0, |&d| i64::from(d) - 1))),
            Self::Index(lo, hi) => {
                let (lo, hi) = (lo.range(known)?, hi.range(known)?);
                Some((lo.0, (hi.1 - 1).max(lo.0)))
            }
            Self::Either(a, b) => match (a.range(known), b.range(known)) {
                (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                _ => None,
            },
            Self::UpTo(most) => most.range(known).filter(|(low, _)| *low >= 0).map(|(_, most)| (0, most)),
            Self::Turns(lo, hi) => {
                let (lo, hi) = (lo.range(known)?, hi.range(known)?);
                fits(((hi.0 - lo.1).max(0), (hi.1 - lo.0).max(0)))
            }
            Self::Binary(op, a, b) => fits(binary(*op, a.range(known)?, b.range(known)?)?),
        }
    }

    /// Its value when it is the same in every launch.
    pub fn constant(&self) -> Option<i64> {
        let nothing = |_| None;
        let known = Known { scalar: &nothing, len: &nothing, dims: [0; 3] };
        match self.range(&known) {
            Some((a, b)) if a == b && !self.has_position() => Some(a),
            _ => None,
        }
    }

    fn has_position(&self) -> bool {
        match self {
            Self::Pos(_) => true,
            Self::Const(_) | Self::Scalar(_) | Self::Len(_) => false,
            Self::UpTo(most) => most.has_position(),
            Self::Binary(_, a, b) | Self::Index(a, b) | Self::Either(a, b) | Self::Turns(a, b) => {
                a.has_position() || b.has_position()
            }
        }
    }
}

/// Values that neither signed nor unsigned 32-bit arithmetic would have wrapped around, near zero included.
fn fits(range: Range) -> Option<Range> {
    (range.0 >= i64::from(i32::MIN) && range.1 <= i64::from(u32::MAX)).then_some(range)
}

fn binary(op: BinaryOp, a: Range, b: Range) -> Option<Range> {
    use BinaryOp as B;
    let corners = |f: &dyn Fn(i64, i64) -> Option<i64>| {
        let all = [f(a.0, b.0)?, f(a.0, b.1)?, f(a.1, b.0)?, f(a.1, b.1)?];
        Some((all.into_iter().min()?, all.into_iter().max()?))
    };
    match op {
        B::Add => Some((a.0 + b.0, a.1 + b.1)),
        B::Sub => Some((a.0 - b.1, a.1 - b.0)),
        B::Mul => corners(&|x, y| x.checked_mul(y)),
        B::Min => Some((a.0.min(b.0), a.1.min(b.1))),
        B::Max => Some((a.0.max(b.0), a.1.max(b.1))),
        // Monotone in both for what is not negative; x / 0 is 0.
        B::Div if a.0 >= 0 && b.0 >= 0 => Some((if b.0 == 0 { 0 } else { a.0 / b.1 }, a.1 / b.0.max(1))),
        B::Rem if a.0 >= 0 && b.0 >= 0 => Some((0, a.1.min((b.1 - 1).max(0)))),
        B::Shr if a.0 >= 0 && b.0 >= 0 && b.1 < 32 => Some((a.0 >> b.1, a.1 >> b.0)),
        B::Shl if a.0 >= 0 && b.0 >= 0 && b.1 < 32 => Some((a.0 << b.0, a.1 << b.1)),
        B::BitAnd if a.0 >= 0 && b.0 >= 0 => Some((0, a.1.min(b.1))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_what_a_launch_can_give() {
        let known = Known { scalar: &|slot| (slot == 0).then_some(7), len: &|_| Some(100), dims: [10, 4, 1] };
        let n = Arc::new(Sym::Scalar(0));
        let pos = Arc::new(Sym::Pos(3));
        let sum = Sym::Binary(BinaryOp::Add, n.clone(), pos.clone());
        assert_eq!(sum.range(&known), Some((7, 46)));
        let inner = Sym::Binary(BinaryOp::Sub, Arc::new(Sym::Len(1)), Arc::new(Sym::Index(pos, n.clone())));
        assert_eq!(inner.range(&known), Some((94, 100)));
        assert_eq!(Sym::Binary(BinaryOp::Mul, n.clone(), Arc::new(Sym::Scalar(1))).range(&known), None);
        let (zero, hi) = (Arc::new(Sym::Const(0)), Arc::new(Sym::Pos(0)));
        let runs = Arc::new(Sym::Binary(BinaryOp::Lt, n.clone(), hi.clone()));
        let turns = Arc::new(Sym::Binary(BinaryOp::Sub, hi, n.clone()));
        assert_eq!(select(Some(&runs), turns, zero).range(&known), Some((0, 2)));
        assert_eq!(Sym::UpTo(n.clone()).range(&known), Some((0, 7)));
        assert_eq!(Sym::UpTo(Arc::new(Sym::Const(-1))).range(&known), None);
        assert_eq!(n.constant(), None);
        assert_eq!(Sym::Binary(BinaryOp::Mul, Arc::new(Sym::Const(3)), Arc::new(Sym::Const(4))).constant(), Some(12));
    }
}
