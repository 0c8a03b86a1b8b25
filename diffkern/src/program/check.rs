//! Type rules of the pure operations.

use super::types::{BinaryOp, Func, Id, Lit, Op, ParamKind, Ty, UnaryOp};

/// Says what is wrong with `op` as the definition of a value of type `result`.
pub(super) fn op(func: &Func, op: &Op, result: Ty) -> Result<(), String> {
    let ty = |id: Id| func.ty(id);
    let ok = match op {
        Op::Const(lit) => match lit {
            Lit::Real(_) => result == Ty::Real,
            Lit::Int(_) => result.is_int(),
            Lit::Bool(_) => result == Ty::Bool,
        },
        Op::Builtin(_) => result.same(Ty::Usize),
        Op::Len(slot) => {
            let array = matches!(func.params.get(*slot), Some(p) if matches!(p.kind, ParamKind::Array { .. }));
            if !array {
                return Err(format!("parameter {slot} is not an array"));
            }
            result.same(Ty::Usize)
        }
        Op::Unary(op, a) => unary(*op, ty(*a)).is_some_and(|t| t.same(result)),
        Op::Binary(op, a, b) => binary(*op, ty(*a), ty(*b)).is_some_and(|t| t.same(result)),
        Op::Select(c, a, b) => ty(*c) == Ty::Bool && ty(*a).same(ty(*b)) && ty(*a).same(result),
        Op::Cast(a) => ty(*a).components() == 1 && result.components() == 1,
        Op::Compose(parts) => {
            matches!(result, Ty::Vec(_) | Ty::Mat(_))
                && parts.len() == result.components()
                && parts.iter().all(|&p| ty(p) == Ty::Real)
        }
        Op::Extract(a, k) => {
            matches!(ty(*a), Ty::Vec(_) | Ty::Mat(_)) && (*k as usize) < ty(*a).components() && result == Ty::Real
        }
        Op::Insert(a, k, b) => ty(*a) == result && (*k as usize) < result.components() && ty(*b) == Ty::Real,
    };
    if ok { Ok(()) } else { Err(format!("operands of the wrong type for a {result}: {op:?}")) }
}

fn unary(op: UnaryOp, a: Ty) -> Option<Ty> {
    use UnaryOp as U;
    let ok = match op {
        U::Neg => a.is_real() || a == Ty::I32,
        U::Detach => true,
        U::Not => a == Ty::Bool,
        U::Abs | U::Sign => a == Ty::Real || a == Ty::I32,
        U::Transpose => matches!(a, Ty::Mat(_)),
        _ => a == Ty::Real,
    };
    ok.then_some(if op == U::IsNan { Ty::Bool } else { a })
}

fn binary(op: BinaryOp, a: Ty, b: Ty) -> Option<Ty> {
    use BinaryOp as B;
    let same = a.same(b);
    let scalar = a == Ty::Real || a.is_int();
    let (ok, result) = match op {
        B::Add | B::Sub => (same && a != Ty::Bool, a),
        B::Mul | B::Div | B::Min | B::Max => (same && scalar, a),
        B::Rem | B::BitAnd | B::BitOr | B::BitXor => (same && a.is_int(), a),
        B::Shl | B::Shr => (a.is_int() && b.is_int(), a),
        B::Powf | B::Atan2 | B::Hypot => (a == Ty::Real && same, a),
        B::Powi => (a == Ty::Real && b == Ty::I32, a),
        B::Scale => (matches!(a, Ty::Vec(_) | Ty::Mat(_)) && b == Ty::Real, a),
        B::MulElem => (same && matches!(a, Ty::Vec(_) | Ty::Mat(_)), a),
        B::Dot => (same && matches!(a, Ty::Vec(_) | Ty::Mat(_)), Ty::Real),
        B::Cross => (same && a == Ty::Vec(3), a),
        B::MatVec => (matches!((a, b), (Ty::Mat(n), Ty::Vec(m)) if n == m), b),
        B::MatMul => (same && matches!(a, Ty::Mat(_)), a),
        B::Outer => match a {
            Ty::Vec(n) if n < 4 => (same, Ty::Mat(n)),
            _ => (false, a),
        },
        B::Eq | B::Ne => (same && a.components() == 1, Ty::Bool),
        B::Lt | B::Le | B::Gt | B::Ge => (same && scalar, Ty::Bool),
        B::And | B::Or => (same && a == Ty::Bool, Ty::Bool),
    };
    ok.then_some(result)
}
