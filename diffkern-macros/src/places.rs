//! Which arrays each position touches exactly once, and which of them may share memory.

use diffkern_ir::{Access, CallArg, Func, ParamKind, Slot, StmtKind, Ty};

/// Whether every position takes its element of the array exactly once.
pub fn takes_once(func: &Func, slot: Slot) -> bool {
    taken_at(func, slot).is_some()
}

/// Whether every position adds to its element of the array exactly once.
pub fn adds_once(func: &Func, slot: Slot) -> bool {
    added_at(func, slot).is_some()
}

/// Pairs of arrays, both touched at `ABSOLUTE_POS` alone, that may be one: every position takes its element of the first,
/// once, before it adds to its element of the second, once, which is zero until then.
pub fn places(func: &Func) -> Vec<(Slot, Slot)> {
    let own = |wanted: Access| {
        func.params.iter().enumerate().filter_map(move |(slot, param)| match param.kind {
            ParamKind::Array { elem, access, owned: true } if access == wanted => Some((slot, elem)),
            _ => None,
        })
    };
    let mut pairs: Vec<(Slot, Slot)> = Vec::new();
    for (from, elem) in own(Access::Take) {
        let Some(taken) = taken_at(func, from) else { continue };
        let fits = |&(to, other): &(Slot, Ty)| other == elem && added_at(func, to).is_some_and(|added| taken < added);
        pairs.extend(own(Access::Add).filter(fits).map(|(to, _)| (from, to)));
    }
    pairs
}

fn taken_at(func: &Func, slot: Slot) -> Option<usize> {
    only_at(func, slot, |kind| matches!(kind, StmtKind::Take { array, .. } if *array == slot))
}

fn added_at(func: &Func, slot: Slot) -> Option<usize> {
    only_at(func, slot, |kind| matches!(kind, StmtKind::Add { array, .. } if *array == slot))
}

/// The statement of every position that `is` one, if there is no other and no call may hide one.
fn only_at(func: &Func, slot: Slot, is: impl Fn(&StmtKind) -> bool) -> Option<usize> {
    let calls = |kind: &StmtKind| matches!(kind, StmtKind::Call { args, .. } if args.contains(&CallArg::Array(slot)));
    let mut all = 0;
    func.body.each(&mut |stmt| all += usize::from(is(&stmt.kind) || calls(&stmt.kind)));
    func.body.stmts.iter().position(|stmt| is(&stmt.kind)).filter(|_| all == 1)
}

#[cfg(test)]
mod tests {
    use super::{adds_once, places, takes_once};
    use crate::adjoint::adjoint;
    use crate::gradient_tests::support::kernel;
    use diffkern_ir::{Func, Slot};

    /// Of `x` and `y`, both at 0 and 1 in the kernel, the adjoints are 2 and 3.
    fn adjoint_of(elem: &str, body: &str) -> Func {
        let source = format!("fn k<F: Float>(x: &Array<{elem}>, y: &mut Array<F>) {{ let i = ABSOLUTE_POS; {body} }}");
        adjoint(&kernel(&source))
    }

    #[test]
    fn an_adjoint_takes_the_place_of_one_that_ends() {
        let pairs = |elem: &str, body: &str| -> Vec<(Slot, Slot)> { places(&adjoint_of(elem, body)) };
        assert_eq!(pairs("F", "let v = x[i]; y[i] = v * v;"), [(3, 2)]);
        assert_eq!(pairs("F", "let v = x[i]; if v > 0.0 { y[i] = v; }"), [], "not taken by all");
        assert_eq!(pairs("F", "let mut v = 0.5; if i > 2 { v = x[i]; } y[i] = v;"), [], "not added by all");
        assert_eq!(pairs("Vec2<F>", "y[i] = x[i].x;"), [], "of another type");
        assert_eq!(pairs("F", "y[i] = x[i + 1];"), [], "at another index");
        assert_eq!(pairs("F", "y[i] += x[i];"), [], "it does not end");
        assert_eq!(pairs("F", "y[i] = y[i] * x[i];"), [], "it goes on");
    }

    #[test]
    fn once_is_once_at_every_position() {
        let both = adjoint_of("F", "let v = x[i]; y[i] = v * v;");
        assert_eq!(
            [2, 3].map(|slot| (takes_once(&both, slot), adds_once(&both, slot))),
            [(false, true), (true, false)]
        );
        let twice = adjoint_of("F", "let v = x[i]; y[i] = v; y[i] = v * v;");
        assert_eq!((takes_once(&twice, 3), adds_once(&twice, 2)), (false, true));
        let other = adjoint_of("F", "let t: F = f(x, i as u32); y[i] = t + x[i];");
        assert_eq!((takes_once(&other, 3), adds_once(&other, 2)), (true, false), "a call adds, too");
    }
}
