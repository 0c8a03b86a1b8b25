//! Arrays that a kernel reads and overwrites, as `y[i] *= e` and `y[i] += y[i] * e` do.
//!
//! The adjoint reads the array as it was before the launch. That is what the kernel read if each read comes before any
//! store, and if the element is the thread's own: all accesses of the array have one index, and either this is
//! `ABSOLUTE_POS`, or each path with a read also stores, so that the check that no element is written twice covers the
//! reads.

use std::collections::HashMap;

use proc_macro2::Span;

use super::{ArrayUse, Lower};
use crate::ir::{Block, Id, Op, Slot, StmtKind, Ty};

/// Which integers are computed alike from the same values, and so are equal where both are defined.
#[derive(Default)]
pub(super) struct Equals {
    first: HashMap<Id, Id>,
    known: HashMap<String, Id>,
}

impl Equals {
    pub(super) fn note(&mut self, id: Id, ty: Ty, op: &Op) {
        if ty.is_int() {
            let op = op.map(|x| self.first(x));
            self.insert(id, format!("{ty:?} {op:?}"));
        }
    }

    /// The array is one that the kernel does not write.
    pub(super) fn note_load(&mut self, id: Id, array: Slot, index: Id) {
        let index = self.first(index);
        self.insert(id, format!("load {array} {index:?}"));
    }

    fn insert(&mut self, id: Id, key: String) {
        let first = *self.known.entry(key).or_insert(id);
        self.first.insert(id, first);
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
        let found = self
            .one_index(body, slot, &mut None)
            .and_then(|()| order(body, slot, &mut false))
            .and_then(|()| if usage.not_owned { followed(body, slot, false).map(|_| ()) } else { Ok(()) });
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

    /// Every access has the index of the first.
    fn one_index(&self, block: &Block, slot: Slot, index: &mut Option<Id>) -> Result<(), Wrong> {
        // The stores first: the error belongs on a read.
        for reads in [false, true] {
            each(block, &mut |kind, span| match kind {
                StmtKind::Store { array, index: at, .. } | StmtKind::Add { array, index: at, .. }
                    if !reads && *array == slot =>
                {
                    let first = *index.get_or_insert(*at);
                    if self.equals.first(first) == self.equals.first(*at) {
                        Ok(())
                    } else {
                        Err(Wrong::Index(self.arrays[slot].read.unwrap_or(span)))
                    }
                }
                StmtKind::Load { array, index: at, .. } if reads && *array == slot => match *index {
                    Some(first) if self.equals.first(first) != self.equals.first(*at) => Err(Wrong::Index(span)),
                    _ => Ok(()),
                },
                _ => Ok(()),
            })?;
        }
        Ok(())
    }
}

/// Calls `see` for each statement, in the order of the text.
fn each(block: &Block, see: &mut dyn FnMut(&StmtKind, Span) -> Result<(), Wrong>) -> Result<(), Wrong> {
    for stmt in &block.stmts {
        see(&stmt.kind, stmt.span)?;
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

/// No read comes after a store. `stored`: there may have been one.
fn order(block: &Block, slot: Slot, stored: &mut bool) -> Result<(), Wrong> {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Load { array, .. } if *array == slot && *stored => return Err(Wrong::After(stmt.span)),
            StmtKind::Store { array, .. } | StmtKind::Add { array, .. } if *array == slot => *stored = true,
            StmtKind::If { then, els, .. } => {
                let mut other = *stored;
                order(then, slot, stored)?;
                order(els, slot, &mut other)?;
                *stored |= other;
            }
            StmtKind::For { body, .. } => {
                let before = *stored;
                order(body, slot, stored)?;
                if *stored && !before {
                    // The second turn comes after the first.
                    order(body, slot, stored).map_err(|wrong| match wrong {
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
fn followed(block: &Block, slot: Slot, mut after: bool) -> Result<bool, Wrong> {
    for stmt in block.stmts.iter().rev() {
        match &stmt.kind {
            StmtKind::Store { array, .. } | StmtKind::Add { array, .. } if *array == slot => after = true,
            StmtKind::Load { array, .. } if *array == slot && !after => return Err(Wrong::Kept(stmt.span)),
            StmtKind::If { then, els, .. } => {
                let (then, els) = (followed(then, slot, after)?, followed(els, slot, after)?);
                after = then && els;
            }
            StmtKind::For { body, .. } => {
                followed(body, slot, after)?;
            }
            _ => {}
        }
    }
    Ok(after)
}
