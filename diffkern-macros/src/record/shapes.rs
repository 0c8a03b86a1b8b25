//! Which struct an expression is, as far as the text around it says.

use std::collections::HashMap;

use syn::{Block, Expr, Member, Pat, Stmt};

use super::def::{Kind, Record};
use super::parts::is_by_field;
use super::rewrite::{Rewrite, Var};

impl Rewrite<'_> {
    /// The struct that an expression without annotation is.
    pub fn record_of(&mut self, e: &Expr) -> Option<Record> {
        match self.shapes_of(e).as_slice() {
            [one] => one.clone(),
            _ => None,
        }
    }

    /// The same for each value of a tuple.
    pub(super) fn shapes_of(&mut self, e: &Expr) -> Vec<Option<Record>> {
        match e {
            Expr::Paren(p) => self.shapes_of(&p.expr),
            Expr::Group(g) => self.shapes_of(&g.expr),
            Expr::Tuple(t) => t.elems.iter().map(|e| self.record_of(e)).collect(),
            Expr::If(i) => {
                let then = self.shapes_of_block(&i.then_branch);
                match &i.else_branch {
                    // One side may be the call of a function, of which nothing is known.
                    Some((_, other)) if then.iter().any(Option::is_none) => {
                        let other = self.shapes_of(other);
                        if other.len() == then.len() || then.is_empty() {
                            let both = (0..other.len()).map(|k| then.get(k).cloned().flatten().or(other[k].clone()));
                            both.collect()
                        } else {
                            then
                        }
                    }
                    _ => then,
                }
            }
            Expr::Block(b) => self.shapes_of_block(&b.block),
            other => vec![self.one_shape(other)],
        }
    }

    fn one_shape(&mut self, e: &Expr) -> Option<Record> {
        match e {
            Expr::Struct(s) => self.records.named(&s.path.segments.last()?.ident).cloned(),
            Expr::Call(c) if is_by_field(c) => self.record_of(&c.args[c.args.len() / 2]),
            other => match (self.root(other), other) {
                (Some((_, _, kind, _)), _) => kind.record(),
                (None, Expr::Field(f)) => {
                    let Member::Named(name) = &f.member else { return None };
                    self.record_of(&f.base)?.field(name)?.kind.clone().record()
                }
                _ => None,
            },
        }
    }

    /// Of the value of a block, in which names may be bound anew.
    fn shapes_of_block(&mut self, block: &Block) -> Vec<Option<Record>> {
        let Some((Stmt::Expr(value, None), before)) = block.stmts.split_last() else { return vec![None] };
        self.scopes.push(HashMap::new());
        for stmt in before {
            if let Stmt::Local(local) = stmt {
                self.bind_shapes(local);
            }
        }
        let found = self.shapes_of(value);
        self.scopes.pop();
        found
    }

    fn bind_shapes(&mut self, local: &syn::Local) {
        let (pat, ty) = match &local.pat {
            Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
            other => (other, None),
        };
        let found = match (ty, &local.init) {
            (Some(ty), _) => self.shapes(ty),
            (None, Some(init)) => self.shapes_of(&init.expr),
            (None, None) => Vec::new(),
        };
        self.bind_pattern(pat, &found);
    }

    /// The names of a pattern, with the struct that each value is.
    pub(super) fn bind_pattern(&mut self, pat: &Pat, shapes: &[Option<Record>]) {
        let mut bind = |pat: &Pat, shape: Option<Record>| {
            if let Pat::Ident(name) = pat {
                self.bind(&name.ident, shape.map(Var::Value));
            }
        };
        match pat {
            Pat::Tuple(tuple) => {
                for (k, pat) in tuple.elems.iter().enumerate() {
                    bind(pat, shapes.get(k).cloned().flatten());
                }
            }
            one => bind(one, shapes.first().cloned().flatten()),
        }
    }
}

impl Kind {
    fn record(self) -> Option<Record> {
        match self {
            Kind::Record(record) => Some(record),
            Kind::Plain(_) => None,
        }
    }
}
