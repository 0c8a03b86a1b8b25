//! A tiny kernel for each row of the table of operations and each typing of it: what tests ask every backend for.

use crate::interpret::{Arg, Array, Library, Val, run};
use crate::{
    Access, BinaryOp, Builtin, Func, FuncKind, Id, Lit, Node, Op, Param, ParamKind, Slot, Stmt, StmtKind, Ty, UnaryOp,
};

/// An operation with operands of certain types.
#[derive(Clone, Debug)]
pub struct Row {
    /// `mul real real`, say.
    pub name: String,
    /// Reads the operands at its position from an array each, and stores the result to the last one.
    pub func: Func,
    /// Types of the operands.
    pub operands: Vec<Ty>,
    /// Type of the result.
    pub result: Ty,
}

impl Row {
    /// Type of the elements of each array.
    pub fn elems(&self) -> Vec<Ty> {
        self.operands.iter().chain([&self.result]).map(|ty| stored(*ty)).collect()
    }

    /// `n` elements for each array: operands for which every operation is defined, in `f32` exactly, and zeros for the
    /// result.
    pub fn arrays(&self, n: usize) -> Vec<Array> {
        let last = self.operands.len();
        let element = |slot: usize, ty: Ty, pos: usize| match ty.is_real() {
            true if slot == last => Val::Real(vec![0.0; ty.components()]),
            true => Val::Real((0..ty.components()).map(|k| real(slot, k, pos)).collect()),
            false if slot == last => Val::Int(0),
            // Truth values among them.
            false => Val::Int((pos + slot) as i64 % 3),
        };
        let array = |(slot, ty): (usize, Ty)| (0..n).map(|pos| element(slot, ty, pos)).collect();
        self.elems().into_iter().enumerate().map(array).collect()
    }

    /// The `n` results, by the interpreter.
    pub fn outcome(&self, n: usize) -> Array {
        let mut arrays = self.arrays(n);
        let args: Vec<Arg> = (0..arrays.len()).map(Arg::Array).collect();
        for pos in 0..n {
            run(&self.func, &args, &mut arrays, pos, &Library::default());
        }
        arrays.pop().unwrap_or_default()
    }
}

/// Between 1/8 and 1, so that `asin` and `ln` have values too, and matrices are not singular.
fn real(slot: usize, k: usize, pos: usize) -> f64 {
    let at = (5 * k + 3 * pos + 7 * slot) % 8;
    (at + 1) as f64 / 8.0 - 1.0 / 64.0
}

/// A row for each operation and each typing of it.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for &op in UnaryOp::ALL {
        for x in Ty::ALL {
            rows.extend(op.result(x).map(|result| row(op.name(), &[x], result, |ids| Op::Unary(op, ids[0]))));
        }
    }
    for &op in BinaryOp::ALL {
        for (a, b) in pairs() {
            let result = op.result(a, b);
            rows.extend(result.map(|result| row(op.name(), &[a, b], result, |ids| Op::Binary(op, ids[0], ids[1]))));
        }
    }
    for ty in Ty::ALL {
        rows.push(row("select", &[Ty::Bool, ty, ty], ty, |ids| Op::Select(ids[0], ids[1], ids[2])));
    }
    for (from, to) in pairs() {
        if to.is_number() && (from.is_number() || from == Ty::Bool) {
            rows.push(row("cast", &[from], to, |ids| Op::Cast(ids[0])));
        }
    }
    for ty in Ty::ALL.into_iter().filter(|ty| ty.is_compound()) {
        let last = ty.components() as u8 - 1;
        rows.push(row("compose", &vec![Ty::Real; ty.components()], ty, |ids| Op::Compose(ids.to_vec())));
        rows.push(row("extract", &[ty], Ty::Real, |ids| Op::Extract(ids[0], last)));
        rows.push(row("insert", &[ty, Ty::Real], ty, |ids| Op::Insert(ids[0], last, ids[1])));
    }
    for builtin in Builtin::ALL {
        rows.push(row(builtin.name(), &[], Ty::Usize, |_| Op::Builtin(builtin)));
    }
    rows.push(row("len", &[], Ty::Usize, |_| Op::Len(0)));
    for ty in [Ty::U32, Ty::I32, Ty::Usize] {
        rows.push(row("const", &[], ty, |_| Op::Const(Lit::Int(7))));
    }
    rows.push(row("const", &[], Ty::Real, |_| Op::Const(Lit::Real(-0.1))));
    rows.push(row("const", &[], Ty::Bool, |_| Op::Const(Lit::Bool(true))));
    rows
}

fn pairs() -> impl Iterator<Item = (Ty, Ty)> {
    Ty::ALL.into_iter().flat_map(|a| Ty::ALL.into_iter().map(move |b| (a, b)))
}

fn row(name: &str, operands: &[Ty], result: Ty, op: impl FnOnce(&[Id]) -> Op) -> Row {
    let mut kernel = Kernel { func: Func::new("row", FuncKind::Kernel) };
    let pos = kernel.op(Ty::Usize, Op::Builtin(Builtin::Pos));
    let values: Vec<Id> = operands.iter().map(|&ty| kernel.operand(ty, pos)).collect();
    let value = kernel.op(result, op(&values));
    kernel.result(value, result, pos);
    let types: Vec<String> = operands.iter().map(|ty| format!(" {ty:?}")).collect();
    Row { name: format!("{name}{}", types.concat()), func: kernel.func, operands: operands.to_vec(), result }
}

struct Kernel {
    func: Func,
}

/// What an array holds of values of this type.
fn stored(ty: Ty) -> Ty {
    match ty {
        Ty::Bool | Ty::Usize => Ty::U32,
        Ty::Real | Ty::U32 | Ty::I32 | Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => ty,
    }
}

impl Kernel {
    fn push(&mut self, kind: StmtKind) {
        self.func.body.stmts.push(Stmt { kind, node: Node::default() });
    }

    fn op(&mut self, ty: Ty, op: Op) -> Id {
        let id = self.func.fresh(ty);
        self.push(StmtKind::Let { id, op });
        id
    }

    fn array(&mut self, name: String, elem: Ty, access: Access) -> Slot {
        self.func.params.push(Param { name, kind: ParamKind::Array { elem, access, owned: true } });
        self.func.params.len() - 1
    }

    fn operand(&mut self, ty: Ty, index: Id) -> Id {
        let elem = stored(ty);
        let array = self.array(format!("x{}", self.func.params.len()), elem, Access::Read);
        let id = self.func.fresh(elem);
        self.push(StmtKind::Load { id, array, index });
        match ty {
            Ty::Bool => {
                let zero = self.op(elem, Op::Const(Lit::Int(0)));
                self.op(ty, Op::Binary(BinaryOp::Ne, id, zero))
            }
            Ty::Usize => self.op(ty, Op::Cast(id)),
            Ty::Real | Ty::U32 | Ty::I32 | Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => id,
        }
    }

    fn result(&mut self, id: Id, ty: Ty, index: Id) {
        let elem = stored(ty);
        let value = if elem == ty { id } else { self.op(elem, Op::Cast(id)) };
        let array = self.array("y".into(), elem, Access::Store);
        self.push(StmtKind::Store { array, index, value });
    }
}
