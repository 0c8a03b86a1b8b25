//! Runs a kernel over dual numbers, statement by statement as written.

use std::collections::HashMap;

use crate::ast::{ARRAYS, Binary, Expr, Kernel, Kind, LOCAL, Stmt, Ty, Unary};
use crate::case::{Case, DOMAIN, LEN};
use crate::dual::Dual;

/// A value.
#[derive(Clone, Debug)]
enum Val {
    Real(Vec<Dual>),
    Int(u32),
    Bool(bool),
}

/// The arrays after the launch: values and tangents, scalars of all elements in a row; `None` for integers.
pub type Outcome = Vec<Option<Vec<Dual>>>;

/// Runs all threads of `kernel` in order. `None` when something is computed from a NaN, or from a root near 0: what comes
/// out then is a matter of rounding.
pub fn eval(kernel: &Kernel, case: &Case) -> Option<Outcome> {
    let arrays: Vec<Vec<Dual>> = (case.values.iter().zip(&case.dots))
        .map(|(values, dots)| {
            let dot = |k: usize| dots.get(k).copied().unwrap_or(0.0);
            values.iter().enumerate().map(|(k, v)| Dual::new(*v, dot(k))).collect()
        })
        .collect();
    let mut run = Run { arrays, case, pos: 0, scopes: Vec::new(), doubtful: false };
    for pos in 0..DOMAIN {
        run.pos = pos;
        run.scopes.clear();
        run.block(&kernel.body);
    }
    let outcome = run.arrays.into_iter().zip(ARRAYS).map(|(array, (_, ty, _))| ty.is_real().then_some(array)).collect();
    (!run.doubtful).then_some(outcome)
}

struct Run<'a> {
    arrays: Vec<Vec<Dual>>,
    case: &'a Case,
    pos: usize,
    scopes: Vec<HashMap<u32, Val>>,
    doubtful: bool,
}

/// What comes after a statement.
#[derive(Clone, Copy, PartialEq)]
enum Flow {
    /// The next statement.
    Next,
    /// What follows the loop.
    Break,
    /// The next turn.
    Continue,
    /// Nothing.
    Return,
}

impl Run<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Flow {
        self.scopes.push(HashMap::new());
        let mut flow = Flow::Next;
        for stmt in stmts {
            flow = self.statement(stmt);
            if flow != Flow::Next {
                break;
            }
        }
        self.scopes.pop();
        flow
    }

    fn bind(&mut self, var: u32, value: Val) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(var, value);
        }
    }

    fn place(&mut self, var: u32) -> &mut Val {
        let scope = self.scopes.iter_mut().rev().find(|scope| scope.contains_key(&var));
        scope.and_then(|scope| scope.get_mut(&var)).unwrap_or_else(|| panic!("v{var} is not bound"))
    }

    fn statement(&mut self, stmt: &Stmt) -> Flow {
        match stmt {
            Stmt::Let(var, e) => {
                let value = self.value(e);
                self.bind(*var, value);
            }
            Stmt::Split(first, second, e) => {
                let Kind::Call(name, args) = &e.kind else { panic!("only calls have two results") };
                args.iter().for_each(|arg| drop(self.operand(arg)));
                let (v, w) = (self.reals(&args[0]), self.real(&args[1]));
                let (mut a, mut u) = split(&v, w);
                if *name == "both" {
                    let sum: Vec<Dual> = u.iter().zip(&v).map(|(x, y)| *x + *y).collect();
                    let (b, t) = split(&sum, a);
                    (a, u) = (a * b, t);
                }
                self.bind(*first, Val::Real(vec![a]));
                self.bind(*second, Val::Real(u));
            }
            Stmt::Assign(var, e) => {
                let value = self.value(e);
                *self.place(*var) = value;
            }
            Stmt::Compound(var, op, e) => {
                let value = self.operand(e);
                let old = self.place(*var).clone();
                *self.place(*var) = infix(&op[..1], &old, &value);
            }
            Stmt::Component(var, _, k, e) => {
                let value = self.real(e);
                if let Val::Real(parts) = self.place(*var) {
                    parts[*k as usize] = value;
                }
            }
            Stmt::If(c, then, els) => {
                let side = if self.bool(c) { then } else { els };
                return self.block(side);
            }
            Stmt::For(var, lo, hi, _, body) => {
                for turn in self.int(lo)..self.int(hi) {
                    self.scopes.push(HashMap::from([(*var, Val::Int(turn))]));
                    let flow = self.block(body);
                    self.scopes.pop();
                    match flow {
                        Flow::Break => break,
                        Flow::Return => return flow,
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            Stmt::Local(var, parts) => {
                let parts = parts.iter().map(|e| self.real(e)).collect();
                self.bind(*var, Val::Real(parts));
            }
            Stmt::Element(var, at, op, e) => {
                let at = self.int(at) as usize % LOCAL;
                let value = self.operand(e);
                let Val::Real(parts) = self.place(*var).clone() else { panic!("a local array is of reals") };
                let new = match *op {
                    "=" => value,
                    op => infix(&op[..1], &Val::Real(vec![parts[at]]), &value),
                };
                if let (Val::Real(parts), Val::Real(new)) = (self.place(*var), new) {
                    parts[at] = new[0];
                }
            }
            Stmt::While(var, c, most, body) => return self.repeat(*var, c, *most, body),
            Stmt::Leave(c, again) => {
                return match (self.bool(c), again) {
                    (false, _) => Flow::Next,
                    (true, true) => Flow::Continue,
                    (true, false) => Flow::Break,
                };
            }
            Stmt::Store(array, e) => {
                let value = self.reals(e);
                self.element(*array, None).copy_from_slice(&value);
            }
            Stmt::Add(array, at, minus, e) => {
                let at = at.as_ref().map(|e| self.int(e) as usize % LEN);
                let value = self.reals(e);
                for (sum, x) in self.element(*array, at).iter_mut().zip(value) {
                    *sum = if *minus { *sum - x } else { *sum + x };
                }
            }
            Stmt::Return(c) if self.bool(c) => return Flow::Return,
            Stmt::Return(_) => {}
        }
        Flow::Next
    }

    fn repeat(&mut self, var: u32, c: &Expr, most: u32, body: &[Stmt]) -> Flow {
        self.scopes.push(HashMap::from([(var, Val::Int(0))]));
        let mut flow = Flow::Next;
        let mut turn = 0;
        while turn < most && self.bool(c) {
            turn += 1;
            *self.place(var) = Val::Int(turn);
            flow = self.block(body);
            if matches!(flow, Flow::Break | Flow::Return) {
                break;
            }
        }
        self.scopes.pop();
        if flow == Flow::Return { flow } else { Flow::Next }
    }

    fn element(&mut self, array: usize, at: Option<usize>) -> &mut [Dual] {
        let (n, at) = (ARRAYS[array].1.components(), at.unwrap_or(self.pos));
        &mut self.arrays[array][at * n..(at + 1) * n]
    }

    fn reals(&mut self, e: &Expr) -> Vec<Dual> {
        match self.value(e) {
            Val::Real(parts) => parts,
            other => panic!("{other:?} is not real"),
        }
    }

    fn real(&mut self, e: &Expr) -> Dual {
        self.reals(e)[0]
    }

    fn int(&mut self, e: &Expr) -> u32 {
        match self.value(e) {
            Val::Int(x) => x,
            other => panic!("{other:?} is not an integer"),
        }
    }

    fn bool(&mut self, e: &Expr) -> bool {
        match self.value(e) {
            Val::Bool(x) => x,
            other => panic!("{other:?} is not a truth value"),
        }
    }

    /// The value of an operand; of a NaN nothing can be said.
    fn operand(&mut self, e: &Expr) -> Val {
        let value = self.value(e);
        if let Val::Real(parts) = &value {
            self.doubtful |= parts.iter().any(|x| x.v.is_nan());
        }
        value
    }

    fn value(&mut self, e: &Expr) -> Val {
        match &e.kind {
            Kind::Real(x) => Val::Real(vec![Dual::constant(*x)]),
            Kind::Int(x) => Val::Int(*x),
            Kind::Bool(x) => Val::Bool(*x),
            Kind::Var(var) => self.place(*var).clone(),
            Kind::Scalar => Val::Real(vec![Dual::constant(self.case.scalar)]),
            Kind::Count => Val::Int(self.case.count),
            Kind::Position => Val::Int(self.pos as u32),
            Kind::Load(array, at) => {
                let at = at.as_ref().map(|e| self.int(e) as usize % LEN);
                let element = self.element(*array, at).to_vec();
                if e.ty == Ty::U32 { Val::Int(element[0].v as u32) } else { Val::Real(element) }
            }
            Kind::Element(var, at) => {
                let at = self.int(at) as usize % LOCAL;
                match self.place(*var) {
                    Val::Real(parts) => Val::Real(vec![parts[at]]),
                    other => panic!("{other:?} is not a local array"),
                }
            }
            Kind::Unary(op, x) => {
                let value = self.operand(x);
                self.doubtful |= is_near_jump(*op, &value);
                unary(*op, x.ty, value)
            }
            Kind::Binary(Binary::Infix(op @ ("&&" | "||")), a, b) => {
                let first = self.bool(a);
                Val::Bool(if first == (*op == "||") { first } else { self.bool(b) })
            }
            Kind::Binary(op, a, b) => {
                let (x, y) = (self.operand(a), self.operand(b));
                self.doubtful |= is_close_call(*op, &x, &y);
                match op {
                    Binary::Infix(op) if a.ty.is_matrix() && *op == "*" => product(a.ty, b.ty, &x, &y),
                    Binary::Infix(op) => infix(op, &x, &y),
                    Binary::Method(name) => binary_method(name, &x, &y),
                }
            }
            Kind::Powi(x, n) => {
                let Val::Real(parts) = self.operand(x) else { panic!("a power is of a real") };
                let x = parts[0];
                let slope = if *n == 0 { 0.0 } else { f64::from(*n) * x.v.powi(n - 1) };
                Val::Real(vec![x.map(x.v.powi(*n), slope)])
            }
            Kind::Select(c, a, b) => {
                let (c, a, b) = (self.bool(c), self.value(a), self.value(b));
                if c { a } else { b }
            }
            Kind::If(c, a, b) => {
                if self.bool(c) {
                    self.value(a)
                } else {
                    self.value(b)
                }
            }
            Kind::New(parts) => Val::Real(parts.iter().map(|e| self.real(e)).collect()),
            Kind::Call(name, args) => {
                for arg in args.iter().filter(|arg| !matches!(arg.kind, Kind::Array(_))) {
                    self.operand(arg);
                }
                self.call(name, args)
            }
            Kind::Array(_) => panic!("an array is not a value"),
        }
    }

    fn call(&mut self, name: &str, args: &[Expr]) -> Val {
        let one = Dual::constant(1.0);
        match name {
            "blend" => {
                let [a, b, t] = [0, 1, 2].map(|k| self.real(&args[k]));
                let s = method("sin", t);
                Val::Real(vec![a * (one - s) + b * s * s])
            }
            "turn" => {
                let (v, angle) = (self.reals(&args[0]), self.real(&args[1]));
                let (c, s) = (method("cos", angle), method("sin", angle));
                Val::Real(vec![c * v[0] - s * v[1], s * v[0] + c * v[1]])
            }
            "gather" => {
                let Kind::Array(array) = args[0].kind else { panic!("`gather` takes an array") };
                let (start, w) = (self.int(&args[1]), self.real(&args[2]));
                let mut sum = Dual::constant(0.5);
                for k in 0..3u32 {
                    let e = self.arrays[array][start.wrapping_add(k) as usize % LEN];
                    sum = if e.v > 0.0 { sum + method("sin", sum * e) * w } else { sum - e * w * w };
                }
                Val::Real(vec![sum])
            }
            other => panic!("no device function `{other}`"),
        }
    }
}

/// Whether rounding may decide a comparison or a choice.
fn is_close_call(op: Binary, a: &Val, b: &Val) -> bool {
    let (Val::Real(x), Val::Real(y)) = (a, b) else { return false };
    let (x, y) = (x[0].v, y[0].v);
    let close = (x - y).abs() <= 1e-9 * (1.0 + x.abs() + y.abs());
    match op {
        Binary::Infix("<" | ">" | "<=" | ">=") => close,
        Binary::Method("min" | "max") => close && x != y,
        _ => false,
    }
}

/// Whether rounding may decide on which side of a jump the operand lies.
fn is_near_jump(op: Unary, x: &Val) -> bool {
    let Val::Real(x) = x else { return false };
    let near = |jump: f64| (x[0].v - jump).abs() < 1e-9 * (1.0 + jump.abs());
    match op {
        Unary::Method("floor" | "ceil") => near(x[0].v.round()) && x[0].v != x[0].v.round(),
        Unary::Method("round") => near(x[0].v.floor() + 0.5),
        Unary::Method("abs" | "sign") => near(0.0) && x[0].v != 0.0,
        _ => false,
    }
}

fn dot(a: &[Dual], b: &[Dual]) -> Dual {
    a.iter().zip(b).fold(Dual::default(), |sum, (a, b)| sum + *a * *b)
}

fn method(name: &str, x: Dual) -> Dual {
    let v = x.v;
    match name {
        "exp" => x.map(v.exp(), v.exp()),
        "ln" => x.map(v.ln(), 1.0 / v),
        // Near 0 rounding decides: no number to compare with.
        "sqrt" if v < 1e-8 => Dual::new(f64::NAN, f64::NAN),
        "sqrt" => x.map(v.sqrt(), 0.5 / v.sqrt()),
        "sin" => x.map(v.sin(), v.cos()),
        "cos" => x.map(v.cos(), -v.sin()),
        "tan" => x.map(v.tan(), 1.0 + v.tan() * v.tan()),
        "asin" => x.map(v.asin(), 1.0 / ((1.0 - v) * (1.0 + v)).sqrt()),
        "acos" => x.map(v.acos(), -1.0 / ((1.0 - v) * (1.0 + v)).sqrt()),
        "atan" => x.map(v.atan(), 1.0 / (1.0 + v * v)),
        "tanh" => x.map(v.tanh(), 1.0 - v.tanh() * v.tanh()),
        "sinh" => x.map(v.sinh(), v.cosh()),
        "cosh" => x.map(v.cosh(), v.sinh()),
        "log1p" => x.map(v.ln_1p(), 1.0 / (1.0 + v)),
        "abs" => x.map(v.abs(), if v == 0.0 { 0.0 } else { v.signum() }),
        "floor" => x.map(v.floor(), 0.0),
        "ceil" => x.map(v.ceil(), 0.0),
        "round" => x.map(v.round_ties_even(), 0.0),
        "sign" => x.map(if v == 0.0 { 0.0 } else { v.signum() }, 0.0),
        "recip" => x.map(1.0 / v, -1.0 / (v * v)),
        other => panic!("no function `{other}`"),
    }
}

/// The device function of that name.
fn split(v: &[Dual], w: Dual) -> (Dual, Vec<Dual>) {
    let length = dot(v, v) + Dual::constant(0.5);
    let scale = w / length;
    (method("ln", length) * w, v.iter().map(|x| *x * scale).collect())
}

fn unary(op: Unary, ty: Ty, x: Val) -> Val {
    let parts = match x {
        Val::Int(x) => return Val::Real(vec![Dual::constant(f64::from(x))]),
        Val::Bool(x) => return Val::Bool(!x),
        Val::Real(parts) => parts,
    };
    let n = ty.rows();
    Val::Real(match op {
        Unary::Neg => parts.into_iter().map(|x| -x).collect(),
        Unary::Detach => parts.into_iter().map(|x| Dual::constant(x.v)).collect(),
        Unary::Component(k) | Unary::Entry(k) => vec![parts[k as usize]],
        Unary::Method("transpose") => (0..n * n).map(|k| parts[k % n * n + k / n]).collect(),
        Unary::Method("trace") => vec![(0..n).fold(Dual::default(), |sum, k| sum + parts[k * n + k])],
        Unary::Method("determinant") => vec![determinant(&parts)],
        Unary::Method("norm") => vec![method("sqrt", dot(&parts, &parts))],
        Unary::Method("norm_squared") => vec![dot(&parts, &parts)],
        Unary::Method("normalize") => {
            let length = method("sqrt", dot(&parts, &parts));
            parts.into_iter().map(|x| x / length).collect()
        }
        Unary::Method(name) => vec![method(name, parts[0])],
        other => panic!("{other:?} of reals"),
    })
}

fn determinant(m: &[Dual]) -> Dual {
    if m.len() == 4 {
        return m[0] * m[3] - m[1] * m[2];
    }
    let minor = |a: usize, b: usize, c: usize, d: usize| m[a] * m[d] - m[b] * m[c];
    m[0] * minor(4, 5, 7, 8) - m[1] * minor(3, 5, 6, 8) + m[2] * minor(3, 4, 6, 7)
}

/// A matrix times a matrix, a vector or a real.
fn product(a_ty: Ty, b_ty: Ty, a: &Val, b: &Val) -> Val {
    let (Val::Real(x), Val::Real(y)) = (a, b) else { panic!("a matrix is real") };
    let n = a_ty.rows();
    let entry =
        |r: usize, c: usize, cols: usize| (0..n).fold(Dual::default(), |sum, j| sum + x[r * n + j] * y[j * cols + c]);
    match b_ty {
        Ty::Real => Val::Real(x.iter().map(|x| *x * y[0]).collect()),
        ty if ty.is_matrix() => Val::Real((0..n * n).map(|k| entry(k / n, k % n, n)).collect()),
        _ => Val::Real((0..n).map(|r| entry(r, 0, 1)).collect()),
    }
}

fn infix(op: &str, a: &Val, b: &Val) -> Val {
    match (a, b) {
        (Val::Int(x), Val::Int(y)) => match op {
            "+" => Val::Int(x.wrapping_add(*y)),
            "-" => Val::Int(x.wrapping_sub(*y)),
            "*" => Val::Int(x.wrapping_mul(*y)),
            "/" => Val::Int(x.checked_div(*y).unwrap_or(0)),
            "%" => Val::Int(x.checked_rem(*y).unwrap_or(0)),
            "&" => Val::Int(x & y),
            "^" => Val::Int(x ^ y),
            op => Val::Bool(compare(op, x.partial_cmp(y))),
        },
        (Val::Bool(x), Val::Bool(y)) => Val::Bool(compare(op, x.partial_cmp(y))),
        (Val::Real(x), Val::Real(y)) => {
            let each = |f: fn(Dual, Dual) -> Dual| {
                let right = |k: usize| if y.len() == 1 { y[0] } else { y[k] };
                Val::Real(x.iter().enumerate().map(|(k, x)| f(*x, right(k))).collect())
            };
            match op {
                "+" => each(|a, b| a + b),
                "-" => each(|a, b| a - b),
                "*" => each(|a, b| a * b),
                "/" => each(|a, b| a / b),
                op => Val::Bool(compare(op, x[0].v.partial_cmp(&y[0].v))),
            }
        }
        other => panic!("`{op}` of {other:?}"),
    }
}

fn compare(op: &str, order: Option<std::cmp::Ordering>) -> bool {
    match op {
        "==" => order.is_some_and(|o| o.is_eq()),
        "!=" => order.is_none_or(|o| o.is_ne()),
        "<" => order.is_some_and(|o| o.is_lt()),
        "<=" => order.is_some_and(|o| o.is_le()),
        ">" => order.is_some_and(|o| o.is_gt()),
        ">=" => order.is_some_and(|o| o.is_ge()),
        other => panic!("no comparison `{other}`"),
    }
}

fn binary_method(name: &str, a: &Val, b: &Val) -> Val {
    let (Val::Real(x), Val::Real(y)) = (a, b) else { panic!("`{name}` is of reals") };
    let (p, q) = (x[0], y[0]);
    Val::Real(match name {
        "dot" | "ddot" => vec![dot(x, y)],
        "cross" => (0..3).map(|k| [(k + 1) % 3, (k + 2) % 3]).map(|[i, j]| x[i] * y[j] - x[j] * y[i]).collect(),
        "mul_elem" => x.iter().zip(y).map(|(a, b)| *a * *b).collect(),
        "outer" => x.iter().flat_map(|a| y.iter().map(move |b| *a * *b)).collect(),
        // A tie goes to the first.
        "min" => vec![if q.v < p.v { q } else { p }],
        "max" => vec![if q.v > p.v { q } else { p }],
        "hypot" => {
            let r = p.v.hypot(q.v);
            vec![Dual::new(r, (p.v * p.d + q.v * q.d) / r)]
        }
        "atan2" => {
            let r2 = p.v * p.v + q.v * q.v;
            vec![Dual::new(p.v.atan2(q.v), (q.v * p.d - p.v * q.d) / r2)]
        }
        "powf" => {
            let value = p.v.powf(q.v);
            let by_base = if p.d == 0.0 { 0.0 } else { q.v * p.v.powf(q.v - 1.0) * p.d };
            let by_exponent = if q.d == 0.0 { 0.0 } else { value * p.v.ln() * q.d };
            vec![Dual::new(value, by_base + by_exponent)]
        }
        other => panic!("no function `{other}`"),
    })
}
