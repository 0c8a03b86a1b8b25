//! Runs IR in `f64`: the judge of the transformations, independent of what is emitted.

use std::collections::HashMap;

use crate::adjoint::adjoint;
use crate::guard;
use crate::ir::{
    BinaryOp, Block, Builtin, CallArg, CallMode, Func, Id, Lit, Op, ParamKind, Slot, StmtKind, Ty, UnaryOp,
};
use crate::tangent::{second, tangent};

#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    Real(Vec<f64>),
    Int(i64),
    Bool(bool),
}

impl Val {
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

pub type Array = Vec<Val>;

/// An argument: one of the arrays of the caller, or a value.
#[derive(Clone, Debug)]
pub enum Arg {
    Array(usize),
    Value(Val),
}

/// Device functions by name, in all modes.
#[derive(Clone, Default)]
pub struct Library {
    functions: HashMap<String, [Func; 4]>,
}

impl Library {
    pub fn add(&mut self, primal: Func) {
        let (vjp, jvp) = (adjoint(&primal), tangent(&primal));
        let second = second(&vjp);
        self.functions.insert(primal.name.clone(), [primal, guard::lower(vjp), jvp, second]);
    }

    fn get(&self, path: &syn::Path, mode: CallMode) -> &Func {
        let name = path.segments.last().expect("a path").ident.to_string();
        let forms = &self.functions[&name];
        match mode {
            CallMode::Primal | CallMode::Replay => &forms[0],
            CallMode::Vjp => &forms[1],
            CallMode::Jvp => &forms[2],
            CallMode::Second => &forms[3],
        }
    }
}

/// Runs `func` at position `pos` of a one-dimensional domain; returns its results.
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
        self.values[id.0 as usize].clone().unwrap_or_else(|| panic!("{id:?} has no value"))
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
                    _ => zip(element, &value, |a, b| a + b),
                };
            }
            StmtKind::If { cond, then, els, results } => {
                let values = self.block(if self.get(*cond).bool() { then } else { els });
                self.set_all(results, values);
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let mut values = self.get_all(init);
                let live = live.map(|live| carried.iter().position(|id| *id == live).expect("it is carried"));
                for turn in self.get(*lo).int()..self.get(*hi).int() {
                    if live.is_some_and(|k| !values[k].bool()) {
                        break;
                    }
                    self.set(*index, Val::Int(turn));
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
                let callee = self.library.get(&self.func.callees[*callee].path, *mode);
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

    fn op(&self, op: &Op, ty: Ty) -> Val {
        match op {
            Op::Const(Lit::Real(value)) => Val::Real(vec![*value]),
            Op::Const(Lit::Int(value)) => Val::Int(*value),
            Op::Const(Lit::Bool(value)) => Val::Bool(*value),
            Op::Builtin(Builtin::Pos | Builtin::PosX) => Val::Int(self.pos as i64),
            Op::Builtin(Builtin::PosY | Builtin::PosZ) => Val::Int(0),
            Op::Len(slot) => Val::Int(self.arrays[self.slots[*slot]].len() as i64),
            Op::Unary(op, x) => unary(*op, &self.get(*x)),
            Op::Binary(op, a, b) => binary(*op, ty, &self.get(*a), &self.get(*b)),
            Op::Select(c, a, b) => self.get(if self.get(*c).bool() { *a } else { *b }),
            Op::Cast(x) => match (self.get(*x), ty) {
                (Val::Int(value), Ty::Real) => Val::Real(vec![value as f64]),
                (Val::Int(value), ty) => wrap(ty, value),
                (Val::Bool(value), Ty::Real) => Val::Real(vec![f64::from(u8::from(value))]),
                (Val::Bool(value), _) => Val::Int(i64::from(value)),
                (Val::Real(value), Ty::I32) => Val::Int(i64::from(value[0] as i32)),
                (Val::Real(value), _) => Val::Int(i64::from(value[0] as u32)),
            },
            Op::Compose(parts) => Val::Real(parts.iter().map(|x| self.get(*x).reals()[0]).collect()),
            Op::Extract(x, k) => Val::Real(vec![self.get(*x).reals()[*k as usize]]),
            Op::Insert(x, k, part) => {
                let mut parts = self.get(*x).reals().to_vec();
                parts[*k as usize] = self.get(*part).reals()[0];
                Val::Real(parts)
            }
        }
    }
}

fn zip(a: &Val, b: &Val, f: impl Fn(f64, f64) -> f64) -> Val {
    Val::Real(a.reals().iter().zip(b.reals()).map(|(a, b)| f(*a, *b)).collect())
}

fn unary(op: UnaryOp, x: &Val) -> Val {
    use UnaryOp::*;
    let parts = match (op, x) {
        (_, Val::Real(parts)) => parts,
        (Not, Val::Bool(value)) => return Val::Bool(!value),
        (Neg, Val::Int(value)) => return wrap(Ty::I32, -value),
        (Abs, Val::Int(value)) => return wrap(Ty::I32, value.abs()),
        (op, x) => panic!("{op:?} of {x:?}"),
    };
    let n = if parts.len() == 9 { 3 } else { 2 };
    let f: fn(f64) -> f64 = match op {
        Neg => |x| -x,
        Abs => f64::abs,
        Exp => f64::exp,
        Ln => f64::ln,
        Sqrt | Length => f64::sqrt,
        Sin => f64::sin,
        Cos => f64::cos,
        Tan => f64::tan,
        Asin => f64::asin,
        Acos => f64::acos,
        Atan => f64::atan,
        Tanh => f64::tanh,
        Sinh => f64::sinh,
        Cosh => f64::cosh,
        Erf => erf,
        Log1p => f64::ln_1p,
        Floor => f64::floor,
        Ceil => f64::ceil,
        Round => f64::round_ties_even,
        Sign => |x| if x == 0.0 { 0.0 } else { x.signum() },
        Detach => |x| x,
        Nonzero => return Val::Bool(parts.iter().any(|x| *x != 0.0)),
        IsNan => return Val::Bool(parts[0].is_nan()),
        Transpose => return Val::Real((0..n * n).map(|k| parts[k % n * n + k / n]).collect()),
        Not => panic!("not of a real"),
    };
    Val::Real(parts.iter().map(|x| f(*x)).collect())
}

/// By its power series: exact enough for |x| < 3.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

fn binary(op: BinaryOp, ty: Ty, a: &Val, b: &Val) -> Val {
    match (a, b) {
        (Val::Real(x), Val::Real(y)) => real_binary(op, x, y),
        (Val::Real(x), Val::Int(n)) => Val::Real(vec![x[0].powi(*n as i32)]),
        (Val::Int(x), Val::Int(y)) => int_binary(op, ty, *x, *y),
        (Val::Bool(x), Val::Bool(y)) => Val::Bool(match op {
            BinaryOp::And => *x && *y,
            BinaryOp::Or => *x || *y,
            BinaryOp::Eq => x == y,
            BinaryOp::Ne => x != y,
            other => panic!("{other:?} of bools"),
        }),
        other => panic!("{op:?} of {other:?}"),
    }
}

fn int_binary(op: BinaryOp, ty: Ty, x: i64, y: i64) -> Val {
    use BinaryOp::*;
    match op {
        Add => wrap(ty, x + y),
        Sub => wrap(ty, x - y),
        Mul => wrap(ty, x.wrapping_mul(y)),
        Div => wrap(ty, x.checked_div(y).unwrap_or(0)),
        Rem => wrap(ty, x.checked_rem(y).unwrap_or(0)),
        Min => Val::Int(x.min(y)),
        Max => Val::Int(x.max(y)),
        BitAnd => wrap(ty, x & y),
        BitOr => wrap(ty, x | y),
        BitXor => wrap(ty, x ^ y),
        Shl => wrap(ty, x << (y & 31)),
        Shr => wrap(ty, x >> (y & 31)),
        Eq => Val::Bool(x == y),
        Ne => Val::Bool(x != y),
        Lt => Val::Bool(x < y),
        Le => Val::Bool(x <= y),
        Gt => Val::Bool(x > y),
        Ge => Val::Bool(x >= y),
        other => panic!("{other:?} of integers"),
    }
}

fn real_binary(op: BinaryOp, x: &[f64], y: &[f64]) -> Val {
    use BinaryOp::*;
    let each = |f: fn(f64, f64) -> f64| Val::Real(x.iter().zip(y).map(|(a, b)| f(*a, *b)).collect());
    let test = |holds: bool| Val::Bool(holds);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    let side = |len: usize| if len == 9 { 3 } else { 2 };
    match op {
        Add => each(|a, b| a + b),
        Sub => each(|a, b| a - b),
        Mul | MulElem => each(|a, b| a * b),
        Div => each(|a, b| a / b),
        Min => each(f64::min),
        Max => each(f64::max),
        Powf => each(f64::powf),
        Atan2 => each(f64::atan2),
        Hypot => each(f64::hypot),
        Scale => Val::Real(x.iter().map(|a| a * y[0]).collect()),
        Dot => Val::Real(vec![dot(x, y)]),
        Cross => {
            Val::Real((0..3).map(|k| [(k + 1) % 3, (k + 2) % 3]).map(|[i, j]| x[i] * y[j] - x[j] * y[i]).collect())
        }
        MatVec => Val::Real(x.chunks(y.len()).map(|row| dot(row, y)).collect()),
        MatMul => {
            let n = side(x.len());
            Val::Real((0..n * n).map(|k| (0..n).map(|j| x[k / n * n + j] * y[j * n + k % n]).sum()).collect())
        }
        Outer => Val::Real(x.iter().flat_map(|a| y.iter().map(move |b| a * b)).collect()),
        Eq => test(x == y),
        Ne => test(x != y),
        Lt => test(x[0] < y[0]),
        Le => test(x[0] <= y[0]),
        Gt => test(x[0] > y[0]),
        Ge => test(x[0] >= y[0]),
        other => panic!("{other:?} of reals"),
    }
}
