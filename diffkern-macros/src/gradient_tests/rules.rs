//! Each row of the table against differences of order 8, in adjoint and tangent form.

use diffkern_ir::interpret::{Arg, Library, Val, run};
use diffkern_ir::{BinaryOp, Block, Func, FuncKind, Id, Lit, Op, Param, ParamKind, Ty, UnaryOp, verify};

use super::support::{Random, close, difference, dot};
use crate::adjoint::adjoint;
use crate::builder::Builder;
use crate::tangent::{second, tangent};

/// `fn f(x0: T0, x1: T1, ..) -> R` of one operation.
fn one_op(inputs: &[Ty], write: impl FnOnce(&mut Builder, &[Id]) -> Id) -> Func {
    let mut b = Builder::new(Func::new("f", FuncKind::DiffFn));
    let ids: Vec<Id> = inputs.iter().map(|ty| b.fresh(*ty)).collect();
    for (k, id) in ids.iter().enumerate() {
        let kind = ParamKind::Scalar { id: *id, comptime: false };
        b.func.params.push(Param { name: format!("x{k}"), kind });
    }
    let result = write(&mut b, &ids);
    b.func.body = Block { stmts: b.stmts, yields: vec![result] };
    verify(&b.func).expect("the case is valid");
    b.func
}

fn call(func: &Func, args: &[Val]) -> Vec<Val> {
    let args: Vec<Arg> = args.iter().cloned().map(Arg::Value).collect();
    run(func, &args, &mut [], 0, &Library::default())
}

/// A zero like `x`.
fn still(x: &Val) -> Val {
    Val::Real(vec![0.0; x.reals().len()])
}

/// All forms of `func` at `at`, along a random direction.
#[track_caller]
fn agrees(func: &Func, at: &[Val], rng: &mut Random, what: &str) {
    let (vjp, jvp) = (adjoint(func), tangent(func));
    verify(&vjp).expect("the adjoint is valid");
    verify(&jvp).expect("the tangent is valid");
    let real: Vec<&Val> = at.iter().filter(|v| matches!(v, Val::Real(_))).collect();
    let direction: Vec<Val> =
        real.iter().map(|x| Val::Real(x.reals().iter().map(|_| rng.within(-1.0, 1.0)).collect())).collect();
    let outcome = call(func, at);
    let seed = Val::Real(outcome[0].reals().iter().map(|_| rng.within(0.5, 1.5)).collect());

    let forward = call(&jvp, &[at, &direction[..]].concat());
    assert_eq!(forward[0], outcome[0], "{what}: the value beside the tangent");
    let forward = dot(&forward[1..], std::slice::from_ref(&seed));
    let bars = call(&vjp, &[at, std::slice::from_ref(&seed)].concat());
    let reverse = dot(&bars, &direction);
    let moved = |h: f64| -> Vec<Val> {
        let mut k = 0;
        at.iter()
            .map(|x| match x {
                Val::Real(x) => {
                    k += 1;
                    Val::Real(x.iter().zip(direction[k - 1].reals()).map(|(x, v)| x + h * v).collect())
                }
                other => other.clone(),
            })
            .collect()
    };
    let numeric = difference(|h| dot(&call(func, &moved(h)), std::slice::from_ref(&seed)), 2e-3);
    close(forward, numeric, 1e-7, &format!("{what} at {at:?}, tangent against differences"));
    close(reverse, numeric, 1e-7, &format!("{what} at {at:?}, adjoint against differences"));

    let twice = call(&second(&vjp), &[at, std::slice::from_ref(&seed), &direction[..], &[still(&seed)]].concat());
    let (values, tangents) = twice.split_at(bars.len());
    assert_eq!(values, bars, "{what}: the adjoint beside its tangent");
    let gradient = |h: f64| dot(&call(&vjp, &[&moved(h)[..], std::slice::from_ref(&seed)].concat()), &direction);
    let numeric = difference(gradient, 2e-3);
    close(
        dot(tangents, &direction),
        numeric,
        1e-7,
        &format!("{what} at {at:?}, second derivative against differences"),
    );
}

#[test]
fn unary_rows() {
    use UnaryOp::*;
    let ranges = [
        (Neg, -2.0, 2.0),
        (Abs, 0.3, 2.0),
        (Abs, -2.0, -0.3),
        (Exp, -2.0, 2.0),
        (Ln, 0.3, 3.0),
        (Sqrt, 0.3, 3.0),
        (Length, 0.3, 3.0),
        (Sin, -2.0, 2.0),
        (Cos, -2.0, 2.0),
        (Tan, -1.0, 1.0),
        (Asin, -0.8, 0.8),
        (Acos, -0.8, 0.8),
        (Atan, -2.0, 2.0),
        (Tanh, -1.5, 1.5),
        (Sinh, -2.0, 2.0),
        (Cosh, -2.0, 2.0),
        (Erf, -1.5, 1.5),
        (Log1p, -0.6, 2.0),
        (Floor, 0.2, 0.8),
        (Ceil, 0.2, 0.8),
        (Round, 0.6, 0.9),
        (Sign, 0.2, 0.8),
    ];
    for (op, lo, hi) in ranges {
        let func = one_op(&[Ty::Real], |b, x| b.unary(op, x[0]));
        for seed in 1..6 {
            let mut rng = Random::new(seed);
            let at = rng.value(Ty::Real, lo, hi);
            agrees(&func, &[at], &mut rng, op.name());
        }
    }
    for n in [2, 3] {
        let func = one_op(&[Ty::Mat(n)], |b, x| b.unary(Transpose, x[0]));
        let mut rng = Random::new(9);
        let at = rng.value(Ty::Mat(n), -1.0, 1.0);
        agrees(&func, &[at], &mut rng, "transpose");
    }
}

#[test]
fn detach_cuts() {
    let func = one_op(&[Ty::Real], |b, x| {
        let cut = b.unary(UnaryOp::Detach, x[0]);
        b.mul(cut, x[0])
    });
    assert_eq!(call(&adjoint(&func), &[Val::Real(vec![3.0]), Val::Real(vec![1.0])]), [Val::Real(vec![3.0])]);
}

#[test]
fn binary_rows() {
    use BinaryOp::*;
    let (v2, v3, v4, m2, m3) = (Ty::Vec(2), Ty::Vec(3), Ty::Vec(4), Ty::Mat(2), Ty::Mat(3));
    let real = Ty::Real;
    let cases = [
        (Add, real, real),
        (Add, v3, v3),
        (Add, m2, m2),
        (Sub, real, real),
        (Sub, v4, v4),
        (Sub, m3, m3),
        (Mul, real, real),
        (Div, real, real),
        (Min, real, real),
        (Max, real, real),
        (Powf, real, real),
        (Atan2, real, real),
        (Hypot, real, real),
        (Scale, v2, real),
        (Scale, v3, real),
        (Scale, m3, real),
        (MulElem, v2, v2),
        (MulElem, v4, v4),
        (Dot, v2, v2),
        (Dot, v3, v3),
        (Dot, m2, m2),
        (Dot, m3, m3),
        (Cross, v3, v3),
        (MatVec, m2, v2),
        (MatVec, m3, v3),
        (MatMul, m2, m2),
        (MatMul, m3, m3),
        (Outer, v2, v2),
        (Outer, v3, v3),
    ];
    for (op, left, right) in cases {
        let func = one_op(&[left, right], |b, x| b.binary(op, x[0], x[1]));
        for seed in 1..6 {
            let mut rng = Random::new(seed);
            // Apart from each other and from 0 and 1; both orders of `min` and `max` occur.
            let (a, c) = if seed % 2 == 0 { ((0.3, 0.8), (1.3, 2.2)) } else { ((1.3, 2.2), (0.3, 0.8)) };
            let at = [rng.value(left, a.0, a.1), rng.value(right, c.0, c.1)];
            agrees(&func, &at, &mut rng, op.name());
        }
    }
}

/// Both operands one value: the two contributions add up.
#[test]
fn one_value_twice() {
    use BinaryOp::*;
    let cases = [
        (Mul, Ty::Real),
        (Div, Ty::Real),
        (Powf, Ty::Real),
        (Hypot, Ty::Real),
        (Dot, Ty::Vec(3)),
        (MulElem, Ty::Vec(2)),
        (MatMul, Ty::Mat(3)),
        (Outer, Ty::Vec(3)),
        (Cross, Ty::Vec(3)),
        (Sub, Ty::Vec(4)),
    ];
    for (op, ty) in cases {
        let func = one_op(&[ty], |b, x| b.binary(op, x[0], x[0]));
        let mut rng = Random::new(4);
        let at = rng.value(ty, 0.4, 1.8);
        agrees(&func, &[at], &mut rng, op.name());
    }
}

#[test]
fn integer_powers() {
    for n in [-3, -1, 0, 1, 2, 5] {
        for constant in [false, true] {
            let inputs: &[Ty] = if constant { &[Ty::Real] } else { &[Ty::Real, Ty::I32] };
            let func = one_op(inputs, |b, x| {
                let n = if constant { b.int(Ty::I32, n) } else { x[1] };
                b.binary(BinaryOp::Powi, x[0], n)
            });
            let mut rng = Random::new(7);
            let mut at = vec![rng.value(Ty::Real, -1.8, -0.6)];
            if !constant {
                at.push(Val::Int(n));
            }
            agrees(&func, &at, &mut rng, "powi");
        }
    }
}

#[test]
fn structural_rows() {
    let mut rng = Random::new(5);
    let func = one_op(&[Ty::Vec(3), Ty::Real], |b, x| b.op(Ty::Vec(3), Op::Insert(x[0], 1, x[1])));
    let at = [rng.value(Ty::Vec(3), -1.0, 1.0), rng.value(Ty::Real, -1.0, 1.0)];
    agrees(&func, &at, &mut rng, "insert");

    let func = one_op(&[Ty::Mat(2)], |b, x| {
        let parts: Vec<Id> = (0..4).map(|k| b.extract(x[0], k)).collect();
        let product = b.mul(parts[1], parts[2]);
        let m = b.op(Ty::Mat(2), Op::Compose(vec![product, parts[0], parts[0], parts[3]]));
        let m = b.op(Ty::Mat(2), Op::Insert(m, 2, parts[3]));
        b.binary(BinaryOp::MatMul, m, x[0])
    });
    let at = [rng.value(Ty::Mat(2), -1.0, 1.0)];
    agrees(&func, &at, &mut rng, "compose and extract");

    let func = one_op(&[Ty::Vec(3), Ty::Real], |b, x| {
        let v = b.op(Ty::Vec(3), Op::Insert(x[0], 0, x[1]));
        let square = b.mul(x[1], x[1]);
        b.op(Ty::Vec(3), Op::Insert(v, 2, square))
    });
    let at = [rng.value(Ty::Vec(3), -1.0, 1.0), rng.value(Ty::Real, -1.0, 1.0)];
    agrees(&func, &at, &mut rng, "insert twice");

    let func = one_op(&[Ty::Mat(3)], |b, x| {
        let m = b.transpose(x[0]);
        let (p, q) = (b.extract(m, 1), b.extract(m, 5));
        b.mul(p, q)
    });
    let at = [rng.value(Ty::Mat(3), -1.0, 1.0)];
    agrees(&func, &at, &mut rng, "extract of a transpose");

    for side in [true, false] {
        let func = one_op(&[Ty::Vec(3), Ty::Vec(3)], |b, x| {
            let cond = b.op(Ty::Bool, Op::Const(Lit::Bool(side)));
            let cross = b.binary(BinaryOp::Cross, x[0], x[1]);
            b.op(Ty::Vec(3), Op::Select(cond, cross, x[1]))
        });
        let at = [rng.value(Ty::Vec(3), -1.0, 1.0), rng.value(Ty::Vec(3), -1.0, 1.0)];
        agrees(&func, &at, &mut rng, "select");
    }
}
