//! Runs a kernel over dual numbers, statement by statement as written.

mod calls;
mod ops;

use std::collections::HashMap;

use crate::ast::{ARRAYS, Binary, Expr, Kernel, Kind, LOCAL, Response, Stmt, Ty};
use crate::case::{Case, DOMAIN, LEN};
use crate::dual::Dual;
use ops::{binary_method, infix, is_close_call, is_near_jump, offset, product, split, unary};

/// A value.
#[derive(Clone, Debug)]
enum Val {
    Real(Vec<Dual>),
    Int(u32),
    Bool(bool),
}

impl Val {
    fn reals(self) -> Vec<Dual> {
        match self {
            Val::Real(parts) => parts,
            other => panic!("{other:?} is not real"),
        }
    }
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
    let mut run = Run { arrays, case, response: kernel.response, pos: 0, scopes: Vec::new(), doubtful: false };
    for pos in 0..DOMAIN {
        run.pos = pos;
        run.scopes.clear();
        run.block(&kernel.body);
    }
    let reals = |ty: Ty| ty != Ty::U32;
    let outcome = run.arrays.into_iter().zip(ARRAYS).map(|(array, (_, ty, _))| reals(ty).then_some(array)).collect();
    (!run.doubtful).then_some(outcome)
}

struct Run<'a> {
    arrays: Vec<Vec<Dual>>,
    case: &'a Case,
    response: Option<Response>,
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
                let args = self.arguments(args);
                let (v, w) = (args[0].clone().reals(), args[1].clone().reals()[0]);
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
            Stmt::Field(var, ty, path, e) => {
                let value = self.reals(e);
                let first = offset(*ty, path);
                if let Val::Real(parts) = self.place(*var) {
                    parts[first..first + value.len()].copy_from_slice(&value);
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
                // As everywhere, the right side comes first.
                let value = self.operand(e);
                let at = self.int(at) as usize % LOCAL;
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
                let value = self.reals(e);
                let at = at.as_ref().map(|e| self.int(e) as usize % LEN);
                for (sum, x) in self.element(*array, at).iter_mut().zip(value) {
                    *sum = if *minus { *sum - x } else { *sum + x };
                }
            }
            Stmt::StoreField(array, path, op, e) => {
                let value = self.reals(e);
                let first = offset(ARRAYS[*array].1, path);
                for (old, x) in self.element(*array, None)[first..].iter_mut().zip(value) {
                    *old = if *op == "*=" { *old * x } else { x };
                }
            }
            Stmt::AddField(array, at, path, minus, e) => {
                let value = self.reals(e);
                let at = at.as_ref().map(|e| self.int(e) as usize % LEN);
                let first = offset(ARRAYS[*array].1, path);
                for (sum, x) in self.element(*array, at)[first..].iter_mut().zip(value) {
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
        self.value(e).reals()
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
            Kind::Match(of, arms) => {
                let of = self.int(of) as usize % 3;
                self.value(&arms[of])
            }
            Kind::Block(stmts, e) => {
                self.scopes.push(HashMap::new());
                let flow = stmts.iter().fold(Flow::Next, |_, stmt| self.statement(stmt));
                assert!(flow == Flow::Next, "nothing leaves a block with a value");
                let value = self.value(e);
                self.scopes.pop();
                value
            }
            Kind::With(given, base) => {
                let given: Vec<_> = given.iter().map(|(path, e)| (*path, self.reals(e))).collect();
                let mut all = self.reals(base);
                for (path, value) in given {
                    let first = offset(e.ty, path);
                    all[first..first + value.len()].copy_from_slice(&value);
                }
                Val::Real(all)
            }
            Kind::New(parts) => Val::Real(parts.iter().flat_map(|e| self.reals(e)).collect()),
            Kind::Call(name, args) => {
                let values = self.arguments(args);
                self.call(name, args, &values)
            }
            Kind::Array(_) => panic!("an array is not a value"),
        }
    }

    /// Each once, in the order of the text; an array is no value.
    fn arguments(&mut self, args: &[Expr]) -> Vec<Val> {
        let value = |e: &Expr| if matches!(e.kind, Kind::Array(_)) { Val::Bool(false) } else { self.operand(e) };
        args.iter().map(value).collect()
    }
}
