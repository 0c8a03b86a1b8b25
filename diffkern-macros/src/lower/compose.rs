//! Constructors of vectors, matrices and quaternions.

use diffkern_ir::{Id, Lit, Op, Ty};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall};

use super::Lower;

impl Lower<'_> {
    /// `Vec3::new(..)`, `Mat3::identity()`, ...
    pub(super) fn constructor(&mut self, c: &ExprCall, ty: Ty, name: &str, args: &[&Expr]) -> Option<Id> {
        let n = ty.components();
        let real = |s: &mut Self, x: f64| s.constant(Ty::Real, Lit::Real(x), c.span());
        let parts = match (ty, name) {
            (_, "new") => {
                if args.len() != n {
                    self.errors.at(c, format!("`{}` has {n} components, {} given", self.type_name(ty), args.len()));
                    return None;
                }
                let ids = args.iter().map(|a| self.real_arg(a)).collect::<Option<Vec<_>>>()?;
                return Some(self.op(ty, Op::Compose(ids), c.span()));
            }
            (_, "zero") if args.is_empty() => {
                let zero = real(self, 0.0);
                vec![zero; n]
            }
            (Ty::Quat, "identity" | "from_axis_angle" | "from_rotation_vector") => {
                return self.quat_constructor(c, name, args);
            }
            (Ty::Vec(_), "splat") if args.len() == 1 => vec![self.real_arg(args[0])?; n],
            (Ty::Mat(m), "identity") if args.is_empty() => {
                let (zero, one) = (real(self, 0.0), real(self, 1.0));
                (0..n).map(|k| if k % (m as usize + 1) == 0 { one } else { zero }).collect()
            }
            (Ty::Mat(m), "from_diagonal") if args.len() == 1 => {
                let v = self.expr(args[0], None)?;
                self.expect_type(v, Some(Ty::Vec(m)), args[0].span());
                if self.ty(v) != Ty::Vec(m) {
                    return None;
                }
                let zero = real(self, 0.0);
                let mut parts = vec![zero; n];
                for k in 0..m {
                    parts[k as usize * (m as usize + 1)] = self.op(Ty::Real, Op::Extract(v, k), c.span());
                }
                parts
            }
            (Ty::Mat(m), "from_cols" | "from_rows") if args.len() == m as usize => {
                let mut lines = Vec::new();
                for arg in args {
                    let id = self.expr(arg, None)?;
                    if self.ty(id) != Ty::Vec(m) {
                        self.expect_type(id, Some(Ty::Vec(m)), arg.span());
                        return None;
                    }
                    lines.push(id);
                }
                return Some(self.matrix_of_lines(&lines, name == "from_cols", c.span()));
            }
            _ => {
                self.errors.at(
                    &c.func,
                    "not a constructor of the kernel language; use new, zero, splat (vectors), identity, from_diagonal, \
                     from_cols, from_rows (matrices), from_axis_angle, from_rotation_vector (quaternions), with as many arguments as they take",
                );
                return None;
            }
        };
        Some(self.op(ty, Op::Compose(parts), c.span()))
    }

    pub(super) fn real_arg(&mut self, e: &Expr) -> Option<Id> {
        let id = self.expr(e, Some(Ty::Real))?;
        self.expect_type(id, Some(Ty::Real), e.span());
        (self.ty(id) == Ty::Real).then_some(id)
    }
}
