//! Copies of primal statements, without what they write.

use diffkern_ir::{BinaryOp, Block, CallArg, CallMode, Id, Stmt, StmtKind, Ty};

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
                let then = self.replay_block(then);
                let els = self.replay_block(els);
                let results = self.names(results);
                self.b.push(StmtKind::If { cond, then, els, results });
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let (lo, hi, mut init) = (self.val(*lo), self.val(*hi), self.vals(init));
                let stacks = if kept { self.stacks(lo, hi, carried) } else { Vec::new() };
                let index_copy = self.name(*index);
                let mut carried_copy = self.names(carried);
                let live_copy = live.map(|live| self.val(live));
                let outer = self.b.take_stmts();
                if !stacks.is_empty() {
                    let at = self.slot(index_copy, lo);
                    for (stack, value) in stacks.iter().zip(&carried_copy) {
                        self.b.push(StmtKind::StackSet { stack: *stack, at, value: *value });
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
                    self.tapes.insert(*index, Tape { stacks, end });
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
            StmtKind::Store { .. } | StmtKind::Add { .. } | StmtKind::Fault { .. } => {}
            StmtKind::Take { .. }
            | StmtKind::StackNew { .. }
            | StmtKind::StackSet { .. }
            | StmtKind::StackGet { .. } => unreachable!("the primal of an adjoint comes from source"),
        }
    }

    fn replay_block(&mut self, block: &Block) -> Block {
        let outer = self.b.take_stmts();
        self.replay(&block.stmts, false);
        let yields = self.vals(&block.yields);
        Block { stmts: std::mem::replace(&mut self.b.stmts, outer), yields }
    }

    /// One stack per carried value, with a slot per turn.
    fn stacks(&mut self, lo: Id, hi: Id, carried: &[Id]) -> Vec<u32> {
        let ty = self.b.ty(lo);
        let runs = self.b.binary(BinaryOp::Lt, lo, hi);
        let turns = self.b.sub(hi, lo);
        let none = self.b.int(ty, 0);
        let turns = self.b.select(runs, turns, none);
        let len = self.b.cast(turns, Ty::Usize);
        carried
            .iter()
            .map(|value| {
                let stack = self.b.func.stacks;
                self.b.func.stacks += 1;
                self.b.push(StmtKind::StackNew { stack, ty: self.primal.ty(*value), len });
                stack
            })
            .collect()
    }

    /// The slot of the turn with this index.
    pub fn slot(&mut self, index: Id, lo: Id) -> Id {
        let turn = self.b.sub(index, lo);
        self.b.cast(turn, Ty::Usize)
    }
}
