//! How a generated function touches its arrays.

use diffkern_ir::{Access, Block, CallArg, CallMode, Func, FuncKind, ParamKind, Slot, StmtKind};

use crate::activity::is_real_array;

/// Sets the access of every array parameter to what the body does with it. The callers of a device function let it add
/// to the parameters in `bars`, whether it does so or not.
pub fn set_access(func: &mut Func, bars: &[Slot]) {
    let mut found = vec![Access::Unused; func.params.len()];
    if func.kind == FuncKind::DiffFn {
        bars.iter().for_each(|slot| found[*slot] = Access::Add);
    }
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
            StmtKind::Fetch { array, .. } => touch(found, *array, Access::Fetch),
            StmtKind::If { then, els, .. } => {
                scan(func, then, found);
                scan(func, els, found);
            }
            StmtKind::For { body, .. } => scan(func, body, found),
            StmtKind::Call { mode, args, .. } => {
                let arrays = array_args(args);
                for (slot, adds) in arrays.iter().zip(added(func, *mode, &arrays)) {
                    touch(found, *slot, if adds { Access::Add } else { Access::Read });
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

/// Which of the arrays of a call it adds to. Those of a `Vjp` are the primal's, then one bar for each of these that is
/// real; those of its tangent go on with a dot of each of the primal's that is real and a dot of each bar.
fn added(func: &Func, mode: CallMode, arrays: &[Slot]) -> Vec<bool> {
    let per_real = match mode {
        CallMode::Primal | CallMode::Replay | CallMode::Jvp => return vec![false; arrays.len()],
        CallMode::Vjp => 1,
        CallMode::Second => 3,
    };
    let (mut primal, mut real, mut total) = (0, 0, 0);
    while total < arrays.len() {
        let is_real = usize::from(is_real_array(func, arrays[primal]));
        (primal, real, total) = (primal + 1, real + is_real, total + 1 + per_real * is_real);
    }
    (0..arrays.len()).map(|k| (primal..primal + real).contains(&k) || k >= primal + 2 * real).collect()
}
