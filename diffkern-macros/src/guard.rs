//! The tests by which an adjoint keeps the NaN of a value that was not chosen away from its inputs, see [`crate::reach`].
//!
//! They stay one operation, `nonzero`, until all forms of a function are made: the tangent of an adjoint has to know
//! them from the comparisons of the source, because an adjoint that is zero may have a tangent that is not. Then they
//! become comparisons.

use diffkern_ir::{BinaryOp, Block, Func, Id, Op, Stmt, StmtKind, Ty, UnaryOp, verify};

use crate::builder::Builder;
use crate::simplify::simplify;

/// Replaces each `nonzero` by comparisons of the components, and simplifies.
pub fn lower(mut func: Func) -> Func {
    let body = std::mem::take(&mut func.body);
    let shell = Func { types: std::mem::take(&mut func.types), ..Func::new("", func.kind) };
    let mut b = Builder::new(shell);
    func.body = block(&mut b, body);
    func.types = b.func.types;
    simplify(&mut func);
    debug_assert_eq!(verify(&func), Ok(()));
    func
}

fn block(b: &mut Builder, block: Block) -> Block {
    let outer = b.take_stmts();
    block.stmts.into_iter().for_each(|stmt| one(b, stmt));
    Block { stmts: std::mem::replace(&mut b.stmts, outer), yields: block.yields }
}

fn one(b: &mut Builder, stmt: Stmt) {
    b.node = stmt.node;
    let kind = match stmt.kind {
        StmtKind::Let { id, op: Op::Unary(UnaryOp::Nonzero, x) } => return test(b, id, x),
        StmtKind::If { cond, then, els, results } => {
            let (then, els) = (block(b, then), block(b, els));
            StmtKind::If { cond, then, els, results }
        }
        StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
            let body = block(b, body);
            StmtKind::For { index, lo, hi, carried, init, live, body, results }
        }
        kind => kind,
    };
    b.push(kind);
}

/// `id = x_0 != 0 || x_1 != 0 ..`
fn test(b: &mut Builder, id: Id, x: Id) {
    let zero = b.real(0.0);
    let count = b.ty(x).components();
    let parts: Vec<Id> = match b.ty(x) {
        Ty::Real => vec![x],
        _ => (0..count).map(|k| b.extract(x, k)).collect(),
    };
    let last = parts.len() - 1;
    let mut any = None;
    for (k, part) in parts.into_iter().enumerate() {
        let differs = Op::Binary(BinaryOp::Ne, part, zero);
        any = match any {
            None if k == last => return b.push(StmtKind::Let { id, op: differs }),
            None => Some(b.op(Ty::Bool, differs)),
            Some(any) => {
                let differs = b.op(Ty::Bool, differs);
                let either = Op::Binary(BinaryOp::Or, any, differs);
                if k == last {
                    return b.push(StmtKind::Let { id, op: either });
                }
                Some(b.op(Ty::Bool, either))
            }
        };
    }
}
