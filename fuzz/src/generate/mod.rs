//! Well-typed kernels from a seed: nested loops and branches that change outer variables, shadowing, components, scattered
//! accumulation, device functions.

mod expressions;
mod structs;

use crate::ast::{ARRAYS, Binary, Expr, Kernel, Kind, LOCAL, Response, Stmt, Ty, UPDATED, Unary};
use crate::random::Random;

/// What the kernels may contain beyond the basics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features {
    /// `u[ABSOLUTE_POS]` is read and then overwritten.
    pub updates: bool,
    /// Variables are structs, too.
    pub structs: bool,
    /// The kernel is over a type, whose methods it calls.
    pub traits: bool,
}

/// The kernel of `seed`.
pub fn kernel(seed: u64, features: Features) -> Kernel {
    let mut make = Make {
        rng: Random::new(seed),
        scopes: vec![Vec::new()],
        next: 0,
        loops: 0,
        reads_updated: features.updates,
        structs: features.structs,
        traits: features.traits,
        unread: Vec::new(),
        pure: false,
    };
    let mut body = make.block(7, true);
    make.reads_updated = false;
    body.extend(make.outputs(features));
    let response = features.traits.then_some(if seed.is_multiple_of(2) { Response::Soft } else { Response::Stiff });
    Kernel { structs: features.structs, response, body }
}

struct Make {
    rng: Random,
    /// Variables in scope: number, type, whether assignments may change it.
    scopes: Vec<Vec<(u32, Ty, bool)>>,
    next: u32,
    /// Loops around this place.
    loops: usize,
    reads_updated: bool,
    structs: bool,
    traits: bool,
    /// Fields of the element that is overwritten which may still be read.
    unread: Vec<&'static str>,
    /// In a condition or a bound, which change nothing.
    pure: bool,
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
        match self.rng.below(114) {
            100..103 if self.loops > 0 => {
                let again = self.rng.chance(50);
                Stmt::Leave(self.condition(2), again)
            }
            103 => Stmt::Return(self.condition(2)),
            104..107 if self.loops < 2 => self.repeat_while(),
            107..114 => {
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
            84..92 if self.structs && self.rng.chance(35) => self.accumulate_field(),
            84..92 => self.accumulate(),
            92..94 if top => Stmt::Return(self.condition(2)),
            94..96 if self.structs && self.rng.chance(50) => self.store_struct(),
            94..96 => {
                let array = *self.rng.pick(&[6, 7]);
                let ty = ARRAYS[array].1;
                Stmt::Store(array, self.value(ty, 3))
            }
            _ => self.bind(),
        }
    }

    fn bind(&mut self) -> Stmt {
        if self.structs && self.rng.chance(20) {
            let ty = *self.rng.pick(&[Ty::Body, Ty::Held]);
            let e = if self.rng.chance(35) { self.call(ty, 2) } else { self.structure(ty, 3) };
            return Stmt::Let(self.fresh(ty, true), e);
        }
        if self.rng.chance(if self.traits { 25 } else { 12 }) {
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
        if self.traits && self.rng.chance(60) {
            let (name, ty) = *self.rng.pick(&[("R::bend", Ty::Real), ("R::pull", Ty::Vec3)]);
            let args = vec![self.value(ty, 2), self.value(Ty::Real, 2), self.value(Ty::U32, 1)];
            return Stmt::Let(self.fresh(ty, true), call(name, args, ty));
        }
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
        if ty.is_struct() && self.rng.chance(30) {
            let (path, field) = *self.rng.pick(ty.fields());
            return Stmt::Field(var, ty, path, self.value(field, 3));
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
        let e = self.integer(1);
        infix(Ty::U32, "%", e, int(5))
    }

    pub(super) fn accumulate(&mut self) -> Stmt {
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
        for (var, ty) in self.variables(|ty, _| ty.is_struct()) {
            let field = |of: Ty, path: &'static str| unary(of, Unary::Field(path), expr(ty, Kind::Var(var)));
            let (a, b) = if ty == Ty::Body { ("mass", "at") } else { ("gain", "body.at") };
            let y = unary(Ty::Real, Unary::Component(1), field(Ty::Vec3, b));
            out.push(Stmt::Add(8, None, false, method("sin", infix(Ty::Real, "*", field(Ty::Real, a), y))));
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
        if features.structs {
            out.push(self.store_struct());
            out.push(self.accumulate_field());
            out.extend(self.overwrite());
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
}
