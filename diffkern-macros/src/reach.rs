//! Where an adjoint may be zero because the value was not chosen, while the value itself is anything.
//!
//! `select(x > 0, sqrt(x), 0)` computes `sqrt` of a negative number and throws it away. Its adjoint is zero, and zero
//! times the NaN that is the derivative of `sqrt` must not reach `x`. Likewise a component or an element that is written
//! and then overwritten. A value is *reached* when some use passes on an adjoint whatever the conditions are; the adjoint
//! of the others is tested before it is multiplied.

use std::collections::{HashMap, HashSet};

use crate::activity::{active_operands, defined};
use crate::ir::{BinaryOp, Block, CallArg, Func, Id, Lit, Op, StmtKind};

/// Whether each value of `func` is reached.
pub fn reached(func: &Func) -> Vec<bool> {
    let mut flags =
        Reached { values: vec![false; func.types.len()], ints: HashMap::new(), stores: vec![0; func.params.len()] };
    flags.constants(&func.body);
    flags.count_stores(&func.body, 1);
    for id in &func.body.yields {
        flags.set(*id);
    }
    flags.block(&func.body);
    flags.values
}

struct Reached {
    values: Vec<bool>,
    ints: HashMap<Id, i64>,
    /// Stores to each array; one in a loop counts twice.
    stores: Vec<u32>,
}

impl Reached {
    fn get(&self, id: Id) -> bool {
        self.values[id.0 as usize]
    }

    fn set(&mut self, id: Id) {
        self.values[id.0 as usize] = true;
    }

    fn constants(&mut self, block: &Block) {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Let { id, op: Op::Const(Lit::Int(value)) } => {
                    self.ints.insert(*id, *value);
                }
                StmtKind::If { then, els, .. } => {
                    self.constants(then);
                    self.constants(els);
                }
                StmtKind::For { body, .. } => self.constants(body),
                _ => {}
            }
        }
    }

    fn count_stores(&mut self, block: &Block, each: u32) {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Store { array, .. } => self.stores[*array] += each,
                StmtKind::If { then, els, .. } => {
                    self.count_stores(then, each);
                    self.count_stores(els, each);
                }
                StmtKind::For { body, .. } => self.count_stores(body, 2),
                _ => {}
            }
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in block.stmts.iter().rev() {
            match &stmt.kind {
                StmtKind::Let { op: Op::Select(..) | Op::Binary(BinaryOp::Min | BinaryOp::Max, ..), .. } => {}
                // Of the first operand, one component is gone.
                StmtKind::Let { id, op: Op::Insert(_, _, part) } if self.get(*id) => self.set(*part),
                StmtKind::Let { op: Op::Insert(..), .. } => {}
                // Another store may replace what this one wrote.
                StmtKind::Store { array, .. } if self.stores[*array] > 1 => {}
                StmtKind::Let { id, op } if self.get(*id) => {
                    for operand in active_operands(op) {
                        self.set(operand);
                    }
                }
                StmtKind::Store { value, .. } | StmtKind::Add { value, .. } => self.set(*value),
                StmtKind::Call { args, results, .. } if results.iter().any(|id| self.get(*id)) => {
                    for arg in args {
                        if let CallArg::Value(id) = arg {
                            self.set(*id);
                        }
                    }
                }
                StmtKind::If { then, els, results, .. } => self.branches(then, els, results),
                StmtKind::For { lo, hi, carried, init, live, body, results, .. } => {
                    let runs = live.is_none()
                        && matches!((self.ints.get(lo), self.ints.get(hi)), (Some(lo), Some(hi)) if lo < hi);
                    self.turns(carried, init, body, results, runs);
                }
                _ => {}
            }
        }
    }

    /// An outer value is reached when it is from both sides.
    fn branches(&mut self, then: &Block, els: &Block, results: &[Id]) {
        let before = self.values.clone();
        self.side(then, results);
        let from_then = std::mem::replace(&mut self.values, before.clone());
        self.side(els, results);
        let (mut in_then, mut in_else) = (HashSet::new(), HashSet::new());
        defined(then, &mut in_then);
        defined(els, &mut in_else);
        for k in 0..self.values.len() {
            let id = Id(k as u32);
            let from_else = self.values[k];
            self.values[k] = if in_then.contains(&id) {
                from_then[k]
            } else if in_else.contains(&id) {
                from_else
            } else {
                before[k] || (from_then[k] && from_else)
            };
        }
    }

    fn side(&mut self, block: &Block, results: &[Id]) {
        for (value, result) in block.yields.iter().zip(results) {
            if self.get(*result) {
                self.set(*value);
            }
        }
        self.block(block);
    }

    /// `runs`: at least once for certain. A carried value is reached in every turn or counts as not reached.
    fn turns(&mut self, carried: &[Id], init: &[Id], body: &Block, results: &[Id], runs: bool) {
        let before = self.values.clone();
        let mut always: Vec<bool> = results.iter().map(|id| self.get(*id)).collect();
        loop {
            self.values.clone_from(&before);
            for (next, always) in body.yields.iter().zip(&always) {
                if *always {
                    self.set(*next);
                }
            }
            self.block(body);
            let still: Vec<bool> = carried.iter().zip(&always).map(|(id, always)| *always && self.get(*id)).collect();
            if still == always {
                break;
            }
            always = still;
        }
        let from_turn: Vec<bool> = carried.iter().map(|id| self.get(*id)).collect();
        if !runs {
            let mut inside = HashSet::new();
            defined(body, &mut inside);
            for (k, flag) in self.values.iter_mut().enumerate() {
                *flag &= before[k] || inside.contains(&Id(k as u32));
            }
        }
        for (k, start) in init.iter().enumerate() {
            if always[k] || (runs && from_turn[k]) {
                self.set(*start);
            }
        }
    }
}
