//! Which integer a number without a suffix is, where only the statements that follow say it: `let mut k = 0;` is what `k`
//! is compared, added or assigned to later. A guess decides the type of a literal and nothing else, and types are checked
//! afterwards, so a wrong one is an error of types.

use diffkern_ir::Ty;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Pat, Stmt, Type, UnOp};

use super::Lower;
use super::env::Binding;
use super::literal::is_literal;
use crate::diagnostics::Diagnostics;
use crate::parse::value_type;

/// Whether an expression is an integer of which nothing says which.
pub(super) fn open_integer(e: &Expr) -> bool {
    match e {
        Expr::Paren(p) => open_integer(&p.expr),
        Expr::If(e) => {
            tail(&e.then_branch).is_some_and(open_integer)
                && e.else_branch.as_ref().is_some_and(|(_, other)| open_integer(other))
        }
        Expr::Block(b) => tail(&b.block).is_some_and(open_integer),
        Expr::Repeat(r) => open_integer(&r.expr),
        Expr::Array(a) => a.elems.iter().all(open_integer),
        other => is_literal(other),
    }
}

fn tail(block: &Block) -> Option<&Expr> {
    match block.stmts.last() {
        Some(Stmt::Expr(e, None)) => Some(e),
        _ => None,
    }
}

impl Lower<'_> {
    /// The integer type of the variable `name` (of its elements, if it is an array) by what `rest` does with it.
    pub(super) fn guess(&self, name: &str, rest: &[Stmt]) -> Option<Ty> {
        let later = vec![(name.to_owned(), None)];
        let mut guess = Guess { lower: self, name, later, hidden: false, found: None, indexes: false, bounds: None };
        guess.statements(rest);
        guess.found.or(guess.indexes.then_some(Ty::Usize)).or(guess.bounds)
    }

    /// The integer type of an expression, as far as the names in scope tell without lowering it.
    pub(super) fn probe(&self, e: &Expr) -> Option<Ty> {
        self.probe_with(e, &[])
    }

    /// The same; `later` are names bound since, newest last.
    fn probe_with(&self, e: &Expr, later: &[(String, Option<Ty>)]) -> Option<Ty> {
        let probe = |e: &Expr| self.probe_with(e, later);
        let ty = match e {
            Expr::Paren(p) => probe(&p.expr)?,
            Expr::Unary(u) if matches!(u.op, UnOp::Neg(_) | UnOp::Not(_)) => probe(&u.expr)?,
            Expr::Path(p) if p.path.segments.len() == 2 => {
                super::call::integer(&p.path.segments.first()?.ident.to_string())?
            }
            Expr::Path(p) => {
                let name = p.path.get_ident()?.to_string();
                match later.iter().rev().find(|(later, _)| *later == name) {
                    Some((_, ty)) => (*ty)?,
                    None => match self.env.lookup(&name) {
                        Some(Binding::Value { id, .. }) => self.ty(id),
                        None if name.starts_with("ABSOLUTE_POS") => Ty::Usize,
                        _ => return None,
                    },
                }
            }
            Expr::Lit(l) => match &l.lit {
                syn::Lit::Int(i) => super::call::integer(i.suffix())?,
                _ => return None,
            },
            Expr::Binary(b) if is_shift(&b.op) => probe(&b.left)?,
            Expr::Binary(b) if is_arithmetic(&b.op) => probe(&b.left).or_else(|| probe(&b.right))?,
            Expr::Index(i) => match (self.array_named(&i.expr), self.local_named(&i.expr)) {
                (Some(array), _) => self.array_elem(array)?,
                (None, Some(local)) => self.local_elem(local),
                _ => return None,
            },
            Expr::Cast(c) => silent_type(&c.ty)?,
            Expr::MethodCall(m) if m.method == "len" => Ty::Usize,
            Expr::MethodCall(m) => probe(&m.receiver).or_else(|| m.args.first().and_then(probe))?,
            Expr::Call(c) => {
                let Expr::Path(path) = &*c.func else { return None };
                let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
                match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
                    ["select"] => c.args.iter().skip(1).find_map(probe)?,
                    ["min" | "max"] => c.args.iter().find_map(probe)?,
                    [owner, _] => super::call::integer(owner)?,
                    _ => return None,
                }
            }
            Expr::If(e) => {
                let other = |(_, other): &(_, Box<Expr>)| probe(other);
                tail(&e.then_branch).and_then(probe).or_else(|| e.else_branch.as_ref().and_then(other))?
            }
            Expr::Block(b) => tail(&b.block).and_then(probe)?,
            _ => return None,
        };
        ty.is_int().then_some(ty)
    }
}

fn silent_type(ty: &Type) -> Option<Ty> {
    value_type(ty, None, &Diagnostics::default()).filter(|ty| ty.is_int())
}

fn is_shift(op: &BinOp) -> bool {
    matches!(op, BinOp::Shl(_) | BinOp::Shr(_) | BinOp::ShlAssign(_) | BinOp::ShrAssign(_))
}

fn is_arithmetic(op: &BinOp) -> bool {
    Lower::comparison(op).is_none() && !matches!(op, BinOp::And(_) | BinOp::Or(_))
}

/// Looks for what is computed with a variable.
struct Guess<'a, 'b> {
    lower: &'a Lower<'b>,
    name: &'a str,
    later: Vec<(String, Option<Ty>)>,
    /// Another variable has taken the name.
    hidden: bool,
    found: Option<Ty>,
    /// It is part of an index, which may be of two types.
    indexes: bool,
    /// It bounds a loop, whose index is this.
    bounds: Option<Ty>,
}

impl Guess<'_, '_> {
    fn statements(&mut self, stmts: &[Stmt]) {
        let (names, hidden) = (self.later.len(), self.hidden);
        stmts.iter().for_each(|stmt| self.visit_stmt(stmt));
        self.later.truncate(names);
        self.hidden = hidden;
    }

    fn probe(&self, e: &Expr) -> Option<Ty> {
        self.lower.probe_with(e, &self.later)
    }

    /// Whether the type of `e` is that of the variable.
    fn same(&self, e: &Expr) -> bool {
        match e {
            Expr::Paren(p) => self.same(&p.expr),
            Expr::Unary(u) => matches!(u.op, UnOp::Neg(_)) && self.same(&u.expr),
            Expr::Path(p) => !self.hidden && p.path.is_ident(self.name),
            Expr::Index(i) => matches!(&*i.expr, Expr::Path(_)) && self.same(&i.expr),
            Expr::Binary(b) if is_shift(&b.op) => self.same(&b.left),
            Expr::Binary(b) => is_arithmetic(&b.op) && (self.same(&b.left) || self.same(&b.right)),
            _ => false,
        }
    }

    fn pair(&mut self, a: &Expr, b: &Expr) {
        for (this, other) in [(a, b), (b, a)] {
            if self.found.is_none() && self.same(this) {
                self.found = self.probe(other);
            }
        }
    }

    fn bind(&mut self, pattern: &Pat, ty: Option<Ty>) {
        match pattern {
            Pat::Type(t) => self.bind(&t.pat, silent_type(&t.ty)),
            Pat::Ident(name) if name.ident == self.name => self.hidden = true,
            Pat::Ident(name) => self.later.push((name.ident.to_string(), ty)),
            Pat::Tuple(tuple) => tuple.elems.iter().for_each(|part| self.bind(part, None)),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Guess<'_, '_> {
    fn visit_block(&mut self, block: &'ast Block) {
        self.statements(&block.stmts);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let Some(init) = &local.init else { return };
        self.visit_expr(&init.expr);
        if let Pat::Type(t) = &local.pat
            && self.same(&init.expr)
        {
            self.found = self.found.or_else(|| silent_type(&t.ty));
        }
        let ty = self.probe(&init.expr);
        self.bind(&local.pat, ty);
    }

    fn visit_expr_for_loop(&mut self, e: &'ast syn::ExprForLoop) {
        let (names, hidden) = (self.later.len(), self.hidden);
        let mut ty = None;
        if let Expr::Range(range) = &*e.expr
            && let (Some(lo), Some(hi)) = (&range.start, &range.end)
        {
            self.pair(lo, hi);
            ty = self.probe(lo).or_else(|| self.probe(hi));
            if let (true, Pat::Ident(index)) = (self.same(lo) || self.same(hi), &*e.pat) {
                let index = index.ident.to_string();
                let of_index = || self.lower.guess(&index, &e.body.stmts).unwrap_or(Ty::Usize);
                self.bounds = self.bounds.or_else(|| Some(of_index()));
            }
        }
        self.visit_expr(&e.expr);
        self.bind(&e.pat, ty);
        self.visit_block(&e.body);
        self.later.truncate(names);
        self.hidden = hidden;
    }

    fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
        if !is_shift(&e.op) && !matches!(e.op, BinOp::And(_) | BinOp::Or(_)) {
            self.pair(&e.left, &e.right);
        }
        visit::visit_expr_binary(self, e);
    }

    fn visit_expr_assign(&mut self, e: &'ast syn::ExprAssign) {
        self.pair(&e.left, &e.right);
        visit::visit_expr_assign(self, e);
    }

    fn visit_expr_method_call(&mut self, e: &'ast syn::ExprMethodCall) {
        e.args.iter().for_each(|arg| self.pair(&e.receiver, arg));
        visit::visit_expr_method_call(self, e);
    }

    fn visit_expr_index(&mut self, e: &'ast syn::ExprIndex) {
        self.indexes |= self.same(&e.index);
        visit::visit_expr_index(self, e);
    }
}
