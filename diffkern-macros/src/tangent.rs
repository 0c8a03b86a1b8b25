//! The tangent of a function: a function from IR to IR.
//!
//! Each statement is followed by its tangent, a value that varies with no input has none:
//!
//! ```text
//! %2 = load 0 %1              %2 = load 0 %1      %4 = load 5 %1        (the dot array of slot 0)
//! %3 = mul %2 %2              %3 = mul %2 %2      %5 = mul %4 %2        %6 = add %5 %5
//! store 1 %1 %3                                   store 6 %1 %6
//! ```

use std::collections::HashMap;

use diffkern_ir::{
    BinaryOp, Block, CallArg, CallMode, Func, FuncKind, Id, Op, Param, ParamKind, Slot, Stmt, StmtKind, UnaryOp, verify,
};

use crate::access::set_access;
use crate::activity::{is_real_array, varied};
use crate::adjoint::add_arrays;
use crate::builder::Builder;
use crate::guard;
use crate::rules::{BinaryRule, UnaryRule, binary, unary};
use crate::simplify::simplify;

/// Whether the tangent of each adjoint is made, too.
pub const SECOND_ORDER: bool = cfg!(any(test, feature = "second-order"));

/// The tangent of a kernel or the Jacobian-vector product of a device function, simplified.
///
/// Parameters are those of the primal, then for a device function one scalar for the tangent of each real value parameter,
/// then one dot array for each real array parameter. A kernel writes dot arrays only; a device function returns the
/// results of the primal, then the tangent of each real one.
pub fn tangent(primal: &Func) -> Func {
    finished(transform(primal, Writes::Tangents).0, &[])
}

/// The kernel and its tangent in one, with the slot of the dot array of each real array: what the kernel does stays as it
/// is, statement by statement. Not simplified.
pub fn joined(primal: &Func) -> (Func, Vec<Option<Slot>>) {
    transform(primal, Writes::Joined)
}

/// The adjoint and its tangent in one: what a Hessian-vector product runs. Forward over reverse.
///
/// `adjoint` is a [`crate::adjoint::adjoint`]. Parameters and results are those of its tangent; but while a
/// tangent leaves the arrays of its primal alone, this one writes the bars as well as their dots. It has to: a thread
/// that stores to one element twice takes a bar twice, and the second time it is zero.
pub fn second(adjoint: &Func) -> Func {
    let real = (0..adjoint.params.len()).filter(|slot| is_real_array(adjoint, *slot)).count();
    let bars = adjoint.params.len() - real / 2;
    let bars: Vec<Slot> = (bars..adjoint.params.len()).collect();
    let (func, dots) = transform(adjoint, Writes::Both);
    let dots = bars.iter().filter_map(|slot| dots[*slot]);
    let bars: Vec<Slot> = bars.iter().copied().chain(dots).collect();
    guard::lower(finished(func, &bars))
}

/// What a derivative writes beside the tangents.
#[derive(Clone, Copy, PartialEq)]
enum Writes {
    Tangents,
    /// What its primal writes, too.
    Both,
    /// All that its primal does: it runs in place of the two.
    Joined,
}

/// Simplified. `bars`: the arrays that a caller lets it add to.
fn finished(mut func: Func, bars: &[Slot]) -> Func {
    set_access(&mut func, bars);
    simplify(&mut func);
    set_access(&mut func, bars);
    debug_assert_eq!(verify(&func), Ok(()));
    func
}

/// The derivative, and by slot of the primal the slots of the dot arrays.
fn transform(primal: &Func, writes: Writes) -> (Func, Vec<Option<Slot>>) {
    let mut func = Func { body: Block::default(), ..primal.clone() };
    let mut dots = vec![None; primal.types.len()];
    if primal.kind == FuncKind::DiffFn {
        for param in &primal.params {
            if let ParamKind::Scalar { id, .. } = param.kind
                && primal.ty(id).is_real()
            {
                let dot = func.fresh(primal.ty(id));
                dots[id.0 as usize] = Some(dot);
                let kind = ParamKind::Scalar { id: dot, comptime: false };
                let name = format!("{}_dot", param.name);
                func.names.insert(dot, name.clone());
                func.params.push(Param { name, kind });
            }
        }
    }
    let dot_slots = add_arrays(&mut func, primal, "dot");
    let b = Builder::new(func);
    let (varied, dot_stacks, wide) = (varied(primal), HashMap::new(), HashMap::new());
    let mut state = Tangent { primal, b, writes, dots, varied, dot_slots, dot_stacks, wide };
    state.stmts(&primal.body.stmts);
    let mut yields = primal.body.yields.clone();
    for result in &primal.body.yields {
        if primal.ty(*result).is_real() {
            yields.push(state.dot_or_zero(*result));
        }
    }
    let mut func = state.b.func;
    func.body = Block { stmts: state.b.stmts, yields };
    (func, state.dot_slots)
}

struct Tangent<'a> {
    primal: &'a Func,
    b: Builder,
    writes: Writes,
    /// The tangent of each value; absent while it is zero.
    dots: Vec<Option<Id>>,
    varied: Vec<bool>,
    dot_slots: Vec<Option<Slot>>,
    dot_stacks: HashMap<u32, u32>,
    /// The guards, by what they test, as tests of the tangent.
    wide: HashMap<Id, Id>,
}

impl Tangent<'_> {
    fn dot(&self, id: Id) -> Option<Id> {
        self.dots[id.0 as usize]
    }

    fn dot_or_zero(&mut self, id: Id) -> Id {
        match self.dot(id) {
            Some(dot) => dot,
            None => self.b.zero(self.primal.ty(id)),
        }
    }

    fn set_dot(&mut self, id: Id, dot: Option<Id>) {
        self.dots[id.0 as usize] = dot;
        if let Some(dot) = dot {
            self.b.func.name_after(dot, id, "_dot");
        }
    }

    fn fresh_dot(&mut self, id: Id) -> Id {
        let dot = self.b.fresh(self.primal.ty(id));
        self.set_dot(id, Some(dot));
        dot
    }

    fn is_varied(&self, id: Id) -> bool {
        self.varied[id.0 as usize]
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.b.node = stmt.node;
            self.stmt(&stmt.kind);
        }
    }

    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let { id, op } => {
                self.b.push(kind.clone());
                self.widen(*id, op);
                if self.is_varied(*id) {
                    let dot = self.op(*id, op);
                    self.set_dot(*id, dot);
                }
            }
            StmtKind::Load { id, array, index } => {
                self.b.push(kind.clone());
                if let Some(array) = self.dot_slots[*array] {
                    let id = self.fresh_dot(*id);
                    self.b.push(StmtKind::Load { id, array, index: *index });
                }
            }
            StmtKind::Take { id, array, index } => {
                self.b.push(match self.writes {
                    Writes::Both | Writes::Joined => kind.clone(),
                    Writes::Tangents => StmtKind::Load { id: *id, array: *array, index: *index },
                });
                if let Some(array) = self.dot_slots[*array] {
                    let id = self.fresh_dot(*id);
                    self.b.push(StmtKind::Take { id, array, index: *index });
                }
            }
            StmtKind::Store { array, index, value } => {
                self.write(kind);
                if let Some(array) = self.dot_slots[*array] {
                    let value = self.dot_or_zero(*value);
                    self.b.push(StmtKind::Store { array, index: *index, value });
                }
            }
            StmtKind::Add { array, index, value } => {
                self.write(kind);
                if let (Some(array), Some(value)) = (self.dot_slots[*array], self.dot(*value)) {
                    self.b.push(StmtKind::Add { array, index: *index, value });
                }
            }
            StmtKind::If { cond, then, els, results } => {
                let active: Vec<usize> = (0..results.len()).filter(|k| self.is_varied(results[*k])).collect();
                let then = self.block(then, &active);
                let els = self.block(els, &active);
                let mut results = results.clone();
                for k in active {
                    let dot = self.fresh_dot(results[k]);
                    results.push(dot);
                }
                let cond = self.wide(*cond);
                self.b.push(StmtKind::If { cond, then, els, results });
            }
            StmtKind::For { .. } => self.turns(kind),
            StmtKind::Fetch { id, array, index, value, again } => {
                let (id, array, index, value) = (*id, *array, *index, *value);
                let again = *again || self.writes != Writes::Joined;
                self.b.push(StmtKind::Fetch { id, array, index, value, again });
            }
            StmtKind::Fault { .. } => match self.writes {
                Writes::Joined => self.b.push(kind.clone()),
                // The primal has reported it.
                Writes::Tangents | Writes::Both => {}
            },
            StmtKind::StackNew { stack, ty, len, kind: used } => {
                self.b.push(kind.clone());
                if ty.is_real() {
                    let dots = self.dot_stack(*stack);
                    self.b.push(StmtKind::StackNew { stack: dots, ty: *ty, len: *len, kind: *used });
                }
            }
            StmtKind::StackSet { stack, at, value } => {
                self.b.push(kind.clone());
                if self.primal.ty(*value).is_real() {
                    let (stack, value) = (self.dot_stack(*stack), self.dot_or_zero(*value));
                    self.b.push(StmtKind::StackSet { stack, at: *at, value });
                }
            }
            StmtKind::StackGet { id, stack, at } => {
                self.b.push(kind.clone());
                if self.is_varied(*id) {
                    let (stack, id) = (self.dot_stack(*stack), self.fresh_dot(*id));
                    self.b.push(StmtKind::StackGet { id, stack, at: *at });
                }
            }
            StmtKind::Call { callee, mode, args, results } => self.call(*callee, *mode, args, results),
        }
    }

    fn write(&mut self, kind: &StmtKind) {
        match self.writes {
            Writes::Both | Writes::Joined => self.b.push(kind.clone()),
            Writes::Tangents => {}
        }
    }

    /// A guard lets a tangent pass where either the adjoint that it tests or the tangent of that is not zero.
    fn widen(&mut self, id: Id, op: &Op) {
        let wide = match op {
            Op::Unary(UnaryOp::Nonzero, t) => {
                let Some(dot) = self.dot(*t) else { return };
                let moves = self.b.unary(UnaryOp::Nonzero, dot);
                self.b.binary(BinaryOp::Or, id, moves)
            }
            Op::Binary(BinaryOp::Or, a, c) if self.wide.contains_key(a) || self.wide.contains_key(c) => {
                let (a, c) = (self.wide(*a), self.wide(*c));
                self.b.binary(BinaryOp::Or, a, c)
            }
            _ => return,
        };
        self.wide.insert(id, wide);
    }

    fn wide(&self, cond: Id) -> Id {
        self.wide.get(&cond).copied().unwrap_or(cond)
    }

    fn dot_stack(&mut self, stack: u32) -> u32 {
        if let Some(dots) = self.dot_stacks.get(&stack) {
            return *dots;
        }
        let dots = self.b.func.stacks;
        self.b.func.stacks += 1;
        self.dot_stacks.insert(stack, dots);
        dots
    }

    /// The yields, then the tangents of those in `active`.
    fn block(&mut self, block: &Block, active: &[usize]) -> Block {
        let outer = self.b.take_stmts();
        self.stmts(&block.stmts);
        let mut yields = block.yields.clone();
        for k in active {
            yields.push(self.dot_or_zero(block.yields[*k]));
        }
        Block { stmts: std::mem::replace(&mut self.b.stmts, outer), yields }
    }

    fn turns(&mut self, kind: &StmtKind) {
        let StmtKind::For { index, lo, hi, carried, init, live, body, results } = kind else { return };
        let active: Vec<usize> = (0..carried.len()).filter(|k| self.is_varied(carried[*k])).collect();
        let (mut carried, mut init, mut results) = (carried.clone(), init.clone(), results.clone());
        for k in &active {
            init.push(self.dot_or_zero(init[*k]));
            carried.push(self.fresh_dot(carried[*k]));
        }
        let body = self.block(body, &active);
        for k in active {
            results.push(self.fresh_dot(results[k]));
        }
        let (index, lo, hi, live) = (*index, *lo, *hi, *live);
        self.b.push(StmtKind::For { index, lo, hi, carried, init, live, body, results });
    }

    fn call(&mut self, callee: usize, mode: CallMode, args: &[CallArg], results: &[Id]) {
        let active = args.iter().any(|arg| match arg {
            CallArg::Value(id) => self.is_varied(*id),
            CallArg::Array(slot) => is_real_array(self.primal, *slot),
        });
        let joined = self.writes == Writes::Joined;
        if !active || joined {
            let mode = if mode == CallMode::Primal && !joined { CallMode::Replay } else { mode };
            self.b.push(StmtKind::Call { callee, mode, args: args.to_vec(), results: results.to_vec() });
        }
        if !active {
            return;
        }
        let mode = match mode {
            CallMode::Primal | CallMode::Replay => CallMode::Jvp,
            CallMode::Vjp => CallMode::Second,
            CallMode::Jvp | CallMode::Second => unreachable!("tangents are taken of sources and of their adjoints"),
        };
        let mut call = args.to_vec();
        let mut arrays = Vec::new();
        for arg in args {
            match arg {
                CallArg::Value(id) if self.primal.ty(*id).is_real() => {
                    call.push(CallArg::Value(self.dot_or_zero(*id)));
                }
                CallArg::Value(_) => {}
                CallArg::Array(slot) => arrays.extend(self.dot_slots[*slot].map(CallArg::Array)),
            }
        }
        call.extend(arrays);
        // The values of the primal are those of its own call.
        let mut outcomes = match joined {
            true => results.iter().map(|result| self.b.fresh(self.primal.ty(*result))).collect(),
            false => results.to_vec(),
        };
        for result in results {
            if self.primal.ty(*result).is_real() {
                outcomes.push(self.fresh_dot(*result));
            }
        }
        self.b.push(StmtKind::Call { callee, mode, args: call, results: outcomes });
    }

    fn sum(&mut self, a: Option<Id>, b: Option<Id>) -> Option<Id> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.b.add(a, b)),
            (a, b) => a.or(b),
        }
    }

    fn op(&mut self, id: Id, op: &Op) -> Option<Id> {
        let ty = self.primal.ty(id);
        match op {
            Op::Const(_) | Op::Builtin(_) | Op::Len(_) | Op::Cast(_) => None,
            Op::Compose(parts) => {
                let parts = parts.iter().map(|x| self.dot_or_zero(*x)).collect();
                Some(self.b.op(ty, Op::Compose(parts)))
            }
            Op::Extract(x, k) => {
                let t = self.dot(*x)?;
                Some(self.b.op(ty, Op::Extract(t, *k)))
            }
            Op::Insert(base, k, part) => {
                let (base, part) = (self.dot_or_zero(*base), self.dot_or_zero(*part));
                Some(self.b.op(ty, Op::Insert(base, *k, part)))
            }
            Op::Select(cond, a, c) => {
                let (a, c) = (self.dot_or_zero(*a), self.dot_or_zero(*c));
                let cond = self.wide(*cond);
                Some(self.b.select(cond, a, c))
            }
            Op::Unary(op, x) => {
                let t = self.dot(*x)?;
                match unary(*op) {
                    UnaryRule::Cut => None,
                    UnaryRule::Linear => Some(self.b.unary(*op, t)),
                    UnaryRule::Scalar(row) => Some(row(&mut self.b, t, *x, id)),
                }
            }
            Op::Binary(op, a, c) => {
                let (da, dc) = (self.dot(*a), self.dot(*c));
                let (first, second) = match binary(*op) {
                    BinaryRule::Cut => return None,
                    BinaryRule::Bilinear(..) => {
                        let first = da.map(|t| self.b.binary(*op, t, *c));
                        let second = dc.map(|t| self.b.binary(*op, *a, t));
                        return self.sum(first, second);
                    }
                    BinaryRule::Linear(f, g) | BinaryRule::Scalar(f, g) | BinaryRule::Choice(f, g) => (f, g),
                };
                let first = da.map(|t| first(&mut self.b, t, *a, *c, id));
                let second = dc.map(|t| second(&mut self.b, t, *a, *c, id));
                self.sum(first, second)
            }
        }
    }
}
