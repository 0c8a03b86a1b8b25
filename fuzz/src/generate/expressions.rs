//! Expressions of a type, of some depth at most. Functions are fed with arguments inside their domain most of the time.

use super::{Make, expr, infix, int, joined, method, real, unary};
use crate::ast::{ARRAYS, Expr, Kind, PLAIN, Ty, UPDATED, Unary, Use};

impl Make {
    pub(super) fn value(&mut self, ty: Ty, depth: usize) -> Expr {
        match ty {
            Ty::U32 => self.integer(depth),
            Ty::Bool => self.condition(depth),
            ty if ty.is_struct() => self.structure(ty, depth),
            _ if depth == 0 || self.rng.chance(15) => self.leaf(ty),
            ty if self.structs && self.rng.chance(5) => self.block_value(ty, depth - 1),
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
        if self.structs
            && self.rng.chance(25)
            && let Some(field) = self.field(ty)
        {
            return field;
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
        let arrays: Vec<usize> = (0..PLAIN).filter(|k| ARRAYS[*k].1 == ty && ARRAYS[*k].2 == Use::Read).collect();
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

    pub(super) fn integer(&mut self, depth: usize) -> Expr {
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

    pub(super) fn condition(&mut self, depth: usize) -> Expr {
        let outside = std::mem::replace(&mut self.pure, true);
        let condition = self.pure_condition(depth);
        self.pure = outside;
        condition
    }

    fn pure_condition(&mut self, depth: usize) -> Expr {
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
