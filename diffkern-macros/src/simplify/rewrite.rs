//! Rules for a single operation.

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty, UnaryOp};

pub enum Rewritten {
    /// Another value, already computed.
    Value(Id),
    Op(Op),
}

use Rewritten::Value;

/// `defs`: the operation of each value in scope that has one; `types`: of each value.
pub fn rewrite(op: Op, ty: Ty, defs: &[Option<Op>], types: &[Ty]) -> Rewritten {
    let view = View { defs, types };
    let outcome = match &op {
        Op::Unary(f, x) => view.unary(*f, *x),
        Op::Binary(f, a, b) => view.binary(*f, *a, *b),
        Op::Select(c, a, b) => view.select(*c, *a, *b),
        Op::Cast(x) => view.cast(*x, ty),
        Op::Compose(parts) => view.compose(parts, ty),
        Op::Extract(x, k) => view.extract(*x, *k),
        Op::Insert(x, k, part) => match view.def(*x) {
            Some(Op::Compose(parts)) => {
                let mut parts = parts.clone();
                parts[*k as usize] = *part;
                Some(Rewritten::Op(Op::Compose(parts)))
            }
            Some(Op::Insert(base, j, _)) if j == k => Some(Rewritten::Op(Op::Insert(*base, *k, *part))),
            _ => None,
        },
        Op::Const(_) | Op::Builtin(_) | Op::Len(_) => None,
    };
    outcome.unwrap_or(Rewritten::Op(op))
}

struct View<'a> {
    defs: &'a [Option<Op>],
    types: &'a [Ty],
}

fn lit(lit: Lit) -> Option<Rewritten> {
    Some(Rewritten::Op(Op::Const(lit)))
}

/// The number that a `f32` has exactly.
fn exact(value: f64) -> Option<f64> {
    (f64::from(value as f32) == value).then_some(value)
}

/// 32 bits, as every integer of a kernel.
pub fn wrap(ty: Ty, value: i64) -> i64 {
    match ty {
        Ty::I32 => i64::from(value as i32),
        _ => i64::from(value as u32),
    }
}

impl View<'_> {
    fn def(&self, id: Id) -> Option<&Op> {
        self.defs[id.0 as usize].as_ref()
    }

    fn ty(&self, id: Id) -> Ty {
        self.types[id.0 as usize]
    }

    fn lit(&self, id: Id) -> Option<Lit> {
        match self.def(id) {
            Some(Op::Const(lit)) => Some(*lit),
            _ => None,
        }
    }

    fn is_real(&self, id: Id, value: f64) -> bool {
        self.lit(id) == Some(Lit::Real(value))
    }

    /// A real zero, or a vector or matrix of zeros.
    fn is_zero(&self, id: Id) -> bool {
        match self.def(id) {
            Some(Op::Compose(parts)) => parts.iter().all(|part| self.is_real(*part, 0.0)),
            _ => self.is_real(id, 0.0),
        }
    }

    fn is_int(&self, id: Id, value: i64) -> bool {
        self.lit(id) == Some(Lit::Int(value))
    }

    fn negated(&self, id: Id) -> Option<Id> {
        match self.def(id) {
            Some(Op::Unary(UnaryOp::Neg, x)) => Some(*x),
            _ => None,
        }
    }

    fn unary(&self, op: UnaryOp, x: Id) -> Option<Rewritten> {
        match (op, self.def(x)?) {
            (UnaryOp::Neg, Op::Unary(UnaryOp::Neg, y))
            | (UnaryOp::Not, Op::Unary(UnaryOp::Not, y))
            | (UnaryOp::Transpose, Op::Unary(UnaryOp::Transpose, y)) => Some(Value(*y)),
            (UnaryOp::Neg, Op::Const(Lit::Real(value))) => lit(Lit::Real(-value)),
            (UnaryOp::Neg, Op::Const(Lit::Int(value))) => lit(Lit::Int(wrap(self.ty(x), -value))),
            (UnaryOp::Not, Op::Const(Lit::Bool(value))) => lit(Lit::Bool(!value)),
            (UnaryOp::Neg | UnaryOp::Transpose, Op::Compose(_)) if self.is_zero(x) => Some(Value(x)),
            _ => None,
        }
    }

    fn binary(&self, op: BinaryOp, a: Id, b: Id) -> Option<Rewritten> {
        let folded = match (self.lit(a), self.lit(b)) {
            (Some(Lit::Int(x)), Some(Lit::Int(y))) => fold_ints(op, self.ty(a), x, y),
            (Some(Lit::Real(x)), Some(Lit::Real(y))) => fold_reals(op, x, y),
            (Some(Lit::Bool(x)), _) => return bool_with(op, x, b),
            (_, Some(Lit::Bool(y))) => return bool_with(op, y, a),
            _ => None,
        };
        match folded {
            Some(value) => lit(value),
            None if self.ty(a).is_int() => self.int_identity(op, a, b),
            None => self.real_identity(op, a, b),
        }
    }

    fn int_identity(&self, op: BinaryOp, a: Id, b: Id) -> Option<Rewritten> {
        use BinaryOp::{Add, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Shl, Shr, Sub};
        match op {
            Add | Sub | Shl | Shr if self.is_int(b, 0) => Some(Value(a)),
            Add if self.is_int(a, 0) => Some(Value(b)),
            Mul | Div if self.is_int(b, 1) => Some(Value(a)),
            Mul if self.is_int(a, 1) => Some(Value(b)),
            Mul if self.is_int(a, 0) => Some(Value(a)),
            Mul if self.is_int(b, 0) => Some(Value(b)),
            Sub if a == b => lit(Lit::Int(0)),
            Eq | Le | Ge if a == b => lit(Lit::Bool(true)),
            Ne | Lt | Gt if a == b => lit(Lit::Bool(false)),
            _ => None,
        }
    }

    fn real_identity(&self, op: BinaryOp, a: Id, b: Id) -> Option<Rewritten> {
        use BinaryOp::{Add, Div, Mul, Powf, Powi, Scale, Sub};
        match op {
            Add | Sub if self.is_zero(b) => Some(Value(a)),
            Add if self.is_zero(a) => Some(Value(b)),
            Mul | Div | Scale | Powf if self.is_real(b, 1.0) => Some(Value(a)),
            Powi if self.is_int(b, 1) => Some(Value(a)),
            Mul if self.is_real(a, 1.0) => Some(Value(b)),
            Mul | Div | Scale if self.is_real(b, -1.0) => Some(Rewritten::Op(Op::Unary(UnaryOp::Neg, a))),
            Mul if self.is_real(a, -1.0) => Some(Rewritten::Op(Op::Unary(UnaryOp::Neg, b))),
            Add => match (self.negated(a), self.negated(b)) {
                (_, Some(b)) => Some(Rewritten::Op(Op::Binary(Sub, a, b))),
                (Some(a), None) => Some(Rewritten::Op(Op::Binary(Sub, b, a))),
                _ => None,
            },
            Sub => self.negated(b).map(|b| Rewritten::Op(Op::Binary(Add, a, b))),
            _ => None,
        }
    }

    fn select(&self, cond: Id, a: Id, b: Id) -> Option<Rewritten> {
        if a == b {
            return Some(Value(a));
        }
        match self.def(cond)? {
            Op::Const(Lit::Bool(true)) => Some(Value(a)),
            Op::Const(Lit::Bool(false)) => Some(Value(b)),
            Op::Unary(UnaryOp::Not, cond) => Some(Rewritten::Op(Op::Select(*cond, b, a))),
            _ => None,
        }
    }

    fn cast(&self, x: Id, ty: Ty) -> Option<Rewritten> {
        match self.lit(x) {
            Some(Lit::Int(value)) if ty.is_int() => lit(Lit::Int(wrap(ty, value))),
            Some(Lit::Int(value)) => exact(value as f64).and_then(|value| lit(Lit::Real(value))),
            _ => None,
        }
    }

    /// All components of one value, in order, are that value.
    fn compose(&self, parts: &[Id], ty: Ty) -> Option<Rewritten> {
        let mut whole = None;
        for (k, part) in parts.iter().enumerate() {
            match self.def(*part) {
                Some(Op::Extract(x, j)) if *j as usize == k && whole.is_none_or(|w| w == *x) => whole = Some(*x),
                _ => return None,
            }
        }
        whole.filter(|x| self.ty(*x) == ty).map(Value)
    }

    fn extract(&self, x: Id, k: u8) -> Option<Rewritten> {
        match self.def(x)? {
            Op::Compose(parts) => Some(Value(parts[k as usize])),
            Op::Insert(_, j, part) if *j == k => Some(Value(*part)),
            Op::Insert(base, _, _) => Some(Rewritten::Op(Op::Extract(*base, k))),
            Op::Unary(UnaryOp::Transpose, m) => {
                let n = match self.ty(*m) {
                    Ty::Mat(n) => n,
                    _ => return None,
                };
                Some(Rewritten::Op(Op::Extract(*m, k % n * n + k / n)))
            }
            _ => None,
        }
    }
}

fn bool_with(op: BinaryOp, known: bool, other: Id) -> Option<Rewritten> {
    match (op, known) {
        (BinaryOp::And, true) | (BinaryOp::Or, false) => Some(Value(other)),
        (BinaryOp::And, false) | (BinaryOp::Or, true) => lit(Lit::Bool(known)),
        _ => None,
    }
}

fn fold_ints(op: BinaryOp, ty: Ty, x: i64, y: i64) -> Option<Lit> {
    use BinaryOp::{Add, Eq, Ge, Gt, Le, Lt, Max, Min, Mul, Ne, Sub};
    Some(match op {
        Add => Lit::Int(wrap(ty, x + y)),
        Sub => Lit::Int(wrap(ty, x - y)),
        Mul => Lit::Int(wrap(ty, x.wrapping_mul(y))),
        Min => Lit::Int(x.min(y)),
        Max => Lit::Int(x.max(y)),
        Eq => Lit::Bool(x == y),
        Ne => Lit::Bool(x != y),
        Lt => Lit::Bool(x < y),
        Le => Lit::Bool(x <= y),
        Gt => Lit::Bool(x > y),
        Ge => Lit::Bool(x >= y),
        _ => return None,
    })
}

/// Only where `f32` arithmetic has the same result.
fn fold_reals(op: BinaryOp, x: f64, y: f64) -> Option<Lit> {
    use BinaryOp::{Add, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Sub};
    let (x, y) = (exact(x)?, exact(y)?);
    let real = |value: f64| exact(value).map(Lit::Real);
    match op {
        Add => real(x + y),
        Sub => real(x - y),
        Mul => real(x * y),
        // A quotient of two `f32` that an `f32` has exactly is not rounded.
        Div if y != 0.0 => real(x / y),
        Eq => Some(Lit::Bool(x == y)),
        Ne => Some(Lit::Bool(x != y)),
        Lt => Some(Lit::Bool(x < y)),
        Le => Some(Lit::Bool(x <= y)),
        Gt => Some(Lit::Bool(x > y)),
        Ge => Some(Lit::Bool(x >= y)),
        _ => None,
    }
}
