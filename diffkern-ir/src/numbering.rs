//! Value numbering: which statements compute the same.

use std::collections::HashMap;

use crate::{BinaryOp, Builtin, CallArg, CallMode, Id, Lit, Op, Slot, Ty, UnaryOp};

/// What makes two statements compute the same: equal keys, equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(Kind);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Real(u64),
    Int(Ty, i64),
    Bool(bool),
    Builtin(Builtin),
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

impl Key {
    /// Of an operation that gives a `ty`; its operands are to be the first of their values.
    pub fn op(op: &Op, ty: Ty) -> Key {
        Key(match op {
            // By its bits: zeros of different sign differ, and a NaN equals itself.
            Op::Const(Lit::Real(value)) => Kind::Real(value.to_bits()),
            Op::Const(Lit::Int(value)) => Kind::Int(ty, *value),
            Op::Const(Lit::Bool(value)) => Kind::Bool(*value),
            Op::Builtin(builtin) => Kind::Builtin(*builtin),
            Op::Len(slot) => Kind::Len(*slot),
            Op::Unary(op, x) => Kind::Unary(*op, *x),
            Op::Binary(op, a, b) if op.commutes() && b < a => Kind::Binary(*op, *b, *a),
            Op::Binary(op, a, b) => Kind::Binary(*op, *a, *b),
            Op::Select(c, a, b) => Kind::Select(*c, *a, *b),
            Op::Cast(x) => Kind::Cast(ty, *x),
            Op::Compose(parts) => Kind::Compose(ty, parts.clone()),
            Op::Extract(x, k) => Kind::Extract(*x, *k),
            Op::Insert(x, k, y) => Kind::Insert(*x, *k, *y),
        })
    }

    /// Of a read of an array that the function does not write.
    pub fn load(array: Slot, index: Id) -> Key {
        Key(Kind::Load(array, index))
    }

    /// Of a call that writes nothing.
    pub fn call(callee: usize, mode: CallMode, args: &[CallArg]) -> Key {
        let args = args.iter().map(|arg| match arg {
            CallArg::Value(id) => Ok(*id),
            CallArg::Array(slot) => Err(*slot),
        });
        Key(Kind::Call(callee, mode, args.collect()))
    }
}

/// The first values of each key, by the scopes in which they are defined.
#[derive(Debug)]
pub struct Numbering {
    scopes: Vec<HashMap<Key, Vec<Id>>>,
}

impl Default for Numbering {
    fn default() -> Self {
        Numbering { scopes: vec![HashMap::new()] }
    }
}

impl Numbering {
    /// Begins a scope.
    pub fn enter(&mut self) {
        self.scopes.push(HashMap::new());
    }

    /// Ends the innermost scope; what is defined in it is forgotten.
    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    /// The values in scope that `key` has given before; where there are none, `ids` are they from now on.
    pub fn first(&mut self, key: Key, ids: &[Id]) -> Option<&[Id]> {
        let at = self.scopes.iter().rposition(|scope| scope.contains_key(&key));
        match at {
            Some(at) => self.scopes[at].get(&key).map(Vec::as_slice),
            None => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(key, ids.to_vec());
                }
                None
            }
        }
    }
}
