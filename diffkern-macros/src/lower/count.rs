//! Whether a variable only counts: `let mut n = 0; .. n += 1; .. F::cast_from(n)`. Nothing says which integer it is, and it
//! makes no difference; as in Rust it is an `i32`.

use syn::visit::{self, Visit};
use syn::{Expr, Pat, Stmt};

use super::Lower;
use super::assign::compound;
use super::literal::is_literal;

/// Whether `rest` does nothing with `name` but count, compare with numbers and convert.
pub(super) fn only_counts(name: &str, rest: &[Stmt]) -> bool {
    let mut uses = Uses { name, others: false };
    rest.iter().for_each(|stmt| uses.visit_stmt(stmt));
    !uses.others
}

struct Uses<'a> {
    name: &'a str,
    /// It is used in another way, or may be.
    others: bool,
}

impl Uses<'_> {
    fn is(&self, e: &Expr) -> bool {
        match e {
            Expr::Paren(p) => self.is(&p.expr),
            Expr::Path(p) => p.path.is_ident(self.name),
            _ => false,
        }
    }

    fn with_number(&self, a: &Expr, b: &Expr) -> bool {
        self.is(a) && is_literal(b) || self.is(b) && is_literal(a)
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr_path(&mut self, e: &'ast syn::ExprPath) {
        self.others |= e.path.is_ident(self.name);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        self.others |= matches!(pattern, Pat::Ident(p) if p.ident == self.name);
        visit::visit_pat(self, pattern);
    }

    /// What a macro does with it is not seen.
    fn visit_macro(&mut self, m: &'ast syn::Macro) {
        self.others |= !m.tokens.is_empty();
    }

    fn visit_expr_assign(&mut self, e: &'ast syn::ExprAssign) {
        if !self.with_number(&e.left, &e.right) {
            visit::visit_expr_assign(self, e);
        }
    }

    fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
        let counts = compound(&e.op).is_some() || Lower::comparison(&e.op).is_some();
        if !(counts && self.with_number(&e.left, &e.right)) {
            visit::visit_expr_binary(self, e);
        }
    }

    fn visit_expr_cast(&mut self, e: &'ast syn::ExprCast) {
        if !self.is(&e.expr) {
            visit::visit_expr_cast(self, e);
        }
    }

    fn visit_expr_call(&mut self, e: &'ast syn::ExprCall) {
        let converts =
            matches!(&*e.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "cast_from"));
        if !(converts && e.args.iter().all(|arg| self.is(arg))) {
            visit::visit_expr_call(self, e);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rest: &str) -> bool {
        let block: syn::Block = syn::parse_str(&format!("{{ {rest} }}")).unwrap();
        only_counts("n", &block.stmts)
    }

    #[test]
    fn counting_is_changing_comparing_and_converting() {
        for rest in [
            "n += 1; (n) -= 2; n *= 3;",
            "n = 0;",
            "if n < 3 && 4 >= n { m += 1.0; }",
            "let x = F::cast_from(n); let y = n as u32;",
            "x = x + m; f(x); let m = y as i32; y[i] = F::cast_from(m);",
            "for k in 0..3 { if c { n += 1; } }",
            "nothing!();",
        ] {
            assert!(counts(rest), "{rest}");
        }
        for rest in [
            "n += m;",
            "m += n;",
            "n = m;",
            "let x = n + 1;",
            "if n < m { n += 1; }",
            "y[n] = 1.0;",
            "f(n);",
            "let x = F::cast_from(n + 1);",
            "let x = cast_from(n, m, n * 2);",
            "let x = (n + m) as u32;",
            "let n = 2;",
            "for n in 0..3 {}",
            "text!(n);",
            "n += 1; g(F::cast_from(n), n);",
        ] {
            assert!(!counts(rest), "{rest}");
        }
    }
}
