//! A function while it runs.

use std::collections::HashMap;
use std::rc::Rc;

use super::{Arg, Fault, Functions, Memory, Place, Point, Val, ops, wrap};
use crate::{Block, CallArg, CallMode, FaultKind, Func, Id, Node, Op, ParamKind, Slot, StackKind, StmtKind};

type Res<T> = Result<T, Fault>;

/// A value, and the statement at which it became one that is not finite.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) val: Val,
    from: Option<Rc<Place>>,
}

impl Known {
    fn plain(val: Val) -> Known {
        Known { val, from: None }
    }
}

/// An argument, as [`Arg`].
pub(super) enum Given {
    Array(usize),
    Value(Known),
}

impl From<&Arg> for Given {
    fn from(arg: &Arg) -> Given {
        match arg {
            Arg::Array(array) => Given::Array(*array),
            Arg::Value(val) => Given::Value(Known::plain(val.clone())),
        }
    }
}

/// What a function and those that it calls have in common.
pub(super) struct Shared<'a> {
    pub(super) memory: &'a mut dyn Memory,
    pub(super) point: Point,
    /// Of the elements that are not finite, where they became so.
    from: HashMap<(usize, usize), Rc<Place>>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(memory: &'a mut dyn Memory, point: Point) -> Self {
        Shared { memory, point, from: HashMap::new() }
    }

    /// Where this element became what is not finite.
    pub(super) fn from(&self, array: usize, index: usize) -> Option<Place> {
        self.from.get(&(array, index)).map(|place| (**place).clone())
    }
}

pub(super) struct Frame<'f, 's, 'm> {
    pub(super) func: &'f Func,
    functions: &'f dyn Functions,
    pub(super) shared: &'s mut Shared<'m>,
    pub(super) slots: Vec<usize>,
    values: Vec<Option<Known>>,
    stacks: HashMap<u32, (StackKind, Vec<Known>)>,
    calls: Vec<(Node, usize, CallMode)>,
}

impl<'f, 's, 'm> Frame<'f, 's, 'm> {
    pub(super) fn new(
        (func, functions): (&'f Func, &'f dyn Functions),
        args: Vec<Given>,
        shared: &'s mut Shared<'m>,
        calls: Vec<(Node, usize, CallMode)>,
    ) -> Res<Self> {
        if args.len() != func.params.len() {
            return Err(format!("{} takes {} arguments, not {}", func.name, func.params.len(), args.len()).into());
        }
        let (slots, values) = (vec![usize::MAX; args.len()], vec![None; func.types.len()]);
        let mut frame = Frame { func, functions, shared, slots, values, stacks: HashMap::new(), calls };
        for (slot, (param, arg)) in func.params.iter().zip(args).enumerate() {
            match (&param.kind, arg) {
                (ParamKind::Array { .. }, Given::Array(array)) => frame.slots[slot] = array,
                (ParamKind::Scalar { id, .. }, Given::Value(known)) => frame.set(*id, known),
                (kind, _) => return Err(format!("{kind:?} of {} does not take its argument", func.name).into()),
            }
        }
        Ok(frame)
    }

    pub(super) fn run(mut self) -> Res<Vec<Known>> {
        self.block(&self.func.body)
    }

    fn set(&mut self, id: Id, known: Known) {
        self.values[id.0 as usize] = Some(known);
    }

    fn known(&self, id: Id) -> &Known {
        self.values[id.0 as usize].as_ref().unwrap_or_else(|| panic!("{id} has no value"))
    }

    pub(super) fn get(&self, id: Id) -> &Val {
        &self.known(id).val
    }

    fn get_all(&self, ids: &[Id]) -> Vec<Known> {
        ids.iter().map(|id| self.known(*id).clone()).collect()
    }

    fn set_all(&mut self, ids: &[Id], values: Vec<Known>) {
        assert_eq!(ids.len(), values.len());
        for (id, value) in ids.iter().zip(values) {
            self.set(*id, value);
        }
    }

    /// What a statement makes of its operands: not finite from where the first of these is, or from here.
    fn made(&self, val: Val, operands: &[Id], node: Node) -> Known {
        if val.is_finite() {
            return Known::plain(val);
        }
        let from = operands.iter().find_map(|id| self.known(*id).from.clone());
        Known { val, from: Some(from.unwrap_or_else(|| self.here(node))) }
    }

    fn here(&self, node: Node) -> Rc<Place> {
        Rc::new(Place { calls: self.calls.clone(), node })
    }

    /// Number of the array in `slot`, and the index.
    fn element(&self, slot: Slot, index: Id) -> (usize, usize) {
        (self.slots[slot], self.get(index).int() as usize)
    }

    fn load(&self, at: (usize, usize), node: Node) -> Res<Known> {
        let val = self.shared.memory.get(at.0, at.1).ok_or_else(|| self.outside(at, node))?;
        let from = match val.is_finite() {
            true => None,
            false => Some(self.shared.from.get(&at).cloned().unwrap_or_else(|| self.here(node))),
        };
        Ok(Known { val, from })
    }

    fn outside(&self, (array, index): (usize, usize), node: Node) -> Fault {
        Fault::Outside { array, index, len: self.shared.memory.len(array), node }
    }

    fn store(&mut self, at: (usize, usize), known: Known, node: Node) -> Res<()> {
        match known.from {
            Some(from) => self.shared.from.insert(at, from),
            None => self.shared.from.remove(&at),
        };
        let set = self.shared.memory.set(at.0, at.1, known.val);
        set.ok_or_else(|| self.outside(at, node))
    }

    fn block(&mut self, block: &Block) -> Res<Vec<Known>> {
        for stmt in &block.stmts {
            self.stmt(&stmt.kind, stmt.node)?;
        }
        Ok(self.get_all(&block.yields))
    }

    fn stmt(&mut self, kind: &StmtKind, node: Node) -> Res<()> {
        match kind {
            StmtKind::Let { id, op } => {
                let val = self.op(op, self.func.ty(*id));
                let known = match op {
                    Op::Select(c, a, b) => self.known(if self.get(*c).bool() { *a } else { *b }).clone(),
                    op => self.made(val, &op.operands(), node),
                };
                self.set(*id, known);
            }
            StmtKind::Load { id, array, index } => {
                let known = self.load(self.element(*array, *index), node)?;
                self.set(*id, known);
            }
            StmtKind::Take { id, array, index } => {
                let at = self.element(*array, *index);
                let known = self.load(at, node)?;
                self.store(at, Known::plain(Val::zero(self.func.ty(*id))), node)?;
                self.set(*id, known);
            }
            StmtKind::Store { array, index, value } => {
                self.store(self.element(*array, *index), self.known(*value).clone(), node)?;
            }
            StmtKind::Add { array, index, value: id } => {
                let at = self.element(*array, *index);
                let (old, value) = (self.load(at, node)?, self.known(*id));
                let val = match (&old.val, &value.val) {
                    (Val::Int(a), Val::Int(b)) => wrap(self.func.ty(*id), a + b),
                    (Val::Real(_), Val::Real(_)) => {
                        ops::rounded(ops::zip(&old.val, &value.val, |a, b| a + b), self.shared.point.round)
                    }
                    (old, value) => return Err(format!("{value:?} is added to {old:?}").into()),
                };
                let from = match val.is_finite() {
                    true => None,
                    false => old.from.or_else(|| value.from.clone()).or_else(|| Some(self.here(node))),
                };
                self.store(at, Known { val, from }, node)?;
            }
            StmtKind::If { cond, then, els, results } => {
                let values = self.block(if self.get(*cond).bool() { then } else { els })?;
                self.set_all(results, values);
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let mut values = self.get_all(init);
                let live = live.and_then(|live| carried.iter().position(|id| *id == live));
                for at in self.get(*lo).int()..self.get(*hi).int() {
                    if live.is_some_and(|k| !values[k].val.bool()) {
                        break;
                    }
                    self.set(*index, Known::plain(Val::Int(at)));
                    self.set_all(carried, values);
                    values = self.block(body)?;
                }
                self.set_all(results, values);
            }
            StmtKind::Fetch { id, array, index, value, again } => {
                if *again {
                    return Err("something is fetched once more".to_owned().into());
                }
                let at = self.element(*array, *index);
                let old = self.load(at, node)?;
                let val = wrap(self.func.ty(*id), old.val.int() + self.get(*value).int());
                self.store(at, Known::plain(val), node)?;
                self.set(*id, old);
            }
            StmtKind::Fault { cond, what } => {
                if self.get(*cond).bool() {
                    let told = self.get(what.id()).int() as u32;
                    return Err(match what {
                        FaultKind::Bound(_) => Fault::Bound { bound: told, node },
                        FaultKind::Index(_, len) => Fault::Local { index: told, len: *len, node },
                    });
                }
            }
            StmtKind::StackNew { stack, ty, len, kind } => {
                let len = if *kind == StackKind::Log { 0 } else { self.get(*len).int() as usize };
                self.stacks.insert(*stack, (*kind, vec![Known::plain(Val::zero(*ty)); len]));
            }
            StmtKind::StackSet { stack, at, value } => {
                let (at, value) = (self.get(*at).int() as usize, self.known(*value).clone());
                let (kind, slots) = self.stacks.get_mut(stack).ok_or_else(|| format!("there is no stack {stack}"))?;
                if *kind == StackKind::Log && at == slots.len() {
                    slots.push(value);
                } else {
                    *slots.get_mut(at).ok_or_else(|| format!("stack {stack} has no slot {at}"))? = value;
                }
            }
            StmtKind::StackGet { id, stack, at } => {
                let at = self.get(*at).int() as usize;
                let slot = self.stacks.get(stack).and_then(|(_, slots)| slots.get(at)).cloned();
                self.set(*id, slot.ok_or_else(|| format!("stack {stack} has no slot {at}"))?);
            }
            StmtKind::Call { callee, mode, args, results } => {
                let values = self.call((node, *callee, *mode), args)?;
                self.set_all(results, values);
            }
        }
        Ok(())
    }

    fn call(&mut self, (node, callee, mode): (Node, usize, CallMode), args: &[CallArg]) -> Res<Vec<Known>> {
        let args = args.iter().map(|arg| match arg {
            CallArg::Value(id) => Given::Value(self.known(*id).clone()),
            CallArg::Array(slot) => Given::Array(self.slots[*slot]),
        });
        let args = args.collect();
        let found = self.functions.callee(self.func, callee, mode);
        let function = found.ok_or_else(|| format!("{} calls a function that is not known", self.func.name))?;
        let calls = [&self.calls[..], &[(node, callee, mode)]].concat();
        Frame::new(function, args, self.shared, calls)?.run()
    }
}
