//! Which stacks are filled by loops that may end early. Their slots are few beside what the bound allows, so on the CPU
//! they grow turn by turn: setting all of them aside would cost the bound each time.

use std::collections::HashSet;

use crate::ir::{Block, Func, StmtKind};

/// The stacks of `func` that are filled from slot 0 on by a loop that may end early.
pub fn growing(func: &Func) -> HashSet<u32> {
    let mut found = HashSet::new();
    find(&func.body, &mut found);
    found
}

fn find(block: &Block, found: &mut HashSet<u32>) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::If { then, els, .. } => {
                find(then, found);
                find(els, found);
            }
            StmtKind::For { live, body, .. } => {
                if live.is_some() {
                    found.extend(body.stmts.iter().filter_map(|stmt| match stmt.kind {
                        StmtKind::StackSet { stack, .. } => Some(stack),
                        _ => None,
                    }));
                }
                find(body, found);
            }
            _ => {}
        }
    }
}
