//! Numbers and booleans, and what is named by a path into the standard library.

use diffkern_ir::{Id, Lit, Ty};
use syn::{Expr, Lit as SynLit, UnOp};

use super::Lower;

impl Lower<'_> {
    pub(super) fn literal(&mut self, lit: &SynLit, negative: bool, want: Option<Ty>) -> Option<Id> {
        match lit {
            SynLit::Float(f) => {
                let concrete = self.real.as_ref().is_some_and(|real| real == f.suffix());
                if !f.suffix().is_empty() && !concrete {
                    self.errors.at(f, "write the number without a suffix; it takes the kernel's real type");
                    return None;
                }
                if let Some(ty) = want.filter(|t| t.is_int()) {
                    self.errors.at(f, format!("expected `{}`, found a real number", self.type_name(ty)));
                    return None;
                }
                let value = self.real_number(f)?;
                Some(self.constant(Ty::Real, Lit::Real(if negative { -value } else { value }), f.span()))
            }
            SynLit::Int(i) => {
                let ty = match (i.suffix(), want) {
                    ("u32", _) => Ty::U32,
                    ("i32", _) => Ty::I32,
                    ("usize", _) => Ty::Usize,
                    ("", Some(ty)) if ty.is_int() => ty,
                    ("", Some(ty)) if ty.is_real() => {
                        self.errors.at(i, format!("write a real number: `{i}.0`"));
                        return None;
                    }
                    ("", _) => {
                        self.errors.at(i, format!("say which integer this is: `{i}usize`, `{i}u32` or `{i}i32`"));
                        return None;
                    }
                    (other, _) => {
                        self.errors
                            .at(i, format!("`{other}` is not a type of the kernel language; use u32, i32 or usize"));
                        return None;
                    }
                };
                let value: i64 = i.base10_parse().map_err(|e| self.errors.at(i, e)).ok()?;
                let value = if negative { -value } else { value };
                let fits = match ty {
                    Ty::I32 => i32::try_from(value).is_ok(),
                    _ => u32::try_from(value).is_ok(),
                };
                if !fits {
                    self.errors.at(i, format!("{value} does not fit into `{}`, which has 32 bits", self.type_name(ty)));
                    return None;
                }
                Some(self.constant(ty, Lit::Int(value), i.span()))
            }
            SynLit::Bool(b) => Some(self.constant(Ty::Bool, Lit::Bool(b.value), b.span())),
            other => {
                self.errors.at(other, "only numbers and booleans are values of the kernel language");
                None
            }
        }
    }
}

impl Lower<'_> {
    /// A real number as written; none is infinite or lost.
    pub(super) fn real_number(&self, f: &syn::LitFloat) -> Option<f64> {
        let value: f64 = f.base10_parse().map_err(|e| self.errors.at(f, e)).ok()?;
        let single = self.real.as_ref().is_some_and(|real| real == "f32");
        let kept = if single { f64::from(value as f32) } else { value };
        let digits = f.base10_digits().split(['e', 'E']).next().unwrap_or_default();
        let is_zero = !digits.contains(|digit: char| digit.is_ascii_digit() && digit != '0');
        if kept.is_finite() && (kept == 0.0) == is_zero {
            return Some(value);
        }
        let (ty, what) = (if single { "f32" } else { "f64" }, if kept == 0.0 { "0" } else { "infinite" });
        self.errors.at(f, format!("this number is {what} in `{ty}`; write one that `{ty}` has"));
        None
    }
}

/// The value of a path into `std::f64::consts`, those of `f32` being the same numbers, not rounded; and what is finite of
/// the constants of `f32`.
pub(super) fn real_constant(path: &syn::Path) -> Option<f64> {
    use std::f64::consts;
    let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let [.., module, name] = names.as_slice() else { return None };
    match (module.as_str(), name.as_str()) {
        ("f32", "EPSILON") => return Some(f64::from(f32::EPSILON)),
        ("f32", "MIN_POSITIVE") => return Some(f64::from(f32::MIN_POSITIVE)),
        ("f32", "MAX") => return Some(f64::from(f32::MAX)),
        ("f32", "MIN") => return Some(f64::from(f32::MIN)),
        _ => {}
    }
    if module != "consts" {
        return None;
    }
    Some(match name.as_str() {
        "PI" => consts::PI,
        "TAU" => consts::TAU,
        "E" => consts::E,
        "SQRT_2" => consts::SQRT_2,
        "FRAC_1_SQRT_2" => consts::FRAC_1_SQRT_2,
        "FRAC_1_PI" => consts::FRAC_1_PI,
        "FRAC_2_PI" => consts::FRAC_2_PI,
        "FRAC_2_SQRT_PI" => consts::FRAC_2_SQRT_PI,
        "FRAC_PI_2" => consts::FRAC_PI_2,
        "FRAC_PI_3" => consts::FRAC_PI_3,
        "FRAC_PI_4" => consts::FRAC_PI_4,
        "FRAC_PI_6" => consts::FRAC_PI_6,
        "FRAC_PI_8" => consts::FRAC_PI_8,
        "LN_2" => consts::LN_2,
        "LN_10" => consts::LN_10,
        "LOG2_E" => consts::LOG2_E,
        "LOG10_E" => consts::LOG10_E,
        _ => return None,
    })
}

/// `u32::MAX`, `i32::MIN` and the like.
pub(super) fn integer_constant(path: &syn::Path) -> Option<(Ty, i64)> {
    let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let [.., owner, name @ ("MIN" | "MAX")] = names.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        return None;
    };
    let ty = super::call::integer(owner)?;
    Some((ty, super::call::extreme(ty, name == "MAX")))
}

/// A number without a type of its own.
pub(super) fn is_literal(e: &Expr) -> bool {
    match e {
        Expr::Lit(l) => match &l.lit {
            SynLit::Int(i) => i.suffix().is_empty(),
            _ => false,
        },
        Expr::Unary(u) => is_literal(&u.expr),
        Expr::Paren(p) => is_literal(&p.expr),
        Expr::Binary(b) => is_literal(&b.left) && is_literal(&b.right),
        _ => false,
    }
}

pub(super) fn negative(e: &Expr) -> bool {
    match e {
        Expr::Paren(p) => negative(&p.expr),
        Expr::Unary(u) => matches!(u.op, UnOp::Neg(_)),
        _ => false,
    }
}
