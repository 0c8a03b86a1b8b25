//! From syntax to IR: names become values, mutation becomes the results of `If` and `For`, types are found on the way.
//!
//! | source | IR |
//! |---|---|
//! | `let mut a = x; if c { a = y; }` | `a1 = x; If(c) { yield y } else { yield a1 } -> a2` |
//! | `for k in 0..n { a += v[k]; }` | `For k carry a1 = a0 { yield a1 + load v[k] } -> a2` |
//! | `if c { return; } rest` | `If(c) {} else { rest }` |

mod assign;
mod atomic;
mod call;
mod compose;
mod control;
mod count;
mod device;
mod env;
mod expr;
mod guess;
mod index;
mod integer;
mod inverse;
mod leave;
mod literal;
mod local;
mod loops;
mod matrix;
mod memory;
mod ops;
mod quat;
mod real;
mod steps;
mod update;

use std::collections::{HashMap, HashSet};

use diffkern_ir::{Access, Func, FuncKind, Id, Lit, Op, Param, ParamKind, Slot, Stmt, StmtKind, Ty};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Ident, ItemFn};

use crate::diagnostics::Diagnostics;
use crate::parse::{SigKind, Signature};
use crate::source::Source;
pub use assign::compound;
use env::{Binding, Env};

/// Lowers the body of `item`. Mistakes go to `errors`; the result is only of use when there are none.
///
/// A call of a device function of which nothing says what it gives is taken to give a real, which rustc checks. If that
/// leads to a mistake it is the missing type that is reported; any other mistake is reported alone.
///
/// Where a local array turns out to be better in memory, the body is lowered once more.
pub fn lower(item: &ItemFn, sig: &Signature, kind: FuncKind, errors: &Diagnostics) -> (Func, Source) {
    let mut in_memory = HashSet::new();
    loop {
        let found = errors.apart();
        let mut lower = Lower::new(item, sig, kind, &found, &found);
        lower.guesses = true;
        lower.in_memory.clone_from(&in_memory);
        lower.body(item, sig);
        let (guessed, wanted) = (lower.guessed, std::mem::take(&mut lower.in_memory));
        let lowered = lower.finish();
        if found.found() && guessed {
            break;
        }
        if found.found() || wanted == in_memory {
            errors.take(found);
            return lowered;
        }
        in_memory = wanted;
    }
    let (others, missing) = (errors.apart(), errors.apart());
    let mut lower = Lower::new(item, sig, kind, &others, &missing);
    lower.body(item, sig);
    let lowered = lower.finish();
    errors.take(if others.found() { others } else { missing });
    lowered
}

/// A function of this signature that does nothing and gives zeros.
pub fn nothing(item: &ItemFn, sig: &Signature, kind: FuncKind, errors: &Diagnostics) -> (Func, Source) {
    let mut lower = Lower::new(item, sig, kind, errors, errors);
    lower.func.body.yields = sig.results.iter().map(|&ty| lower.zero(ty, Span::call_site())).collect();
    lower.finish()
}

struct Lower<'a> {
    func: Func,
    source: Source,
    real: Option<Ident>,
    errors: &'a Diagnostics,
    /// Where calls without the type of their result are reported.
    missing: &'a Diagnostics,
    /// Whether a call without a type gives a real; whether there is one.
    guesses: bool,
    guessed: bool,
    env: Env,
    /// Open blocks, innermost last.
    blocks: Vec<Vec<Stmt>>,
    /// Values known at expansion, for component indices and unrolled loops.
    consts: HashMap<Id, Lit>,
    /// Values that are known where the kernel is compiled: of numbers and `#[comptime]` parameters.
    comptimes: HashSet<Id>,
    arrays: Vec<ArrayUse>,
    /// Values that are `ABSOLUTE_POS`.
    positions: HashSet<Id>,
    /// Of the integers that are computed alike, the first.
    equals: update::Equals,
    locals: Vec<local::Local>,
    /// Those that are in memory, or would be if the body was lowered once more.
    in_memory: HashSet<usize>,
    /// Loop indices that are below this.
    below: HashMap<Id, i64>,
    /// What can be left early, from the function inwards.
    frames: Vec<leave::Frame>,
    own_name: String,
    own_span: Span,
}

/// What the body does with one array parameter.
#[derive(Clone, Default)]
struct ArrayUse {
    mutable: bool,
    /// Of `Atomic`s.
    atomic: bool,
    /// Fetched from; and an old value is used.
    fetch: bool,
    fetched: bool,
    /// Where it is read first.
    read: Option<Span>,
    store: Option<Span>,
    add: Option<Span>,
    not_owned: bool,
}

impl<'a> Lower<'a> {
    fn new(item: &ItemFn, sig: &Signature, kind: FuncKind, errors: &'a Diagnostics, missing: &'a Diagnostics) -> Self {
        let mut lower = Lower {
            func: Func::new(item.sig.ident.to_string(), kind),
            source: Source::new(sig),
            real: sig.real.clone(),
            errors,
            missing,
            guesses: false,
            guessed: false,
            env: Env::default(),
            blocks: vec![Vec::new()],
            consts: HashMap::new(),
            comptimes: HashSet::new(),
            arrays: Vec::new(),
            positions: HashSet::new(),
            equals: update::Equals::default(),
            locals: Vec::new(),
            in_memory: HashSet::new(),
            below: HashMap::new(),
            frames: Vec::new(),
            own_name: item.sig.ident.to_string(),
            own_span: item.sig.ident.span(),
        };
        lower.env.push();
        for (slot, param) in sig.params.iter().enumerate() {
            lower.declare(slot, param.name.to_string(), param.kind);
        }
        lower
    }

    fn declare(&mut self, slot: Slot, name: String, kind: SigKind) {
        let atomic = matches!(kind, SigKind::Array { atomic: true, .. });
        let (kind, mutable, binding) = match kind {
            SigKind::Array { elem, mutable, .. } => {
                (ParamKind::Array { elem, access: Access::Unused, owned: false }, mutable, Binding::Array(slot))
            }
            SigKind::Scalar { ty, comptime } => {
                let id = self.func.fresh(ty);
                if comptime {
                    self.comptimes.insert(id);
                }
                (ParamKind::Scalar { id, comptime }, false, Binding::Value { id, mutable: false })
            }
        };
        self.arrays.push(ArrayUse { mutable, atomic, ..ArrayUse::default() });
        self.env.bind(&name, binding);
        self.func.params.push(Param { name, kind });
    }

    fn body(&mut self, item: &ItemFn, sig: &Signature) {
        self.open_kernel(&item.block);
        match self.func.kind {
            FuncKind::Kernel => self.statements(&item.block.stmts, true),
            FuncKind::DiffFn => {
                if let Some(ids) = self.block_results(&item.block, &sig.results, item.sig.output.span()) {
                    self.func.body.yields = ids;
                }
            }
        }
    }

    fn finish(mut self) -> (Func, Source) {
        self.func.body.stmts = self.blocks.pop().unwrap_or_default();
        for slot in 0..self.arrays.len() {
            self.additions(slot);
            let usage = self.arrays[slot].clone();
            self.check_updates(slot, &usage);
            let param = &mut self.func.params[slot];
            if let ParamKind::Array { access, owned, .. } = &mut param.kind {
                *access = match usage {
                    ArrayUse { store: Some(_), read: Some(_), .. } | ArrayUse { add: Some(_), read: Some(_), .. } => {
                        Access::Update
                    }
                    ArrayUse { store: Some(_), .. } => Access::Store,
                    ArrayUse { add: Some(_), .. } => Access::Add,
                    ArrayUse { fetch: true, .. } => Access::Fetch,
                    ArrayUse { read: Some(_), .. } => Access::Read,
                    _ => Access::Unused,
                };
                *owned = !usage.not_owned && *access != Access::Unused;
                if let (Some(_), Some(span)) = (usage.store, usage.add) {
                    self.errors.error(
                        span,
                        format!(
                            "`{}` is stored to elsewhere in this kernel; use `=` or `+=` on one array, not both",
                            param.name
                        ),
                    );
                }
            }
        }
        // Equal constants become one, whatever each is called.
        let consts = self.consts;
        self.func.names = self.env.named.into_iter().filter(|(id, _)| !consts.contains_key(id)).collect();
        (self.func, self.source)
    }

    // ---- building blocks

    fn emit(&mut self, kind: StmtKind, span: Span) {
        let node = self.source.node(span);
        self.append(Stmt { kind, node });
    }

    fn append(&mut self, stmt: Stmt) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(stmt);
        }
    }

    fn op(&mut self, ty: Ty, op: Op, span: Span) -> Id {
        let known = ops::fold(&op, &self.consts);
        let op = known.map_or(op, Op::Const);
        let id = self.func.fresh(ty);
        if let Op::Const(lit) = op {
            self.consts.insert(id, lit);
        }
        let known = !matches!(op, Op::Builtin(_) | Op::Len(_));
        if known && op.operands().iter().all(|id| self.comptimes.contains(id)) {
            self.comptimes.insert(id);
        }
        self.equals.note(id, ty, &op);
        self.emit(StmtKind::Let { id, op }, span);
        id
    }

    fn constant(&mut self, ty: Ty, lit: Lit, span: Span) -> Id {
        self.op(ty, Op::Const(lit), span)
    }

    fn ty(&self, id: Id) -> Ty {
        self.func.ty(id)
    }

    /// The name of a type as the author writes it.
    fn type_name(&self, ty: Ty) -> String {
        let f = self.real.as_ref().map_or_else(|| "F".to_owned(), ToString::to_string);
        match ty {
            Ty::Real => f,
            Ty::U32 => "u32".into(),
            Ty::I32 => "i32".into(),
            Ty::Usize => "usize".into(),
            Ty::Bool => "bool".into(),
            Ty::Vec(n) => format!("Vec{n}<{f}>"),
            Ty::Mat(n) => format!("Mat{n}<{f}>"),
            Ty::Quat => format!("Quat<{f}>"),
        }
    }

    /// Lowers with `inside` into a block of its own, in a scope of its own.
    fn nested<R>(&mut self, inside: impl FnOnce(&mut Self) -> R) -> (Vec<Stmt>, R) {
        self.blocks.push(Vec::new());
        self.env.push();
        let result = inside(self);
        self.env.pop();
        (self.blocks.pop().unwrap_or_default(), result)
    }
}
