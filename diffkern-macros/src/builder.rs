//! Appends statements to a function under construction.

use diffkern_ir::{BinaryOp, Func, Id, Lit, Node, Op, Stmt, StmtKind, Ty, UnaryOp};

/// The function, and the statements of the block being written.
pub struct Builder {
    pub func: Func,
    pub stmts: Vec<Stmt>,
    /// Given to each statement: that of the primal statement that it comes from.
    pub node: Node,
}

impl Builder {
    pub fn new(func: Func) -> Self {
        Self { func, stmts: Vec::new(), node: Node::default() }
    }

    pub fn ty(&self, id: Id) -> Ty {
        self.func.ty(id)
    }

    pub fn fresh(&mut self, ty: Ty) -> Id {
        self.func.fresh(ty)
    }

    pub fn push(&mut self, kind: StmtKind) {
        self.stmts.push(Stmt { kind, node: self.node });
    }

    pub fn op(&mut self, ty: Ty, op: Op) -> Id {
        let id = self.fresh(ty);
        self.push(StmtKind::Let { id, op });
        id
    }

    pub fn real(&mut self, value: f64) -> Id {
        self.op(Ty::Real, Op::Const(Lit::Real(value)))
    }

    pub fn int(&mut self, ty: Ty, value: i64) -> Id {
        self.op(ty, Op::Const(Lit::Int(value)))
    }

    pub fn zero(&mut self, ty: Ty) -> Id {
        match ty {
            Ty::Real => self.real(0.0),
            Ty::Bool => self.op(ty, Op::Const(Lit::Bool(false))),
            Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => {
                let zero = self.real(0.0);
                self.op(ty, Op::Compose(vec![zero; ty.components()]))
            }
            Ty::U32 | Ty::I32 | Ty::Usize => self.int(ty, 0),
        }
    }

    pub fn unary(&mut self, op: UnaryOp, x: Id) -> Id {
        let ty = op.result(self.ty(x)).expect("a rule has operands that its operations take");
        self.op(ty, Op::Unary(op, x))
    }

    pub fn binary(&mut self, op: BinaryOp, a: Id, b: Id) -> Id {
        let ty = op.result(self.ty(a), self.ty(b)).expect("a rule has operands that its operations take");
        self.op(ty, Op::Binary(op, a, b))
    }

    pub fn neg(&mut self, x: Id) -> Id {
        self.unary(UnaryOp::Neg, x)
    }

    pub fn transpose(&mut self, m: Id) -> Id {
        self.unary(UnaryOp::Transpose, m)
    }

    pub fn add(&mut self, a: Id, b: Id) -> Id {
        self.binary(BinaryOp::Add, a, b)
    }

    pub fn sub(&mut self, a: Id, b: Id) -> Id {
        self.binary(BinaryOp::Sub, a, b)
    }

    pub fn mul(&mut self, a: Id, b: Id) -> Id {
        self.binary(BinaryOp::Mul, a, b)
    }

    pub fn div(&mut self, a: Id, b: Id) -> Id {
        self.binary(BinaryOp::Div, a, b)
    }

    pub fn select(&mut self, cond: Id, a: Id, b: Id) -> Id {
        self.op(self.ty(a), Op::Select(cond, a, b))
    }

    pub fn cast(&mut self, x: Id, ty: Ty) -> Id {
        if self.ty(x) == ty { x } else { self.op(ty, Op::Cast(x)) }
    }

    pub fn extract(&mut self, x: Id, k: usize) -> Id {
        self.op(Ty::Real, Op::Extract(x, k as u8))
    }

    /// Whether any component differs from zero.
    pub fn nonzero(&mut self, x: Id) -> Id {
        self.unary(UnaryOp::Nonzero, x)
    }

    /// Runs `write` with an empty block and returns the statements it wrote.
    pub fn take_stmts(&mut self) -> Vec<Stmt> {
        std::mem::take(&mut self.stmts)
    }
}
