//! One operation on packs, component by component. A product that an addition takes in is fused with it.

use diffkern_ir::{BinaryOp, Builtin, Id, Op, Ty, UnaryOp};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::values::Values;
use crate::emit::native::value;

type Parts = Vec<TokenStream>;

impl Values<'_> {
    /// Binds the components of `id`, which varies, to the result of `op`; `None` for what lanes cannot do.
    pub fn operation(&self, id: Id, op: &Op, out: &mut TokenStream) -> Option<()> {
        let ty = self.func.ty(id);
        match op {
            // Renamings.
            Op::Compose(parts) => {
                let all = parts.iter().flat_map(|&part| self.parts(part, out)).collect();
                self.define(id, all);
                return Some(());
            }
            Op::Extract(a, k) => {
                let part = self.parts(*a, out).get(*k as usize)?.clone();
                self.define(id, vec![part]);
                return Some(());
            }
            Op::Insert(a, k, b) => {
                let mut all = self.parts(*a, out);
                *all.get_mut(*k as usize)? = self.parts(*b, out).first()?.clone();
                self.define(id, all);
                return Some(());
            }
            Op::Unary(UnaryOp::Transpose, a) => {
                let (all, n) = (self.parts(*a, out), side(ty)?);
                self.define(id, (0..n * n).map(|k| all[k % n * n + k / n].clone()).collect());
                return Some(());
            }
            Op::Unary(UnaryOp::Detach, a) => {
                let all = self.parts(*a, out);
                self.define(id, all);
                return Some(());
            }
            Op::Binary(BinaryOp::Mul | BinaryOp::Scale | BinaryOp::MulElem, a, b)
                if ty.is_real() && self.used_once(id) =>
            {
                let (a, b) = (self.parts(*a, out), self.parts(*b, out));
                let all = a.iter().enumerate().map(|(k, a)| (a.clone(), b[k % b.len()].clone())).collect();
                self.define_product(id, all);
                return Some(());
            }
            _ => {}
        }
        let all = match op {
            Op::Builtin(Builtin::PosX) => vec![quote!(c.lanes_pos_x::<S>(p))],
            Op::Builtin(Builtin::PosY) => vec![quote!(c.lanes_pos_y::<S>(p))],
            Op::Builtin(Builtin::PosZ) => vec![quote!(c.lanes_pos_z::<S>(p))],
            Op::Unary(op, a) => self.unary(*op, *a, out),
            Op::Binary(op, a, b) => self.binary(*op, *a, *b, out)?,
            Op::Select(c, a, b) => self.select(*c, *a, *b, out),
            Op::Cast(a) => vec![self.cast(*a, ty, out)],
            // The first three are uniform or strided, the others renamings.
            Op::Const(_)
            | Op::Builtin(Builtin::Pos)
            | Op::Len(_)
            | Op::Compose(_)
            | Op::Extract(..)
            | Op::Insert(..) => return None,
        };
        for (name, part) in self.name(id).iter().zip(all) {
            out.extend(quote!(let #name = #part;));
        }
        Some(())
    }

    fn select(&self, c: Id, a: Id, b: Id, out: &mut TokenStream) -> Parts {
        let (all, other) = (self.parts(a, out), self.parts(b, out));
        if !self.varies(c) {
            let c = value(c);
            return all.iter().zip(other).map(|(a, b)| quote!(if #c { #a } else { #b })).collect();
        }
        let c = &self.parts(c, out)[0];
        let method = self.select_method(a);
        all.iter().zip(other).map(|(a, b)| quote!(S::#method(#c, #a, #b))).collect()
    }

    /// The method that chooses by a mask between values like `id`.
    pub fn select_method(&self, id: Id) -> proc_macro2::Ident {
        format_ident!(
            "{}",
            match self.func.ty(id) {
                Ty::Bool => "select_m",
                ty if ty.is_int() => "select_i",
                _ => "select",
            }
        )
    }

    fn unary(&self, op: UnaryOp, a: Id, out: &mut TokenStream) -> Parts {
        let ty = self.func.ty(a);
        let each = |f: &dyn Fn(&TokenStream) -> TokenStream, out: &mut TokenStream| {
            self.parts(a, out).iter().map(f).collect::<Vec<_>>()
        };
        match op {
            UnaryOp::Neg if ty == Ty::I32 => each(&|a| quote!(S::sub_i(S::splat_i(0), #a)), out),
            UnaryOp::Abs if ty == Ty::I32 => each(&|a| quote!(S::abs_i(#a)), out),
            UnaryOp::Nonzero => {
                let zero = quote!(S::splat(<F as ::diffkern::Float>::zero()));
                let parts = each(&|a| quote!(S::not(S::eq(#a, #zero))), out);
                parts.into_iter().reduce(|any, part| quote!(S::or(#any, #part))).into_iter().collect()
            }
            // Those of several components are renamings.
            UnaryOp::Transpose | UnaryOp::Detach => self.parts(a, out),
            UnaryOp::Neg
            | UnaryOp::Not
            | UnaryOp::Abs
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
            | UnaryOp::Round
            | UnaryOp::Sign
            | UnaryOp::IsNan => {
                let name = format_ident!("{}", op.name());
                each(&|a| quote!(S::#name(#a)), out)
            }
        }
    }

    fn binary(&self, op: BinaryOp, a: Id, b: Id, out: &mut TokenStream) -> Option<Parts> {
        let ty = self.func.ty(a);
        let real = ty.is_real();
        match op {
            BinaryOp::Add if real => return Some(self.sum(a, b, out)),
            BinaryOp::Sub if real => return Some(self.difference(a, b, out)),
            BinaryOp::Powi if !self.varies(b) => {
                let (a, n) = (self.parts(a, out), value(b));
                return Some(a.iter().map(|a| quote!(S::powi(#a, #n))).collect());
            }
            _ => {}
        }
        let (x, y) = (self.parts(a, out), self.parts(b, out));
        let zip = |name: &str| {
            let name = format_ident!("{name}");
            x.iter().enumerate().map(|(k, x)| (x, &y[k % y.len()])).map(|(x, y)| quote!(S::#name(#x, #y))).collect()
        };
        let (x0, y0) = (&x[0], &y[0]);
        Some(match op {
            BinaryOp::Mul | BinaryOp::Scale | BinaryOp::MulElem if real => zip("mul"),
            BinaryOp::Div if real => zip("div"),
            BinaryOp::Min if real => zip("min"),
            BinaryOp::Max if real => zip("max"),
            BinaryOp::Powf => zip("powf"),
            BinaryOp::Powi => zip("powi_each"),
            BinaryOp::Atan2 => zip("atan2"),
            BinaryOp::Hypot => zip("hypot"),
            BinaryOp::Dot => vec![dot(&x, &y)],
            BinaryOp::Cross => {
                let part = |i: usize, j: usize| {
                    let (a, b, c, d) = (&x[i], &y[j], &x[j], &y[i]);
                    quote!(S::fms(#a, #b, S::mul(#c, #d)))
                };
                vec![part(1, 2), part(2, 0), part(0, 1)]
            }
            BinaryOp::MatVec => {
                let n = y.len();
                (0..n).map(|r| dot(&x[r * n..(r + 1) * n], &y)).collect()
            }
            BinaryOp::MatMul => {
                let n = side(ty)?;
                let column = |c: usize| (0..n).map(|k| y[k * n + c].clone()).collect::<Vec<_>>();
                (0..n * n).map(|k| dot(&x[k / n * n..(k / n + 1) * n], &column(k % n))).collect()
            }
            BinaryOp::Outer => x.iter().flat_map(|x| y.iter().map(move |y| quote!(S::mul(#x, #y)))).collect(),
            _ if ty == Ty::Bool => match op {
                BinaryOp::And | BinaryOp::BitAnd => zip("and"),
                BinaryOp::Or | BinaryOp::BitOr => zip("or"),
                BinaryOp::BitXor | BinaryOp::Ne => zip("xor"),
                BinaryOp::Eq => vec![quote!(S::not(S::xor(#x0, #y0)))],
                _ => return None,
            },
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                vec![compare(op, ty, x0, y0)?]
            }
            _ if ty.is_int() => zip(integer(op, ty == Ty::I32)?),
            _ => return None,
        })
    }

    fn sum(&self, a: Id, b: Id, out: &mut TokenStream) -> Parts {
        let (factors, other) = match (self.product(a), self.product(b)) {
            (_, Some(factors)) => (factors, a),
            (Some(factors), None) => (factors, b),
            (None, None) => {
                let (a, b) = (self.parts(a, out), self.parts(b, out));
                return a.iter().zip(b).map(|(a, b)| quote!(S::add(#a, #b))).collect();
            }
        };
        let other = self.parts(other, out);
        factors.iter().zip(other).map(|((x, y), other)| quote!(S::fma(#x, #y, #other))).collect()
    }

    fn difference(&self, a: Id, b: Id, out: &mut TokenStream) -> Parts {
        if let Some(factors) = self.product(b) {
            let a = self.parts(a, out);
            return factors.iter().zip(a).map(|((x, y), a)| quote!(S::fnma(#x, #y, #a))).collect();
        }
        let factors = self.product(a);
        let b = self.parts(b, out);
        match factors {
            Some(factors) => factors.iter().zip(b).map(|((x, y), b)| quote!(S::fms(#x, #y, #b))).collect(),
            None => self.parts(a, out).iter().zip(b).map(|(a, b)| quote!(S::sub(#a, #b))).collect(),
        }
    }

    fn cast(&self, a: Id, to: Ty, out: &mut TokenStream) -> TokenStream {
        let from = self.func.ty(a);
        let a = &self.parts(a, out)[0];
        match (from, to) {
            (Ty::Real, Ty::I32) => quote!(S::to_i32(#a)),
            (Ty::Real, Ty::Real) => quote!(#a),
            (Ty::Real, _) => quote!(S::to_u32(#a)),
            (Ty::I32, Ty::Real) => quote!(S::from_i32(#a)),
            (Ty::Bool, Ty::Real) => quote!(S::select(
                #a,
                S::splat(<F as ::diffkern::Float>::one()),
                S::splat(<F as ::diffkern::Float>::zero())
            )),
            (_, Ty::Real) => quote!(S::from_u32(#a)),
            (Ty::Bool, _) => quote!(S::select_i(#a, S::splat_i(1), S::splat_i(0))),
            _ => quote!(#a),
        }
    }
}

/// Rows of a matrix.
fn side(ty: Ty) -> Option<usize> {
    match ty {
        Ty::Mat(n) => Some(n as usize),
        _ => None,
    }
}

fn dot(a: &[TokenStream], b: &[TokenStream]) -> TokenStream {
    let (a0, b0) = (&a[0], &b[0]);
    a.iter().zip(b).skip(1).fold(quote!(S::mul(#a0, #b0)), |sum, (a, b)| quote!(S::fma(#a, #b, #sum)))
}

fn compare(op: BinaryOp, ty: Ty, a: &TokenStream, b: &TokenStream) -> Option<TokenStream> {
    let (eq, lt) = match ty {
        Ty::Real => ("eq", "lt"),
        Ty::I32 => ("eq_i", "lt_i"),
        _ => ("eq_i", "lt_u"),
    };
    let (eq, lt) = (format_ident!("{eq}"), format_ident!("{lt}"));
    Some(match op {
        BinaryOp::Eq => quote!(S::#eq(#a, #b)),
        BinaryOp::Ne => quote!(S::not(S::#eq(#a, #b))),
        BinaryOp::Lt => quote!(S::#lt(#a, #b)),
        BinaryOp::Gt => quote!(S::#lt(#b, #a)),
        // Of reals, no comparison with NaN holds.
        BinaryOp::Le if ty == Ty::Real => quote!(S::le(#a, #b)),
        BinaryOp::Ge if ty == Ty::Real => quote!(S::le(#b, #a)),
        BinaryOp::Le => quote!(S::not(S::#lt(#b, #a))),
        BinaryOp::Ge => quote!(S::not(S::#lt(#a, #b))),
        _ => return None,
    })
}

fn integer(op: BinaryOp, signed: bool) -> Option<&'static str> {
    Some(match (op, signed) {
        (BinaryOp::Add, _) => "add_i",
        (BinaryOp::Sub, _) => "sub_i",
        (BinaryOp::Mul, _) => "mul_i",
        (BinaryOp::Div, true) => "div_i",
        (BinaryOp::Div, false) => "div_u",
        (BinaryOp::Rem, true) => "rem_i",
        (BinaryOp::Rem, false) => "rem_u",
        (BinaryOp::Min, true) => "min_i",
        (BinaryOp::Min, false) => "min_u",
        (BinaryOp::Max, true) => "max_i",
        (BinaryOp::Max, false) => "max_u",
        (BinaryOp::BitAnd, _) => "and_i",
        (BinaryOp::BitOr, _) => "or_i",
        (BinaryOp::BitXor, _) => "xor_i",
        (BinaryOp::Shl, _) => "shl",
        (BinaryOp::Shr, true) => "shr_i",
        (BinaryOp::Shr, false) => "shr_u",
        _ => return None,
    })
}
