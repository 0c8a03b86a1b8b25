//! Operations, which have neither effects nor control flow.

use diffkern_ir::{BinaryOp, Builtin, FuncKind, Id, Lit, Op, Ty, UnaryOp};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{Emit, array, rust_type, value};

impl Emit<'_> {
    pub(super) fn op(&self, op: &Op, ty: Ty) -> TokenStream {
        match op {
            Op::Const(lit) => constant(*lit, ty),
            Op::Builtin(Builtin::Pos) => quote!(p),
            Op::Builtin(Builtin::PosX) => quote!(c.pos_x(p)),
            Op::Builtin(Builtin::PosY) => quote!(c.pos_y(p)),
            Op::Builtin(Builtin::PosZ) => quote!(c.pos_z(p)),
            Op::Len(slot) => match self.func.kind {
                FuncKind::Kernel => quote!(c.len(#slot)),
                FuncKind::DiffFn => {
                    let var = array(*slot);
                    quote!(#var.len())
                }
            },
            Op::Unary(op, a) => self.unary(*op, *a),
            Op::Binary(op, a, b) => self.binary(*op, *a, *b),
            Op::Select(c, a, b) => {
                let (c, a, b) = (value(*c), value(*a), value(*b));
                quote!(if #c { #a } else { #b })
            }
            Op::Cast(a) => self.cast(*a, ty),
            Op::Compose(parts) => {
                let (ty, parts) = (rust_type(ty), parts.iter().map(|&id| value(id)));
                quote!(<#ty>::new(#(#parts),*))
            }
            Op::Extract(a, k) => {
                let (a, k) = (value(*a), *k as usize);
                quote!(#a.get(#k))
            }
            Op::Insert(a, k, b) => {
                let (a, k, b) = (value(*a), *k as usize, value(*b));
                quote!(#a.with(#k, #b))
            }
        }
    }

    fn unary(&self, op: UnaryOp, a: Id) -> TokenStream {
        let (v, ty) = (value(a), self.func.ty(a));
        match op {
            UnaryOp::Neg if ty == Ty::I32 => quote!(#v.wrapping_neg()),
            UnaryOp::Neg => quote!(-#v),
            UnaryOp::Not => quote!(!#v),
            UnaryOp::Abs if ty == Ty::I32 => quote!(#v.wrapping_abs()),
            UnaryOp::Transpose => quote!(#v.transpose()),
            UnaryOp::Detach => quote!(#v),
            UnaryOp::Sign => quote!(::diffkern::private::sign(#v)),
            UnaryOp::IsNan => quote!(::diffkern::Float::is_nan(#v)),
            UnaryOp::Abs
            | UnaryOp::Exp
            | UnaryOp::Ln
            | UnaryOp::Sqrt
            | UnaryOp::Length
            | UnaryOp::Sin
            | UnaryOp::Cos
            | UnaryOp::Tan
            | UnaryOp::Asin
            | UnaryOp::Acos
            | UnaryOp::Atan
            | UnaryOp::Tanh
            | UnaryOp::Sinh
            | UnaryOp::Cosh
            | UnaryOp::Erf
            | UnaryOp::Log1p
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Round => {
                let name = format_ident!("{}", op.name());
                quote!(::diffkern::Float::#name(#v))
            }
            UnaryOp::Nonzero => {
                let zero = quote!(<F as ::diffkern::Float>::zero());
                let parts = (0..ty.components()).map(|k| match ty {
                    Ty::Real => quote!(#v != #zero),
                    _ => quote!(#v.get(#k) != #zero),
                });
                quote!(false #(|| #parts)*)
            }
        }
    }

    fn binary(&self, op: BinaryOp, a: Id, b: Id) -> TokenStream {
        let ty = self.func.ty(a);
        let (a, b) = (value(a), value(b));
        let int = ty.is_int();
        match op {
            BinaryOp::Add if int => quote!(#a.wrapping_add(#b)),
            BinaryOp::Sub if int => quote!(#a.wrapping_sub(#b)),
            BinaryOp::Mul if int => quote!(#a.wrapping_mul(#b)),
            BinaryOp::Div | BinaryOp::Rem if int => {
                let name = match (op == BinaryOp::Div, ty == Ty::I32) {
                    (true, true) => "idiv",
                    (true, false) => "udiv",
                    (false, true) => "irem",
                    (false, false) => "urem",
                };
                let name = format_ident!("{name}");
                quote!(::diffkern::private::#name(#a, #b))
            }
            BinaryOp::Min if int => quote!(::core::cmp::Ord::min(#a, #b)),
            BinaryOp::Max if int => quote!(::core::cmp::Ord::max(#a, #b)),
            BinaryOp::Add => quote!(#a + #b),
            BinaryOp::Sub => quote!(#a - #b),
            BinaryOp::Mul | BinaryOp::Scale | BinaryOp::MatVec | BinaryOp::MatMul => quote!(#a * #b),
            BinaryOp::Div => quote!(#a / #b),
            BinaryOp::Dot if matches!(ty, Ty::Mat(_)) => quote!(#a.ddot(#b)),
            BinaryOp::Dot => quote!(#a.dot(#b)),
            BinaryOp::Cross => quote!(#a.cross(#b)),
            BinaryOp::MulElem => quote!(#a.mul_elem(#b)),
            BinaryOp::Outer => quote!(#a.outer(#b)),
            BinaryOp::Min | BinaryOp::Max | BinaryOp::Powf | BinaryOp::Powi | BinaryOp::Atan2 | BinaryOp::Hypot => {
                let name = format_ident!("{}", op.name());
                quote!(::diffkern::Float::#name(#a, #b))
            }
            BinaryOp::Rem => quote!(#a % #b),
            BinaryOp::BitAnd | BinaryOp::And => quote!(#a & #b),
            BinaryOp::BitOr | BinaryOp::Or => quote!(#a | #b),
            BinaryOp::BitXor => quote!(#a ^ #b),
            BinaryOp::Shl => quote!(#a.wrapping_shl(#b as u32)),
            BinaryOp::Shr => quote!(#a.wrapping_shr(#b as u32)),
            BinaryOp::Eq => quote!(#a == #b),
            BinaryOp::Ne => quote!(#a != #b),
            BinaryOp::Lt => quote!(#a < #b),
            BinaryOp::Le => quote!(#a <= #b),
            BinaryOp::Gt => quote!(#a > #b),
            BinaryOp::Ge => quote!(#a >= #b),
        }
    }

    fn cast(&self, a: Id, to: Ty) -> TokenStream {
        let from = self.func.ty(a);
        let a = value(a);
        match (from, to) {
            (Ty::Real, Ty::I32) => quote!(::diffkern::Float::to_i32(#a)),
            (Ty::Real, Ty::Real) => quote!(#a),
            (Ty::Real, _) => quote!(::diffkern::Float::to_u32(#a)),
            (Ty::I32, Ty::Real) => quote!(<F as ::diffkern::Float>::from_i32(#a)),
            (_, Ty::Real) => quote!(<F as ::diffkern::Float>::from_u32(#a as u32)),
            (_, Ty::I32) => quote!(#a as i32),
            _ => quote!(#a as u32),
        }
    }
}

fn constant(lit: Lit, ty: Ty) -> TokenStream {
    match lit {
        Lit::Real(x) if x.is_nan() => quote!(<F as ::diffkern::Float>::from_f64(f64::NAN)),
        Lit::Real(x) if x == f64::INFINITY => quote!(<F as ::diffkern::Float>::from_f64(f64::INFINITY)),
        Lit::Real(x) if x == f64::NEG_INFINITY => quote!(<F as ::diffkern::Float>::from_f64(f64::NEG_INFINITY)),
        Lit::Real(x) => quote!(<F as ::diffkern::Float>::from_f64(#x)),
        Lit::Int(x) if ty == Ty::I32 => {
            let x = x as i32;
            quote!(#x)
        }
        Lit::Int(x) => {
            let x = x as u32;
            quote!(#x)
        }
        Lit::Bool(x) => quote!(#x),
    }
}
