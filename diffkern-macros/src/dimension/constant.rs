//! Integers that are known before a function over the dimension is lowered: the dimension, axes of loops that are written
//! out, and what is computed of them.

use syn::visit::{self, Visit};
use syn::{BinOp, Expr, ExprBinary, ExprPath, Lit, UnOp};

/// Names and their values, the innermost last; `None` for a variable that hides one of these.
#[derive(Default)]
pub struct Known {
    names: Vec<(String, Option<i64>)>,
}

impl Known {
    pub fn bind(&mut self, name: String, value: Option<i64>) {
        self.names.push((name, value));
    }

    /// How many names there are, for [`Known::leave`].
    pub fn enter(&self) -> usize {
        self.names.len()
    }

    /// Forgets what was bound since.
    pub fn leave(&mut self, entered: usize) {
        self.names.truncate(entered);
    }

    pub fn find(&self, name: &str) -> Option<i64> {
        self.names.iter().rev().find(|(known, _)| known == name)?.1
    }

    fn of_path(&self, path: &ExprPath) -> Option<i64> {
        self.find(&path.path.get_ident()?.to_string())
    }

    /// The integer that an expression is, if it depends on a known name and on nothing else that is not written out.
    pub fn integer(&self, e: &Expr) -> Option<i64> {
        self.mentions(e).then(|| self.value(e))?
    }

    /// Whether a condition holds, if it depends on a known name and on nothing else.
    pub fn condition(&self, e: &Expr) -> Option<bool> {
        self.mentions(e).then(|| self.truth(e))?
    }

    /// The same of an expression that may be a number as well.
    pub fn value(&self, e: &Expr) -> Option<i64> {
        match e {
            Expr::Paren(p) => self.value(&p.expr),
            Expr::Group(g) => self.value(&g.expr),
            Expr::Path(path) => self.of_path(path),
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(int) => int.base10_parse().ok(),
                _ => None,
            },
            Expr::Cast(cast) => match &*cast.ty {
                syn::Type::Path(ty) if ["u32", "i32", "usize"].iter().any(|int| ty.path.is_ident(int)) => {
                    self.value(&cast.expr)
                }
                _ => None,
            },
            Expr::Block(block) if block.label.is_none() => match block.block.stmts.as_slice() {
                [syn::Stmt::Expr(value, None)] => self.value(value),
                _ => None,
            },
            Expr::MethodCall(m) if m.args.len() == 1 => {
                let (x, y) = (self.value(&m.receiver)?, self.value(&m.args[0])?);
                match m.method.to_string().as_str() {
                    "pow" => x.checked_pow(u32::try_from(y).ok()?),
                    "min" => Some(x.min(y)),
                    "max" => Some(x.max(y)),
                    _ => None,
                }
            }
            Expr::Binary(e) => self.arithmetic(e),
            _ => None,
        }
    }

    fn arithmetic(&self, e: &ExprBinary) -> Option<i64> {
        let (x, y) = (self.value(&e.left)?, self.value(&e.right)?);
        match e.op {
            BinOp::Add(_) => x.checked_add(y),
            BinOp::Sub(_) => x.checked_sub(y),
            BinOp::Mul(_) => x.checked_mul(y),
            BinOp::Div(_) => x.checked_div(y),
            BinOp::Rem(_) => x.checked_rem(y),
            BinOp::BitAnd(_) => Some(x & y),
            BinOp::BitOr(_) => Some(x | y),
            BinOp::BitXor(_) => Some(x ^ y),
            BinOp::Shl(_) => x.checked_shl(u32::try_from(y).ok()?),
            BinOp::Shr(_) => x.checked_shr(u32::try_from(y).ok()?),
            _ => None,
        }
    }

    fn truth(&self, e: &Expr) -> Option<bool> {
        match e {
            Expr::Paren(p) => self.truth(&p.expr),
            Expr::Group(g) => self.truth(&g.expr),
            Expr::Lit(lit) => match &lit.lit {
                Lit::Bool(b) => Some(b.value),
                _ => None,
            },
            Expr::Unary(e) if matches!(e.op, UnOp::Not(_)) => self.truth(&e.expr).map(|b| !b),
            Expr::Binary(e) => match e.op {
                BinOp::And(_) => Some(self.truth(&e.left)? && self.truth(&e.right)?),
                BinOp::Or(_) => Some(self.truth(&e.left)? || self.truth(&e.right)?),
                BinOp::Eq(_) => Some(self.value(&e.left)? == self.value(&e.right)?),
                BinOp::Ne(_) => Some(self.value(&e.left)? != self.value(&e.right)?),
                BinOp::Lt(_) => Some(self.value(&e.left)? < self.value(&e.right)?),
                BinOp::Le(_) => Some(self.value(&e.left)? <= self.value(&e.right)?),
                BinOp::Gt(_) => Some(self.value(&e.left)? > self.value(&e.right)?),
                BinOp::Ge(_) => Some(self.value(&e.left)? >= self.value(&e.right)?),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a known name is in an expression.
    fn mentions(&self, e: &Expr) -> bool {
        struct Find<'a>(&'a Known, bool);
        impl<'ast> Visit<'ast> for Find<'_> {
            fn visit_expr_path(&mut self, path: &'ast ExprPath) {
                self.1 |= self.0.of_path(path).is_some();
                visit::visit_expr_path(self, path);
            }
        }
        let mut find = Find(self, false);
        find.visit_expr(e);
        find.1
    }
}

#[cfg(test)]
mod tests {
    use super::Known;

    #[test]
    fn what_depends_on_the_dimension_is_known() {
        let mut known = Known::default();
        known.bind("D".into(), Some(3));
        known.bind("a".into(), Some(1));
        let integer = |text: &str| known.integer(&syn::parse_str(text).unwrap());
        assert_eq!(integer("1 << (D - a)"), Some(4));
        assert_eq!(integer("3usize.pow(D as u32 - 1) + a % 2"), Some(10));
        assert_eq!(integer("{ D + 1 }"), Some(4));
        assert_eq!(integer("D.min(2).max(a)"), Some(2));
        for text in ["4", "D + n", "D / 0", "D as f32", "f(D)", "x[D]", "D << 70"] {
            assert_eq!(integer(text), None, "{text}");
        }
        let condition = |text: &str| known.condition(&syn::parse_str(text).unwrap());
        assert_eq!(condition("D == 3 && !(a >= 2)"), Some(true));
        assert_eq!(condition("a + 1 < D || D < 2 || a > D || a <= 0"), Some(true));
        for text in ["true", "D == n", "n > 0 && D == 3", "D == 3 && n > 0"] {
            assert_eq!(condition(text), None, "{text}");
        }
    }

    #[test]
    fn a_variable_hides_what_is_known() {
        let mut known = Known::default();
        known.bind("D".into(), Some(2));
        let entered = known.enter();
        known.bind("D".into(), None);
        assert_eq!(known.integer(&syn::parse_str("D").unwrap()), None);
        known.leave(entered);
        assert_eq!(known.integer(&syn::parse_str("D").unwrap()), Some(2));
    }
}
