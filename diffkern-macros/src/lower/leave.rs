//! `break`, `continue` and `return` as branches: a flag says whether the statements that follow still run, another whether
//! a loop takes another turn.
//!
//! | source | IR |
//! |---|---|
//! | `for .. { a; if c { break; } b }` | `For .., live { a; If(c) { live = false } else { b } }` |
//! | `for .. { if c { if d { continue; } a } b }` | `For .. { If(c) { If(d) { here = false } else { a } } If(here) { b } }` |

use diffkern_ir::{FuncKind, Id, Lit, Ty};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, ExprIf, Stmt as SynStmt};

use super::Lower;
use super::env::{Binding, Var};

/// A way to leave statements early.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Leave {
    Break,
    Continue,
    Return,
}

/// What can be left: the kernel, or the turn of a loop. The flags are there where something leaves.
#[derive(Default)]
pub(super) struct Frame {
    /// Whether what follows in this turn runs.
    pub here: Option<Var>,
    /// Whether another turn follows.
    pub live: Option<Var>,
}

/// How the body of a loop may be left.
#[derive(Default)]
pub(super) struct Exits {
    /// By a `break` or a `return`: no further turn follows.
    pub ends: bool,
    pub returns: bool,
    continues: bool,
    first: Option<Span>,
}

impl Exits {
    pub(super) fn of(block: &syn::Block) -> Self {
        let mut found = Self::default();
        found.visit_block(block);
        found
    }

    pub(super) fn any(&self) -> bool {
        self.ends || self.continues
    }

    fn found(&mut self, leave: Leave, span: Span) {
        self.first.get_or_insert(span);
        match leave {
            Leave::Break => self.ends = true,
            Leave::Continue => self.continues = true,
            Leave::Return => {
                self.ends = true;
                self.returns = true;
            }
        }
    }

    /// Of a loop inside, only a `return` leaves what is around it.
    fn inner(&mut self, visit: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        visit(&mut inner);
        if inner.returns {
            self.found(Leave::Return, inner.first.unwrap_or_else(Span::call_site));
        }
    }
}

impl<'ast> Visit<'ast> for Exits {
    fn visit_expr_break(&mut self, e: &'ast syn::ExprBreak) {
        self.found(Leave::Break, e.break_token.span);
    }

    fn visit_expr_continue(&mut self, e: &'ast syn::ExprContinue) {
        self.found(Leave::Continue, e.continue_token.span);
    }

    fn visit_expr_return(&mut self, e: &'ast syn::ExprReturn) {
        self.found(Leave::Return, e.return_token.span);
    }

    fn visit_macro(&mut self, m: &'ast syn::Macro) {
        if m.path.is_ident("terminate") {
            self.found(Leave::Return, m.path.span());
        }
    }

    fn visit_expr_for_loop(&mut self, e: &'ast syn::ExprForLoop) {
        self.inner(|s| visit::visit_expr_for_loop(s, e));
    }

    fn visit_expr_while(&mut self, e: &'ast syn::ExprWhile) {
        self.inner(|s| visit::visit_expr_while(s, e));
    }

    fn visit_expr_loop(&mut self, e: &'ast syn::ExprLoop) {
        self.inner(|s| visit::visit_expr_loop(s, e));
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
}

/// Whether an `if` without `else` always leaves, so that what follows is its other side.
pub(super) fn always(e: &ExprIf) -> bool {
    e.else_branch.is_none()
        && match e.then_branch.stmts.last() {
            Some(SynStmt::Expr(Expr::Break(_) | Expr::Continue(_) | Expr::Return(_), _)) => true,
            Some(SynStmt::Macro(m)) => m.mac.path.is_ident("terminate"),
            _ => false,
        }
}

impl Lower<'_> {
    /// A variable without a name.
    pub(super) fn flag(&mut self, id: Id) -> Var {
        self.env.bind("", Binding::Value { id, mutable: true });
        self.env.last()
    }

    /// The flag of the kernel: it has not returned.
    pub(super) fn kernel_flag(&self) -> Option<Var> {
        self.frames.first().and_then(|frame| frame.here)
    }

    /// Makes the kernel's flag, if it returns anywhere.
    pub(super) fn open_kernel(&mut self, block: &syn::Block) {
        let exits = Exits::of(block);
        let here = (exits.returns && self.func.kind == FuncKind::Kernel).then(|| {
            let yes = self.constant(Ty::Bool, Lit::Bool(true), Span::call_site());
            self.flag(yes)
        });
        self.frames.push(Frame { here, live: None });
    }

    /// Whether a statement may leave what it stands in.
    pub(super) fn may_leave(&self, stmt: &SynStmt) -> bool {
        let mut found = Exits::default();
        found.visit_stmt(stmt);
        found.any()
    }

    /// The statements after one that may have left.
    pub(super) fn while_here(&mut self, rest: &[SynStmt]) {
        let Some(first) = rest.first() else { return };
        match self.frames.last().and_then(|frame| frame.here) {
            Some(here) => {
                let cond = self.env.get(here).id();
                self.branch(cond, first.span(), |s| s.statements(rest, false), |_| {});
            }
            None => self.statements(rest, false),
        }
    }

    /// `if c { a; break; } rest` as `if c { a; break; } else { rest }`.
    pub(super) fn branch_that_leaves(&mut self, e: &ExprIf, rest: &[SynStmt]) {
        let Some(cond) = self.condition_of(e) else { return };
        self.branch(
            cond,
            e.if_token.span,
            |s| s.statements(&e.then_branch.stmts, false),
            |s| s.statements(rest, false),
        );
    }

    /// Lowers a statement that leaves.
    pub(super) fn leave(
        &mut self,
        at: impl quote::ToTokens,
        leave: Leave,
        label: Option<&syn::Lifetime>,
        value: Option<&Expr>,
    ) {
        if let Some(label) = label {
            self.errors.at(label, "labels are not supported; leave the outer loop by a flag that it tests");
            return;
        }
        if leave == Leave::Return && self.func.kind == FuncKind::DiffFn {
            self.errors.at(at, "this `return` is no branch of the function's end: `break` out of a loop, with the value in a variable, and end in it");
            return;
        }
        if let Some(value) = value {
            self.errors.at(value, "a statement of a kernel has no value; assign to a variable before it");
            return;
        }
        if leave != Leave::Return && self.frames.len() < 2 {
            self.errors.at(at, "there is no loop here to leave");
            return;
        }
        let mut flags = Vec::new();
        if let Some(frame) = self.frames.last() {
            flags.extend(frame.here);
            flags.extend(frame.live.filter(|_| leave != Leave::Continue));
        }
        if leave == Leave::Return {
            flags.extend(self.kernel_flag());
        }
        let no = self.constant(Ty::Bool, Lit::Bool(false), Span::call_site());
        for flag in flags {
            self.env.set(flag, no);
        }
    }

    /// After a loop that may have returned: what is around it has then been left too.
    pub(super) fn after_inner_return(&mut self) {
        let Some(kernel) = self.kernel_flag() else { return };
        let going = self.env.get(kernel).id();
        if let [_, .., Frame { here, live }] = self.frames.as_slice() {
            for flag in [*here, *live].into_iter().flatten() {
                self.env.set(flag, going);
            }
        }
    }

    /// Refuses to leave out of the middle of an expression.
    pub(super) fn no_leaving(&self, block: &syn::Block) {
        let found = Exits::of(block);
        if let Some(span) = found.first
            && !(found.returns && self.func.kind == FuncKind::DiffFn)
        {
            self.errors.error(span, "this leaves out of the middle of a value; write the `if` as a statement");
        }
    }
}
