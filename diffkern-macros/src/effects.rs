//! What the evaluation of an expression changes: a block with a value may assign to what is outside of it.

use std::collections::HashSet;

use syn::Expr;
use syn::visit::{self, Visit};

use crate::lower;

/// The variables and arrays that the evaluation of these expressions changes.
pub fn changed<'a>(all: impl IntoIterator<Item = &'a Expr>) -> HashSet<String> {
    let mut found = Changed(HashSet::new());
    all.into_iter().for_each(|e| found.visit_expr(e));
    found.0
}

struct Changed(HashSet<String>);

impl<'ast> Visit<'ast> for Changed {
    fn visit_expr_assign(&mut self, e: &'ast syn::ExprAssign) {
        self.0.extend(name_of(&e.left));
        visit::visit_expr_assign(self, e);
    }

    fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
        if lower::compound(&e.op).is_some() {
            self.0.extend(name_of(&e.left));
        }
        visit::visit_expr_binary(self, e);
    }

    fn visit_expr_method_call(&mut self, e: &'ast syn::ExprMethodCall) {
        if e.method == "fetch_add" || e.method == "fetch_sub" {
            self.0.extend(name_of(&e.receiver));
        }
        visit::visit_expr_method_call(self, e);
    }
}

/// The variable or array that a place is in.
pub fn name_of(e: &Expr) -> Option<String> {
    match e {
        Expr::Paren(p) => name_of(&p.expr),
        Expr::Group(g) => name_of(&g.expr),
        Expr::Field(f) => name_of(&f.base),
        Expr::Index(i) => name_of(&i.expr),
        Expr::Path(p) => p.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_assigned_to_or_counted_in_is_changed() {
        let e: Expr = syn::parse_str(
            "{ (x).y = u; z[i].w -= v; n[0].fetch_add(1); (m)[1].fetch_sub(1); o.max(p); if q == r { s * t } else { a.b = 1; c } }",
        )
        .unwrap();
        let names = ["x", "z", "n", "m", "a"].map(str::to_owned);
        assert_eq!(changed([&e]), HashSet::from(names));
        let outside: Expr = syn::parse_str("f(x)[0] = 1").unwrap();
        assert_eq!(changed([&outside]), HashSet::new(), "of no name");
    }
}
