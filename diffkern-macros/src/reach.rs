//! Where an adjoint may be zero because the value was not chosen, while the value itself is anything.
//!
//! `select(x > 0, sqrt(x), 0)` computes `sqrt` of a negative number and throws it away. Its adjoint is zero, and zero
//! times the NaN that is the derivative of `sqrt` must not reach `x`. Likewise a component or an element that is written
//! and then overwritten. A value is *reached* when some use passes on an adjoint whatever the conditions are; the adjoint
//! of the others is tested before it is multiplied. Of vectors and matrices this holds by component.

use std::collections::{HashMap, HashSet};

use diffkern_ir::{BinaryOp, Block, CallArg, Func, Id, Lit, Op, StmtKind, Ty, UnaryOp};

use crate::activity::{active_operands, defined};
use crate::terms::product_terms;

/// A set of components, one bit each.
type Parts = u16;

/// Which components of each value are reached.
pub struct Reached {
    types: Vec<Ty>,
    values: Vec<Parts>,
    ints: HashMap<Id, i64>,
    /// Stores to each array; one in a loop counts twice.
    stores: Vec<u32>,
}

/// Looks at `func`, whose results its caller all uses if there is but one real one.
pub fn reached(func: &Func) -> Reached {
    let values = vec![0; func.types.len()];
    let stores = vec![0; func.params.len()];
    let mut flags = Reached { types: func.types.clone(), values, ints: HashMap::new(), stores };
    func.body.each(&mut |stmt| {
        if let StmtKind::Let { id, op: Op::Const(Lit::Int(value)) } = stmt.kind {
            flags.ints.insert(id, value);
        }
    });
    flags.count_stores(&func.body, 1);
    if func.body.yields.iter().filter(|id| func.ty(**id).is_real()).count() == 1 {
        func.body.yields.iter().for_each(|id| flags.set(*id));
    }
    flags.block(&func.body);
    flags
}

impl Reached {
    /// Whether all components are.
    pub fn get(&self, id: Id) -> bool {
        self.parts(id) == self.all(id)
    }

    /// Whether component `k` is.
    pub fn part(&self, id: Id, k: usize) -> bool {
        self.parts(id) & 1 << k != 0
    }

    fn parts(&self, id: Id) -> Parts {
        self.values[id.0 as usize]
    }

    fn all(&self, id: Id) -> Parts {
        (1 << self.types[id.0 as usize].components()) - 1
    }

    fn set(&mut self, id: Id) {
        let all = self.all(id);
        self.add(id, all);
    }

    fn add(&mut self, id: Id, parts: Parts) {
        self.values[id.0 as usize] |= parts;
    }

    /// What the components of `id` that are reached reach in turn.
    fn operands(&mut self, id: Id, op: &Op) {
        let parts = self.parts(id);
        let each = |k: usize| parts & 1 << k != 0;
        match op {
            Op::Select(..) | Op::Binary(BinaryOp::Min | BinaryOp::Max, ..) => {}
            _ if parts == 0 || active_operands(op).is_empty() => {}
            Op::Compose(of) => of.iter().enumerate().filter(|(k, _)| each(*k)).for_each(|(_, part)| self.set(*part)),
            Op::Extract(of, k) => self.add(*of, 1 << k),
            Op::Insert(base, k, part) => {
                self.add(*base, parts & !(1 << k));
                if each(*k as usize) {
                    self.set(*part);
                }
            }
            Op::Unary(UnaryOp::Neg, x) => self.add(*x, parts),
            Op::Unary(UnaryOp::Transpose, m) => {
                let n = if self.types[m.0 as usize] == Ty::Mat(2) { 2 } else { 3 };
                (0..n * n).filter(|k| each(*k)).for_each(|k| self.add(*m, 1 << (k % n * n + k / n)));
            }
            Op::Binary(BinaryOp::Add | BinaryOp::Sub, a, c) => {
                self.add(*a, parts);
                self.add(*c, parts);
            }
            Op::Binary(op, a, c) => {
                let terms = product_terms(*op, self.types[a.0 as usize]);
                if terms.is_empty() {
                    self.set(*a);
                    self.set(*c);
                }
                for (i, j, _) in terms.into_iter().enumerate().filter(|(k, _)| each(*k)).flat_map(|(_, terms)| terms) {
                    self.add(*a, 1 << i);
                    self.add(*c, 1 << j);
                }
            }
            op => active_operands(op).into_iter().for_each(|x| self.set(x)),
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
                // Another store may replace what this one wrote.
                StmtKind::Store { array, .. } if self.stores[*array] > 1 => {}
                StmtKind::Let { id, op } => self.operands(*id, op),
                StmtKind::Store { value, .. } | StmtKind::Add { value, .. } => self.set(*value),
                StmtKind::Call { args, results, .. } if results.iter().any(|id| self.parts(*id) != 0) => {
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
                before[k] | (from_then[k] & from_else)
            };
        }
    }

    fn side(&mut self, block: &Block, results: &[Id]) {
        for (value, result) in block.yields.iter().zip(results) {
            let parts = self.parts(*result);
            self.add(*value, parts);
        }
        self.block(block);
    }

    /// `runs`: at least once for certain. A carried value is reached in every turn or counts as not reached.
    fn turns(&mut self, carried: &[Id], init: &[Id], body: &Block, results: &[Id], runs: bool) {
        let before = self.values.clone();
        let mut always: Vec<Parts> = results.iter().map(|id| self.parts(*id)).collect();
        loop {
            self.values.clone_from(&before);
            for (next, always) in body.yields.iter().zip(&always) {
                self.add(*next, *always);
            }
            self.block(body);
            let still: Vec<Parts> = carried.iter().zip(&always).map(|(id, always)| always & self.parts(*id)).collect();
            if still == always {
                break;
            }
            always = still;
        }
        let from_turn: Vec<Parts> = carried.iter().map(|id| self.parts(*id)).collect();
        if !runs {
            let mut inside = HashSet::new();
            defined(body, &mut inside);
            for (k, flag) in self.values.iter_mut().enumerate() {
                if !inside.contains(&Id(k as u32)) {
                    *flag &= before[k];
                }
            }
        }
        for (k, start) in init.iter().enumerate() {
            let turn = if runs { from_turn[k] } else { 0 };
            self.add(*start, always[k] | turn);
        }
    }
}
