//! How a generated function touches its arrays.

use crate::activity::is_real_array;
use crate::ir::{Access, Block, CallArg, CallMode, Func, ParamKind, Slot, StmtKind};

/// Sets the access of every array parameter to what the body does with it.
pub fn set_access(func: &mut Func) {
    let mut found = vec![Access::Unused; func.params.len()];
    scan(func, &func.body, &mut found);
    for (param, found) in func.params.iter_mut().zip(found) {
        if let ParamKind::Array { access, .. } = &mut param.kind {
            *access = found;
        }
    }
}

fn scan(func: &Func, block: &Block, found: &mut [Access]) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Load { array, .. } => touch(found, *array, Access::Read),
            StmtKind::Store { array, .. } => touch(found, *array, Access::Store),
            StmtKind::Add { array, .. } => touch(found, *array, Access::Add),
            StmtKind::Take { array, .. } => touch(found, *array, Access::Take),
            StmtKind::If { then, els, .. } => {
                scan(func, then, found);
                scan(func, els, found);
            }
            StmtKind::For { body, .. } => scan(func, body, found),
            StmtKind::Call { mode, args, .. } => {
                let arrays = array_args(args);
                let (read, bars) = arrays.split_at(match mode {
                    CallMode::Vjp => primal_arrays(func, &arrays),
                    CallMode::Primal | CallMode::Replay | CallMode::Jvp => arrays.len(),
                });
                for slot in read {
                    touch(found, *slot, Access::Read);
                }
                for slot in bars {
                    touch(found, *slot, Access::Add);
                }
            }
            StmtKind::Let { .. }
            | StmtKind::StackNew { .. }
            | StmtKind::StackSet { .. }
            | StmtKind::StackGet { .. }
            | StmtKind::Fault { .. } => {}
        }
    }
}

fn touch(found: &mut [Access], slot: Slot, access: Access) {
    found[slot] = found[slot].and(access);
}

fn array_args(args: &[CallArg]) -> Vec<Slot> {
    args.iter()
        .filter_map(|arg| match arg {
            CallArg::Array(slot) => Some(*slot),
            CallArg::Value(_) => None,
        })
        .collect()
}

/// How many of the arrays of a `Vjp` call are the primal's; the rest is one bar for each of these that is real.
fn primal_arrays(func: &Func, arrays: &[Slot]) -> usize {
    let mut total = 0;
    for (k, slot) in arrays.iter().enumerate() {
        if total == arrays.len() {
            return k;
        }
        total += 1 + usize::from(is_real_array(func, *slot));
    }
    arrays.len()
}
