//! Runs a function in `f64`: the judge of the transformations, independent of what is emitted.
//!
//! For tests: what is not valid, by [`verify`](crate::verify()) or by its arguments, makes it panic.

mod ops;

use std::collections::HashMap;

use crate::{Block, CallArg, CallMode, Func, Id, ParamKind, Slot, StmtKind, Ty};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// The components of what is real.
    Real(Vec<f64>),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
}

impl Val {
    /// The components of what is real.
    ///
    /// # Panics
    /// When it is not.
    pub fn reals(&self) -> &[f64] {
        match self {
            Val::Real(parts) => parts,
            other => panic!("{other:?} is not real"),
        }
    }

    fn int(&self) -> i64 {
        match self {
            Val::Int(value) => *value,
            other => panic!("{other:?} is not an integer"),
        }
    }

    fn bool(&self) -> bool {
        match self {
            Val::Bool(value) => *value,
            other => panic!("{other:?} is not a bool"),
        }
    }
}

/// The elements of an array.
pub type Array = Vec<Val>;

/// An argument: one of the arrays of the caller, or a value.
#[derive(Clone, Debug)]
pub enum Arg {
    /// By its number.
    Array(usize),
    /// By value.
    Value(Val),
}

/// Device functions by name.
#[derive(Clone, Default)]
pub struct Library {
    functions: HashMap<String, Forms>,
}

/// A device function in its forms.
#[derive(Clone)]
pub struct Forms {
    /// Itself.
    pub primal: Func,
    /// Its adjoint.
    pub vjp: Func,
    /// Its tangent.
    pub jvp: Func,
    /// The tangent of its adjoint.
    pub second: Func,
}

impl Library {
    /// Adds a function, which is called by the name of its primal.
    pub fn add(&mut self, forms: Forms) {
        self.functions.insert(forms.primal.name.clone(), forms);
    }

    fn get(&self, name: &str, mode: CallMode) -> &Func {
        let forms = &self.functions[name];
        match mode {
            CallMode::Primal | CallMode::Replay => &forms.primal,
            CallMode::Vjp => &forms.vjp,
            CallMode::Jvp => &forms.jvp,
            CallMode::Second => &forms.second,
        }
    }
}

/// Runs `func` at position `pos` of a one-dimensional domain; returns its results.
///
/// # Panics
/// When the function or its arguments are not valid.
pub fn run(func: &Func, args: &[Arg], arrays: &mut [Array], pos: usize, library: &Library) -> Vec<Val> {
    assert_eq!(args.len(), func.params.len(), "arguments of {}", func.name);
    let mut frame = Frame {
        func,
        slots: vec![usize::MAX; args.len()],
        values: vec![None; func.types.len()],
        stacks: HashMap::new(),
        arrays,
        pos,
        library,
    };
    for (slot, (param, arg)) in func.params.iter().zip(args).enumerate() {
        match (&param.kind, arg) {
            (ParamKind::Array { .. }, Arg::Array(k)) => frame.slots[slot] = *k,
            (ParamKind::Scalar { id, .. }, Arg::Value(value)) => frame.set(*id, value.clone()),
            (kind, arg) => panic!("{kind:?} does not take {arg:?}"),
        }
    }
    frame.block(&func.body)
}

struct Frame<'a> {
    func: &'a Func,
    slots: Vec<usize>,
    values: Vec<Option<Val>>,
    stacks: HashMap<u32, Vec<Val>>,
    arrays: &'a mut [Array],
    pos: usize,
    library: &'a Library,
}

fn wrap(ty: Ty, value: i64) -> Val {
    Val::Int(if ty == Ty::I32 { i64::from(value as i32) } else { i64::from(value as u32) })
}

fn zero(ty: Ty) -> Val {
    match ty {
        Ty::Bool => Val::Bool(false),
        ty if ty.is_int() => Val::Int(0),
        ty => Val::Real(vec![0.0; ty.components()]),
    }
}

impl Frame<'_> {
    fn set(&mut self, id: Id, value: Val) {
        self.values[id.0 as usize] = Some(value);
    }

    fn get(&self, id: Id) -> Val {
        self.values[id.0 as usize].clone().unwrap_or_else(|| panic!("{id} has no value"))
    }

    fn get_all(&self, ids: &[Id]) -> Vec<Val> {
        ids.iter().map(|id| self.get(*id)).collect()
    }

    fn set_all(&mut self, ids: &[Id], values: Vec<Val>) {
        assert_eq!(ids.len(), values.len());
        for (id, value) in ids.iter().zip(values) {
            self.set(*id, value);
        }
    }

    fn element(&mut self, slot: Slot, index: Id) -> &mut Val {
        let index = self.get(index).int() as usize;
        &mut self.arrays[self.slots[slot]][index]
    }

    fn block(&mut self, block: &Block) -> Vec<Val> {
        for stmt in &block.stmts {
            self.stmt(&stmt.kind);
        }
        self.get_all(&block.yields)
    }

    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Let { id, op } => {
                let value = self.op(op, self.func.ty(*id));
                self.set(*id, value);
            }
            StmtKind::Load { id, array, index } => {
                let value = self.element(*array, *index).clone();
                self.set(*id, value);
            }
            StmtKind::Take { id, array, index } => {
                let empty = zero(self.func.ty(*id));
                let value = std::mem::replace(self.element(*array, *index), empty);
                self.set(*id, value);
            }
            StmtKind::Store { array, index, value } => *self.element(*array, *index) = self.get(*value),
            StmtKind::Add { array, index, value } => {
                let value = self.get(*value);
                let element = self.element(*array, *index);
                *element = match (&*element, &value) {
                    (Val::Int(a), Val::Int(b)) => Val::Int(a + b),
                    _ => ops::zip(element, &value, |a, b| a + b),
                };
            }
            StmtKind::If { cond, then, els, results } => {
                let values = self.block(if self.get(*cond).bool() { then } else { els });
                self.set_all(results, values);
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let mut values = self.get_all(init);
                let live = live.map(|live| carried.iter().position(|id| *id == live).expect("it is carried"));
                for at in self.get(*lo).int()..self.get(*hi).int() {
                    if live.is_some_and(|k| !values[k].bool()) {
                        break;
                    }
                    self.set(*index, Val::Int(at));
                    self.set_all(carried, values);
                    values = self.block(body);
                }
                self.set_all(results, values);
            }
            StmtKind::Fetch { id, array, index, value, again } => {
                assert!(!again, "fetched once more");
                let value = self.get(*value).int();
                let ty = self.func.ty(*id);
                let element = self.element(*array, *index);
                let old = element.clone();
                *element = wrap(ty, old.int() + value);
                self.set(*id, old);
            }
            StmtKind::Fault { cond, what } => {
                assert!(!self.get(*cond).bool(), "{what:?}: {:?}", self.get(what.id()));
            }
            StmtKind::StackNew { stack, ty, len } => {
                let slots = vec![zero(*ty); self.get(*len).int() as usize];
                self.stacks.insert(*stack, slots);
            }
            StmtKind::StackSet { stack, at, value } => {
                let (at, value) = (self.get(*at).int() as usize, self.get(*value));
                self.stacks.get_mut(stack).expect("the stack was made")[at] = value;
            }
            StmtKind::StackGet { id, stack, at } => {
                let value = self.stacks[stack][self.get(*at).int() as usize].clone();
                self.set(*id, value);
            }
            StmtKind::Call { callee, mode, args, results } => {
                let callee = self.library.get(&self.func.callees[*callee].name, *mode);
                let args: Vec<Arg> = args
                    .iter()
                    .map(|arg| match arg {
                        CallArg::Value(id) => Arg::Value(self.get(*id)),
                        CallArg::Array(slot) => Arg::Array(self.slots[*slot]),
                    })
                    .collect();
                let values = run(callee, &args, self.arrays, self.pos, self.library);
                self.set_all(results, values);
            }
        }
    }
}
