//! Copies of primal statements, without what they write.

use diffkern_ir::{BinaryOp, Block, CallArg, CallMode, Id, StackKind, Stmt, StmtKind, Ty};

use super::{Adjoint, Tape};

impl Adjoint<'_> {
    /// `kept`: the block is reversed after this, so its own loops (not those inside its branches and loops, which
    /// are replayed again) keep what their turns start from.
    pub fn replay(&mut self, stmts: &[Stmt], kept: bool) {
        for stmt in stmts {
            self.b.node = stmt.node;
            self.replay_one(&stmt.kind, kept);
        }
    }

    pub fn name(&mut self, id: Id) -> Id {
        let copy = if self.renames { self.b.fresh(self.primal.ty(id)) } else { id };
        self.b.func.name_after(copy, id, "");
        self.copy[id.0 as usize] = copy;
        copy
    }

    fn names(&mut self, ids: &[Id]) -> Vec<Id> {
        ids.iter().map(|id| self.name(*id)).collect()
    }

    fn vals(&self, ids: &[Id]) -> Vec<Id> {
        ids.iter().map(|id| self.val(*id)).collect()
    }

    fn replay_one(&mut self, kind: &StmtKind, kept: bool) {
        match kind {
            StmtKind::Let { id, op } => {
                let op = op.map(|x| self.val(x));
                let id = self.name(*id);
                self.b.push(StmtKind::Let { id, op });
            }
            StmtKind::Load { id, array, index } => {
                let index = self.val(*index);
                let id = self.name(*id);
                self.b.push(StmtKind::Load { id, array: *array, index });
            }
            StmtKind::Fetch { id, array, index, value, .. } => {
                let (index, value) = (self.val(*index), self.val(*value));
                let id = self.name(*id);
                self.b.push(StmtKind::Fetch { id, array: *array, index, value, again: true });
            }
            StmtKind::If { cond, then, els, results } => {
                let cond = self.val(*cond);
                let logs = kept.then(|| self.begin_logs(&[then, els]));
                let then = self.replay_block(then);
                let els = self.replay_block(els);
                let results = self.names(results);
                self.b.push(StmtKind::If { cond, then, els, results });
                logs.into_iter().for_each(|logs| self.end_logs(logs));
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let (lo, hi, mut init) = (self.val(*lo), self.val(*hi), self.vals(init));
                let logs = if kept { self.begin_logs(&[body]) } else { Vec::new() };
                let (stacks, tops) = if kept { self.stacks(lo, hi, carried, logs.len()) } else { Default::default() };
                let index_copy = self.name(*index);
                let mut carried_copy = self.names(carried);
                let live_copy = live.map(|live| self.val(live));
                let outer = self.b.take_stmts();
                if !stacks.is_empty() || !tops.is_empty() {
                    let at = self.slot(index_copy, lo);
                    for (stack, value) in stacks.iter().zip(&carried_copy) {
                        self.set_slot(*stack, at, *value);
                    }
                    for (stack, log) in tops.iter().zip(&logs) {
                        let top = self.top(*log);
                        self.set_slot(*stack, at, top);
                    }
                }
                self.replay(&body.stmts, false);
                let mut yields = self.vals(&body.yields);
                let counted = kept && live.is_some();
                let ty = self.b.ty(lo);
                if counted {
                    let one = self.b.int(ty, 1);
                    yields.push(self.b.add(index_copy, one));
                    carried_copy.push(self.b.fresh(ty));
                    init.push(lo);
                }
                let stmts = std::mem::replace(&mut self.b.stmts, outer);
                let mut results = self.names(results);
                let end = counted.then(|| self.b.fresh(ty));
                results.extend(end);
                let body = Block { stmts, yields };
                let (index_id, carried, live) = (index_copy, carried_copy, live_copy);
                self.b.push(StmtKind::For { index: index_id, lo, hi, carried, init, live, body, results });
                if kept {
                    // The bound says to a GPU how much an inner loop may need.
                    let end = end.map(|end| self.b.binary(BinaryOp::Min, end, hi));
                    self.tapes.insert(*index, Tape { stacks, tops, end });
                    self.end_logs(logs);
                }
            }
            StmtKind::Call { callee, args, results, .. } => {
                let args = args
                    .iter()
                    .map(|arg| match arg {
                        CallArg::Value(id) => CallArg::Value(self.val(*id)),
                        array => *array,
                    })
                    .collect();
                let results = self.names(results);
                self.b.push(StmtKind::Call { callee: *callee, mode: CallMode::Replay, args, results });
            }
            StmtKind::StackNew { stack, ty, len, kind } => {
                let (stack, ty, len, kind) = (*stack, *ty, self.val(*len), *kind);
                self.b.push(StmtKind::StackNew { stack, ty, len, kind });
                if kept {
                    self.begin_memory(stack, ty, len);
                }
            }
            StmtKind::StackSet { stack, at, value } => {
                let (at, value) = (self.val(*at), self.val(*value));
                self.replay_store(*stack, at, value, kept);
            }
            StmtKind::StackGet { id, stack, at } => {
                let at = self.val(*at);
                let id = self.name(*id);
                self.b.push(StmtKind::StackGet { id, stack: *stack, at });
            }
            StmtKind::Store { .. } | StmtKind::Add { .. } | StmtKind::Fault { .. } => {}
            StmtKind::Take { .. } => unreachable!("the primal of an adjoint comes from source"),
        }
    }

    fn replay_block(&mut self, block: &Block) -> Block {
        let outer = self.b.take_stmts();
        self.replay(&block.stmts, false);
        let yields = self.vals(&block.yields);
        Block { stmts: std::mem::replace(&mut self.b.stmts, outer), yields }
    }

    /// One stack per carried value and one per log, with a slot per turn.
    fn stacks(&mut self, lo: Id, hi: Id, carried: &[Id], logs: usize) -> (Vec<u32>, Vec<u32>) {
        let ty = self.b.ty(lo);
        let runs = self.b.binary(BinaryOp::Lt, lo, hi);
        let turns = self.b.sub(hi, lo);
        let none = self.b.int(ty, 0);
        let turns = self.b.select(runs, turns, none);
        let len = self.b.cast(turns, Ty::Usize);
        let values =
            carried.iter().map(|value| self.new_stack(self.primal.ty(*value), len, StackKind::Turns)).collect();
        let tops = (0..logs).map(|_| self.new_stack(Ty::Usize, len, StackKind::Turns)).collect();
        (values, tops)
    }

    /// The slot of the turn with this index.
    pub fn slot(&mut self, index: Id, lo: Id) -> Id {
        let turn = self.b.sub(index, lo);
        self.b.cast(turn, Ty::Usize)
    }
}
