//! Runs a kernel over dual numbers, statement by statement as written.

mod ops;

use std::collections::HashMap;

use crate::ast::{ARRAYS, Binary, Expr, Kernel, Kind, LOCAL, Stmt, Ty};
use crate::case::{Case, DOMAIN, LEN};
use crate::dual::Dual;
use ops::{binary_method, infix, is_close_call, is_near_jump, method, product, split, unary};

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
            Stmt::At(var, e) => {
                let value = self.reals(e);
                if let Val::Real(parts) = self.place(*var) {
                    parts[1..].copy_from_slice(&value);
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
            Kind::New(parts) => Val::Real(parts.iter().flat_map(|e| self.reals(e)).collect()),
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
            "push" => {
                let (b, w) = (self.reals(&args[0]), self.real(&args[1]));
                let mass = (b[0] + b[1] * w) * Dual::constant(0.5);
                let scale = method("sin", w) + one;
                Val::Real(std::iter::once(mass).chain(b[1..].iter().map(|x| *x * scale)).collect())
            }
            other => panic!("no device function `{other}`"),
        }
    }
}
