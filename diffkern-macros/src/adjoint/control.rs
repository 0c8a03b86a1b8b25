//! Reverses of branches and loops.

use diffkern_ir::{Block, Id, Stmt, StmtKind, Ty};

use super::Adjoint;
use super::bars::Bar;
use crate::activity::free;

impl Adjoint<'_> {
    fn bars_of(&self, values: &[Id]) -> Vec<Bar> {
        values.iter().map(|id| self.bar(*id).clone()).collect()
    }

    /// Runs `write` on a block of its own.
    fn nested<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> (Vec<Stmt>, R) {
        let outer = self.b.take_stmts();
        let result = write(self);
        (std::mem::replace(&mut self.b.stmts, outer), result)
    }

    /// An outer value that a side adds to leaves the `if` as a result, the old adjoint included.
    pub fn reverse_if(&mut self, cond: Id, then: &Block, els: &Block, results: &[Id]) {
        self.go_back_all();
        let seeds: Vec<Option<Id>> = results.iter().map(|id| self.take_bar(*id)).collect();
        let mut outer = free(then, &self.varied);
        for id in free(els, &self.varied) {
            if !outer.contains(&id) {
                outer.push(id);
            }
        }
        let before = self.bars_of(&outer);
        let mut side = |block: &Block| {
            let written = self.nested(|s| {
                s.replay(&block.stmts, true);
                for (value, seed) in block.yields.iter().zip(&seeds) {
                    if let Some(seed) = seed {
                        s.add_bar(*value, *seed);
                    }
                }
                s.reverse(&block.stmts);
                s.bars_of(&outer)
            });
            self.restore(&outer, &before);
            written
        };
        let (then_stmts, after_then) = side(then);
        let (else_stmts, after_else) = side(els);
        let changed: Vec<usize> =
            (0..outer.len()).filter(|k| after_then[*k] != before[*k] || after_else[*k] != before[*k]).collect();
        let mut close = |stmts: Vec<Stmt>, after: &[Bar]| {
            let parent = std::mem::replace(&mut self.b.stmts, stmts);
            let yields = changed
                .iter()
                .map(|k| {
                    self.set_bar(outer[*k], after[*k].clone());
                    self.take_bar_or_zero(outer[*k])
                })
                .collect();
            Block { stmts: std::mem::replace(&mut self.b.stmts, parent), yields }
        };
        let then = close(then_stmts, &after_then);
        let els = close(else_stmts, &after_else);
        self.restore(&outer, &before);
        let mut results = Vec::new();
        for k in changed {
            let bar = self.fresh_bar(outer[k]);
            self.set_bar(outer[k], Bar::of(Some(bar)));
            results.push(bar);
        }
        let cond = self.val(cond);
        self.b.push(StmtKind::If { cond, then, els, results });
    }

    /// `bounds`: from, to. `values`: carried, their start, their end.
    pub fn reverse_for(&mut self, index: Id, bounds: (Id, Id), values: (&[Id], &[Id], &[Id]), body: &Block) {
        let (tape, logs) = (self.tapes.remove(&index).unwrap_or_default(), self.take_logs());
        let lo = self.val(bounds.0);
        let hi = tape.end.unwrap_or_else(|| self.val(bounds.1));
        let (carried, init, results) = values;
        let seeds: Vec<Option<Id>> = results.iter().map(|id| self.take_bar(*id)).collect();
        let active: Vec<usize> = (0..carried.len())
            .filter(|k| self.is_varied(carried[*k]))
            .filter(|k| seeds[*k].is_some() || self.useful[carried[*k].0 as usize])
            .collect();
        let mut outer = free(body, &self.varied);
        outer.retain(|id| !carried.contains(id));

        let mut starts = Vec::new();
        for k in &active {
            let zero = self.b.zero(self.primal.ty(carried[*k]));
            starts.push(seeds[*k].unwrap_or(zero));
        }
        let mut before = Vec::new();
        for id in &outer {
            let bar = self.take_bar(*id);
            before.push(Bar::of(bar));
            starts.push(match bar {
                Some(bar) => bar,
                None => self.b.zero(self.primal.ty(*id)),
            });
        }
        let (turn_bars, sums): (Vec<Id>, Vec<Id>) = {
            let turn = active.iter().map(|k| self.fresh_bar(carried[*k])).collect();
            let sums = outer.iter().map(|id| self.fresh_bar(*id)).collect();
            (turn, sums)
        };

        let index_ty = self.primal.ty(index);
        let one = self.b.int(index_ty, 1);
        let last = self.b.sub(hi, one);
        let counter = self.b.fresh(index_ty);
        let (stmts, ends) = self.nested(|s| {
            let back = s.b.sub(counter, lo);
            let turn = s.b.sub(last, back);
            s.b.func.name_after(turn, index, "");
            s.copy[index.0 as usize] = turn;
            let at = s.slot(turn, lo);
            for (value, stack) in carried.iter().zip(tape.stacks) {
                let id = s.name(*value);
                s.b.push(StmtKind::StackGet { id, stack, at });
            }
            for (log, stack) in logs.into_iter().zip(tape.tops) {
                let to = s.get_slot(stack, Ty::Usize, at);
                s.go_back(log, to);
            }
            s.replay(&body.stmts, true);
            for (id, sum) in outer.iter().zip(&sums) {
                s.set_bar(*id, Bar::of(Some(*sum)));
            }
            for (k, bar) in active.iter().zip(&turn_bars) {
                s.add_bar(body.yields[*k], *bar);
            }
            s.reverse(&body.stmts);
            let mut ends: Vec<Id> = active.iter().map(|k| s.take_bar_or_zero(carried[*k])).collect();
            ends.extend(outer.iter().map(|id| s.take_bar_or_zero(*id)).collect::<Vec<_>>());
            ends
        });

        let loop_values: Vec<Id> = turn_bars.iter().chain(&sums).copied().collect();
        let kept: Vec<usize> =
            (0..loop_values.len()).filter(|k| *k < active.len() || ends[*k] != loop_values[*k]).collect();
        let pick = |ids: &[Id]| -> Vec<Id> { kept.iter().map(|k| ids[*k]).collect() };
        let outcomes: Vec<Id> = loop_values.iter().map(|id| self.b.fresh(self.b.ty(*id))).collect();
        for (outcome, value) in outcomes.iter().zip(&loop_values) {
            self.b.func.name_after(*outcome, *value, "");
        }
        self.b.push(StmtKind::For {
            index: counter,
            lo,
            hi,
            carried: pick(&loop_values),
            init: pick(&starts),
            live: None,
            body: Block { stmts, yields: pick(&ends) },
            results: pick(&outcomes),
        });
        self.restore(&outer, &before);
        // The sums first: they replace an adjoint, to which a start may then add.
        for k in kept.into_iter().rev() {
            match k.checked_sub(active.len()) {
                Some(k_outer) => self.set_bar(outer[k_outer], Bar::of(Some(outcomes[k]))),
                None => self.add_bar(init[active[k]], outcomes[k]),
            }
        }
    }
}
