//! How much work a position is: a rough number, from the text alone, so that what depends on it is alike on every
//! machine.

use std::collections::HashMap;

use crate::{Block, Func, Id, Lit, Op, StmtKind};

/// Iterations of a loop whose number the source does not say.
const ITERATIONS: u64 = 8;

/// Operations of a device function, which is compiled elsewhere.
const CALL: u64 = 50;

/// Operations that an access to memory counts for, by component.
const ACCESS: u64 = 2;

/// Operations on scalars for one position, more or less.
pub fn work(func: &Func) -> u32 {
    let mut ints = HashMap::new();
    func.body.each(&mut |stmt| {
        if let StmtKind::Let { id, op: Op::Const(Lit::Int(value)) } = stmt.kind {
            ints.insert(id, value);
        }
    });
    u32::try_from(block(func, &func.body, &ints)).unwrap_or(u32::MAX)
}

/// Work of each scalar of the result.
fn cost(op: &Op) -> u64 {
    match op {
        Op::Const(_) => 0,
        Op::Unary(op, _) => op.cost(),
        Op::Binary(op, ..) => op.cost(),
        Op::Builtin(_)
        | Op::Len(_)
        | Op::Select(..)
        | Op::Cast(_)
        | Op::Compose(_)
        | Op::Extract(..)
        | Op::Insert(..) => 1,
    }
}

fn block(func: &Func, of: &Block, ints: &HashMap<Id, i64>) -> u64 {
    let parts = |id: &Id| func.ty(*id).components() as u64;
    let each = of.stmts.iter().map(|stmt| match &stmt.kind {
        StmtKind::Fault { .. } | StmtKind::StackNew { .. } => 0,
        StmtKind::Let { id, op } => cost(op) * parts(id),
        StmtKind::Load { id, .. } | StmtKind::Take { id, .. } | StmtKind::StackGet { id, .. } => ACCESS * parts(id),
        StmtKind::Store { value, .. } | StmtKind::StackSet { value, .. } => ACCESS * parts(value),
        StmtKind::Add { value, .. } | StmtKind::Fetch { value, .. } => 2 * ACCESS * parts(value),
        StmtKind::If { then, els, .. } => block(func, then, ints) + block(func, els, ints),
        StmtKind::For { lo, hi, body, .. } => {
            let known = ints.get(hi).zip(ints.get(lo)).map(|(hi, lo)| (hi - lo).max(0).unsigned_abs());
            known.unwrap_or(ITERATIONS).saturating_mul(block(func, body, ints))
        }
        StmtKind::Call { .. } => CALL,
    });
    each.fold(0, u64::saturating_add)
}
