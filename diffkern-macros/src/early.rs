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
