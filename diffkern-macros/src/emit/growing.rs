//! Which stacks grow slot by slot on the CPU.

use std::collections::HashSet;

use diffkern_ir::{Func, StackKind, StmtKind};

/// The stacks of `func` that are filled from slot 0 on by a loop that may end early. Their slots are few beside what the bound
/// allows: setting all of them aside would cost the bound each time.
pub fn growing(func: &Func) -> HashSet<u32> {
    let turns = func.stacks_of(StackKind::Turns);
    let mut found = HashSet::new();
    func.body.each(&mut |stmt| {
        if let StmtKind::For { live: Some(_), body, .. } = &stmt.kind {
            found.extend(body.stmts.iter().filter_map(|stmt| match stmt.kind {
                StmtKind::StackSet { stack, .. } if turns.contains(&stack) => Some(stack),
                _ => None,
            }));
        }
    });
    found
}

/// The stacks that grow where positions run one by one: those and logs.
pub fn growing_or_logs(func: &Func) -> HashSet<u32> {
    growing(func).into_iter().chain(func.stacks_of(StackKind::Log)).collect()
}
