//! Structs: their values wherever one may stand, their fields, the arrays of them.

use super::{Make, expr, int, method, unary};
use crate::ast::{ARRAYS, Expr, Kind, PLAIN, Stmt, Ty, Unary, Use};

/// The array of structs that each thread reads and overwrites at its position.
const UPDATED: usize = PLAIN + 4;

impl Make {
    /// A struct.
    pub(super) fn structure(&mut self, ty: Ty, depth: usize) -> Expr {
        let less = depth.saturating_sub(1);
        let boxed = Box::new;
        match self.rng.below(if depth == 0 { 7 } else { 16 }) {
            0..3 => {
                let variables = self.variables(|t, _| t == ty);
                match variables.is_empty() {
                    true => self.element(ty),
                    false => expr(ty, Kind::Var(self.rng.pick(&variables).0)),
                }
            }
            3..5 => self.element(ty),
            5..7 if ty == Ty::Body => expr(ty, Kind::New(vec![self.value(Ty::Real, less), self.value(Ty::Vec3, less)])),
            5..7 => {
                let (size, body) = (self.value(Ty::Vec2, less), self.structure(Ty::Body, less));
                expr(ty, Kind::New(vec![size, body, self.value(Ty::Real, less)]))
            }
            7..10 => {
                let (c, a, b) = (self.condition(1), self.structure(ty, less), self.structure(ty, less));
                expr(ty, Kind::If(boxed(c), boxed(a), boxed(b)))
            }
            10 => {
                let of = self.value(Ty::U32, 1);
                let arms = (0..3).map(|_| self.structure(ty, less)).collect();
                expr(ty, Kind::Match(boxed(of), arms))
            }
            11 => {
                let (c, a, b) = (self.condition(1), self.structure(ty, less), self.structure(ty, less));
                expr(ty, Kind::Select(boxed(c), boxed(a), boxed(b)))
            }
            12 => self.block_value(ty, less),
            13 => self.call(ty, less),
            14 if ty == Ty::Body => {
                let held = self.structure(Ty::Held, less);
                let held = if told(&held) { held } else { self.element(Ty::Held) };
                unary(ty, Unary::Field("body"), held)
            }
            _ => {
                let mut fields =
                    vec![if ty == Ty::Body { "at" } else { "body" }, if ty == Ty::Body { "mass" } else { "gain" }];
                if self.rng.chance(60) {
                    fields.remove(self.rng.below(2));
                }
                let type_of = |path: &str| ty.fields().iter().find(|f| f.0 == path).map_or(Ty::Real, |f| f.1);
                let given = fields.into_iter().map(|path| (path, self.value(type_of(path), less))).collect();
                expr(ty, Kind::With(given, boxed(self.structure(ty, less))))
            }
        }
    }

    /// A device function that gives a struct.
    pub(super) fn call(&mut self, ty: Ty, depth: usize) -> Expr {
        let (name, args) = match ty {
            Ty::Body if self.rng.chance(50) => {
                ("push", vec![self.structure(Ty::Body, depth), self.value(Ty::Real, depth)])
            }
            Ty::Body => ("let_go", vec![self.structure(Ty::Held, depth)]),
            _ => {
                let args = [self.structure(Ty::Body, depth), self.value(Ty::Vec2, depth), self.value(Ty::Real, depth)];
                ("hold", args.to_vec())
            }
        };
        // The type of an argument must be known to the macro, which that of a call is not.
        let args = args.into_iter().map(|arg| if told(&arg) { arg } else { self.element(arg.ty) }).collect();
        expr(ty, Kind::Call(name, args))
    }

    /// An element of an array.
    fn element(&mut self, ty: Ty) -> Expr {
        if ty == Ty::Held && self.unread.len() == 3 && self.rng.chance(40) {
            return expr(ty, Kind::Load(UPDATED, None));
        }
        if ty == Ty::Body && self.unread.contains(&"body") && self.rng.chance(40) {
            return unary(ty, Unary::Field("body"), expr(Ty::Held, Kind::Load(UPDATED, None)));
        }
        let array = if ty == Ty::Body { PLAIN } else { PLAIN + 1 };
        let at = self.rng.chance(50).then(|| Box::new(self.index()));
        expr(ty, Kind::Load(array, at))
    }

    fn index(&mut self) -> Expr {
        let counters = self.variables(|t, mutable| t == Ty::U32 && mutable);
        if !self.pure && !counters.is_empty() && self.rng.chance(25) {
            let var = self.rng.pick(&counters).0;
            let more = Stmt::Compound(var, "+=", int(1));
            return expr(Ty::U32, Kind::Block(vec![more], Box::new(expr(Ty::U32, Kind::Var(var)))));
        }
        self.value(Ty::U32, 1)
    }

    /// A field of that type of a struct that is at hand, or made on the spot.
    pub(super) fn field(&mut self, ty: Ty) -> Option<Expr> {
        let of = *self.rng.pick(&[Ty::Body, Ty::Held]);
        let paths: Vec<&'static str> = of.fields().iter().filter(|f| f.1 == ty).map(|f| f.0).collect();
        if paths.is_empty() {
            return None;
        }
        let path = *self.rng.pick(&paths);
        let unread = |field: &&str| path.split('.').next() == Some(field);
        if of == Ty::Held && self.unread.iter().any(unread) && self.rng.chance(30) {
            return Some(unary(ty, Unary::Field(path), expr(of, Kind::Load(UPDATED, None))));
        }
        let depth = usize::from(self.rng.chance(15));
        let value = self.structure(of, depth);
        told(&value).then(|| unary(ty, Unary::Field(path), value))
    }

    /// A block that ends in a value; what it assigns to is seen after it.
    pub(super) fn block_value(&mut self, ty: Ty, depth: usize) -> Expr {
        self.scopes.push(Vec::new());
        let mut stmts = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            let reals = self.variables(|t, mutable| t == Ty::Real && mutable);
            stmts.push(match self.rng.below(4) {
                0 if !self.pure && !reals.is_empty() => {
                    let e = method("sin", self.value(Ty::Real, depth));
                    Stmt::Assign(self.rng.pick(&reals).0, e)
                }
                1 if !self.pure => self.accumulate(),
                2 => {
                    let e = self.value(ty, depth);
                    Stmt::Let(self.fresh(ty, true), e)
                }
                _ => {
                    let e = self.value(Ty::Real, depth);
                    Stmt::Let(self.fresh(Ty::Real, true), e)
                }
            });
        }
        let value = self.value(ty, depth);
        self.scopes.pop();
        expr(ty, Kind::Block(stmts, Box::new(value)))
    }

    /// `e[i].gain += v` and the like.
    pub(super) fn accumulate_field(&mut self) -> Stmt {
        let array = PLAIN + 3;
        let fields: Vec<_> = ARRAYS[array].1.fields().iter().filter(|f| !f.1.is_struct()).collect();
        let (path, ty) = **self.rng.pick(&fields);
        let at = if self.rng.chance(75) { Some(self.index()) } else { None };
        let minus = self.rng.chance(30);
        Stmt::AddField(array, at, path, minus, self.value(ty, 3))
    }

    /// `w[ABSOLUTE_POS] = v`, or one field of it.
    pub(super) fn store_struct(&mut self) -> Stmt {
        let array = PLAIN + 2;
        debug_assert!(ARRAYS[array].2 == Use::Store);
        if self.rng.chance(50) {
            return Stmt::Store(array, self.structure(Ty::Held, 3));
        }
        let (path, ty) = *self.rng.pick(Ty::Held.fields());
        Stmt::StoreField(array, path, "=", self.value(ty, 3))
    }

    /// Overwrites the thread's own element from what it was, as a whole or field by field.
    pub(super) fn overwrite(&mut self) -> Vec<Stmt> {
        self.unread = vec!["size", "body", "gain"];
        let mut out = Vec::new();
        if self.rng.chance(50) {
            out.push(Stmt::Store(UPDATED, self.structure(Ty::Held, 3)));
            self.unread.clear();
        }
        while !self.unread.is_empty() {
            let (path, ty) = match *self.rng.pick(&self.unread) {
                "size" => ("size", Ty::Vec2),
                "body" => ("body", Ty::Body),
                other => (other, Ty::Real),
            };
            let op = if ty == Ty::Real && self.rng.chance(50) { "*=" } else { "=" };
            let e = self.value(ty, 3);
            self.unread.retain(|field| *field != path);
            out.push(Stmt::StoreField(UPDATED, path, op, e));
        }
        out
    }
}

/// Whether the macro sees which struct an expression is: not where all there is to see is a call.
fn told(e: &Expr) -> bool {
    match &e.kind {
        Kind::Call(..) => !e.ty.is_struct(),
        Kind::If(_, a, b) => told(a) || told(b),
        Kind::Select(_, a, _) => told(a),
        Kind::Match(_, arms) => arms.iter().any(told),
        Kind::Block(_, e) => told(e),
        Kind::Unary(Unary::Field(_), e) => told(e),
        _ => true,
    }
}
