//! Expressions that give one or several values, structs among them: branches, blocks, tuples, calls.

use std::collections::HashMap;

use syn::spanned::Spanned;
use syn::{Block, Expr, Stmt};

use super::def::Record;
use super::order::Want;
use super::parts::{is_by_field, tuple, within};
use super::rewrite::Rewrite;

impl Rewrite<'_> {
    /// A block that ends in values; for each, the struct that it is.
    pub(super) fn tail_block(&mut self, block: &mut Block, wants: &[Option<Record>]) {
        self.scopes.push(HashMap::new());
        let stmts = std::mem::take(&mut block.stmts);
        let last = stmts.len().saturating_sub(1);
        for (k, stmt) in stmts.into_iter().enumerate() {
            match stmt {
                Stmt::Expr(mut e, None) if k == last && !matches!(e, Expr::Return(_)) => {
                    self.tail(&mut e, wants);
                    block.stmts.push(Stmt::Expr(e, None));
                }
                // What is wrong with it is not about structs.
                Stmt::Expr(e @ Expr::Return(_), semi) if k == last => block.stmts.push(Stmt::Expr(e, semi)),
                other => block.stmts.extend(self.statement(other)),
            }
        }
        self.scopes.pop();
    }

    pub(super) fn tail(&mut self, e: &mut Expr, wants: &[Option<Record>]) {
        let span = e.span();
        match e {
            Expr::Paren(p) => self.tail(&mut p.expr, wants),
            Expr::Group(g) => self.tail(&mut g.expr, wants),
            Expr::If(i) => {
                self.expression(&mut i.cond);
                self.tail_block(&mut i.then_branch, wants);
                if let Some((_, other)) = &mut i.else_branch {
                    self.tail(other, wants);
                }
            }
            Expr::Block(b) => self.tail_block(&mut b.block, wants),
            Expr::Tuple(t) if wants.len() > 1 => {
                if t.elems.len() != wants.len() {
                    self.errors.at(&*t, format!("expected {} values, found {}", wants.len(), t.elems.len()));
                    return;
                }
                let wants = wants.iter().map(|want| want.clone().map_or(Want::Plain(None), Want::Record));
                if let Some((before, all)) = self.operands(t.elems.iter().cloned().zip(wants).collect(), false) {
                    *e = within(before, tuple(&all.concat(), span));
                }
            }
            other => match wants {
                [Some(want)] => match other {
                    Expr::Call(c) if !is_by_field(c) => self.expression(other),
                    _ => {
                        if let Some(parts) = self.parts(other, want) {
                            *other = parts.joined(span);
                        }
                    }
                },
                _ => self.expression(other),
            },
        }
    }
}
