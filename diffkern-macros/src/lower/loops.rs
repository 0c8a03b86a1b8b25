//! Loops: the variables that a turn changes are carried from turn to turn.
//!
//! | source | IR |
//! |---|---|
//! | `for k in lo..hi { .. }` | `For k from lo to hi carry the variables that the body assigns` |
//! | `#[bound(n)] while c { .. }` | `For _ from 0 to n, live = c carry ..`, `Fault(live, n)` |

use std::collections::HashSet;

use diffkern_ir::{BinaryOp, Block, FaultKind, FuncKind, Id, Lit, Op, StmtKind, Ty};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, ExprForLoop, ExprWhile, Pat};

use super::Lower;
use super::env::{Binding, Var};
use super::leave::{Exits, Frame};
use super::steps;

/// Most turns of an `#[unroll]` loop.
const UNROLL_LIMIT: i64 = 64;

/// A loop to be lowered.
struct Turns<'a> {
    name: &'a str,
    lo: Id,
    hi: Id,
    /// From the last to the first.
    reversed: bool,
    /// Where the loop variable starts and by how much it grows, if it is not the index of the turn.
    steps: Option<(Id, Id)>,
    /// Of a `while`.
    cond: Option<&'a Expr>,
    body: &'a syn::Block,
    span: Span,
}

impl Lower<'_> {
    pub(super) fn for_loop(&mut self, e: &ExprForLoop) {
        if let Some(label) = &e.label {
            self.errors.at(label, "labels are not supported; remove it");
        }
        let name = match &*e.pat {
            Pat::Ident(p) => p.ident.to_string(),
            Pat::Wild(_) => "_".to_owned(),
            other => {
                self.errors.at(other, "the loop variable is a plain name");
                return;
            }
        };
        let guessed = self.guess(&name, &e.body.stmts);
        let default = guessed.unwrap_or(Ty::Usize);
        let (range, reversed) = match &*e.expr {
            Expr::MethodCall(m) if m.method == "rev" && m.args.is_empty() => (&*m.receiver, true),
            other => (other, false),
        };
        let bounds = match steps::of(&e.expr) {
            Some(steps) => self.stepped(&steps, default).map(|(hi, from, by)| {
                let zero = self.constant(self.ty(hi), Lit::Int(0), e.for_token.span);
                (zero, hi, Some((from, by)))
            }),
            None => self.range(range, default).map(|(lo, hi)| (lo, hi, None)),
        };
        let Some((lo, hi, steps)) = bounds else { return };
        let unroll = e.attrs.iter().find(|a| a.path().is_ident("unroll"));
        for attr in e.attrs.iter().filter(|a| !a.path().is_ident("unroll")) {
            self.errors.at(attr, "only `#[unroll]` is known on a `for`");
        }
        let turns = Turns { name: &name, lo, hi, reversed, steps, cond: None, body: &e.body, span: e.for_token.span };
        match unroll {
            // What is known at the launch only is unrolled by the compiler there, if at all.
            Some(attr) if matches!(attr.meta, syn::Meta::Path(_)) && !self.is_compiled_in(lo, hi) => {
                self.unrolled(&turns, attr.span());
            }
            _ => {
                self.turns(&turns);
            }
        }
    }

    /// Whether both bounds are known where the kernel is compiled, but not to the macro.
    fn is_compiled_in(&self, lo: Id, hi: Id) -> bool {
        let numbers = self.consts.contains_key(&lo) && self.consts.contains_key(&hi);
        !numbers && self.comptimes.contains(&lo) && self.comptimes.contains(&hi)
    }

    pub(super) fn while_loop(&mut self, e: &ExprWhile) {
        if let Some(label) = &e.label {
            self.errors.at(label, "labels are not supported; remove it");
        }
        let shown = quote::ToTokens::to_token_stream(&e.cond).to_string();
        let Some(bound) = e.attrs.iter().find(|a| a.path().is_ident("bound")) else {
            self.errors.at(
                e.while_token,
                format!(
                    "say how many turns this may take at most: `#[bound(100)] while {shown} {{ .. }}`; wanting more is \
                     an error at run time"
                ),
            );
            return;
        };
        for attr in e.attrs.iter().filter(|a| !a.path().is_ident("bound")) {
            self.errors.at(attr, "only `#[bound(..)]` is known on a `while`");
        }
        if self.func.kind == FuncKind::DiffFn {
            self.errors.at(
                e.while_token,
                format!(
                    "a device function has nobody to tell that its bound is exceeded; write `for _ in 0..100 {{ if \
                     !({shown}) {{ break; }} .. }}`"
                ),
            );
            return;
        }
        if let Expr::Let(l) = &*e.cond {
            self.errors.at(l, "`while let` is not supported; compare values");
            return;
        }
        if !Assigned::in_expr(&e.cond).is_empty() {
            self.errors.at(&e.cond, "a condition assigns nothing; do that in the body");
            return;
        }
        let hi = match bound.parse_args::<Expr>() {
            Ok(bound) => self.expr(&bound, Some(Ty::Usize)).map(|id| (id, bound.span())),
            Err(_) => {
                self.errors.at(bound, "the bound is one integer: `#[bound(100)]`");
                None
            }
        };
        let Some((hi, span)) = hi else { return };
        let ty = self.ty(hi);
        if !matches!(ty, Ty::Usize | Ty::U32) {
            self.errors.error(span, format!("a bound is a `usize` or `u32`, not `{}`", self.type_name(ty)));
            return;
        }
        let span = e.while_token.span;
        let lo = self.constant(ty, Lit::Int(0), span);
        let turns = Turns { name: "_", lo, hi, reversed: false, steps: None, cond: Some(&e.cond), body: &e.body, span };
        if let Some(cond) = self.turns(&turns) {
            self.emit(StmtKind::Fault { cond, what: FaultKind::Bound(hi) }, span);
        }
    }

    /// Returns, of a loop that may end early, whether it would have gone on after its last turn.
    fn turns(&mut self, e: &Turns<'_>) -> Option<Id> {
        let exits = Exits::of(e.body);
        self.env.push();
        let live = match e.cond {
            Some(cond) => Some(self.condition(cond)),
            None if exits.ends => Some(Some(self.constant(Ty::Bool, Lit::Bool(true), e.span))),
            None => None,
        };
        // A mistake in the condition is reported already; the body may have others.
        let live = live.map(|id| id.unwrap_or_else(|| self.func.fresh(Ty::Bool)));
        let live = live.map(|id| self.flag(id));
        let mut vars: Vec<Var> = Assigned::in_block(e.body)
            .iter()
            .filter_map(|n| self.env.find(n))
            .flat_map(|v| match self.env.get(v) {
                Binding::Value { mutable: true, .. } => vec![v],
                Binding::Local(local) => self.local_vars(local),
                _ => Vec::new(),
            })
            .collect();
        vars.extend(live);
        vars.extend(self.kernel_flag().filter(|_| exits.returns));
        vars.sort_unstable();
        vars.dedup();
        let current = |s: &Self, v: Var| s.env.get(v).id();
        let init: Vec<Id> = vars.iter().map(|&v| current(self, v)).collect();
        let index = self.func.fresh(self.ty(e.lo));
        if let Some(&Lit::Int(hi)) = self.consts.get(&e.hi) {
            self.below.insert(index, hi);
        }
        let carried: Vec<Id> = init.iter().map(|&id| self.func.fresh(self.func.ty(id))).collect();
        for (&v, &id) in vars.iter().zip(&carried) {
            self.env.set(v, id);
        }
        let live_carried = live.map(|v| current(self, v));
        let (stmts, ()) = self.nested(|s| {
            let id = match e.steps {
                Some(steps) => s.step(steps, index, e.span),
                None if e.reversed => s.mirrored(e, index),
                None => index,
            };
            s.env.bind(e.name, Binding::Value { id, mutable: false });
            s.turn(e, live, &exits);
            if let (Some(cond), Some(live)) = (e.cond, live) {
                s.next_condition(cond, live, &exits, e.span);
            }
        });
        let yields: Vec<Id> = vars.iter().map(|&v| current(self, v)).collect();
        let results: Vec<Id> = init.iter().map(|&id| self.func.fresh(self.func.ty(id))).collect();
        for (&v, &id) in vars.iter().zip(&results) {
            self.env.set(v, id);
        }
        let body = Block { stmts, yields };
        let (lo, hi) = (e.lo, e.hi);
        self.emit(StmtKind::For { index, lo, hi, carried, init, live: live_carried, body, results }, e.span);
        let live = live.map(|v| current(self, v));
        self.env.pop();
        if exits.returns {
            self.after_inner_return();
        }
        live
    }

    /// `lo + (hi - 1 - index)`.
    fn mirrored(&mut self, e: &Turns<'_>, index: Id) -> Id {
        let ty = self.ty(e.lo);
        let one = self.constant(ty, Lit::Int(1), e.span);
        let last = self.op(ty, Op::Binary(BinaryOp::Sub, e.hi, one), e.span);
        let left = self.op(ty, Op::Binary(BinaryOp::Sub, last, index), e.span);
        let id = self.op(ty, Op::Binary(BinaryOp::Add, e.lo, left), e.span);
        if let Some(most) = self.below.get(&index).copied() {
            self.below.insert(id, most);
        }
        id
    }

    /// The statements of one turn.
    fn turn(&mut self, e: &Turns<'_>, live: Option<Var>, exits: &Exits) {
        let here = exits.any().then(|| {
            let yes = self.constant(Ty::Bool, Lit::Bool(true), e.span);
            self.flag(yes)
        });
        self.frames.push(Frame { here, live });
        // What the body names, the condition of the next turn does not see.
        self.env.push();
        self.statements(&e.body.stmts, false);
        self.env.pop();
        self.frames.pop();
    }

    /// Whether the next turn runs: not tested again after a `break`.
    fn next_condition(&mut self, cond: &Expr, live: Var, exits: &Exits, span: Span) {
        if self.errors.found() {
            return;
        }
        let before = self.env.get(live).id();
        let (stmts, next) = self.nested(|s| s.condition(cond));
        let Some(next) = next else { return };
        if !exits.ends {
            stmts.into_iter().for_each(|stmt| self.append(stmt));
            self.env.set(live, next);
            return;
        }
        let result = self.func.fresh(Ty::Bool);
        let then = Block { stmts, yields: vec![next] };
        let els = Block { stmts: Vec::new(), yields: vec![before] };
        self.emit(StmtKind::If { cond: before, then, els, results: vec![result] }, span);
        self.env.set(live, result);
    }

    fn unrolled(&mut self, e: &Turns<'_>, span: Span) {
        let (Some(&Lit::Int(first)), Some(&Lit::Int(end))) = (self.consts.get(&e.lo), self.consts.get(&e.hi)) else {
            self.errors.error(span, "`#[unroll]` needs bounds that are constants; remove the attribute");
            return;
        };
        if end - first > UNROLL_LIMIT {
            self.errors.error(
                span,
                format!("`#[unroll]` is for at most {UNROLL_LIMIT} turns, here {}; remove it", end - first),
            );
            return;
        }
        let exits = Exits::of(e.body);
        self.env.push();
        let live = exits.ends.then(|| {
            let yes = self.constant(Ty::Bool, Lit::Bool(true), span);
            self.flag(yes)
        });
        for turn in first..end {
            let started = turn > first;
            let k = if e.reversed { first + (end - 1 - turn) } else { turn };
            let turn = |s: &mut Self| {
                s.env.push();
                let mut id = s.constant(s.ty(e.lo), Lit::Int(k), span);
                if let Some(steps) = e.steps {
                    id = s.step(steps, id, e.span);
                }
                s.env.bind(e.name, Binding::Value { id, mutable: false });
                s.turn(e, live, &exits);
                s.env.pop();
            };
            match live {
                Some(live) if started => {
                    let cond = self.env.get(live).id();
                    self.branch(cond, e.span, turn, |_| {});
                }
                _ => turn(self),
            }
        }
        self.env.pop();
        if exits.returns {
            self.after_inner_return();
        }
    }

    /// `default`: the type of bounds that are numbers.
    pub(super) fn range(&mut self, e: &Expr, default: Ty) -> Option<(Id, Id)> {
        let range = match e {
            Expr::Range(r) => r,
            Expr::Paren(p) => return self.range(&p.expr, default),
            Expr::Call(c) if super::call::cube_function(c).is_some() => {
                self.call(c, None);
                return None;
            }
            other if self.is_poisoned(other) => return None,
            other => {
                self.errors.at(
                    other,
                    "loop over a range, `for k in lo..hi` or `for k in (lo..hi).rev()`, or `range_stepped(lo, hi, step)`",
                );
                return None;
            }
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            self.errors.at(range, "write both bounds: `lo..hi`");
            return None;
        };
        let (lo, hi) = self.same_type(start, end, Some(default))?;
        let ty = self.ty(lo);
        if !ty.is_int() {
            self.errors.at(range, format!("the bounds of a loop are integers, not `{}`", self.type_name(ty)));
            return None;
        }
        if let syn::RangeLimits::Closed(_) = &range.limits {
            let largest = if ty == Ty::I32 { i64::from(i32::MAX) } else { i64::from(u32::MAX) };
            if matches!(self.consts.get(&hi), Some(Lit::Int(k)) if *k == largest) {
                self.errors.at(end, "no integer is above this, so the range would wrap around; end it below");
                return None;
            }
            let one = self.constant(ty, Lit::Int(1), range.span());
            let hi = self.op(ty, Op::Binary(BinaryOp::Add, hi, one), range.span());
            return Some((lo, hi));
        }
        Some((lo, hi))
    }
}

/// Names that are assigned to, shadowed ones included: carrying a value too much changes nothing.
#[derive(Default)]
pub(super) struct Assigned {
    names: HashSet<String>,
}

impl Assigned {
    pub(super) fn in_expr(e: &Expr) -> HashSet<String> {
        let mut found = Assigned::default();
        found.visit_expr(e);
        found.names
    }

    fn in_block(block: &syn::Block) -> HashSet<String> {
        let mut found = Assigned::default();
        found.visit_block(block);
        found.names
    }

    fn target(&mut self, e: &Expr) {
        match e {
            Expr::Path(p) => {
                if let Some(name) = p.path.get_ident() {
                    self.names.insert(name.to_string());
                }
            }
            Expr::Field(f) => self.target(&f.base),
            Expr::Index(i) => self.target(&i.expr),
            Expr::Paren(p) => self.target(&p.expr),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Assigned {
    fn visit_expr_assign(&mut self, e: &'ast syn::ExprAssign) {
        self.target(&e.left);
        syn::visit::visit_expr_assign(self, e);
    }

    fn visit_expr_binary(&mut self, e: &'ast syn::ExprBinary) {
        if super::assign::compound(&e.op).is_some() {
            self.target(&e.left);
        }
        syn::visit::visit_expr_binary(self, e);
    }
}
