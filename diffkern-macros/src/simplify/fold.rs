//! One walk forwards: constants, rules of [`super::rewrite`], and equal values merged within the scope of the first.

use std::collections::HashMap;

use super::rewrite::{Rewritten, rewrite};
use crate::ir::{
    Access, BinaryOp, Block, Builtin, CallArg, CallMode, Func, Id, Lit, Op, ParamKind, Slot, Stmt, StmtKind, Ty,
    UnaryOp,
};

pub fn fold(func: &mut Func) {
    let body = std::mem::take(&mut func.body);
    let mut state = Fold {
        names: (0..func.types.len() as u32).map(Id).collect(),
        defs: vec![None; func.types.len()],
        scopes: vec![HashMap::new()],
        func,
        stmts: Vec::new(),
    };
    state.block_stmts(body.stmts);
    let yields = state.vals(&body.yields);
    let stmts = state.stmts;
    func.body = Block { stmts, yields };
}

struct Fold<'a> {
    func: &'a Func,
    /// What each value is replaced by.
    names: Vec<Id>,
    /// The operation of each value that has one.
    defs: Vec<Option<Op>>,
    /// The values computed so far, by scope.
    scopes: Vec<HashMap<Key, Vec<Id>>>,
    stmts: Vec<Stmt>,
}

/// What makes two statements compute the same.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Real(u64),
    Int(Ty, i64),
    Bool(bool),
    Builtin(u8),
    Len(Slot),
    Unary(UnaryOp, Id),
    Binary(BinaryOp, Id, Id),
    Select(Id, Id, Id),
    Cast(Ty, Id),
    Compose(Ty, Vec<Id>),
    Extract(Id, u8),
    Insert(Id, u8, Id),
    Load(Slot, Id),
    Call(usize, CallMode, Vec<Result<Id, Slot>>),
}

fn key(op: &Op, ty: Ty) -> Key {
    match op {
        Op::Const(Lit::Real(value)) => Key::Real(value.to_bits()),
        Op::Const(Lit::Int(value)) => Key::Int(ty, *value),
        Op::Const(Lit::Bool(value)) => Key::Bool(*value),
        Op::Builtin(Builtin::Pos) => Key::Builtin(0),
        Op::Builtin(Builtin::PosX) => Key::Builtin(1),
        Op::Builtin(Builtin::PosY) => Key::Builtin(2),
        Op::Builtin(Builtin::PosZ) => Key::Builtin(3),
        Op::Len(slot) => Key::Len(*slot),
        Op::Unary(op, x) => Key::Unary(*op, *x),
        Op::Binary(op, a, b) if commutes(*op) && b < a => Key::Binary(*op, *b, *a),
        Op::Binary(op, a, b) => Key::Binary(*op, *a, *b),
        Op::Select(c, a, b) => Key::Select(*c, *a, *b),
        Op::Cast(x) => Key::Cast(ty, *x),
        Op::Compose(parts) => Key::Compose(ty, parts.clone()),
        Op::Extract(x, k) => Key::Extract(*x, *k),
        Op::Insert(x, k, y) => Key::Insert(*x, *k, *y),
    }
}

fn commutes(op: BinaryOp) -> bool {
    use BinaryOp::{Add, And, BitAnd, BitOr, BitXor, Dot, Eq, Mul, MulElem, Ne, Or};
    matches!(op, Add | Mul | MulElem | Dot | Eq | Ne | And | Or | BitAnd | BitOr | BitXor)
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
    }

    /// Whether the values computed by `key` exist already; else `ids` are they from now on.
    fn merge(&mut self, key: Key, ids: &[Id]) -> bool {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(&key)).cloned();
        match found {
            Some(found) => {
                for (id, by) in ids.iter().zip(found) {
                    self.replace(*id, by);
                }
                true
            }
            None => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(key, ids.to_vec());
                }
                false
            }
        }
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
        self.scopes.push(HashMap::new());
        self.block_stmts(block.stmts);
        self.scopes.pop();
        let yields = self.vals(&block.yields);
        Block { stmts: std::mem::replace(&mut self.stmts, outer), yields }
    }

    fn stmt(&mut self, stmt: Stmt) {
        let span = stmt.span;
        let kind = match stmt.kind {
            StmtKind::Let { id, op } => {
                let ty = self.func.ty(id);
                let op = op.map(|x| self.val(x));
                let op = match rewrite(op, ty, &self.defs, &self.func.types) {
                    Rewritten::Value(by) => return self.replace(id, by),
                    Rewritten::Op(op) => op,
                };
                if self.merge(key(&op, ty), &[id]) {
                    return;
                }
                self.defs[id.0 as usize] = Some(op.clone());
                StmtKind::Let { id, op }
            }
            StmtKind::Load { id, array, index } => {
                let index = self.val(index);
                if self.is_read_only(array) && self.merge(Key::Load(array, index), &[id]) {
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
            StmtKind::StackNew { stack, ty, len } => StmtKind::StackNew { stack, ty, len: self.val(len) },
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
                if !mode.accumulates() && self.merge(call_key(callee, mode, &args), &results) {
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
        self.stmts.push(Stmt { kind, span });
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

fn call_key(callee: usize, mode: CallMode, args: &[CallArg]) -> Key {
    let args = args
        .iter()
        .map(|arg| match arg {
            CallArg::Value(id) => Ok(*id),
            CallArg::Array(slot) => Err(*slot),
        })
        .collect();
    Key::Call(callee, mode, args)
}
