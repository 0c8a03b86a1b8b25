//! Statements, branches and loops.

use diffkern_ir::{Block, FuncKind, Id, StmtKind, Ty};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, ExprIf, Pat, Stmt as SynStmt};

use super::Lower;
use super::count::only_counts;
use super::env::{Binding, Var};
use super::guess;
use super::leave::{self, Leave};
use crate::parse::annotated;

impl Lower<'_> {
    /// Statements of a block without a value. `tail`: nothing follows them in the kernel, so `return` may end them.
    pub(super) fn statements(&mut self, stmts: &[SynStmt], tail: bool) {
        for (k, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[k + 1..];
            let last = rest.is_empty();
            match stmt {
                SynStmt::Expr(Expr::If(e), _) if tail && ends_in_return(e) => {
                    self.branch_with_return(e, rest);
                    return;
                }
                SynStmt::Expr(Expr::If(e), _) if leave::always(e) => {
                    self.branch_that_leaves(e, rest);
                    return;
                }
                SynStmt::Expr(Expr::If(e), _) if tail && last => self.branch_statement(e, true),
                SynStmt::Expr(Expr::Return(r), _) if tail && last && r.expr.is_none() => {}
                SynStmt::Macro(m) if tail && last && m.mac.path.is_ident("terminate") => {}
                other => {
                    self.statement(other, rest);
                    if self.may_leave(other) {
                        self.while_here(rest);
                        return;
                    }
                }
            }
        }
    }

    fn statement(&mut self, stmt: &SynStmt, rest: &[SynStmt]) {
        match stmt {
            SynStmt::Local(local) => self.local(local, rest),
            SynStmt::Expr(e, _) => self.expression_statement(e),
            SynStmt::Item(item) => {
                self.errors.at(item, "items inside a kernel are not supported; move it outside");
            }
            SynStmt::Macro(m) if m.mac.path.is_ident("terminate") => self.leave(m, Leave::Return, None, None),
            SynStmt::Macro(m) if m.mac.path.is_ident("comptime") => {
                let way = crate::cube::refused_macro("assert");
                self.errors.at(&m.mac, format!("what `comptime!` holds has no effect here; {way}"));
            }
            SynStmt::Macro(m) => self.unknown_macro(&m.mac),
        }
    }

    fn expression_statement(&mut self, e: &Expr) {
        match e {
            Expr::If(e) => self.branch_statement(e, false),
            Expr::ForLoop(e) => self.for_loop(e),
            Expr::Assign(e) => self.assign(&e.left, &e.right),
            Expr::Binary(e) if super::assign::compound(&e.op).is_some() => self.compound_assign(e),
            Expr::Block(e) if e.label.is_none() => {
                self.env.push();
                self.statements(&e.block.stmts, false);
                self.env.pop();
            }
            Expr::While(e) => self.while_loop(e),
            Expr::Loop(e) => self.errors.at(
                e.loop_token,
                "`loop` has no bound; write `for _ in 0..bound { .. }` and `break` out of it, or `#[bound(100)] while c`",
            ),
            Expr::Break(e) => self.leave(e, Leave::Break, e.label.as_ref(), e.expr.as_deref()),
            Expr::Continue(e) => self.leave(e, Leave::Continue, e.label.as_ref(), None),
            Expr::Return(e) => self.leave(e, Leave::Return, None, e.expr.as_deref()),
            Expr::Call(c) if super::call::cube_function(c).is_some() => {
                self.call(c, None);
            }
            Expr::MethodCall(m) if self.fetches(m) => {
                self.fetch(m, false);
            }
            Expr::Unsafe(e) => self.errors.at(e.unsafe_token, "nothing in a kernel is unsafe; remove the word"),
            // Why it is not a chain of `if` has been said.
            Expr::Match(_) => {}
            Expr::MethodCall(m) if self.is_poisoned(&m.receiver) => {}
            Expr::Call(c) => self.call_without_value(c),
            other => {
                self.errors.at(other, "this statement has no effect; bind its value with `let` or remove it");
            }
        }
    }

    fn call_without_value(&self, c: &syn::ExprCall) {
        let name = match &*c.func {
            Expr::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
            _ => None,
        };
        let changed = c.args.iter().find_map(|arg| match arg {
            Expr::Reference(r) if r.mutability.is_some() => Some(&r.expr),
            _ => None,
        });
        let way = match changed {
            Some(_) if name.as_deref() == Some("swap") => "write `(a, b) = (b, a);`".to_owned(),
            Some(place) => {
                let place = crate::diagnostics::as_written(place);
                format!("let it return the new value: `{place} = {}(..);`", name.unwrap_or_default())
            }
            None => "bind its value, `let y: F = ..;`, or remove it".to_owned(),
        };
        self.errors.at(c, format!("a device function changes nothing, so this statement has no effect; {way}"));
    }

    /// `rest`: the statements that follow.
    fn local(&mut self, local: &syn::Local, rest: &[SynStmt]) {
        let Some(init) = &local.init else {
            self.errors.at(local, "give the variable a value: `let x = ..;`");
            self.poison(&local.pat);
            return;
        };
        if let Some((token, _)) = &init.diverge {
            self.errors.at(token, "`let .. else` is not supported; use `if`");
            self.poison(&local.pat);
            return;
        }
        if super::local::makes(&init.expr) || self.local_named(&init.expr).is_some() {
            let (pat, annotation) = match &local.pat {
                Pat::Type(t) => (&*t.pat, Some(&*t.ty)),
                other => (other, None),
            };
            match pat {
                Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                    let open = annotation.is_none() && guess::open_integer(&init.expr);
                    let elem = if open { self.guess(&name.ident.to_string(), rest) } else { None };
                    self.local_array(name, annotation, elem, &init.expr);
                }
                other => {
                    self.errors.at(other, "a local array has a plain name");
                    self.poison(other);
                }
            }
            return;
        }
        let (pat, types) = match &local.pat {
            Pat::Type(t) => match annotated(&t.ty, self.real.as_ref(), self.errors) {
                Some(types) => (&*t.pat, Some(types)),
                None => return self.poison(&t.pat),
            },
            other => (other, None),
        };
        match pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                let mut want = types.as_ref().and_then(|t| (t.len() == 1).then(|| t[0]));
                if types.is_none() && guess::open_integer(&init.expr) {
                    let counts = || only_counts(&name.ident.to_string(), rest).then_some(Ty::I32);
                    want = self.guess(&name.ident.to_string(), rest).or_else(counts);
                }
                if types.is_none() && self.guesses && self.calls_device(&init.expr) {
                    want = self.guess(&name.ident.to_string(), rest);
                }
                if types.is_some() && want.is_none() {
                    self.errors.at(name, "a tuple is taken apart where it is made: `let (a, b): (A, B) = f(..);`");
                    return;
                }
                let Some(id) = self.expr(&init.expr, want) else {
                    // One mistake is one error: the name exists, of the type written, so that its uses are no errors.
                    let id = self.func.fresh(want.unwrap_or(Ty::Real));
                    if want.is_some() {
                        self.env
                            .bind(&name.ident.to_string(), Binding::Value { id, mutable: name.mutability.is_some() });
                    } else {
                        self.env.poison(&name.ident.to_string());
                    }
                    return;
                };
                self.expect_type(id, want, init.expr.span());
                self.env.bind(&name.ident.to_string(), Binding::Value { id, mutable: name.mutability.is_some() });
            }
            Pat::Wild(_) => {
                self.expr(&init.expr, types.and_then(|t| t.first().copied()));
            }
            Pat::Tuple(tuple) => self.local_tuple(tuple, types, &init.expr, rest),
            other => {
                self.errors.at(other, "this pattern is not supported; bind a name or a tuple of names");
                self.poison(other);
            }
        }
    }

    pub(super) fn is_poisoned(&self, e: &Expr) -> bool {
        match e {
            Expr::Paren(p) => self.is_poisoned(&p.expr),
            Expr::Unary(u) => matches!(u.op, syn::UnOp::Deref(_)) && self.is_poisoned(&u.expr),
            Expr::Path(p) => {
                p.path.get_ident().is_some_and(|name| self.env.lookup(&name.to_string()) == Some(Binding::Poisoned))
            }
            _ => false,
        }
    }

    /// The names exist, but nothing is known of them.
    fn poison(&mut self, pattern: &Pat) {
        struct Names(Vec<String>);
        impl<'ast> Visit<'ast> for Names {
            fn visit_pat_ident(&mut self, name: &'ast syn::PatIdent) {
                self.0.push(name.ident.to_string());
            }
        }
        let mut names = Names(Vec::new());
        names.visit_pat(pattern);
        names.0.iter().for_each(|name| self.env.poison(name));
    }

    fn local_tuple(&mut self, tuple: &syn::PatTuple, types: Option<Vec<Ty>>, init: &Expr, rest: &[SynStmt]) {
        let guessed = |s: &Self, k: usize, e: &Expr| match tuple.elems.get(k) {
            Some(Pat::Ident(name)) if guess::open_integer(e) => s.guess(&name.ident.to_string(), rest),
            _ => None,
        };
        let values = match (init, types) {
            (Expr::Tuple(t), types) => t
                .elems
                .iter()
                .enumerate()
                .map(|(k, e)| {
                    let written = types.as_ref().and_then(|t| t.get(k).copied());
                    let want = written.or_else(|| guessed(self, k, e));
                    self.expr(e, want)
                })
                .collect::<Option<Vec<_>>>(),
            (Expr::Call(call), types) => self.device_call(call, types.as_deref(), tuple.elems.len()),
            (Expr::If(_) | Expr::Block(_) | Expr::Paren(_), types) => {
                self.values_of(init, &wanted(types.as_deref(), tuple.elems.len()))
            }
            (other, _) => {
                self.errors.at(
                    other,
                    "a tuple of names takes a tuple, an `if` or a block that ends in one, or the results of a device \
                     function; of a vector take `v.x`",
                );
                None
            }
        };
        for (k, pat) in tuple.elems.iter().enumerate() {
            let id = values.as_ref().and_then(|v| v.get(k)).copied();
            match (pat, id) {
                (Pat::Wild(_), _) => {}
                (Pat::Ident(name), Some(id)) => {
                    self.env.bind(&name.ident.to_string(), Binding::Value { id, mutable: name.mutability.is_some() });
                }
                (Pat::Ident(name), None) => self.env.poison(&name.ident.to_string()),
                (Pat::Tuple(inner), _) => {
                    self.errors.at(inner, crate::parse::NESTED);
                    self.poison(pat);
                }
                (other, _) => {
                    self.errors.at(other, "bind a name here");
                    self.poison(other);
                }
            }
        }
        if values.is_some_and(|v| v.len() != tuple.elems.len()) {
            self.errors.at(tuple, "the number of names differs from the number of values");
        }
    }

    // ---- branches

    pub(super) fn condition_of(&mut self, e: &ExprIf) -> Option<Id> {
        if let Expr::Let(l) = &*e.cond {
            self.errors.at(l, "`if let` is not supported; compare values");
            return None;
        }
        self.condition(&e.cond)
    }

    pub(super) fn condition(&mut self, e: &Expr) -> Option<Id> {
        let cond = self.expr(e, Some(Ty::Bool))?;
        self.expect_type(cond, Some(Ty::Bool), e.span());
        (self.ty(cond) == Ty::Bool).then_some(cond)
    }

    fn branch_statement(&mut self, e: &ExprIf, tail: bool) {
        let Some(cond) = self.condition_of(e) else { return };
        self.branch(
            cond,
            e.if_token.span,
            |s| s.statements(&e.then_branch.stmts, tail),
            |s| match e.else_branch.as_ref().map(|(_, e)| &**e) {
                None => {}
                Some(Expr::If(inner)) => s.branch_statement(inner, tail),
                Some(Expr::Block(b)) => s.statements(&b.block.stmts, tail),
                Some(other) => s.errors.at(other, "write a block after `else`"),
            },
        );
    }

    /// `if c { a; return; } rest` as `if c { a } else { rest }`.
    fn branch_with_return(&mut self, e: &ExprIf, rest: &[SynStmt]) {
        let Some(cond) = self.condition_of(e) else { return };
        let stmts = &e.then_branch.stmts;
        let kept = &stmts[..stmts.len() - 1];
        self.branch(cond, e.if_token.span, |s| s.statements(kept, true), |s| s.statements(rest, true));
    }

    /// Lowers both sides; the variables that either changes become results.
    pub(super) fn branch(&mut self, cond: Id, span: Span, then: impl FnOnce(&mut Self), els: impl FnOnce(&mut Self)) {
        let before = self.env.snapshot();
        let (then_stmts, ()) = self.nested(then);
        let after_then = self.env.snapshot();
        self.env.restore(&before);
        let (else_stmts, ()) = self.nested(els);
        let after_else = self.env.snapshot();
        let changed: Vec<Var> =
            (0..before.len()).filter(|&v| after_then[v] != before[v] || after_else[v] != before[v]).collect();
        let value = |state: &[Binding], v: Var| state[v].id();
        let then = Block { stmts: then_stmts, yields: changed.iter().map(|&v| value(&after_then, v)).collect() };
        let els = Block { stmts: else_stmts, yields: changed.iter().map(|&v| value(&after_else, v)).collect() };
        let results: Vec<Id> = then.yields.clone().iter().map(|&id| self.func.fresh(self.func.ty(id))).collect();
        for (&v, &id) in changed.iter().zip(&results) {
            self.env.set(v, id);
        }
        self.emit(StmtKind::If { cond, then, els, results }, span);
    }

    /// `if` with a value.
    pub(super) fn branch_value(&mut self, e: &ExprIf, want: &[Option<Ty>]) -> Option<Vec<Id>> {
        let cond = self.condition_of(e)?;
        let Some((_, other)) = &e.else_branch else {
            self.errors.at(e, "an `if` that gives a value needs an `else`");
            return None;
        };
        let probed = match want {
            [None] => self.probe(&Expr::If(e.clone())),
            _ => None,
        };
        let want = if probed.is_some() { &[probed] } else { want };
        let before = self.env.snapshot();
        let (then_stmts, then_ids) = self.nested(|s| s.block_values(&e.then_branch, want));
        let after_then = self.env.snapshot();
        self.env.restore(&before);
        let then_ids = then_ids?;
        let want: Vec<_> = then_ids.iter().map(|&id| Some(self.ty(id))).collect();
        let (else_stmts, else_ids) = self.nested(|s| match &**other {
            Expr::If(inner) => s.branch_value(inner, &want),
            Expr::Block(b) => s.block_values(&b.block, &want),
            _ => None,
        });
        let after_else = self.env.snapshot();
        let else_ids = else_ids?;
        if then_ids.len() != else_ids.len() {
            self.errors.at(other, "both sides of an `if` give the same number of values");
            return None;
        }
        for (&a, &b) in then_ids.iter().zip(&else_ids) {
            let ty = self.ty(a);
            self.expect_type(b, Some(ty), other.span());
        }
        let (mut then_yields, mut else_yields) = (then_ids.clone(), else_ids);
        let mut changed = Vec::new();
        for v in 0..before.len() {
            if let (Binding::Value { id: a, .. }, Binding::Value { id: b, .. }) = (after_then[v], after_else[v])
                && (after_then[v] != before[v] || after_else[v] != before[v])
            {
                changed.push(v);
                then_yields.push(a);
                else_yields.push(b);
            }
        }
        let results: Vec<Id> = then_yields.clone().iter().map(|&id| self.func.fresh(self.func.ty(id))).collect();
        for (k, &v) in changed.iter().enumerate() {
            self.env.set(v, results[then_ids.len() + k]);
        }
        let values = results[..then_ids.len()].to_vec();
        if self.comptimes.contains(&cond) {
            let known = |k: usize| [then_yields[k], else_yields[k]].iter().all(|id| self.comptimes.contains(id));
            let known: Vec<Id> = (0..values.len()).filter(|&k| known(k)).map(|k| values[k]).collect();
            self.comptimes.extend(known);
        }
        self.emit(
            StmtKind::If {
                cond,
                then: Block { stmts: then_stmts, yields: then_yields },
                els: Block { stmts: else_stmts, yields: else_yields },
                results,
            },
            e.if_token.span,
        );
        Some(values)
    }

    /// Statements and the value at the end of a block.
    pub(super) fn block_values(&mut self, block: &syn::Block, want: &[Option<Ty>]) -> Option<Vec<Id>> {
        self.no_leaving(block);
        let (last, before) = block.stmts.split_last().or_else(|| {
            self.errors.at(block, "this block must end in a value");
            None
        })?;
        self.statements(before, false);
        match last {
            SynStmt::Expr(Expr::Return(e), _) if self.func.kind == FuncKind::DiffFn => {
                self.errors
                    .at(e, "a block in the middle of the function does not return; write the `if` as a statement");
                None
            }
            SynStmt::Expr(e, None) => self.values_of(e, want),
            other => {
                self.errors.at(other, "this block must end in a value (without a semicolon)");
                None
            }
        }
    }

    /// The values of what may be a tuple.
    pub(super) fn values_of(&mut self, e: &Expr, want: &[Option<Ty>]) -> Option<Vec<Id>> {
        match e {
            Expr::Paren(p) => self.values_of(&p.expr, want),
            Expr::Group(g) => self.values_of(&g.expr, want),
            Expr::Tuple(t) => {
                t.elems.iter().enumerate().map(|(k, e)| self.expr(e, want.get(k).copied().flatten())).collect()
            }
            Expr::If(e) => self.branch_value(e, want),
            Expr::Block(b) if b.label.is_none() => {
                self.env.push();
                let ids = self.block_values(&b.block, want);
                self.env.pop();
                ids
            }
            Expr::Call(c) if want.len() > 1 => {
                let types: Option<Vec<Ty>> = want.iter().copied().collect();
                self.device_call(c, types.as_deref(), want.len())
            }
            e => Some(vec![self.expr(e, want.first().copied().flatten())?]),
        }
    }

    /// The body of a device function.
    pub(super) fn block_results(&mut self, block: &syn::Block, results: &[Ty], span: Span) -> Option<Vec<Id>> {
        if results.is_empty() {
            self.errors.error(self.own_span, "a device function returns a value: write `-> F` and end in it");
            return None;
        }
        let want: Vec<_> = results.iter().map(|&t| Some(t)).collect();
        let ids = self.block_values(block, &want)?;
        if ids.len() != results.len() {
            self.errors
                .error(span, format!("the body gives {} values, the signature says {}", ids.len(), results.len()));
            return None;
        }
        for (&id, &ty) in ids.iter().zip(results) {
            self.expect_type(id, Some(ty), span);
        }
        Some(ids)
    }
}

fn wanted(types: Option<&[Ty]>, n: usize) -> Vec<Option<Ty>> {
    (0..n).map(|k| types.and_then(|types| types.get(k).copied())).collect()
}

fn ends_in_return(e: &ExprIf) -> bool {
    e.else_branch.is_none()
        && match e.then_branch.stmts.last() {
            Some(SynStmt::Expr(Expr::Return(r), _)) => r.expr.is_none(),
            Some(SynStmt::Macro(m)) => m.mac.path.is_ident("terminate"),
            _ => false,
        }
}
