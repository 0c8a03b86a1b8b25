//! Arrays that a kernel reads and overwrites, as `y[i] *= e` and `y[i] += y[i] * e` do.
//!
//! The adjoint reads the array as it was before the launch. That is what the kernel read if each read comes before any
//! store, and if the element is the thread's own: all accesses of the array have one index, and either this is
//! `ABSOLUTE_POS`, or each path with a read also stores, so that the check that no element is written twice covers the
//! reads. Of scalars in a row, as those of a struct are, `n * i + k` with `k` below `n`, each `k` is looked at for itself:
//! for one `i` they are different elements, and no other `i` has one of them.

use std::collections::{BTreeSet, HashMap};

use diffkern_ir::{BinaryOp, Block, Id, Key, Lit, Node, Numbering, Op, Slot, StmtKind, Ty};
use proc_macro2::Span;

use super::{ArrayUse, Lower};
use crate::source::Source;

/// Which integers are computed alike from the same values, and so are equal where both are defined.
#[derive(Default)]
pub(super) struct Equals {
    first: HashMap<Id, Id>,
    known: Numbering,
    /// Numbers, and what is a sum or a product of two integers.
    numbers: HashMap<Id, i128>,
    sums: HashMap<Id, (Id, Id)>,
    products: HashMap<Id, (Id, Id)>,
}

/// An index as `n * base + part` with `part` below `n`, or as a number.
#[derive(Clone, Copy, PartialEq)]
struct Place {
    base: Option<(Id, i128)>,
    part: i128,
}

impl Equals {
    pub(super) fn note(&mut self, id: Id, ty: Ty, op: &Op) {
        if ty.is_int() {
            let op = op.map(|x| self.first(x));
            self.insert(id, Key::op(&op, ty));
            match op {
                Op::Const(Lit::Int(n)) => {
                    self.numbers.insert(id, n.into());
                }
                Op::Binary(BinaryOp::Add, a, b) => {
                    self.sums.insert(id, (a, b));
                }
                Op::Binary(BinaryOp::Mul, a, b) => {
                    self.products.insert(id, (a, b));
                }
                _ => {}
            }
        }
    }

    /// A product or sum of a value and a number.
    fn with_number(&self, of: &HashMap<Id, (Id, Id)>, id: Id) -> Option<(Id, i128)> {
        let &(a, b) = of.get(&id)?;
        let number = |x: Id| self.numbers.get(&x).copied();
        number(b).map(|n| (a, n)).or_else(|| number(a).map(|n| (b, n)))
    }

    fn place(&self, index: Id) -> Place {
        let index = self.first(index);
        if let Some(&part) = self.numbers.get(&index) {
            return Place { base: None, part };
        }
        let (rest, part) = self.with_number(&self.sums, index).unwrap_or((index, 0));
        match self.with_number(&self.products, rest) {
            Some((base, n)) if (0..n).contains(&part) => Place { base: Some((self.first(base), n)), part },
            _ => Place { base: Some((index, 1)), part: 0 },
        }
    }

    /// The array is one that the kernel does not write.
    pub(super) fn note_load(&mut self, id: Id, array: Slot, index: Id) {
        let index = self.first(index);
        self.insert(id, Key::load(array, index));
    }

    /// `id` is `other`.
    pub(super) fn same(&mut self, id: Id, other: Id) {
        let first = self.first(other);
        self.first.insert(id, first);
    }

    fn insert(&mut self, id: Id, key: Key) {
        let first = self.known.first(key, &[id]).and_then(<[Id]>::first).copied();
        self.first.insert(id, first.unwrap_or(id));
    }

    fn first(&self, id: Id) -> Id {
        self.first.get(&id).copied().unwrap_or(id)
    }
}

/// A read that is not of the value from before the launch, or not for certain.
enum Wrong {
    /// Of another element than the one stored to.
    Index(Span),
    /// After a store.
    After(Span),
    /// In a loop that stores, so after the store of an earlier turn.
    Loop(Span),
    /// Not followed by a store on each path, at an index of the kernel's choice.
    Kept(Span),
}

impl Lower<'_> {
    /// Reports what is wrong with the reads of an array that is also written.
    pub(super) fn check_updates(&self, slot: Slot, usage: &ArrayUse) {
        if usage.read.is_none() || (usage.store.is_none() && usage.add.is_none()) {
            return;
        }
        let name = &self.func.params[slot].name;
        let body = &self.func.body;
        let found = self.one_base(body, slot).and_then(|base| {
            let own = base.is_some_and(|(id, _)| self.positions.contains(&id));
            self.stored_parts(body, slot).into_iter().try_for_each(|part| {
                let of = Part { equals: &self.equals, source: &self.source, slot, part };
                of.order(body, &mut false)?;
                if own { Ok(()) } else { of.followed(body, false).map(|_| ()) }
            })
        });
        let (span, why) = match found {
            Ok(()) => return,
            Err(Wrong::Index(span)) => (
                span,
                "is written by this kernel at another index, so what is read here depends on the order of threads; read \
                 from a second array that is not written",
            ),
            Err(Wrong::After(span)) => (
                span,
                "may have been stored to before this read, and the gradient needs what was there before the launch; \
                 keep the stored value in a variable and use that",
            ),
            Err(Wrong::Loop(span)) => (
                span,
                "is stored to in this loop, so what is read here may come from an earlier turn; carry the value in a \
                 `let mut` and store it after the loop",
            ),
            Err(Wrong::Kept(span)) => (
                span,
                "is read here at an index that another thread may have too, unless this thread stores to the element on \
                 every path: store the old value where nothing changes, `y[j] = if c { .. } else { old }`",
            ),
        };
        self.errors.error(span, format!("`{name}` {why}"));
    }

    /// What the places of all accesses have in common.
    fn one_base(&self, block: &Block, slot: Slot) -> Result<Option<(Id, i128)>, Wrong> {
        let mut first = None;
        // The stores first: the error belongs on a read.
        for reads in [false, true] {
            each(block, &mut |kind, node| match kind {
                StmtKind::Store { array, index, .. } | StmtKind::Add { array, index, .. }
                    if !reads && *array == slot =>
                {
                    let base = self.equals.place(*index).base;
                    if *first.get_or_insert(base) == base {
                        Ok(())
                    } else {
                        Err(Wrong::Index(self.arrays[slot].read.unwrap_or_else(|| self.source.span(node))))
                    }
                }
                StmtKind::Load { array, index, .. } if reads && *array == slot => {
                    if *first.get_or_insert(self.equals.place(*index).base) == self.equals.place(*index).base {
                        Ok(())
                    } else {
                        Err(Wrong::Index(self.source.span(node)))
                    }
                }
                _ => Ok(()),
            })?;
        }
        Ok(first.flatten())
    }

    fn stored_parts(&self, block: &Block, slot: Slot) -> BTreeSet<i128> {
        let mut parts = BTreeSet::new();
        block.each(&mut |stmt| {
            if let StmtKind::Store { array, index, .. } | StmtKind::Add { array, index, .. } = stmt.kind
                && array == slot
            {
                parts.insert(self.equals.place(index).part);
            }
        });
        parts
    }
}

/// Calls `see` for each statement, in the order of the text.
fn each(block: &Block, see: &mut dyn FnMut(&StmtKind, Node) -> Result<(), Wrong>) -> Result<(), Wrong> {
    for stmt in &block.stmts {
        see(&stmt.kind, stmt.node)?;
        match &stmt.kind {
            StmtKind::If { then, els, .. } => {
                each(then, see)?;
                each(els, see)?;
            }
            StmtKind::For { body, .. } => each(body, see)?,
            _ => {}
        }
    }
    Ok(())
}

/// The accesses of one part.
struct Part<'a> {
    equals: &'a Equals,
    source: &'a Source,
    slot: Slot,
    part: i128,
}

impl Part<'_> {
    fn has(&self, array: Slot, index: Id) -> bool {
        array == self.slot && self.equals.place(index).part == self.part
    }

    fn read(&self, kind: &StmtKind) -> bool {
        matches!(kind, StmtKind::Load { array, index, .. } if self.has(*array, *index))
    }

    fn written(&self, kind: &StmtKind) -> bool {
        match kind {
            StmtKind::Store { array, index, .. } | StmtKind::Add { array, index, .. } => self.has(*array, *index),
            _ => false,
        }
    }

    /// No read comes after a store. `stored`: there may have been one.
    fn order(&self, block: &Block, stored: &mut bool) -> Result<(), Wrong> {
        for stmt in &block.stmts {
            match &stmt.kind {
                kind if *stored && self.read(kind) => return Err(Wrong::After(self.source.span(stmt.node))),
                kind if self.written(kind) => *stored = true,
                StmtKind::If { then, els, .. } => {
                    let mut other = *stored;
                    self.order(then, stored)?;
                    self.order(els, &mut other)?;
                    *stored |= other;
                }
                StmtKind::For { body, .. } => {
                    let before = *stored;
                    self.order(body, stored)?;
                    if *stored && !before {
                        // The second turn comes after the first.
                        self.order(body, stored).map_err(|wrong| match wrong {
                            Wrong::After(span) => Wrong::Loop(span),
                            other => other,
                        })?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Each read is followed by a store on every path. `after`: one follows the block; returns whether one follows its start.
    fn followed(&self, block: &Block, mut after: bool) -> Result<bool, Wrong> {
        for stmt in block.stmts.iter().rev() {
            match &stmt.kind {
                kind if self.written(kind) => after = true,
                kind if !after && self.read(kind) => return Err(Wrong::Kept(self.source.span(stmt.node))),
                StmtKind::If { then, els, .. } => {
                    let (then, els) = (self.followed(then, after)?, self.followed(els, after)?);
                    after = then && els;
                }
                StmtKind::For { body, .. } => {
                    self.followed(body, after)?;
                }
                _ => {}
            }
        }
        Ok(after)
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::Diagnostics;
    use crate::{lower, parse};
    use diffkern_ir::FuncKind;

    /// What is said of a kernel with this body, after `let i = ABSOLUTE_POS` and `let j` from data.
    fn said(body: &str) -> String {
        let source = format!(
            "fn k<F: Float>(x: &Array<F>, at: &Array<u32>, n: u32, y: &mut Array<F>) {{
                let i = ABSOLUTE_POS; let j = at[i] as usize; {body} }}"
        );
        let item: syn::ItemFn = syn::parse_str(&source).unwrap();
        let errors = Diagnostics::default();
        if let Some(sig) = parse::signature(&item, FuncKind::Kernel, &errors) {
            lower::lower(&item, &sig, FuncKind::Kernel, &errors);
        }
        errors
            .finish()
            .err()
            .map(|e| e.into_iter().map(|e| e.to_string()).collect::<Vec<_>>().join("; "))
            .unwrap_or_default()
    }

    #[test]
    fn what_was_there_before_the_launch_may_be_read() {
        for body in [
            "y[i] = y[i] * x[i];",
            "let k = i; y[k] = y[i] * 2.0;",
            "y[2 * i] = y[2 * i + 1]; y[2 * i + 1] = x[i];",
            "y[1 + i * 3] = y[i * 3 + 1] + x[i];",
            "if x[i] > 0.0 { y[i] = y[i] * 2.0; }",
            "let old = y[j]; y[j] = if x[i] > 0.0 { old * 2.0 } else { old };",
            "if x[i] > 0.0 { y[j] = y[j] * 2.0; } else { y[j] = y[j]; }",
            "if x[i] > 0.0 { let v = y[j]; y[j] = v * v; }",
            "for k in 0..n { if x[i] > 0.5 { let v = y[i]; let w = v * v; } } y[i] = x[i];",
            "for k in 0..n { let v = y[j]; } y[j] = x[i];",
        ] {
            assert_eq!(said(body), "", "{body}");
        }
    }

    #[test]
    fn what_may_come_from_another_place_or_time_is_refused() {
        for (body, why) in [
            ("y[i] = y[i + 1];", "at another index"),
            ("y[i] = y[j];", "at another index"),
            ("if x[i] > 0.0 { y[i + 1] = x[i]; } let v = y[i];", "at another index"),
            ("for k in 0..n { y[k as usize] = x[i]; } let v = y[i];", "at another index"),
            ("y[i] = x[i]; if x[i] > 0.0 { let v = y[i + 1]; }", "at another index"),
            ("y[i] = x[i]; for k in 0..n { let v = y[k as usize]; }", "at another index"),
            ("y[2 * i] = y[2 * i + 2] + x[i];", "at another index"),
            ("y[2 * i] = y[3 * i] + x[i];", "at another index"),
            ("y[i] = x[i]; let v = y[i];", "may have been stored to before this read"),
            ("y[i] += x[i]; let v = y[i];", "may have been stored to before this read"),
            ("if x[i] > 0.0 { y[i] = x[i]; } let v = y[i];", "may have been stored to before this read"),
            ("if x[i] > 0.0 { let w = 1.0; } else { y[i] = x[i]; } let v = y[i];", "before this read"),
            ("y[i] = x[i]; if x[i] > 0.0 { let v = y[i]; }", "may have been stored to before this read"),
            ("for k in 0..n { y[i] = y[i] * 2.0; }", "is stored to in this loop"),
            ("for k in 0..n { y[i] = x[i]; } let v = y[i];", "may have been stored to before this read"),
            ("let v = y[j]; if x[i] > 0.0 { y[j] = v * 2.0; }", "at an index that another thread may have too"),
            ("if x[i] > 0.0 { let v = y[j]; } else { y[j] = x[i]; }", "at an index that another thread may have too"),
            ("for k in 0..n { let v = y[j]; } if x[i] > 0.0 { y[j] = x[i]; }", "at an index that another thread"),
            ("let v = y[j]; for k in 0..n { y[j] = x[i]; }", "at an index that another thread may have too"),
        ] {
            assert!(said(body).contains(why), "{body}: {}", said(body));
        }
    }
}
