//! Reverses of single statements.

use diffkern_ir::{BinaryOp, Block, CallArg, CallMode, Id, Op, Stmt, StmtKind, Ty};

use super::Adjoint;
use super::bars::Bar;
use crate::rules::{BinaryRule, UnaryRule, binary, unary};
use crate::terms::product_terms;

impl Adjoint<'_> {
    pub fn reverse(&mut self, stmts: &[Stmt]) {
        for stmt in stmts.iter().rev() {
            self.b.node = stmt.node;
            self.reverse_one(&stmt.kind);
        }
    }

    fn reverse_one(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let { id, op } => self.reverse_op(*id, op),
            StmtKind::Load { id, array, index } => {
                if let (Some(value), Some(bar)) = (self.take_bar(*id), self.bar_slots[*array]) {
                    let index = self.val(*index);
                    self.b.push(StmtKind::Add { array: bar, index, value });
                }
            }
            // What was there before is gone, whatever the value: its adjoint is taken even if the value is constant.
            StmtKind::Store { array, index, value } => {
                if let Some(bar) = self.bar_slots[*array] {
                    let id = self.b.fresh(self.primal.ty(*value));
                    let index = self.val(*index);
                    self.b.push(StmtKind::Take { id, array: bar, index });
                    self.add_bar(*value, id);
                }
            }
            StmtKind::Add { array, index, value } => {
                if let (true, Some(bar)) = (self.is_varied(*value), self.bar_slots[*array]) {
                    let id = self.b.fresh(self.primal.ty(*value));
                    let index = self.val(*index);
                    self.b.push(StmtKind::Load { id, array: bar, index });
                    self.add_bar(*value, id);
                }
            }
            StmtKind::If { cond, then, els, results } => self.reverse_if(*cond, then, els, results),
            StmtKind::For { index, lo, hi, carried, init, body, results, .. } => {
                self.reverse_for(*index, (*lo, *hi), (carried, init, results), body);
            }
            StmtKind::Call { callee, args, results, .. } => self.reverse_call(*callee, args, results),
            StmtKind::StackNew { stack, .. } => {
                self.memory.remove(stack);
            }
            StmtKind::StackSet { stack, at, value } => self.reverse_store(*stack, *at, *value),
            StmtKind::StackGet { id, stack, at } => self.reverse_get(*id, *stack, *at),
            StmtKind::Fault { .. } | StmtKind::Fetch { .. } => {}
            StmtKind::Take { .. } => unreachable!("the primal of an adjoint comes from source"),
        }
    }

    fn reverse_op(&mut self, id: Id, op: &Op) {
        if !self.has_bar(id) {
            return;
        }
        match op {
            Op::Const(_) | Op::Builtin(_) | Op::Len(_) | Op::Cast(_) => {}
            Op::Compose(parts) => {
                let bar = self.take_parts(id);
                for (k, part) in parts.iter().enumerate() {
                    if self.is_varied(*part)
                        && let Some(term) = self.part_of(&bar, k)
                    {
                        self.add_bar(*part, term);
                    }
                }
            }
            Op::Extract(x, k) => {
                if let Some(term) = self.take_bar(id) {
                    self.add_part(*x, *k as usize, term);
                }
            }
            Op::Insert(base, k, part) => {
                let bar = self.take_parts(id);
                if self.is_varied(*part)
                    && let Some(term) = self.part_of(&bar, *k as usize)
                {
                    self.add_bar(*part, term);
                }
                let rest = self.without_part(*base, bar, *k as usize);
                self.add_whole_and_parts(*base, &rest);
            }
            Op::Select(cond, a, b) => {
                let Some(t) = self.take_bar(id) else { return };
                let cond = self.val(*cond);
                let zero = self.b.zero(self.primal.ty(id));
                let (left, right) = (self.b.select(cond, t, zero), self.b.select(cond, zero, t));
                self.add_bar(*a, left);
                self.add_bar(*b, right);
            }
            Op::Unary(op, x) => {
                let Some(t) = self.take_bar(id) else { return };
                let (x_val, y) = (self.val(*x), self.val(id));
                let term = match unary(*op) {
                    UnaryRule::Cut => return,
                    UnaryRule::Linear => self.b.unary(*op, t),
                    UnaryRule::Scalar(row) => {
                        let term = row(&mut self.b, t, x_val, y);
                        self.guard(id, t, term)
                    }
                };
                self.add_bar(*x, term);
            }
            Op::Binary(op, a, c) if self.is_partly_used(id, *op, *a) => {
                let bar = self.take_parts(id);
                self.reverse_product(id, *op, (*a, *c), &bar);
            }
            Op::Binary(op, a, c) => {
                let Some(t) = self.take_bar(id) else { return };
                let (first, second, guarded) = match binary(*op) {
                    BinaryRule::Cut => return,
                    BinaryRule::Linear(f, g) | BinaryRule::Choice(f, g) => (f, g, false),
                    BinaryRule::Scalar(f, g) | BinaryRule::Bilinear(f, g) => (f, g, true),
                };
                let (a_val, c_val, y) = (self.val(*a), self.val(*c), self.val(id));
                for (operand, row) in [(*a, first), (*c, second)] {
                    if self.is_varied(operand) {
                        let mut term = row(&mut self.b, t, a_val, c_val, y);
                        if guarded {
                            term = self.guard(id, t, term);
                        }
                        self.add_bar(operand, term);
                    }
                }
            }
        }
    }

    /// Whether some components of the product `id` may be used and others not.
    fn is_partly_used(&self, id: Id, op: BinaryOp, first: Id) -> bool {
        !self.is_reached(id) && !product_terms(op, self.primal.ty(first)).is_empty()
    }

    /// `term`, or zero where the adjoint `t` of a value that is not always used is zero; see [`crate::reach`].
    fn guard(&mut self, id: Id, t: Id, term: Id) -> Id {
        if self.is_reached(id) {
            return term;
        }
        let used = self.b.nonzero(t);
        let zero = self.b.zero(self.b.ty(term));
        self.b.select(used, term, zero)
    }

    fn reverse_call(&mut self, callee: usize, args: &[CallArg], results: &[Id]) {
        if !results.iter().any(|id| self.has_bar(*id)) {
            return;
        }
        let reached = results.iter().any(|id| self.is_reached(*id));
        let mut call = Vec::new();
        let mut bar_arrays = Vec::new();
        let mut inputs = Vec::new();
        for arg in args {
            match arg {
                CallArg::Value(id) => {
                    call.push(CallArg::Value(self.val(*id)));
                    if self.primal.ty(*id).is_real() {
                        inputs.push(*id);
                    }
                }
                CallArg::Array(slot) => {
                    call.push(*arg);
                    bar_arrays.extend(self.bar_slots[*slot].map(CallArg::Array));
                }
            }
        }
        let mut seeds = Vec::new();
        for id in results.iter().filter(|id| self.primal.ty(**id).is_real()) {
            seeds.push(self.take_bar_or_zero(*id));
        }
        call.extend(seeds.iter().map(|id| CallArg::Value(*id)));
        call.extend(bar_arrays);
        let types: Vec<Ty> = inputs.iter().map(|id| self.primal.ty(*id)).collect();
        let bars: Vec<Id> = types.iter().map(|ty| self.b.fresh(*ty)).collect();
        let kind = StmtKind::Call { callee, mode: CallMode::Vjp, args: call, results: bars.clone() };
        let bars = if reached {
            self.b.push(kind);
            bars
        } else {
            self.call_if_used(kind, bars, &seeds, &types)
        };
        for (input, bar) in inputs.into_iter().zip(bars) {
            self.add_bar(input, bar);
        }
    }

    /// The guard of a call: an `if` around it.
    fn call_if_used(&mut self, call: StmtKind, bars: Vec<Id>, seeds: &[Id], types: &[Ty]) -> Vec<Id> {
        let mut cond = None;
        for seed in seeds {
            let used = self.b.nonzero(*seed);
            cond = Some(match cond {
                None => used,
                Some(cond) => self.b.binary(BinaryOp::Or, cond, used),
            });
        }
        let Some(cond) = cond else { return bars };
        let then = Block { stmts: vec![Stmt { kind: call, node: self.b.node }], yields: bars };
        let outer = self.b.take_stmts();
        let yields = types.iter().map(|ty| self.b.zero(*ty)).collect();
        let els = Block { stmts: std::mem::replace(&mut self.b.stmts, outer), yields };
        let results: Vec<Id> = types.iter().map(|ty| self.b.fresh(*ty)).collect();
        self.b.push(StmtKind::If { cond, then, els, results: results.clone() });
        results
    }

    pub fn restore(&mut self, values: &[Id], bars: &[Bar]) {
        for (id, bar) in values.iter().zip(bars) {
            self.set_bar(*id, bar.clone());
        }
    }
}
