//! How much work a position is: a rough number, from the source alone, so that what depends on it is alike on every machine.

use std::collections::HashMap;

use crate::ir::{BinaryOp, Block, Func, Id, Lit, Op, StmtKind, Ty};

/// Turns of a loop whose number the source does not say.
const TURNS: u64 = 8;

/// Operations of a device function, which is compiled elsewhere.
const CALL: u64 = 50;

/// Operations that an access to memory counts for, by component.
const ACCESS: u64 = 2;

impl Func {
    /// Operations on scalars for one position, more or less.
    pub fn work(&self) -> u32 {
        let mut ints = HashMap::new();
        self.body.each(&mut |stmt| {
            if let StmtKind::Let { id, op: Op::Const(Lit::Int(value)) } = stmt.kind {
                ints.insert(id, value);
            }
        });
        u32::try_from(self.block(&self.body, &ints)).unwrap_or(u32::MAX)
    }

    fn block(&self, block: &Block, ints: &HashMap<Id, i64>) -> u64 {
        let parts = |id: &Id| self.ty(*id).components() as u64;
        let each = block.stmts.iter().map(|stmt| match &stmt.kind {
            StmtKind::Let { op: Op::Const(_), .. } | StmtKind::Fault { .. } | StmtKind::StackNew { .. } => 0,
            StmtKind::Let { id, op: Op::Binary(BinaryOp::Mul, a, b) } if self.is_matrix(*a) && self.is_matrix(*b) => {
                3 * parts(id)
            }
            StmtKind::Let { id, .. } => parts(id),
            StmtKind::Load { id, .. } | StmtKind::Take { id, .. } | StmtKind::StackGet { id, .. } => ACCESS * parts(id),
            StmtKind::Store { value, .. } | StmtKind::StackSet { value, .. } => ACCESS * parts(value),
            StmtKind::Add { value, .. } | StmtKind::Fetch { value, .. } => 2 * ACCESS * parts(value),
            StmtKind::If { then, els, .. } => self.block(then, ints) + self.block(els, ints),
            StmtKind::For { lo, hi, body, .. } => {
                let turns = ints.get(hi).zip(ints.get(lo)).map(|(hi, lo)| (hi - lo).max(0).unsigned_abs());
                turns.unwrap_or(TURNS).saturating_mul(self.block(body, ints))
            }
            StmtKind::Call { .. } => CALL,
        });
        each.fold(0, u64::saturating_add)
    }

    fn is_matrix(&self, id: Id) -> bool {
        matches!(self.ty(id), Ty::Mat(_))
    }
}
