//! One sweep forwards: constants, rules of [`super::rewrite`], and equal values merged within the scope of the first.

use std::collections::BTreeMap;

use diffkern_ir::{Access, Block, CallArg, Func, Id, Key, Lit, Numbering, Op, ParamKind, Slot, Stmt, StmtKind};

use super::rewrite::{Rewritten, rewrite};

pub fn fold(func: &mut Func) {
    let (body, called) = (std::mem::take(&mut func.body), std::mem::take(&mut func.names));
    let mut state = Fold {
        called,
        names: (0..func.types.len() as u32).map(Id).collect(),
        defs: vec![None; func.types.len()],
        numbering: Numbering::default(),
        func,
        stmts: Vec::new(),
    };
    state.block_stmts(body.stmts);
    let yields = state.vals(&body.yields);
    let (stmts, called) = (state.stmts, state.called);
    func.names = called;
    func.body = Block { stmts, yields };
}

struct Fold<'a> {
    func: &'a Func,
    /// What each value is replaced by.
    names: Vec<Id>,
    /// The operation of each value that has one.
    defs: Vec<Option<Op>>,
    /// The values computed so far.
    numbering: Numbering,
    stmts: Vec<Stmt>,
    /// The names of values in the source.
    called: BTreeMap<Id, String>,
}

impl Fold<'_> {
    fn val(&self, id: Id) -> Id {
        self.names[id.0 as usize]
    }

    fn vals(&self, ids: &[Id]) -> Vec<Id> {
        ids.iter().map(|id| self.val(*id)).collect()
    }

    fn replace(&mut self, id: Id, by: Id) {
        self.names[id.0 as usize] = by;
        if let Some(name) = self.called.get(&id)
            && !self.called.contains_key(&by)
            && !matches!(self.defs[by.0 as usize], Some(Op::Const(_)))
        {
            self.called.insert(by, name.clone());
        }
    }

    /// Whether the values computed by `key` exist already; else `ids` are they from now on.
    fn merge(&mut self, key: Key, ids: &[Id]) -> bool {
        let Some(found) = self.numbering.first(key, ids) else { return false };
        for (id, by) in ids.iter().zip(found.to_vec()) {
            self.replace(*id, by);
        }
        true
    }

    fn is_read_only(&self, slot: Slot) -> bool {
        matches!(self.func.params[slot].kind, ParamKind::Array { access: Access::Read, .. })
    }

    fn int(&self, id: Id) -> Option<i64> {
        match self.defs[id.0 as usize] {
            Some(Op::Const(Lit::Int(value))) => Some(value),
            _ => None,
        }
    }

    fn block_stmts(&mut self, stmts: Vec<Stmt>) {
        for stmt in stmts {
            self.stmt(stmt);
        }
    }

    /// A block of its own: what is computed in it is not in scope after it.
    fn block(&mut self, block: Block) -> Block {
        let outer = std::mem::take(&mut self.stmts);
        self.numbering.enter();
        self.block_stmts(block.stmts);
        self.numbering.leave();
        let yields = self.vals(&block.yields);
        Block { stmts: std::mem::replace(&mut self.stmts, outer), yields }
    }

    fn stmt(&mut self, stmt: Stmt) {
        let node = stmt.node;
        let kind = match stmt.kind {
            StmtKind::Let { id, op } => {
                let ty = self.func.ty(id);
                let op = op.map(|x| self.val(x));
                let op = match rewrite(op, ty, &self.defs, &self.func.types) {
                    Rewritten::Value(by) => return self.replace(id, by),
                    Rewritten::Op(op) => op,
                };
                if self.merge(Key::op(&op, ty), &[id]) {
                    return;
                }
                self.defs[id.0 as usize] = Some(op.clone());
                StmtKind::Let { id, op }
            }
            StmtKind::Load { id, array, index } => {
                let index = self.val(index);
                if self.is_read_only(array) && self.merge(Key::load(array, index), &[id]) {
                    return;
                }
                StmtKind::Load { id, array, index }
            }
            StmtKind::Store { array, index, value } => {
                StmtKind::Store { array, index: self.val(index), value: self.val(value) }
            }
            StmtKind::Add { array, index, value } => {
                StmtKind::Add { array, index: self.val(index), value: self.val(value) }
            }
            StmtKind::Take { id, array, index } => StmtKind::Take { id, array, index: self.val(index) },
            StmtKind::Fetch { id, array, index, value, again } => {
                StmtKind::Fetch { id, array, index: self.val(index), value: self.val(value), again }
            }
            StmtKind::Fault { cond, what } => {
                let cond = self.val(cond);
                if self.defs[cond.0 as usize] == Some(Op::Const(Lit::Bool(false))) {
                    return;
                }
                StmtKind::Fault { cond, what: what.with(self.val(what.id())) }
            }
            StmtKind::StackNew { stack, ty, len, kind } => StmtKind::StackNew { stack, ty, len: self.val(len), kind },
            StmtKind::StackSet { stack, at, value } => {
                StmtKind::StackSet { stack, at: self.val(at), value: self.val(value) }
            }
            StmtKind::StackGet { id, stack, at } => StmtKind::StackGet { id, stack, at: self.val(at) },
            StmtKind::Call { callee, mode, args, results } => {
                let args: Vec<CallArg> = args
                    .into_iter()
                    .map(|arg| match arg {
                        CallArg::Value(id) => CallArg::Value(self.val(id)),
                        array => array,
                    })
                    .collect();
                if !mode.accumulates() && self.merge(Key::call(callee, mode, &args), &results) {
                    return;
                }
                StmtKind::Call { callee, mode, args, results }
            }
            StmtKind::If { cond, then, els, results } => match self.branch(cond, then, els, results) {
                Some(kind) => kind,
                None => return,
            },
            kind @ StmtKind::For { .. } => match self.turns(kind) {
                Some(kind) => kind,
                None => return,
            },
        };
        self.stmts.push(Stmt { kind, node });
    }

    fn branch(&mut self, cond: Id, then: Block, els: Block, results: Vec<Id>) -> Option<StmtKind> {
        let cond = self.val(cond);
        if let Some(Op::Const(Lit::Bool(value))) = self.defs[cond.0 as usize] {
            let taken = if value { then } else { els };
            self.block_stmts(taken.stmts);
            for (result, value) in results.iter().zip(&taken.yields) {
                self.replace(*result, self.val(*value));
            }
            return None;
        }
        let (mut then, mut els) = (self.block(then), self.block(els));
        // Equal values cannot come from inside, so they are in scope here.
        let differ: Vec<bool> = then.yields.iter().zip(&els.yields).map(|(a, b)| a != b).collect();
        for (k, result) in results.iter().enumerate().filter(|(k, _)| !differ[*k]) {
            self.replace(*result, then.yields[k]);
        }
        let keep = |ids: &[Id]| -> Vec<Id> {
            ids.iter().zip(&differ).filter(|(_, differ)| **differ).map(|(id, _)| *id).collect()
        };
        let results = keep(&results);
        then.yields = keep(&then.yields);
        els.yields = keep(&els.yields);
        Some(StmtKind::If { cond, then, els, results })
    }

    fn turns(&mut self, kind: StmtKind) -> Option<StmtKind> {
        let StmtKind::For { index, lo, hi, carried, init, live, mut body, results } = kind else { return Some(kind) };
        let (lo, hi, init) = (self.val(lo), self.val(hi), self.vals(&init));
        let never = matches!((self.int(lo), self.int(hi)), (Some(lo), Some(hi)) if lo >= hi);
        let mut changes: Vec<bool> =
            carried.iter().zip(&body.yields).map(|(value, next)| !never && value != next).collect();
        // What never changes says whether the loop runs at all; that it does needs no test.
        let tested = live
            .and_then(|live| carried.iter().position(|id| *id == live))
            .filter(|k| !never && (changes[*k] || self.defs[init[*k].0 as usize] != Some(Op::Const(Lit::Bool(true)))));
        if let Some(k) = tested {
            changes[k] = true;
        }
        let live = tested.map(|k| carried[k]);
        for k in (0..carried.len()).filter(|k| !changes[*k]) {
            self.replace(carried[k], init[k]);
            self.replace(results[k], init[k]);
        }
        if never {
            return None;
        }
        let keep = |ids: &[Id]| -> Vec<Id> {
            ids.iter().zip(&changes).filter(|(_, changes)| **changes).map(|(id, _)| *id).collect()
        };
        body.yields = keep(&body.yields);
        let body = self.block(body);
        let (carried, init, results) = (keep(&carried), keep(&init), keep(&results));
        Some(StmtKind::For { index, lo, hi, carried, init, live, body, results })
    }
}
