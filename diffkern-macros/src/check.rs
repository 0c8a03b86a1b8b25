//! Whether a function is valid IR: what the transformations promise each other.

use std::collections::HashSet;

use crate::activity::element;
use crate::ir::{BinaryOp, Block, CallArg, Func, FuncKind, Id, Lit, Op, ParamKind, StmtKind, Ty, UnaryOp};

/// The first rule that `func` breaks: each value is defined once and before its uses, and operands have the types that
/// their operation takes.
pub fn check(func: &Func) -> Result<(), String> {
    let mut state = Check {
        func,
        defined: HashSet::new(),
        scope: Vec::new(),
        visible: HashSet::new(),
        stacks: vec![None; func.stacks as usize],
    };
    for param in &func.params {
        if let ParamKind::Scalar { id, .. } = param.kind {
            state.define(id)?;
        }
    }
    state.block(&func.body)?;
    match func.kind {
        FuncKind::Kernel if !func.body.yields.is_empty() => Err("a kernel has no results".into()),
        _ => Ok(()),
    }
}

struct Check<'a> {
    func: &'a Func,
    /// Every value defined anywhere.
    defined: HashSet<Id>,
    /// The values that may be read here, in order and as a set.
    scope: Vec<Id>,
    visible: HashSet<Id>,
    stacks: Vec<Option<Ty>>,
}

type Checked = Result<(), String>;

fn ensure(holds: bool, what: impl Fn() -> String) -> Checked {
    if holds { Ok(()) } else { Err(what()) }
}

impl Check<'_> {
    fn define(&mut self, id: Id) -> Checked {
        ensure((id.0 as usize) < self.func.types.len(), || format!("{id:?} has no type"))?;
        ensure(self.defined.insert(id), || format!("{id:?} is defined twice"))?;
        self.scope.push(id);
        self.visible.insert(id);
        Ok(())
    }

    fn leave(&mut self, depth: usize) {
        for id in self.scope.drain(depth..) {
            self.visible.remove(&id);
        }
    }

    fn define_all(&mut self, ids: &[Id]) -> Checked {
        ids.iter().try_for_each(|id| self.define(*id))
    }

    fn ty(&self, id: Id) -> Result<Ty, String> {
        ensure(self.visible.contains(&id), || format!("{id:?} is read where it is not defined"))?;
        Ok(self.func.ty(id))
    }

    fn expect(&self, id: Id, ty: Ty) -> Checked {
        let found = self.ty(id)?;
        ensure(found == ty, || format!("{id:?} is {found:?}, not {ty:?}"))
    }

    fn pairs(&self, values: &[Id], targets: &[Id]) -> Checked {
        ensure(values.len() == targets.len(), || format!("{values:?} and {targets:?} differ in number"))?;
        values.iter().zip(targets).try_for_each(|(value, target)| self.expect(*value, self.func.ty(*target)))
    }

    fn element(&self, slot: usize) -> Result<Ty, String> {
        element(self.func, slot).ok_or_else(|| format!("slot {slot} is not an array"))
    }

    fn index(&self, id: Id) -> Checked {
        let ty = self.ty(id)?;
        ensure(matches!(ty, Ty::Usize | Ty::U32), || format!("{id:?} is {ty:?}, not an index"))
    }

    fn block(&mut self, block: &Block) -> Checked {
        for stmt in &block.stmts {
            self.stmt(&stmt.kind).map_err(|e| format!("{e} in {:?}", stmt.kind))?;
        }
        for id in &block.yields {
            self.ty(*id)?;
        }
        Ok(())
    }

    /// A block whose values end with it; its yields are of the types of `targets`.
    fn inner(&mut self, block: &Block, targets: &[Id]) -> Checked {
        let depth = self.scope.len();
        self.block(block)?;
        self.pairs(&block.yields, targets)?;
        self.leave(depth);
        Ok(())
    }

    fn stmt(&mut self, kind: &StmtKind) -> Checked {
        match kind {
            StmtKind::Let { id, op } => {
                let ty = self.func.ty(*id);
                self.op(op, ty)?;
                self.define(*id)
            }
            StmtKind::Load { id, array, index } | StmtKind::Take { id, array, index } => {
                self.index(*index)?;
                let ty = self.element(*array)?;
                self.define(*id)?;
                self.expect(*id, ty)
            }
            StmtKind::Store { array, index, value } | StmtKind::Add { array, index, value } => {
                self.index(*index)?;
                self.expect(*value, self.element(*array)?)
            }
            StmtKind::If { cond, then, els, results } => {
                self.expect(*cond, Ty::Bool)?;
                self.inner(then, results)?;
                self.inner(els, results)?;
                self.define_all(results)
            }
            StmtKind::Fetch { id, array, index, value, .. } => {
                self.index(*index)?;
                let ty = self.element(*array)?;
                ensure(ty.is_int(), || format!("a fetch of {ty:?}"))?;
                self.expect(*value, ty)?;
                self.define(*id)?;
                self.expect(*id, ty)
            }
            StmtKind::Fault { cond, what } => {
                self.expect(*cond, Ty::Bool)?;
                let ty = self.ty(what.id())?;
                ensure(ty.is_int(), || format!("a fault tells of an integer, not {ty:?}"))
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let ty = self.ty(*lo)?;
                ensure(ty.is_int() && self.func.ty(*index) == ty, || "bounds and index differ in type".into())?;
                self.expect(*hi, ty)?;
                self.pairs(init, carried)?;
                let depth = self.scope.len();
                self.define(*index)?;
                self.define_all(carried)?;
                if let Some(live) = live {
                    self.expect(*live, Ty::Bool)?;
                    ensure(carried.contains(live), || format!("{live:?} is not carried"))?;
                }
                self.inner(body, carried)?;
                self.leave(depth);
                self.define_all(results)?;
                let same = results.len() == carried.len()
                    && results.iter().zip(carried).all(|(r, c)| self.func.ty(*r) == self.func.ty(*c));
                ensure(same, || "results and carried values differ in type".into())
            }
            StmtKind::StackNew { stack, ty, len } => {
                self.expect(*len, Ty::Usize)?;
                let slot = self.stacks.get_mut(*stack as usize).ok_or("no such stack")?;
                *slot = Some(*ty);
                Ok(())
            }
            StmtKind::StackSet { stack, at, value } => {
                self.expect(*at, Ty::Usize)?;
                self.expect(*value, self.stack(*stack)?)
            }
            StmtKind::StackGet { id, stack, at } => {
                self.expect(*at, Ty::Usize)?;
                let ty = self.stack(*stack)?;
                self.define(*id)?;
                self.expect(*id, ty)
            }
            StmtKind::Call { callee, args, results, .. } => {
                ensure(*callee < self.func.callees.len(), || "no such callee".into())?;
                for arg in args {
                    match arg {
                        CallArg::Value(id) => {
                            self.ty(*id)?;
                        }
                        CallArg::Array(slot) => {
                            self.element(*slot)?;
                        }
                    }
                }
                self.define_all(results)
            }
        }
    }

    fn stack(&self, stack: u32) -> Result<Ty, String> {
        self.stacks.get(stack as usize).copied().flatten().ok_or_else(|| format!("stack {stack} was not made"))
    }

    fn op(&self, op: &Op, ty: Ty) -> Checked {
        let legal = match op {
            Op::Const(Lit::Real(_)) => ty == Ty::Real,
            Op::Const(Lit::Int(_)) => ty.is_int(),
            Op::Const(Lit::Bool(_)) => ty == Ty::Bool,
            Op::Builtin(_) => ty == Ty::Usize && self.func.kind == FuncKind::Kernel,
            Op::Len(slot) => self.element(*slot).is_ok() && ty == Ty::Usize,
            Op::Unary(op, x) => unary_type(*op, self.ty(*x)?) == Some(ty),
            Op::Binary(op, a, b) => binary_type(*op, self.ty(*a)?, self.ty(*b)?) == Some(ty),
            Op::Select(c, a, b) => self.ty(*c)? == Ty::Bool && self.ty(*a)? == ty && self.ty(*b)? == ty,
            Op::Cast(x) => {
                let from = self.ty(*x)?;
                let number = |ty: Ty| ty.is_int() || ty == Ty::Real;
                number(ty) && (number(from) || from == Ty::Bool)
            }
            Op::Compose(parts) => {
                for part in parts {
                    self.expect(*part, Ty::Real)?;
                }
                ty.is_compound() && parts.len() == ty.components()
            }
            Op::Extract(x, k) => self.part(*x, *k)? && ty == Ty::Real,
            Op::Insert(x, k, part) => {
                self.expect(*part, Ty::Real)?;
                self.part(*x, *k)? && self.ty(*x)? == ty
            }
        };
        ensure(legal, || format!("operands do not make a {ty:?}"))
    }

    fn part(&self, x: Id, k: u8) -> Result<bool, String> {
        let ty = self.ty(x)?;
        Ok(ty.is_compound() && (k as usize) < ty.components())
    }
}

/// The type of the result, if the operand is of a legal one.
fn unary_type(op: UnaryOp, x: Ty) -> Option<Ty> {
    use UnaryOp::{Abs, Detach, IsNan, Neg, Nonzero, Not, Transpose};
    match op {
        Not => (x == Ty::Bool).then_some(x),
        Neg => (x.is_real() || x == Ty::I32).then_some(x),
        Abs => (x == Ty::Real || x == Ty::I32).then_some(x),
        Detach => x.is_real().then_some(x),
        Transpose => matches!(x, Ty::Mat(_)).then_some(x),
        IsNan => (x == Ty::Real).then_some(Ty::Bool),
        Nonzero => x.is_real().then_some(Ty::Bool),
        _ => (x == Ty::Real).then_some(x),
    }
}

/// The type of the result, if the operands are of legal ones.
fn binary_type(op: BinaryOp, a: Ty, b: Ty) -> Option<Ty> {
    use BinaryOp::*;
    let equal = a == b;
    let number = a == Ty::Real || a.is_int();
    match op {
        Add | Sub => (equal && (a.is_real() || a.is_int())).then_some(a),
        Mul | Div | Min | Max => (equal && number).then_some(a),
        Powf | Atan2 | Hypot => (equal && a == Ty::Real).then_some(a),
        Powi => (a == Ty::Real && b == Ty::I32).then_some(a),
        Rem | BitAnd | BitOr | BitXor => (equal && a.is_int()).then_some(a),
        Shl | Shr => (a.is_int() && b.is_int()).then_some(a),
        Scale => (a.is_compound() && b == Ty::Real).then_some(a),
        MulElem => (equal && matches!(a, Ty::Vec(_))).then_some(a),
        Dot => (equal && a.is_compound()).then_some(Ty::Real),
        Cross => (equal && a == Ty::Vec(3)).then_some(a),
        MatVec => matches!((a, b), (Ty::Mat(n), Ty::Vec(m)) if n == m).then_some(b),
        MatMul => (equal && matches!(a, Ty::Mat(_))).then_some(a),
        Outer => match (a, b) {
            (Ty::Vec(n), Ty::Vec(m)) if n == m && n < 4 => Some(Ty::Mat(n)),
            _ => None,
        },
        Eq | Ne => (equal && (number || a == Ty::Bool)).then_some(Ty::Bool),
        Lt | Le | Gt | Ge => (equal && number).then_some(Ty::Bool),
        And | Or => (equal && a == Ty::Bool).then_some(a),
    }
}
