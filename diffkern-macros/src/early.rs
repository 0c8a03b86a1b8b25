//! `return` with a value before the end of a function, as the branches that it stands for.
//!
//! | source | becomes |
//! |---|---|
//! | `if c { return a; } rest` | `if c { a } else { rest }` |
//! | `if c { a; } else { return b; } rest` | `if c { { a; } rest } else { b }` |
//!
//! What follows an `if` is written down once, so at most one of its sides may go on. A `return` out of a loop, and one
//! deeper inside, stays and is refused later.

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprIf, Stmt, parse_quote};

/// Rewrites the body of a function that has a value.
pub fn branches(body: &mut Block) {
    let stmts = std::mem::take(&mut body.stmts);
    body.stmts = tail(stmts.clone()).unwrap_or(stmts);
}

/// The statements at the end of the function without `return`; `None` if they cannot be.
fn tail(mut stmts: Vec<Stmt>) -> Option<Vec<Stmt>> {
    let Some(at) = stmts.iter().position(returns) else { return Some(stmts) };
    let rest = stmts.split_off(at + 1);
    let ends = match (stmts.pop()?, rest.is_empty()) {
        (Stmt::Expr(Expr::Return(r), _), true) => vec![Stmt::Expr(*r.expr?, None)],
        (Stmt::Expr(Expr::If(e), semicolon), _) => {
            let value = rest.is_empty() && semicolon.is_none();
            vec![Stmt::Expr(Expr::If(branch(e, rest, value)?), None)]
        }
        // Of a `match`.
        (Stmt::Expr(Expr::Block(b), _), _) if b.label.is_none() && !hides(&b.block) => {
            tail([b.block.stmts, rest].concat())?
        }
        _ => return None,
    };
    stmts.extend(ends);
    Some(stmts)
}

/// `value`: the branch is the value of the function where it does not return.
fn branch(mut e: ExprIf, rest: Vec<Stmt>, value: bool) -> Option<ExprIf> {
    let other = match e.else_branch.take() {
        None => Vec::new(),
        Some((_, other)) => match *other {
            Expr::Block(b) => b.block.stmts,
            other => vec![Stmt::Expr(other, None)],
        },
    };
    let then = std::mem::take(&mut e.then_branch.stmts);
    let (then, other) = match (ends(&then), ends(&other)) {
        _ if value => (then, other),
        (true, true) if rest.is_empty() => (then, other),
        (true, false) => (then, followed(other, rest)?),
        (false, true) => (followed(then, rest)?, other),
        _ => return None,
    };
    let (then, other) = (tail(then)?, tail(other)?);
    e.then_branch.stmts = then;
    e.else_branch = Some((Default::default(), parse_quote!({ #(#other)* })));
    Some(e)
}

/// `rest` after `stmts`, whose variables it does not see.
fn followed(mut stmts: Vec<Stmt>, rest: Vec<Stmt>) -> Option<Vec<Stmt>> {
    let inner: Block = parse_quote!({ #(#stmts)* });
    if !stmts.iter().any(returns) {
        stmts = if stmts.is_empty() { stmts } else { vec![parse_quote!(#inner)] };
    } else if hides(&inner) {
        return None;
    }
    stmts.extend(rest);
    Some(stmts)
}

/// Whether the end is not reached.
fn ends(stmts: &[Stmt]) -> bool {
    match stmts.last() {
        Some(Stmt::Expr(Expr::Return(_), _)) => true,
        Some(Stmt::Expr(Expr::If(e), _)) => {
            ends(&e.then_branch.stmts)
                && e.else_branch.as_ref().is_some_and(|(_, other)| match &**other {
                    Expr::Block(b) => ends(&b.block.stmts),
                    other => ends(&[Stmt::Expr(other.clone(), None)]),
                })
        }
        Some(Stmt::Expr(Expr::Block(b), _)) => ends(&b.block.stmts),
        _ => false,
    }
}

/// Whether a name of the block's own could be taken for another in what follows it. Names made by the macro cannot.
fn hides(block: &Block) -> bool {
    block.stmts.iter().any(|stmt| match stmt {
        Stmt::Local(local) => {
            !matches!(&local.pat, syn::Pat::Ident(name) if name.ident.to_string().starts_with("__made_"))
        }
        _ => false,
    })
}

fn returns(stmt: &Stmt) -> bool {
    let mut found = Returns(false);
    found.visit_stmt(stmt);
    found.0
}

struct Returns(bool);

impl<'ast> Visit<'ast> for Returns {
    fn visit_expr_return(&mut self, e: &'ast syn::ExprReturn) {
        self.0 = true;
        visit::visit_expr_return(self, e);
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `source` as the body of a function becomes `expected`; both without their braces.
    #[track_caller]
    fn becomes(source: &str, expected: &str) {
        let block = |text: &str| syn::parse_str::<Block>(&format!("{{ {text} }}")).unwrap();
        let mut body = block(source);
        branches(&mut body);
        let text = |block: &Block| quote::quote!(#block).to_string();
        assert_eq!(text(&body), text(&block(expected)), "{source}");
    }

    #[track_caller]
    fn stays(source: &str) {
        becomes(source, source);
    }

    #[test]
    fn a_side_that_returns_is_the_value_there() {
        becomes("x += 1; return a;", "x += 1; a");
        becomes("if c { return a; } x += 1; b", "if c { a } else { x += 1; b }");
        becomes("if c { x += 1; return a; } else { y = 2; } b", "if c { x += 1; a } else { { y = 2; } b }");
        becomes("if c { x += 1; } else { return b; } r", "if c { { x += 1; } r } else { b }");
        becomes("if c { return a; } else if d { return b; } r", "if c { a } else { if d { b } else { r } }");
        becomes("if c { return a; } else { return b; };", "if c { a } else { b }");
        becomes("if c { if d { return a; } e } else { f }", "if c { if d { a } else { e } } else { f }");
        becomes("if c { if d { return a; } else { return b; } } r", "if c { if d { a } else { b } } else { r }");
        becomes("if c { { return a; } } r", "if c { a } else { r }");
        becomes(
            "if c { if d { return a; } x += 1; } else { return b; } r",
            "if c { if d { a } else { x += 1; r } } else { b }",
        );
    }

    #[test]
    fn a_block_is_part_of_what_follows_unless_a_name_of_it_could_be_taken_for_another() {
        becomes("{ if c { return a; } } b", "if c { a } else { b }");
        becomes(
            "{ let __made_1 = k; if __made_1 == 0 { return a; } } b",
            "let __made_1 = k; if __made_1 == 0 { a } else { b }",
        );
        stays("{ let t = k; if t == 0 { return a; } } t");
        stays("'name: { if c { return a; } } b");
        stays("if c { let t = 1; if d { return a; } } else { return b; } t");
        becomes("if c { let t = 1; x += t; } else { return b; } t", "if c { { let t = 1; x += t; } t } else { b }");
    }

    /// Others refuse these.
    #[test]
    fn what_cannot_be_branches_stays() {
        stays("return a; b");
        stays("return;");
        stays("if c { return a; } else { return b; } r");
        stays("if c { if d { return a; } } else { if e { return b; } } r");
        stays("for k in 0..3 { if c { return a; } } b");
        stays("let t = |x| { return x; }; t");
    }
}
