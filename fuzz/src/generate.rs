//! Well-typed kernels from a seed: nested loops and branches that change outer variables, shadowing, components, scattered
//! accumulation, device functions. Functions are fed with arguments inside their domain most of the time.

use crate::ast::{ARRAYS, Binary, Expr, Kernel, Kind, LOCAL, Stmt, Ty, UPDATED, Unary, Use};
use crate::random::Random;

/// What the kernels may contain beyond the basics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features {
    /// `u[ABSOLUTE_POS]` is read and then overwritten.
    pub updates: bool,
}

/// The kernel of `seed`.
pub fn kernel(seed: u64, features: Features) -> Kernel {
    let mut make =
        Make { rng: Random::new(seed), scopes: vec![Vec::new()], next: 0, loops: 0, reads_updated: features.updates };
    let mut body = make.block(7, true);
    make.reads_updated = false;
    body.extend(make.outputs(features));
    Kernel { body }
}

struct Make {
    rng: Random,
    /// Variables in scope: number, type, whether assignments may change it.
    scopes: Vec<Vec<(u32, Ty, bool)>>,
    next: u32,
    /// Loops around this place.
    loops: usize,
    reads_updated: bool,
}

fn expr(ty: Ty, kind: Kind) -> Expr {
    Expr { ty, kind }
}

fn unary(ty: Ty, op: Unary, x: Expr) -> Expr {
    expr(ty, Kind::Unary(op, Box::new(x)))
}

fn method(name: &'static str, x: Expr) -> Expr {
    unary(Ty::Real, Unary::Method(name), x)
}

fn infix(ty: Ty, op: &'static str, a: Expr, b: Expr) -> Expr {
    expr(ty, Kind::Binary(Binary::Infix(op), Box::new(a), Box::new(b)))
}

fn joined(ty: Ty, name: &'static str, a: Expr, b: Expr) -> Expr {
    expr(ty, Kind::Binary(Binary::Method(name), Box::new(a), Box::new(b)))
}

fn real(x: f64) -> Expr {
    expr(Ty::Real, Kind::Real(x))
}

fn int(x: u32) -> Expr {
    expr(Ty::U32, Kind::Int(x))
}

impl Make {
    // ---- statements

    fn block(&mut self, most: usize, top: bool) -> Vec<Stmt> {
        self.scopes.push(Vec::new());
        let count = 1 + self.rng.below(most);
        let stmts = (0..count).map(|_| self.statement(top)).collect();
        if !top {
            self.scopes.pop();
        }
        stmts
    }

    fn fresh(&mut self, ty: Ty, mutable: bool) -> u32 {
        let shadowed: Vec<u32> = self.variables(|t, _| t == ty).iter().map(|v| v.0).collect();
        let var = if !shadowed.is_empty() && self.rng.chance(15) {
            *self.rng.pick(&shadowed)
        } else {
            self.next += 1;
            self.next
        };
        // The newest of a name is the one meant.
        if let Some(scope) = self.scopes.last_mut() {
            scope.retain(|v| v.0 != var);
            scope.push((var, ty, mutable));
        }
        var
    }

    /// The variables that names stand for here.
    fn variables(&self, keep: impl Fn(Ty, bool) -> bool) -> Vec<(u32, Ty)> {
        let mut seen = Vec::new();
        let mut found = Vec::new();
        for (var, ty, mutable) in self.scopes.iter().rev().flatten() {
            if !seen.contains(var) {
                seen.push(*var);
                if keep(*ty, *mutable) {
                    found.push((*var, *ty));
                }
            }
        }
        found
    }

    fn statement(&mut self, top: bool) -> Stmt {
        let assignable = self.variables(|_, mutable| mutable);
        match self.rng.below(110) {
            100..103 if self.loops > 0 => {
                let again = self.rng.chance(50);
                Stmt::Leave(self.condition(2), again)
            }
            103 => Stmt::Return(self.condition(2)),
            104..107 if self.loops < 2 => self.repeat_while(),
            107..110 => {
                let parts = (0..LOCAL).map(|_| self.value(Ty::Real, 2)).collect();
                Stmt::Local(self.fresh(Ty::Local, true), parts)
            }
            40..58 if !assignable.is_empty() => self.assign(&assignable),
            58..70 => {
                let c = self.condition(2);
                let then = self.block(4, false);
                let els = if self.rng.chance(60) { self.block(3, false) } else { Vec::new() };
                Stmt::If(c, then, els)
            }
            70..84 if self.loops < 2 => self.repeat(),
            84..92 => self.accumulate(),
            92..94 if top => Stmt::Return(self.condition(2)),
            94..96 => {
                let array = *self.rng.pick(&[6, 7]);
                let ty = ARRAYS[array].1;
                Stmt::Store(array, self.value(ty, 3))
            }
            _ => self.bind(),
        }
    }

    fn bind(&mut self) -> Stmt {
        if self.rng.chance(12) {
            return self.bind_call();
        }
        let ty = if self.rng.chance(15) {
            Ty::U32
        } else {
            *self.rng.pick(&[Ty::Real, Ty::Real, Ty::Vec2, Ty::Vec3, Ty::Mat2, Ty::Mat3])
        };
        let e = self.value(ty, 3);
        Stmt::Let(self.fresh(ty, true), e)
    }

    fn bind_call(&mut self) -> Stmt {
        let call = |name, args, ty| expr(ty, Kind::Call(name, args));
        match self.rng.below(4) {
            0 => {
                let args = (0..3).map(|_| self.value(Ty::Real, 2)).collect();
                Stmt::Let(self.fresh(Ty::Real, true), call("blend", args, Ty::Real))
            }
            1 => {
                let args = vec![self.value(Ty::Vec2, 2), self.value(Ty::Real, 2)];
                Stmt::Let(self.fresh(Ty::Vec2, true), call("turn", args, Ty::Vec2))
            }
            2 => {
                let args = vec![expr(Ty::Real, Kind::Array(0)), self.value(Ty::U32, 2), self.value(Ty::Real, 2)];
                Stmt::Let(self.fresh(Ty::Real, true), call("gather", args, Ty::Real))
            }
            _ => {
                let args = vec![self.value(Ty::Vec3, 2), self.value(Ty::Real, 2)];
                let e = call(self.rng.word(&["split", "both"]), args, Ty::Real);
                let first = self.fresh(Ty::Real, true);
                let second = self.fresh(Ty::Vec3, true);
                Stmt::Split(first, second, e)
            }
        }
    }

    fn assign(&mut self, assignable: &[(u32, Ty)]) -> Stmt {
        let (var, ty) = *self.rng.pick(assignable);
        if ty == Ty::Local {
            let at = self.value(Ty::U32, 1);
            let op = self.rng.word(&["=", "+=", "-="]);
            // Bounded, so that loops do not run off.
            return Stmt::Element(var, at, op, method("sin", self.value(Ty::Real, 3)));
        }
        if ty.components() > 1 && self.rng.chance(35) {
            let k = self.rng.below(ty.components()) as u8;
            return Stmt::Component(var, ty, k, self.value(Ty::Real, 3));
        }
        match self.rng.below(4) {
            0 if ty.is_real() => {
                let op = self.rng.word(&["+=", "-="]);
                Stmt::Compound(var, op, self.value(ty, 2))
            }
            1 if ty == Ty::Real => {
                let factor = method("tanh", self.value(Ty::Real, 2));
                Stmt::Compound(var, "*=", factor)
            }
            2 if ty == Ty::Real => {
                // Bounded, so that loops do not run off.
                let (old, more) = (expr(ty, Kind::Var(var)), self.value(Ty::Real, 2));
                let op = self.rng.word(&["+", "*", "-"]);
                Stmt::Assign(var, method(self.rng.word(&["sin", "tanh", "atan"]), infix(ty, op, old, more)))
            }
            _ => Stmt::Assign(var, self.value(ty, 3)),
        }
    }

    fn repeat(&mut self) -> Stmt {
        let unroll = self.rng.chance(20);
        let (lo, hi) = if unroll {
            let lo = self.rng.below(3) as u32;
            (int(lo), int(lo + self.rng.below(4) as u32))
        } else {
            let lo = if self.rng.chance(70) { int(self.rng.below(2) as u32) } else { self.small() };
            let hi = match self.rng.below(4) {
                0 => int(1 + self.rng.below(4) as u32),
                1 => expr(Ty::U32, Kind::Count),
                _ => self.small(),
            };
            (lo, hi)
        };
        self.scopes.push(Vec::new());
        let var = self.fresh(Ty::U32, false);
        self.loops += 1;
        let body = self.block(4, false);
        self.loops -= 1;
        self.scopes.pop();
        Stmt::For(var, lo, hi, unroll, body)
    }

    fn repeat_while(&mut self) -> Stmt {
        self.scopes.push(Vec::new());
        let var = self.fresh(Ty::U32, false);
        let (c, most) = (self.condition(2), 1 + self.rng.below(4) as u32);
        self.loops += 1;
        let body = self.block(4, false);
        self.loops -= 1;
        self.scopes.pop();
        Stmt::While(var, c, most, body)
    }

    /// An integer below 5.
    fn small(&mut self) -> Expr {
        let e = self.value(Ty::U32, 1);
        infix(Ty::U32, "%", e, int(5))
    }

    fn accumulate(&mut self) -> Stmt {
        let array = *self.rng.pick(&[8, 9, 10]);
        let at = if self.rng.chance(75) { Some(self.value(Ty::U32, 2)) } else { None };
        let minus = self.rng.chance(30);
        Stmt::Add(array, at, minus, self.value(ARRAYS[array].1, 3))
    }

    /// Writes that use what there is at the end.
    fn outputs(&mut self, features: Features) -> Vec<Stmt> {
        let mut out = vec![Stmt::Store(6, self.value(Ty::Real, 3)), Stmt::Store(7, self.value(Ty::Vec3, 3))];
        out.push(self.accumulate());
        out.push(self.accumulate());
        for (var, _) in self.variables(|ty, _| ty == Ty::Local) {
            let element = |k: u32| expr(Ty::Real, Kind::Element(var, Box::new(int(k))));
            out.push(Stmt::Add(8, None, false, infix(Ty::Real, "*", element(0), method("sin", element(2)))));
        }
        for (var, ty) in self.variables(|ty, _| ty.is_real()) {
            let sum = match ty {
                Ty::Real => expr(ty, Kind::Var(var)),
                ty => unary(Ty::Real, Unary::Component(0), expr(ty, Kind::Var(var))),
            };
            if !ty.is_matrix() {
                out.push(Stmt::Add(8, None, false, method("sin", sum)));
            }
        }
        if features.updates {
            self.reads_updated = true;
            let old = expr(Ty::Real, Kind::Load(UPDATED, None));
            let e = self.value(Ty::Real, 3);
            out.push(Stmt::Store(UPDATED, infix(Ty::Real, "+", method("sin", old), e)));
            self.reads_updated = false;
        }
        out
    }

    // ---- expressions

    fn value(&mut self, ty: Ty, depth: usize) -> Expr {
        match ty {
            Ty::U32 => self.integer(depth),
            Ty::Bool => self.condition(depth),
            _ if depth == 0 || self.rng.chance(15) => self.leaf(ty),
            _ if self.rng.chance(6) => {
                let (c, a, b) = (self.condition(1), self.value(ty, depth - 1), self.value(ty, depth - 1));
                let parts = (Box::new(c), Box::new(a), Box::new(b));
                let kind = if self.rng.chance(50) {
                    Kind::Select(parts.0, parts.1, parts.2)
                } else {
                    Kind::If(parts.0, parts.1, parts.2)
                };
                expr(ty, kind)
            }
            Ty::Real => self.real(depth - 1),
            ty if ty.is_matrix() => self.matrix(ty, depth - 1),
            ty => self.vector(ty, depth - 1),
        }
    }

    fn leaf(&mut self, ty: Ty) -> Expr {
        let locals = self.variables(|t, _| t == Ty::Local);
        if ty == Ty::Real && !locals.is_empty() && self.rng.chance(25) {
            let at = Box::new(self.integer(1));
            return expr(ty, Kind::Element(self.rng.pick(&locals).0, at));
        }
        let variables = self.variables(|t, _| t == ty);
        if !variables.is_empty() && self.rng.chance(65) {
            return expr(ty, Kind::Var(self.rng.pick(&variables).0));
        }
        if ty == Ty::Real && self.rng.chance(25) {
            return if self.rng.chance(20) {
                expr(ty, Kind::Scalar)
            } else {
                real((self.rng.within(-2.0, 2.0) * 64.0).round() / 64.0 + 0.01)
            };
        }
        if ty == Ty::Real && self.reads_updated && self.rng.chance(20) {
            return expr(ty, Kind::Load(UPDATED, None));
        }
        let arrays: Vec<usize> =
            (0..ARRAYS.len()).filter(|k| ARRAYS[*k].1 == ty && ARRAYS[*k].2 == Use::Read).collect();
        let array = *self.rng.pick(&arrays);
        let at = if self.rng.chance(50) { Some(Box::new(self.integer(1))) } else { None };
        expr(ty, Kind::Load(array, at))
    }

    fn real(&mut self, depth: usize) -> Expr {
        let ty = Ty::Real;
        match self.rng.below(30) {
            0..4 => infix(ty, "+", self.value(ty, depth), self.value(ty, depth)),
            4..6 => infix(ty, "-", self.value(ty, depth), self.value(ty, depth)),
            6..10 => infix(ty, "*", self.value(ty, depth), self.value(ty, depth)),
            10..13 => {
                let name = self.rng.word(&["sin", "cos", "tanh", "atan", "abs", "floor", "round", "ceil", "sign"]);
                method(name, self.value(ty, depth))
            }
            13 => {
                let name = self.rng.word(&["exp", "sinh", "cosh", "tan"]);
                method(name, method("tanh", self.value(ty, depth)))
            }
            14 => {
                let name = self.rng.word(&["ln", "sqrt", "recip", "log1p"]);
                method(name, self.positive(depth))
            }
            15 => {
                let name = self.rng.word(&["asin", "acos"]);
                method(name, infix(ty, "*", method("sin", self.value(ty, depth)), real(0.9)))
            }
            16 => infix(ty, "/", self.value(ty, depth), self.positive(depth)),
            17 => joined(ty, self.rng.word(&["min", "max"]), self.value(ty, depth), self.value(ty, depth)),
            18 => {
                let name = self.rng.word(&["hypot", "atan2"]);
                joined(ty, name, self.positive(depth), self.value(ty, depth))
            }
            19 => joined(ty, "powf", self.positive(depth), method("sin", self.value(ty, depth))),
            20 => {
                let n = *self.rng.pick(&[-2, -1, 0, 1, 2, 3]);
                let base = if n < 0 { self.positive(depth) } else { self.value(ty, depth) };
                expr(ty, Kind::Powi(Box::new(base), n))
            }
            21 => unary(ty, Unary::Neg, self.value(ty, depth)),
            22 => unary(ty, Unary::ToReal, self.small()),
            23 => unary(ty, Unary::Detach, self.value(ty, depth)),
            24 => {
                let of = *self.rng.pick(&[Ty::Vec2, Ty::Vec3]);
                joined(ty, "dot", self.value(of, depth), self.value(of, depth))
            }
            25 => {
                let of = *self.rng.pick(&[Ty::Mat2, Ty::Mat3]);
                match self.rng.below(3) {
                    0 => joined(ty, "ddot", self.value(of, depth), self.value(of, depth)),
                    1 => unary(ty, Unary::Method("trace"), self.value(of, depth)),
                    _ => unary(ty, Unary::Method("determinant"), self.value(of, depth)),
                }
            }
            26 => {
                let of = *self.rng.pick(&[Ty::Vec2, Ty::Vec3]);
                unary(ty, Unary::Method(self.rng.word(&["norm", "norm_squared"])), self.value(of, depth))
            }
            27 => {
                let of = *self.rng.pick(&[Ty::Mat2, Ty::Mat3]);
                let k = self.rng.below(of.components()) as u8;
                unary(ty, Unary::Entry(k), self.value(of, depth))
            }
            _ => {
                let of = *self.rng.pick(&[Ty::Vec2, Ty::Vec3]);
                let k = self.rng.below(of.components()) as u8;
                unary(ty, Unary::Component(k), self.value(of, depth))
            }
        }
    }

    /// A real above a half.
    fn positive(&mut self, depth: usize) -> Expr {
        let e = self.value(Ty::Real, depth);
        let square = infix(Ty::Real, "*", e.clone(), e);
        infix(Ty::Real, "+", method("tanh", square), real(0.75))
    }

    fn vector(&mut self, ty: Ty, depth: usize) -> Expr {
        let matrix = if ty == Ty::Vec2 { Ty::Mat2 } else { Ty::Mat3 };
        match self.rng.below(12) {
            0..2 => infix(ty, "+", self.value(ty, depth), self.value(ty, depth)),
            2 => infix(ty, "-", self.value(ty, depth), self.value(ty, depth)),
            3 => infix(ty, "*", self.value(ty, depth), self.value(Ty::Real, depth)),
            4 => infix(ty, "/", self.value(ty, depth), self.positive(depth)),
            5 => infix(ty, "*", self.value(matrix, depth), self.value(ty, depth)),
            6 => joined(ty, "mul_elem", self.value(ty, depth), self.value(ty, depth)),
            7 if ty == Ty::Vec3 => joined(ty, "cross", self.value(ty, depth), self.value(ty, depth)),
            8 => unary(ty, Unary::Neg, self.value(ty, depth)),
            9 => unary(ty, Unary::Method("normalize"), self.value(ty, depth)),
            _ => expr(ty, Kind::New((0..ty.components()).map(|_| self.value(Ty::Real, depth)).collect())),
        }
    }

    fn matrix(&mut self, ty: Ty, depth: usize) -> Expr {
        let vector = ty.column();
        match self.rng.below(10) {
            0..2 => infix(ty, "+", self.value(ty, depth), self.value(ty, depth)),
            2 => infix(ty, "-", self.value(ty, depth), self.value(ty, depth)),
            3 => infix(ty, "*", self.value(ty, depth), self.value(Ty::Real, depth)),
            4 => infix(ty, "*", self.value(ty, depth), self.value(ty, depth)),
            5 => unary(ty, Unary::Method("transpose"), self.value(ty, depth)),
            6 => joined(ty, "outer", self.value(vector, depth), self.value(vector, depth)),
            _ => expr(ty, Kind::New((0..ty.components()).map(|_| self.value(Ty::Real, depth.min(1))).collect())),
        }
    }

    fn integer(&mut self, depth: usize) -> Expr {
        let ty = Ty::U32;
        if depth > 0 && self.rng.chance(45) {
            let op = self.rng.word(&["+", "*", "%", "&", "-", "/", "^"]);
            let (a, b) = (self.integer(depth - 1), self.integer(depth - 1));
            return infix(ty, op, a, b);
        }
        let variables = self.variables(|t, _| t == ty);
        if !variables.is_empty() && self.rng.chance(50) {
            return expr(ty, Kind::Var(self.rng.pick(&variables).0));
        }
        match self.rng.below(6) {
            0 => expr(ty, Kind::Position),
            1 => expr(ty, Kind::Count),
            2 | 3 => int(self.rng.below(9) as u32),
            _ => expr(ty, Kind::Load(5, None)),
        }
    }

    fn condition(&mut self, depth: usize) -> Expr {
        let ty = Ty::Bool;
        match self.rng.below(if depth == 0 { 6 } else { 10 }) {
            0..4 => {
                let op = self.rng.word(&["<", ">", "<=", ">="]);
                infix(ty, op, self.value(Ty::Real, 1), self.value(Ty::Real, 1))
            }
            4 | 5 => {
                let op = self.rng.word(&["<", ">", "==", "!="]);
                infix(ty, op, self.integer(1), self.integer(1))
            }
            6 => unary(ty, Unary::Not, self.condition(depth - 1)),
            _ => {
                let op = self.rng.word(&["&&", "||"]);
                infix(ty, op, self.condition(depth - 1), self.condition(depth - 1))
            }
        }
    }
}
