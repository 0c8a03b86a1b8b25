//! Removal of statements, results, carried values and stacks that no effect and no result depends on.

use diffkern_ir::{Block, CallArg, CallMode, Func, Id, StmtKind};

use crate::activity::is_real_array;

pub fn remove(func: &mut Func) {
    let mut body = std::mem::take(&mut func.body);
    let mut live =
        Live { values: vec![false; func.types.len()], stacks: vec![false; func.stacks as usize], func, changed: false };
    live.set_all(&body.yields);
    loop {
        live.changed = false;
        live.mark(&body);
        if !live.changed {
            break;
        }
    }
    live.prune(&mut body);
    let kept = live.stacks;
    renumber(&mut body, &stack_names(&kept));
    func.stacks = kept.iter().filter(|live| **live).count() as u32;
    func.body = body;
}

struct Live<'a> {
    func: &'a Func,
    values: Vec<bool>,
    stacks: Vec<bool>,
    changed: bool,
}

impl Live<'_> {
    fn get(&self, id: Id) -> bool {
        self.values[id.0 as usize]
    }

    fn any(&self, ids: &[Id]) -> bool {
        ids.iter().any(|id| self.get(*id))
    }

    fn set(&mut self, id: Id) {
        let flag = &mut self.values[id.0 as usize];
        self.changed |= !*flag;
        *flag = true;
    }

    fn set_all(&mut self, ids: &[Id]) {
        for id in ids {
            self.set(*id);
        }
    }

    /// A vector-Jacobian product, and its tangent, adds to the bar arrays among its arguments.
    fn writes(&self, mode: CallMode, args: &[CallArg]) -> bool {
        mode.accumulates()
            && args.iter().any(|arg| matches!(arg, CallArg::Array(slot) if is_real_array(self.func, *slot)))
    }

    /// Marks what the live statements of the block read; says whether there is any.
    fn mark(&mut self, block: &Block) -> bool {
        let mut any = false;
        for stmt in block.stmts.iter().rev() {
            any |= self.mark_one(&stmt.kind);
        }
        any
    }

    fn mark_one(&mut self, kind: &StmtKind) -> bool {
        match kind {
            StmtKind::Let { id, op } => {
                if self.get(*id) {
                    self.set_all(&op.operands());
                }
                self.get(*id)
            }
            StmtKind::Load { id, index, .. } => {
                if self.get(*id) {
                    self.set(*index);
                }
                self.get(*id)
            }
            StmtKind::Store { index, value, .. } | StmtKind::Add { index, value, .. } => {
                self.set_all(&[*index, *value]);
                true
            }
            StmtKind::Take { index, .. } => {
                self.set(*index);
                true
            }
            StmtKind::If { cond, then, els, results } => {
                for (k, result) in results.iter().enumerate() {
                    if self.get(*result) {
                        self.set_all(&[then.yields[k], els.yields[k]]);
                    }
                }
                let inside = self.mark(els) | self.mark(then);
                let any = inside || self.any(results);
                if any {
                    self.set(*cond);
                }
                any
            }
            StmtKind::For { lo, hi, carried, init, live, body, results, .. } => {
                let inside = self.mark(body);
                for k in 0..carried.len() {
                    if self.get(carried[k]) || self.get(results[k]) {
                        self.set_all(&[init[k], body.yields[k]]);
                    }
                }
                let any = inside || self.any(carried) || self.any(results);
                if any {
                    self.set_all(&[*lo, *hi]);
                    live.iter().for_each(|live| self.set(*live));
                }
                any
            }
            StmtKind::Fetch { id, index, value, again, .. } => {
                let any = !again || self.get(*id);
                if any {
                    self.set_all(&[*index, *value]);
                }
                any
            }
            StmtKind::Fault { cond, what } => {
                self.set_all(&[*cond, what.id()]);
                true
            }
            StmtKind::StackNew { stack, len: id, .. } => {
                if self.stacks[*stack as usize] {
                    self.set(*id);
                }
                self.stacks[*stack as usize]
            }
            StmtKind::StackSet { stack, at, value } => {
                if self.stacks[*stack as usize] {
                    self.set_all(&[*at, *value]);
                }
                self.stacks[*stack as usize]
            }
            StmtKind::StackGet { id, stack, at } => {
                if self.get(*id) {
                    self.changed |= !self.stacks[*stack as usize];
                    self.stacks[*stack as usize] = true;
                    self.set(*at);
                }
                self.get(*id)
            }
            StmtKind::Call { mode, args, results, .. } => {
                let any = self.any(results) || self.writes(*mode, args);
                if any {
                    for arg in args {
                        if let CallArg::Value(id) = arg {
                            self.set(*id);
                        }
                    }
                }
                any
            }
        }
    }

    fn prune(&self, block: &mut Block) {
        block.stmts.retain_mut(|stmt| match &mut stmt.kind {
            StmtKind::Let { id, .. } | StmtKind::Load { id, .. } | StmtKind::StackGet { id, .. } => self.get(*id),
            StmtKind::Store { .. } | StmtKind::Add { .. } | StmtKind::Take { .. } | StmtKind::Fault { .. } => true,
            StmtKind::Fetch { id, again, .. } => !*again || self.get(*id),
            StmtKind::StackNew { stack, .. } | StmtKind::StackSet { stack, .. } => self.stacks[*stack as usize],
            StmtKind::Call { mode, args, results, .. } => self.any(results) || self.writes(*mode, args),
            StmtKind::If { then, els, results, .. } => {
                let keep: Vec<bool> = results.iter().map(|id| self.get(*id)).collect();
                retain(&mut then.yields, &keep);
                retain(&mut els.yields, &keep);
                retain(results, &keep);
                self.prune(then);
                self.prune(els);
                !(then.stmts.is_empty() && els.stmts.is_empty() && results.is_empty())
            }
            StmtKind::For { carried, init, body, results, .. } => {
                let keep: Vec<bool> =
                    carried.iter().zip(&*results).map(|(c, r)| self.get(*c) || self.get(*r)).collect();
                retain(&mut body.yields, &keep);
                retain(init, &keep);
                retain(carried, &keep);
                retain(results, &keep);
                self.prune(body);
                !(body.stmts.is_empty() && results.is_empty())
            }
        });
    }
}

fn retain(ids: &mut Vec<Id>, keep: &[bool]) {
    let mut k = 0;
    ids.retain(|_| {
        k += 1;
        keep[k - 1]
    });
}

fn stack_names(kept: &[bool]) -> Vec<u32> {
    let mut next = 0;
    kept.iter()
        .map(|live| {
            let name = next;
            next += u32::from(*live);
            name
        })
        .collect()
}

fn renumber(block: &mut Block, names: &[u32]) {
    block.each_mut(&mut |stmt| match &mut stmt.kind {
        StmtKind::StackNew { stack, .. } | StmtKind::StackSet { stack, .. } | StmtKind::StackGet { stack, .. } => {
            *stack = names[*stack as usize];
        }
        _ => {}
    });
}
