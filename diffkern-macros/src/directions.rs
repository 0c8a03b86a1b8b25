//! A kernel with its tangents along several directions: what depends on no direction stands once, the rest once for each.
//!
//! Left the kernel with one tangent, right with two; which branch is taken and how often a loop runs depends on no direction.
//!
//! ```text
//! %2 = load 0 %1                    %2 = load 0 %1
//! %4 = load 2 %1                    %3 = mul %2 %2
//! %3 = mul %2 %2                    store 1 %1 %3
//! %5 = mul %4 %2                    %4 = load 2 %1           %14 = load 4 %1
//! store 1 %1 %3                     %5 = mul %4 %2           %15 = mul %14 %2
//! store 3 %1 %5                     store 3 %1 %5            store 5 %1 %15
//! ```

use std::collections::{HashMap, HashSet};

use diffkern_ir::{Block, CallArg, CallMode, Func, Id, Node, ParamKind, Slot, Stmt, StmtKind, verify};

use crate::access::set_access;
use crate::simplify::simplify;
use crate::tangent;

/// `primal`, a kernel, with its tangents along `count` directions, simplified.
///
/// Parameters are those of the kernel, then for each direction one dot array for each real array parameter. Each direction is
/// computed by the operations of [`tangent::tangent`] in their order, from values of the primal. The values that a call gives
/// are those of the function itself: where the tangent goes on with others, written by hand, this form is not to be used.
pub fn directions(primal: &Func, count: usize) -> Func {
    let (single, dots) = tangent::joined(primal);
    let dots: Vec<Slot> = dots.into_iter().flatten().collect();
    let depends = depends(&single, &dots);
    let mut func = Func { body: Block::default(), ..single.clone() };
    let mut slots: HashMap<Slot, Vec<Slot>> = dots.iter().map(|slot| (*slot, vec![*slot])).collect();
    for direction in 1..count {
        for slot in &dots {
            let mut param = single.params[*slot].clone();
            param.name = format!("{}_{direction}", param.name);
            slots.entry(*slot).or_default().push(func.params.len());
            func.params.push(param);
        }
    }
    let mut state = Widen { depends, count, func, slots, values: HashMap::new(), stacks: HashMap::new() };
    let body = state.block(&single.body, &[]);
    let mut func = Func { body, ..state.func };
    set_access(&mut func, &[]);
    simplify(&mut func);
    set_access(&mut func, &[]);
    // It takes the place of the kernel, which may have stored what its simplified form still declares to read.
    for (param, of_primal) in func.params.iter_mut().zip(&primal.params) {
        if let (ParamKind::Array { access, .. }, ParamKind::Array { access: declared, .. }) =
            (&mut param.kind, &of_primal.kind)
        {
            *access = *declared;
        }
    }
    debug_assert_eq!(verify(&func), Ok(()));
    func
}

/// What depends on a direction.
struct Depends {
    /// By id.
    values: Vec<bool>,
    stacks: HashSet<u32>,
    dots: HashSet<Slot>,
}

/// `dots`: the dot arrays of `func`.
fn depends(func: &Func, dots: &[Slot]) -> Depends {
    let dots = dots.iter().copied().collect();
    let mut found = Depends { values: vec![false; func.types.len()], stacks: HashSet::new(), dots };
    // A stack may be written after a read in the text of a loop, and a loop carries what its body yields.
    while found.block(func, &func.body) {}
    found
}

impl Depends {
    fn value(&self, id: Id) -> bool {
        self.values[id.0 as usize]
    }

    fn arg(&self, arg: &CallArg) -> bool {
        match arg {
            CallArg::Value(id) => self.value(*id),
            CallArg::Array(slot) => self.dots.contains(slot),
        }
    }

    /// Notes that `id` depends on a direction if `depends`; whether that is new.
    fn set(&mut self, id: Id, depends: bool) -> bool {
        let flag = &mut self.values[id.0 as usize];
        let new = depends && !*flag;
        *flag |= depends;
        new
    }

    /// Whether anything new was found.
    fn block(&mut self, func: &Func, block: &Block) -> bool {
        let mut new = false;
        for stmt in &block.stmts {
            new |= self.stmt(func, &stmt.kind);
        }
        new
    }

    fn stmt(&mut self, func: &Func, kind: &StmtKind) -> bool {
        match kind {
            StmtKind::Let { id, op } => self.set(*id, op.operands().iter().any(|x| self.value(*x))),
            StmtKind::Load { id, array, .. } | StmtKind::Take { id, array, .. } => {
                self.set(*id, self.dots.contains(array))
            }
            StmtKind::If { then, els, results, .. } => {
                let mut new = self.block(func, then);
                new |= self.block(func, els);
                for (k, result) in results.iter().enumerate() {
                    new |= self.set(*result, self.value(then.yields[k]) || self.value(els.yields[k]));
                }
                new
            }
            StmtKind::For { carried, init, body, results, .. } => {
                let mut new = self.block(func, body);
                for k in 0..carried.len() {
                    let depends = self.value(init[k]) || self.value(body.yields[k]);
                    new |= self.set(carried[k], depends);
                    new |= self.set(results[k], depends);
                }
                new
            }
            StmtKind::StackSet { stack, value, .. } => self.value(*value) && self.stacks.insert(*stack),
            StmtKind::StackGet { id, stack, .. } => self.set(*id, self.stacks.contains(stack)),
            StmtKind::Call { callee, mode, args, results } => {
                let depends = args.iter().any(|arg| self.arg(arg));
                let primal = match mode {
                    CallMode::Jvp => func.callees[*callee].call.results.len(),
                    CallMode::Primal | CallMode::Replay | CallMode::Vjp | CallMode::Second => 0,
                };
                let mut new = false;
                for result in &results[primal..] {
                    new |= self.set(*result, depends);
                }
                new
            }
            StmtKind::Store { .. }
            | StmtKind::Add { .. }
            | StmtKind::StackNew { .. }
            | StmtKind::Fault { .. }
            | StmtKind::Fetch { .. } => false,
        }
    }
}

/// The statements of a block. Between two branches or loops those that depend on no direction come first, then one direction
/// after the other, so that a processor has registers for values of one direction at a time.
struct Run {
    stmts: Vec<Stmt>,
    /// By direction, to come after those that depend on none.
    along: Vec<Vec<Stmt>>,
    node: Node,
}

impl Run {
    fn new(count: usize) -> Run {
        Run { stmts: Vec::new(), along: vec![Vec::new(); count], node: Node::default() }
    }

    fn shared(&mut self, kind: StmtKind) {
        self.stmts.push(Stmt { kind, node: self.node });
    }

    fn along(&mut self, direction: usize, kind: StmtKind) {
        self.along[direction].push(Stmt { kind, node: self.node });
    }

    fn end(&mut self) {
        self.along.iter_mut().for_each(|along| self.stmts.append(along));
    }

    /// A branch or loop in place of another, which it is if no direction is in it.
    fn control(&mut self, kind: StmtKind, before: &StmtKind) {
        if kind != *before {
            self.end();
        }
        self.shared(kind);
    }
}

struct Widen {
    depends: Depends,
    count: usize,
    /// Values and parameters of all directions; the body is still to come.
    func: Func,
    /// The dot arrays of each direction, by that of the first.
    slots: HashMap<Slot, Vec<Slot>>,
    /// The values of the other directions, by those of the first.
    values: HashMap<Id, Vec<Id>>,
    stacks: HashMap<u32, Vec<u32>>,
}

impl Widen {
    /// What `id` is along a direction.
    fn along(&self, id: Id, direction: usize) -> Id {
        match (direction, self.values.get(&id)) {
            (0, _) | (_, None) => id,
            (other, Some(others)) => others[other - 1],
        }
    }

    fn slot(&self, slot: Slot, direction: usize) -> Slot {
        self.slots.get(&slot).map_or(slot, |slots| slots[direction])
    }

    fn is_dot(&self, slot: Slot) -> bool {
        self.slots.contains_key(&slot)
    }

    /// Makes the values that `id` is along the other directions.
    fn define(&mut self, id: Id) {
        let ty = self.func.ty(id);
        let others = (1..self.count).map(|direction| {
            let other = self.func.fresh(ty);
            self.func.name_after(other, id, &format!("_{direction}"));
            other
        });
        let others = others.collect();
        self.values.insert(id, others);
    }

    /// The values, then what those that depend on a direction are along the others; `of` are what these stand for.
    fn widened(&self, ids: &[Id], of: &[Id]) -> Vec<Id> {
        let mut all = ids.to_vec();
        for direction in 1..self.count {
            let depending = ids.iter().zip(of).filter(|(_, of)| self.depends.value(**of));
            all.extend(depending.map(|(id, _)| self.along(*id, direction)));
        }
        all
    }

    fn define_all(&mut self, ids: &[Id]) {
        for id in ids {
            if self.depends.value(*id) {
                self.define(*id);
            }
        }
    }

    /// `targets`: what the yields become.
    fn block(&mut self, block: &Block, targets: &[Id]) -> Block {
        let mut run = Run::new(self.count);
        for stmt in &block.stmts {
            run.node = stmt.node;
            self.stmt(&stmt.kind, &mut run);
        }
        run.end();
        Block { stmts: run.stmts, yields: self.widened(&block.yields, targets) }
    }

    fn stmt(&mut self, kind: &StmtKind, run: &mut Run) {
        match kind {
            StmtKind::Let { id, op } if self.depends.value(*id) => {
                self.define(*id);
                for d in 0..self.count {
                    run.along(d, StmtKind::Let { id: self.along(*id, d), op: op.map(|x| self.along(x, d)) });
                }
            }
            StmtKind::Load { id, array, index } if self.is_dot(*array) => {
                self.define(*id);
                for d in 0..self.count {
                    run.along(d, StmtKind::Load { id: self.along(*id, d), array: self.slot(*array, d), index: *index });
                }
            }
            StmtKind::Store { array, index, value } if self.is_dot(*array) => {
                for d in 0..self.count {
                    let (array, value) = (self.slot(*array, d), self.along(*value, d));
                    run.along(d, StmtKind::Store { array, index: *index, value });
                }
            }
            StmtKind::Add { array, index, value } if self.is_dot(*array) => {
                for d in 0..self.count {
                    let (array, value) = (self.slot(*array, d), self.along(*value, d));
                    run.along(d, StmtKind::Add { array, index: *index, value });
                }
            }
            StmtKind::If { cond, then, els, results } => {
                let (then, els) = (self.block(then, results), self.block(els, results));
                self.define_all(results);
                let results = self.widened(results, results);
                run.control(StmtKind::If { cond: *cond, then, els, results }, kind);
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let init = self.widened(init, carried);
                self.define_all(carried);
                let body = self.block(body, carried);
                self.define_all(results);
                let (carried, results) = (self.widened(carried, carried), self.widened(results, results));
                let (index, lo, hi, live) = (*index, *lo, *hi, *live);
                run.control(StmtKind::For { index, lo, hi, carried, init, live, body, results }, kind);
            }
            StmtKind::StackNew { stack, ty, len, kind } if self.depends.stacks.contains(stack) => {
                for (d, stack) in self.of_stack(*stack).into_iter().enumerate() {
                    run.along(d, StmtKind::StackNew { stack, ty: *ty, len: *len, kind: *kind });
                }
            }
            StmtKind::StackSet { stack, at, value } if self.depends.stacks.contains(stack) => {
                for (d, stack) in self.of_stack(*stack).into_iter().enumerate() {
                    run.along(d, StmtKind::StackSet { stack, at: *at, value: self.along(*value, d) });
                }
            }
            StmtKind::StackGet { id, stack, at } if self.depends.value(*id) => {
                self.define(*id);
                for (d, stack) in self.of_stack(*stack).into_iter().enumerate() {
                    run.along(d, StmtKind::StackGet { id: self.along(*id, d), stack, at: *at });
                }
            }
            StmtKind::Call { callee, mode, args, results } if args.iter().any(|arg| self.depends.arg(arg)) => {
                // The values of the function itself, which each call gives again, depend on no direction.
                results.iter().for_each(|result| self.define(*result));
                for d in 0..self.count {
                    let args = args.iter().map(|arg| match *arg {
                        CallArg::Value(id) => CallArg::Value(self.along(id, d)),
                        CallArg::Array(slot) => CallArg::Array(self.slot(slot, d)),
                    });
                    let args = args.collect();
                    let results = results.iter().map(|id| self.along(*id, d)).collect();
                    run.along(d, StmtKind::Call { callee: *callee, mode: *mode, args, results });
                }
            }
            StmtKind::Let { .. }
            | StmtKind::Load { .. }
            | StmtKind::Store { .. }
            | StmtKind::Add { .. }
            | StmtKind::Take { .. }
            | StmtKind::Fetch { .. }
            | StmtKind::Fault { .. }
            | StmtKind::StackNew { .. }
            | StmtKind::StackSet { .. }
            | StmtKind::StackGet { .. }
            | StmtKind::Call { .. } => run.shared(kind.clone()),
        }
    }

    /// The stacks of all directions in place of one.
    fn of_stack(&mut self, stack: u32) -> Vec<u32> {
        let (count, stacks) = (self.count as u32, &mut self.func.stacks);
        let all = self.stacks.entry(stack).or_insert_with(|| {
            let first = *stacks;
            *stacks += count - 1;
            std::iter::once(stack).chain(first..first + count - 1).collect()
        });
        all.clone()
    }
}
