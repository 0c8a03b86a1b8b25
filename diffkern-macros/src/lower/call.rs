//! Calls: elementary functions, constructors, vector and matrix methods, device functions.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall};

use super::Lower;
use crate::ir::{BinaryOp, CallArg, CallMode, Id, Lit, Op, StmtKind, Ty, UnaryOp};
use crate::parse::named_shape;

impl Lower<'_> {
    pub(super) fn call(&mut self, c: &ExprCall, want: Option<Ty>) -> Option<Id> {
        let Expr::Path(path) = &*c.func else {
            self.errors.at(&c.func, "call a function by its name");
            return None;
        };
        let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let args: Vec<&Expr> = c.args.iter().collect();
        if let Some(way) = crate::cube::refused_function(&names) {
            self.errors.at(path, format!("`{}` is not part of the kernel language; {way}", names.join("::")));
            return None;
        }
        match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["select"] => return self.select(c, &args, want),
            ["detach"] => {
                let [value] = self.values(c, &args, [want])?;
                return self.unary_op(UnaryOp::Detach, value, c.span());
            }
            [name @ ("min" | "max" | "fma")] => return self.free_function(c, name, &args, want),
            [owner, name] if self.real.as_ref().is_some_and(|r| r == owner) => {
                return self.real_function(c, name, &args);
            }
            [owner @ ("u32" | "i32" | "usize"), "cast_from"] => {
                let [value] = self.values(c, &args, [None])?;
                return self.cast(value, integer(owner)?, c.span());
            }
            [owner @ ("f32" | "f64"), name] => {
                let real = self.real.as_ref().map_or_else(|| "F".to_owned(), ToString::to_string);
                self.errors
                    .at(path, format!("the real type of this function is `{real}`, not `{owner}`: `{real}::{name}`"));
                return None;
            }
            ["Array", _] => {
                self.errors.at(path, "a local array is made by `Array::<F>::new(4)`, `[x; 4]` or `[x, y, z]`");
                return None;
            }
            ["Some" | "Ok" | "Err"] => {
                self.errors.at(path, "there are no enums in the kernel language; keep a `bool` beside the value");
                return None;
            }
            [owner @ ("u32" | "i32" | "usize"), name] => {
                let (first, rest) = args.split_first().or_else(|| {
                    self.errors.at(c, "numbers are written out: this has no value in a kernel");
                    None
                })?;
                let ty = integer(owner);
                let first_id = self.expr(first, ty)?;
                self.expect_type(first_id, ty, first.span());
                return self.apply(name, first_id, rest, c.span(), path);
            }
            [owner, name] if named_shape(owner).is_some() => {
                return self.constructor(c, named_shape(owner)?, name, &args);
            }
            _ => {}
        }
        let types = want.map(|t| vec![t]);
        self.device_call(c, types.as_deref(), 1)?.first().copied()
    }

    /// Exactly `N` value arguments.
    pub(super) fn values<const N: usize>(
        &mut self,
        at: impl quote::ToTokens,
        args: &[&Expr],
        want: [Option<Ty>; N],
    ) -> Option<[Id; N]> {
        if args.len() != N {
            self.errors.at(at, format!("this takes {N} arguments, {} given", args.len()));
            return None;
        }
        let mut ids = [Id(0); N];
        for (k, (arg, want)) in args.iter().zip(want).enumerate() {
            ids[k] = self.expr(arg, want)?;
        }
        Some(ids)
    }

    /// `min(a, b)`, `max(a, b)`, `fma(a, b, c)`.
    fn free_function(&mut self, c: &ExprCall, name: &str, args: &[&Expr], want: Option<Ty>) -> Option<Id> {
        let (first, rest) = args.split_first().or_else(|| {
            self.errors.at(c, format!("`{name}` needs arguments"));
            None
        })?;
        // Of integers the order does not matter, and only the other one may say which they are.
        if let [second] = rest
            && super::expr::is_literal(first)
            && !super::expr::is_literal(second)
        {
            let second = self.expr(second, want)?;
            return self.apply(name, second, &[first], c.span(), &c.func);
        }
        let first = self.expr(first, want)?;
        self.apply(name, first, rest, c.span(), &c.func)
    }

    fn select(&mut self, c: &ExprCall, args: &[&Expr], want: Option<Ty>) -> Option<Id> {
        let [cond, yes, no] = args else {
            self.errors.at(c, "write `select(condition, if_true, if_false)`");
            return None;
        };
        let cond_id = self.expr(cond, Some(Ty::Bool))?;
        self.expect_type(cond_id, Some(Ty::Bool), cond.span());
        let want = want.or_else(|| self.probe(yes)).or_else(|| self.probe(no));
        let yes = self.expr(yes, want)?;
        let no_id = self.expr(no, Some(self.ty(yes)))?;
        self.expect_type(no_id, Some(self.ty(yes)), no.span());
        Some(self.op(self.ty(yes), Op::Select(cond_id, yes, no_id), c.span()))
    }

    /// `F::new(0.5)`, `F::cast_from(i)`, `F::max(a, b)`.
    fn real_function(&mut self, c: &ExprCall, name: &str, args: &[&Expr]) -> Option<Id> {
        match name {
            "new" | "from_int" | "from" => {
                let [value] = args else {
                    self.errors.at(c, "write `F::new(0.5)`");
                    return None;
                };
                match number(value) {
                    Some(x) => Some(self.constant(Ty::Real, Lit::Real(x), c.span())),
                    None => {
                        let id = self.expr(value, Some(Ty::Real))?;
                        if self.ty(id) != Ty::Real {
                            self.errors.at(value, "convert an integer with `F::cast_from(x)`");
                            return None;
                        }
                        Some(id)
                    }
                }
            }
            "cast_from" => {
                if let [value] = args
                    && let Some(x) = number(value)
                {
                    return Some(self.constant(Ty::Real, Lit::Real(x), c.span()));
                }
                let [value] = self.values(c, args, [None])?;
                self.cast(value, Ty::Real, c.span())
            }
            "min_value" | "max_value" if args.is_empty() => {
                let number = if name == "min_value" { "-1e30" } else { "1e30" };
                self.errors.at(
                    c,
                    format!(
                        "`F::{name}()` is not part of the kernel language; start from the first element, or write a \
                         number: `F::new({number})`"
                    ),
                );
                None
            }
            _ => {
                let (first, rest) = args.split_first().or_else(|| {
                    self.errors.at(c, format!("`{name}` needs an argument"));
                    None
                })?;
                let first = self.expr(first, Some(Ty::Real))?;
                self.apply(name, first, rest, c.span(), &c.func)
            }
        }
    }

    pub(super) fn method(&mut self, m: &ExprMethodCall, want: Option<Ty>) -> Option<Id> {
        if self.fetches(m) {
            return self.fetch(m, true);
        }
        let name = m.method.to_string();
        if let Some(local) = self.local_named(&m.receiver)
            && name == "len"
            && m.args.is_empty()
        {
            return Some(self.local_len(local, m.span()));
        }
        if let Some(array) = self.array_named(&m.receiver) {
            if name == "len" && m.args.is_empty() {
                return Some(self.op(Ty::Usize, Op::Len(array), m.span()));
            }
            self.errors
                .at(&m.method, format!("an array has no `{name}` in a kernel: it has `len()` and elements `a[i]`"));
            return None;
        }
        let hint = want.filter(|t| *t == Ty::Real || t.is_int());
        let receiver = self.expr(&m.receiver, hint)?;
        let args: Vec<&Expr> = m.args.iter().collect();
        self.apply(&name, receiver, &args, m.span(), &m.method)
    }

    /// The named function of `x` and `args`, by the type of `x`.
    fn apply(&mut self, name: &str, x: Id, args: &[&Expr], span: Span, at: impl quote::ToTokens) -> Option<Id> {
        match self.ty(x) {
            ty if ty.is_int() => self.apply_integer(name, x, args, span, at),
            Ty::Real => self.apply_real(name, x, args, span, at),
            Ty::Vec(_) => self.apply_vec(name, x, args, span, at),
            Ty::Mat(_) => self.apply_mat(name, x, args, span, at),
            Ty::Quat => self.apply_quat(name, x, args, span, at),
            ty => self.unknown(name, ty, "no functions", at),
        }
    }

    fn apply_real(&mut self, name: &str, x: Id, args: &[&Expr], span: Span, at: impl quote::ToTokens) -> Option<Id> {
        let real = Some(Ty::Real);
        if let Some(op) = real_unary(name) {
            self.values::<0>(at, args, [])?;
            return self.unary_op(op, x, span);
        }
        if let Some(op) = real_binary(name) {
            let [y] = self.values(at, args, [real])?;
            self.expect_type(y, real, span);
            return Some(self.op(Ty::Real, Op::Binary(op, x, y), span));
        }
        match name {
            "powi" => {
                let [n] = self.values(at, args, [Some(Ty::I32)])?;
                self.expect_type(n, Some(Ty::I32), span);
                Some(self.op(Ty::Real, Op::Binary(BinaryOp::Powi, x, n), span))
            }
            "clamp" => {
                let [lo, hi] = self.values(at, args, [real, real])?;
                self.expect_type(lo, real, span);
                self.expect_type(hi, real, span);
                let x = self.op(Ty::Real, Op::Binary(BinaryOp::Max, x, lo), span);
                Some(self.op(Ty::Real, Op::Binary(BinaryOp::Min, x, hi), span))
            }
            "fma" | "mul_add" => {
                let [y, z] = self.values(at, args, [real, real])?;
                self.expect_type(y, real, span);
                self.expect_type(z, real, span);
                let xy = self.op(Ty::Real, Op::Binary(BinaryOp::Mul, x, y), span);
                Some(self.op(Ty::Real, Op::Binary(BinaryOp::Add, xy, z), span))
            }
            "recip" => {
                self.values::<0>(at, args, [])?;
                Some(self.reciprocal(x, span))
            }
            "inverse_sqrt" => {
                self.values::<0>(at, args, [])?;
                let root = self.op(Ty::Real, Op::Unary(UnaryOp::Sqrt, x), span);
                Some(self.reciprocal(root, span))
            }
            "rhypot" => {
                let [y] = self.values(at, args, [real])?;
                self.expect_type(y, real, span);
                let length = self.op(Ty::Real, Op::Binary(BinaryOp::Hypot, x, y), span);
                Some(self.reciprocal(length, span))
            }
            "trunc" => {
                self.values::<0>(at, args, [])?;
                let zero = self.constant(Ty::Real, Lit::Real(0.0), span);
                let below = self.op(Ty::Bool, Op::Binary(BinaryOp::Lt, x, zero), span);
                let up = self.op(Ty::Real, Op::Unary(UnaryOp::Ceil, x), span);
                let down = self.op(Ty::Real, Op::Unary(UnaryOp::Floor, x), span);
                Some(self.op(Ty::Real, Op::Select(below, up, down), span))
            }
            "to_degrees" | "to_radians" => {
                self.values::<0>(at, args, [])?;
                let unit = if name == "to_degrees" { 1f64.to_degrees() } else { 1f64.to_radians() };
                let unit = self.constant(Ty::Real, Lit::Real(unit), span);
                Some(self.op(Ty::Real, Op::Binary(BinaryOp::Mul, x, unit), span))
            }
            _ => self.unknown(
                name,
                Ty::Real,
                "exp, ln, sqrt, powf, powi, sin, cos, tan, asin, acos, atan, atan2, tanh, sinh, cosh, erf, log1p, abs, \
                 min, max, clamp, floor, ceil, round, trunc, hypot, rhypot, fma, recip, inverse_sqrt, to_degrees, to_radians, \
                 sign, is_nan",
                at,
            ),
        }
    }

    fn reciprocal(&mut self, x: Id, span: Span) -> Id {
        let one = self.constant(Ty::Real, Lit::Real(1.0), span);
        self.op(Ty::Real, Op::Binary(BinaryOp::Div, one, x), span)
    }

    fn apply_vec(&mut self, name: &str, x: Id, args: &[&Expr], span: Span, at: impl quote::ToTokens) -> Option<Id> {
        let ty = self.ty(x);
        let Ty::Vec(n) = ty else { return None };
        let (op, result) = match name {
            "dot" => (BinaryOp::Dot, Ty::Real),
            "mul_elem" => (BinaryOp::MulElem, ty),
            "cross" if n == 3 => (BinaryOp::Cross, ty),
            "outer" if n < 4 => (BinaryOp::Outer, Ty::Mat(n)),
            "norm" | "norm_squared" | "normalize" => {
                self.values::<0>(at, args, [])?;
                let square = self.op(Ty::Real, Op::Binary(BinaryOp::Dot, x, x), span);
                if name == "norm_squared" {
                    return Some(square);
                }
                let norm = self.op(Ty::Real, Op::Unary(UnaryOp::Length, square), span);
                if name == "norm" {
                    return Some(norm);
                }
                let one = self.constant(Ty::Real, Lit::Real(1.0), span);
                let recip = self.op(Ty::Real, Op::Binary(BinaryOp::Div, one, norm), span);
                return Some(self.op(ty, Op::Binary(BinaryOp::Scale, x, recip), span));
            }
            _ => return self.unknown(name, ty, "dot, cross (3), outer, mul_elem, norm, norm_squared, normalize", at),
        };
        let [y] = self.values(at, args, [Some(ty)])?;
        self.expect_type(y, Some(ty), span);
        Some(self.op(result, Op::Binary(op, x, y), span))
    }

    /// `Vec3::new(..)`, `Mat3::identity()`, ...
    fn constructor(&mut self, c: &ExprCall, ty: Ty, name: &str, args: &[&Expr]) -> Option<Id> {
        let n = ty.components();
        let real = |s: &mut Self, x: f64| s.constant(Ty::Real, Lit::Real(x), c.span());
        let parts = match (ty, name) {
            (_, "new") => {
                if args.len() != n {
                    self.errors.at(c, format!("`{}` has {n} components, {} given", self.type_name(ty), args.len()));
                    return None;
                }
                let ids = args.iter().map(|a| self.real_arg(a)).collect::<Option<Vec<_>>>()?;
                return Some(self.op(ty, Op::Compose(ids), c.span()));
            }
            (_, "zero") if args.is_empty() => {
                let zero = real(self, 0.0);
                vec![zero; n]
            }
            (Ty::Quat, "identity" | "from_axis_angle" | "from_rotation_vector") => {
                return self.quat_constructor(c, name, args);
            }
            (Ty::Vec(_), "splat") if args.len() == 1 => vec![self.real_arg(args[0])?; n],
            (Ty::Mat(m), "identity") if args.is_empty() => {
                let (zero, one) = (real(self, 0.0), real(self, 1.0));
                (0..n).map(|k| if k % (m as usize + 1) == 0 { one } else { zero }).collect()
            }
            (Ty::Mat(m), "from_diagonal") if args.len() == 1 => {
                let v = self.expr(args[0], None)?;
                self.expect_type(v, Some(Ty::Vec(m)), args[0].span());
                if self.ty(v) != Ty::Vec(m) {
                    return None;
                }
                let zero = real(self, 0.0);
                let mut parts = vec![zero; n];
                for k in 0..m {
                    parts[k as usize * (m as usize + 1)] = self.op(Ty::Real, Op::Extract(v, k), c.span());
                }
                parts
            }
            (Ty::Mat(m), "from_cols" | "from_rows") if args.len() == m as usize => {
                let mut lines = Vec::new();
                for arg in args {
                    let id = self.expr(arg, None)?;
                    if self.ty(id) != Ty::Vec(m) {
                        self.expect_type(id, Some(Ty::Vec(m)), arg.span());
                        return None;
                    }
                    lines.push(id);
                }
                return Some(self.matrix_of_lines(&lines, name == "from_cols", c.span()));
            }
            _ => {
                self.errors.at(
                    &c.func,
                    "not a constructor of the kernel language; use new, zero, splat (vectors), identity, from_diagonal, \
                     from_cols, from_rows (matrices), from_axis_angle, from_rotation_vector (quaternions), with as many arguments as they take",
                );
                return None;
            }
        };
        Some(self.op(ty, Op::Compose(parts), c.span()))
    }

    fn real_arg(&mut self, e: &Expr) -> Option<Id> {
        let id = self.expr(e, Some(Ty::Real))?;
        self.expect_type(id, Some(Ty::Real), e.span());
        (self.ty(id) == Ty::Real).then_some(id)
    }

    pub(super) fn unary_op(&mut self, op: UnaryOp, x: Id, span: Span) -> Option<Id> {
        let ty = if op == UnaryOp::IsNan { Ty::Bool } else { self.ty(x) };
        Some(self.op(ty, Op::Unary(op, x), span))
    }

    pub(super) fn unknown(&self, name: &str, ty: Ty, known: &str, at: impl quote::ToTokens) -> Option<Id> {
        self.errors.at(at, format!("`{}` has no function `{name}` in a kernel; it has: {known}", self.type_name(ty)));
        None
    }

    // ---- device functions

    /// A call of a `#[diff_fn]`. Its result types are what the call's surroundings say; rustc checks them.
    pub(super) fn device_call(&mut self, c: &ExprCall, types: Option<&[Ty]>, results: usize) -> Option<Vec<Id>> {
        let Expr::Path(path) = &*c.func else {
            self.errors.at(&c.func, "call a function by its name");
            return None;
        };
        let shown = path.path.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>().join("::");
        let own = shown.strip_prefix("self::").unwrap_or(&shown) == self.own_name;
        let own_method = path.path.segments.len() == 2 && shown == format!("Self::{}", self.own_name);
        if own || own_method && self.func.laws.iter().any(|law| law == "Self") {
            self.errors.at(&c.func, format!("`{shown}` calls itself; recursion is refused, write a loop"));
            return None;
        }
        let Some(types) = types else {
            let call = quote::quote!(#c)
                .to_string()
                .replace(" ,", ",")
                .replace(" (", "(")
                .replace("( ", "(")
                .replace(" )", ")");
            let binding = if results > 1 { "(a, b): (F, F)" } else { "value: F" };
            self.errors.at(
                &c.func,
                format!("write the result's type where the device function is called: `let {binding} = {call};` with the type that `{shown}` returns"),
            );
            return None;
        };
        let mut args = Vec::new();
        for arg in &c.args {
            let inner = match arg {
                Expr::Reference(r) => &*r.expr,
                other => other,
            };
            if let Some(slot) = self.array_named(inner) {
                if self.arrays[slot].mutable || self.arrays[slot].atomic {
                    self.errors.at(arg, "a device function cannot write an array; return the value and write it here");
                    return None;
                }
                self.arrays[slot].read.get_or_insert(arg.span());
                self.arrays[slot].not_owned = true;
                args.push(CallArg::Array(slot));
            } else {
                args.push(CallArg::Value(self.expr(arg, real_if_literal(arg))?));
            }
        }
        let mut callee = path.path.clone();
        if let Some(last) = callee.segments.last_mut() {
            last.arguments = self.without_real(&last.arguments);
        }
        let callee = match self.func.callees.iter().position(|p| *p == callee) {
            Some(k) => k,
            None => {
                self.func.callees.push(callee);
                self.func.callees.len() - 1
            }
        };
        let results: Vec<Id> = types.iter().map(|&t| self.func.fresh(t)).collect();
        self.emit(StmtKind::Call { callee, mode: CallMode::Primal, args, results: results.clone() }, c.span());
        Some(results)
    }
}

impl Lower<'_> {
    /// The types of a turbofish but the real one, which calls have anyway.
    fn without_real(&self, arguments: &syn::PathArguments) -> syn::PathArguments {
        let syn::PathArguments::AngleBracketed(arguments) = arguments else { return syn::PathArguments::None };
        let mut kept = arguments.clone();
        kept.args = arguments.args.iter().filter(|arg| !self.is_real_type(arg)).cloned().collect();
        if kept.args.is_empty() { syn::PathArguments::None } else { syn::PathArguments::AngleBracketed(kept) }
    }

    fn is_real_type(&self, arg: &syn::GenericArgument) -> bool {
        match arg {
            syn::GenericArgument::Type(syn::Type::Infer(_)) => true,
            syn::GenericArgument::Type(syn::Type::Path(path)) => {
                self.real.as_ref().is_some_and(|real| path.path.is_ident(real))
            }
            _ => false,
        }
    }
}

/// What to write instead of a function of CubeCL.
pub(super) fn cube_function(c: &ExprCall) -> Option<&'static str> {
    let Expr::Path(path) = &*c.func else { return None };
    let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    crate::cube::refused_function(&names)
}

fn real_if_literal(e: &Expr) -> Option<Ty> {
    match e {
        Expr::Lit(l) if matches!(l.lit, syn::Lit::Float(_)) => Some(Ty::Real),
        _ => None,
    }
}

/// A number as written, with its sign.
fn number(e: &Expr) -> Option<f64> {
    match e {
        Expr::Lit(l) => match &l.lit {
            syn::Lit::Float(f) => f.base10_parse().ok(),
            syn::Lit::Int(i) => i.base10_parse::<i64>().ok().map(|v| v as f64),
            _ => None,
        },
        Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => number(&u.expr).map(|x| -x),
        Expr::Paren(p) => number(&p.expr),
        _ => None,
    }
}

/// `u32`, `i32`, `usize`.
pub(super) fn integer(name: &str) -> Option<Ty> {
    Some(match name {
        "u32" => Ty::U32,
        "i32" => Ty::I32,
        "usize" => Ty::Usize,
        _ => return None,
    })
}

fn real_unary(name: &str) -> Option<UnaryOp> {
    Some(match name {
        "abs" => UnaryOp::Abs,
        "exp" => UnaryOp::Exp,
        "ln" => UnaryOp::Ln,
        "sqrt" => UnaryOp::Sqrt,
        "sin" => UnaryOp::Sin,
        "cos" => UnaryOp::Cos,
        "tan" => UnaryOp::Tan,
        "asin" => UnaryOp::Asin,
        "acos" => UnaryOp::Acos,
        "atan" => UnaryOp::Atan,
        "tanh" => UnaryOp::Tanh,
        "sinh" => UnaryOp::Sinh,
        "cosh" => UnaryOp::Cosh,
        "erf" => UnaryOp::Erf,
        "log1p" | "ln_1p" => UnaryOp::Log1p,
        "floor" => UnaryOp::Floor,
        "ceil" => UnaryOp::Ceil,
        "round" => UnaryOp::Round,
        "sign" => UnaryOp::Sign,
        "is_nan" => UnaryOp::IsNan,
        _ => return None,
    })
}

fn real_binary(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "min" => BinaryOp::Min,
        "max" => BinaryOp::Max,
        "powf" => BinaryOp::Powf,
        "atan2" => BinaryOp::Atan2,
        "hypot" => BinaryOp::Hypot,
        _ => return None,
    })
}
