//! Which stacks are filled by loops that may end early. Their slots are few beside what the bound allows, so on the CPU
//! they grow turn by turn: setting all of them aside would cost the bound each time.

use std::collections::HashSet;

use diffkern_ir::{Func, StmtKind};

/// The stacks of `func` that are filled from slot 0 on by a loop that may end early.
pub fn growing(func: &Func) -> HashSet<u32> {
    let mut found = HashSet::new();
    func.body.each(&mut |stmt| {
        if let StmtKind::For { live: Some(_), body, .. } = &stmt.kind {
            found.extend(body.stmts.iter().filter_map(|stmt| match stmt.kind {
                StmtKind::StackSet { stack, .. } => Some(stack),
                _ => None,
            }));
        }
    });
    found
}
