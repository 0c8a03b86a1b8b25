//! Local arrays in memory, back through their stores.
//!
//! An array of adjoints stands beside each. A block that is replayed and then reversed reads at each of its stores what the slot
//! held before, and the reverse of the store puts that back: so each statement is reversed with the array as it was. What a loop
//! or a branch stores goes to a log, the slot and what it held, by which the array is led back to where a turn or the branch
//! began, to be replayed from there.
//!
//! ```text
//! a[i] = x                    old = a[i]; a[i] = x
//!    in a loop                log_at[top] = i; log_old[top] = a[i]; top += 1; a[i] = x
//! y = a[i]      back          a_bar[i] += y_bar
//! a[i] = x      back          x_bar += a_bar[i]; a_bar[i] = 0; a[i] = old
//!    a turn of a loop         until top is what it was: top -= 1; a[log_at[top]] = log_old[top]
//! ```

use diffkern_ir::{Block, Id, StackKind, StmtKind, Ty};

use super::Adjoint;

/// An array that may be stored to here.
pub(super) struct Memory {
    ty: Ty,
    /// The stack of its adjoints, if it has real elements.
    bars: Option<u32>,
    /// Where replays note their stores.
    log: Option<Log>,
}

/// The stores of a loop or a branch to an array: stacks of the slots and of what these held, and their number in a slot.
#[derive(Clone, Copy)]
pub(super) struct Log {
    array: u32,
    at: u32,
    old: u32,
    top: u32,
}

/// What a statement that was replayed left for its reverse.
pub(super) enum Undo {
    /// What the slot of a store held.
    Store(Id),
    /// The logs of a loop or a branch.
    Logs(Vec<Log>),
}

impl Adjoint<'_> {
    pub(super) fn new_stack(&mut self, ty: Ty, len: Id, kind: StackKind) -> u32 {
        let stack = self.b.func.stacks;
        self.b.func.stacks += 1;
        self.b.push(StmtKind::StackNew { stack, ty, len, kind });
        stack
    }

    pub(super) fn get_slot(&mut self, stack: u32, ty: Ty, at: Id) -> Id {
        let id = self.b.fresh(ty);
        self.b.push(StmtKind::StackGet { id, stack, at });
        id
    }

    pub(super) fn set_slot(&mut self, stack: u32, at: Id, value: Id) {
        self.b.push(StmtKind::StackSet { stack, at, value });
    }

    /// The array `stack` is made, in a block that is reversed after this.
    pub(super) fn begin_memory(&mut self, stack: u32, ty: Ty, len: Id) {
        let bars = ty.is_real().then(|| self.new_stack(ty, len, StackKind::Array));
        self.memory.insert(stack, Memory { ty, bars, log: None });
    }

    pub(super) fn replay_store(&mut self, stack: u32, at: Id, value: Id, kept: bool) {
        if let Some(&Memory { ty, log, .. }) = self.memory.get(&stack) {
            if kept {
                let old = self.get_slot(stack, ty, at);
                self.undo.push(Undo::Store(old));
            } else if let Some(log) = log {
                let old = self.get_slot(stack, ty, at);
                let top = self.top(log);
                self.set_slot(log.at, top, at);
                self.set_slot(log.old, top, old);
                let one = self.b.int(Ty::Usize, 1);
                let next = self.b.add(top, one);
                self.set_top(log, next);
            }
        }
        self.set_slot(stack, at, value);
    }

    /// Logs for what these blocks store to arrays that are there before them.
    pub(super) fn begin_logs(&mut self, blocks: &[&Block]) -> Vec<Log> {
        let mut arrays = Vec::new();
        for block in blocks {
            block.each(&mut |stmt| match stmt.kind {
                StmtKind::StackSet { stack, .. } if self.memory.contains_key(&stack) && !arrays.contains(&stack) => {
                    arrays.push(stack);
                }
                _ => {}
            });
        }
        let mut logs = Vec::new();
        for array in arrays {
            let ty = self.memory[&array].ty;
            let (none, one) = (self.b.int(Ty::Usize, 0), self.b.int(Ty::Usize, 1));
            let at = self.new_stack(Ty::Usize, none, StackKind::Log);
            let old = self.new_stack(ty, none, StackKind::Log);
            let top = self.new_stack(Ty::Usize, one, StackKind::Array);
            logs.push(Log { array, at, old, top });
        }
        self.set_logs(&logs, true);
        logs
    }

    pub(super) fn end_logs(&mut self, logs: Vec<Log>) {
        self.set_logs(&logs, false);
        self.undo.push(Undo::Logs(logs));
    }

    fn set_logs(&mut self, logs: &[Log], on: bool) {
        for log in logs {
            if let Some(memory) = self.memory.get_mut(&log.array) {
                memory.log = on.then_some(*log);
            }
        }
    }

    /// Those of the loop or branch that is reversed next.
    pub(super) fn take_logs(&mut self) -> Vec<Log> {
        match self.undo.pop() {
            Some(Undo::Logs(logs)) => logs,
            Some(Undo::Store(_)) | None => unreachable!("statements are reversed from the last that was replayed"),
        }
    }

    /// The number of stores noted.
    pub(super) fn top(&mut self, log: Log) -> Id {
        let at = self.b.int(Ty::Usize, 0);
        self.get_slot(log.top, Ty::Usize, at)
    }

    fn set_top(&mut self, log: Log, top: Id) {
        let at = self.b.int(Ty::Usize, 0);
        self.set_slot(log.top, at, top);
    }

    /// Leads an array back to where `to` stores were noted.
    pub(super) fn go_back(&mut self, log: Log, to: Id) {
        let ty = self.memory[&log.array].ty;
        let top = self.top(log);
        let index = self.b.fresh(Ty::Usize);
        let outer = self.b.take_stmts();
        let one = self.b.int(Ty::Usize, 1);
        let last = self.b.sub(top, one);
        let back = self.b.sub(index, to);
        let entry = self.b.sub(last, back);
        let at = self.get_slot(log.at, Ty::Usize, entry);
        let old = self.get_slot(log.old, ty, entry);
        self.set_slot(log.array, at, old);
        let body = Block { stmts: std::mem::replace(&mut self.b.stmts, outer), yields: Vec::new() };
        let (carried, init, results) = (Vec::new(), Vec::new(), Vec::new());
        self.b.push(StmtKind::For { index, lo: to, hi: top, carried, init, live: None, body, results });
        self.set_top(log, to);
    }

    /// To where a branch began.
    pub(super) fn go_back_all(&mut self) {
        for log in self.take_logs() {
            let none = self.b.int(Ty::Usize, 0);
            self.go_back(log, none);
        }
    }

    pub(super) fn reverse_get(&mut self, id: Id, stack: u32, at: Id) {
        if let (Some(bars), Some(bar)) = (self.memory[&stack].bars, self.take_bar(id)) {
            let (ty, at) = (self.primal.ty(id), self.val(at));
            let before = self.get_slot(bars, ty, at);
            let sum = self.b.add(before, bar);
            self.set_slot(bars, at, sum);
        }
    }

    pub(super) fn reverse_store(&mut self, stack: u32, at: Id, value: Id) {
        let Some(Undo::Store(old)) = self.undo.pop() else {
            unreachable!("statements are reversed from the last that was replayed");
        };
        let (ty, at) = (self.primal.ty(value), self.val(at));
        if let Some(bars) = self.memory[&stack].bars {
            let bar = self.get_slot(bars, ty, at);
            let zero = self.b.zero(ty);
            self.set_slot(bars, at, zero);
            self.add_bar(value, bar);
        }
        self.set_slot(stack, at, old);
    }
}
