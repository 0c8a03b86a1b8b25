//! What the verifier refuses.

use diffkern_ir::{Access, Func, FuncKind, Id, Lit, Node, Op, Param, ParamKind, Stmt, StmtKind, Ty, UnaryOp, verify};

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, node: Node::default() }
}

/// `%0 = const 1.0; <kind>` with an array 0 to store to and types for ids up to 3.
fn refusal(kind: StmtKind) -> String {
    let mut func = Func::new("k", FuncKind::Kernel);
    let array = ParamKind::Array { elem: Ty::Real, access: Access::Store, owned: true };
    func.params.push(Param { name: "y".into(), kind: array });
    func.types = vec![Ty::Real, Ty::U32, Ty::Bool, Ty::Real];
    func.body.stmts = vec![stmt(StmtKind::Let { id: Id(0), op: Op::Const(Lit::Real(1.0)) }), stmt(kind)];
    let error = verify(&func).expect_err("it is not valid");
    assert_eq!(error.stmt, Some(1));
    error.message
}

#[test]
fn what_is_not_valid_is_refused() {
    let of = |op| StmtKind::Let { id: Id(3), op };
    assert_eq!(refusal(StmtKind::Let { id: Id(0), op: Op::Const(Lit::Real(2.0)) }), "%0 is defined twice");
    assert_eq!(refusal(StmtKind::Let { id: Id(9), op: Op::Const(Lit::Real(2.0)) }), "%9 has no type");
    assert_eq!(refusal(of(Op::Cast(Id(1)))), "%1 is not defined");
    assert!(refusal(of(Op::Unary(UnaryOp::Not, Id(0)))).starts_with("operands of the wrong type for a real"));
    assert_eq!(refusal(of(Op::Len(3))), "parameter 3 is not an array");
    assert_eq!(refusal(StmtKind::Store { array: 0, index: Id(0), value: Id(0) }), "%0 is a real, not an integer");
    assert_eq!(refusal(StmtKind::StackGet { id: Id(3), stack: 0, at: Id(0) }), "%0 is a real, not an integer");
}

#[test]
fn a_kernel_has_no_results() {
    let mut func = Func::new("k", FuncKind::Kernel);
    func.types.push(Ty::Real);
    func.body.stmts.push(stmt(StmtKind::Let { id: Id(0), op: Op::Const(Lit::Real(1.0)) }));
    func.body.yields.push(Id(0));
    assert_eq!(verify(&func).expect_err("it has one").message, "a kernel has no results");
    func.kind = FuncKind::DiffFn;
    assert_eq!(verify(&func), Ok(()));
}
