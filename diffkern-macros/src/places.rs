//! Which arrays each position touches exactly once, and which of them may share memory.

use crate::ir::{Access, CallArg, Func, ParamKind, Slot, StmtKind, Ty};

impl Func {
    /// Whether every position takes its element of the array exactly once.
    pub fn takes_once(&self, slot: Slot) -> bool {
        self.taken_at(slot).is_some()
    }

    /// Whether every position adds to its element of the array exactly once.
    pub fn adds_once(&self, slot: Slot) -> bool {
        self.added_at(slot).is_some()
    }

    /// Pairs of arrays, both touched at `ABSOLUTE_POS` alone, that may be one: every position takes its element of the first,
    /// once, before it adds to its element of the second, once, which is zero until then.
    pub fn places(&self) -> Vec<(Slot, Slot)> {
        let own = |wanted: Access| {
            self.params.iter().enumerate().filter_map(move |(slot, param)| match param.kind {
                ParamKind::Array { elem, access, owned: true } if access == wanted => Some((slot, elem)),
                _ => None,
            })
        };
        let mut pairs: Vec<(Slot, Slot)> = Vec::new();
        for (from, elem) in own(Access::Take) {
            let Some(taken) = self.taken_at(from) else { continue };
            let fits =
                |&(to, other): &(Slot, Ty)| other == elem && self.added_at(to).is_some_and(|added| taken < added);
            pairs.extend(own(Access::Add).filter(fits).map(|(to, _)| (from, to)));
        }
        pairs
    }

    fn taken_at(&self, slot: Slot) -> Option<usize> {
        self.only_at(slot, |kind| matches!(kind, StmtKind::Take { array, .. } if *array == slot))
    }

    fn added_at(&self, slot: Slot) -> Option<usize> {
        self.only_at(slot, |kind| matches!(kind, StmtKind::Add { array, .. } if *array == slot))
    }

    /// The statement of every position that `is` one, if there is no other and no call may hide one.
    fn only_at(&self, slot: Slot, is: impl Fn(&StmtKind) -> bool) -> Option<usize> {
        let calls =
            |kind: &StmtKind| matches!(kind, StmtKind::Call { args, .. } if args.contains(&CallArg::Array(slot)));
        let mut all = 0;
        self.body.each(&mut |stmt| all += usize::from(is(&stmt.kind) || calls(&stmt.kind)));
        self.body.stmts.iter().position(|stmt| is(&stmt.kind)).filter(|_| all == 1)
    }
}
