//! Calls: elementary functions, constructors, vector and matrix methods, device functions.

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty, UnaryOp};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall};

use super::Lower;
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
            [owner, name] if crate::cube::is_vector(owner) => return self.vector_function(c, name, &args, want),
            [owner, _] if crate::cube::is_operation(owner) && !self.source.laws.iter().any(|law| law == owner) => {
                let name = names.last().map_or("", String::as_str);
                return self.free_function(c, name, &args, want);
            }
            ["select" | "select_many"] => return self.select(c, &args, want),
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
            [owner @ ("u32" | "i32" | "usize"), name @ ("min_value" | "max_value")] if args.is_empty() => {
                let ty = integer(owner)?;
                return Some(self.constant(ty, Lit::Int(extreme(ty, *name == "max_value")), c.span()));
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
            [.., owner, name] if named_shape(owner).is_some() => {
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
        // Of two, only the other may say what a number is.
        let want = want.or_else(|| self.probe(first)).or_else(|| rest.first().and_then(|e| self.probe(e)));
        let first = self.expr(first, want)?;
        self.apply(name, first, rest, c.span(), &c.func)
    }

    /// A function of a vector as wide as the launcher chooses, which is one component here.
    fn vector_function(&mut self, c: &ExprCall, name: &str, args: &[&Expr], want: Option<Ty>) -> Option<Id> {
        let want = self.written_component(c).or(want);
        match name {
            "new" | "from_int" => {
                let [value] = self.values(c, args, [want])?;
                Some(value)
            }
            "cast_from" => {
                let [value] = self.values(c, args, [None])?;
                self.cast(value, want.unwrap_or(Ty::Real), c.span())
            }
            "min_value" | "max_value" if args.is_empty() => self.real_function(c, name, args),
            _ => self.free_function(c, name, args, want),
        }
    }

    /// `u32` of `Vector::<u32>::new`.
    fn written_component(&self, c: &ExprCall) -> Option<Ty> {
        let Expr::Path(path) = &*c.func else { return None };
        let syn::PathArguments::AngleBracketed(args) = &path.path.segments.first()?.arguments else { return None };
        match args.args.first()? {
            syn::GenericArgument::Type(ty) => crate::parse::value_type(ty, self.real.as_ref(), self.errors),
            _ => None,
        }
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
                match self.written_number(value)? {
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
                    && let Some(x) = self.written_number(value)?
                {
                    return Some(self.constant(Ty::Real, Lit::Real(x), c.span()));
                }
                let [value] = self.values(c, args, [None])?;
                self.cast(value, Ty::Real, c.span())
            }
            "min_value" | "max_value" if args.is_empty() => {
                // The same number in `f64`: a program has one text for both.
                let most = f64::from(if name == "min_value" { f32::MIN } else { f32::MAX });
                Some(self.constant(Ty::Real, Lit::Real(most), c.span()))
            }
            _ => {
                let Some((first, rest)) = args.split_first() else {
                    self.errors.at(
                        c,
                        format!(
                            "`{}::{name}()` has no value in a kernel; write a number, as in `F::new(0.5)`",
                            self.type_name(Ty::Real)
                        ),
                    );
                    return None;
                };
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
        // `Line::empty(n).fill(x)`: a vector of one component.
        if let (Expr::Call(made), "fill", 1) = (&*m.receiver, name.as_str(), m.args.len())
            && let Expr::Path(path) = &*made.func
            && let [owner, empty] = path.path.segments.iter().collect::<Vec<_>>().as_slice()
            && crate::cube::is_vector(&owner.ident.to_string())
            && empty.ident == "empty"
        {
            return self.expr(&m.args[0], want);
        }
        let hint = want.filter(|t| *t == Ty::Real || t.is_int());
        let receiver = self.expr(&m.receiver, hint)?;
        let args: Vec<&Expr> = m.args.iter().collect();
        self.apply(&name, receiver, &args, m.span(), &m.method)
    }

    /// The named function of `x` and `args`, by the type of `x`.
    fn apply(&mut self, name: &str, x: Id, args: &[&Expr], span: Span, at: impl quote::ToTokens) -> Option<Id> {
        match self.ty(x) {
            ty if (ty == Ty::Real || ty.is_int()) && compared(name).is_some() => self.compare(name, x, args, span, at),
            ty if ty.is_int() => self.apply_integer(name, x, args, span, at),
            Ty::Real => self.apply_real(name, x, args, span, at),
            Ty::Vec(_) => self.apply_vec(name, x, args, span, at),
            Ty::Mat(_) => self.apply_mat(name, x, args, span, at),
            Ty::Quat => self.apply_quat(name, x, args, span, at),
            ty => self.unknown(name, ty, "no functions", at),
        }
    }

    /// `a.greater_than(&b)`, which CubeCL has for vectors.
    fn compare(&mut self, name: &str, x: Id, args: &[&Expr], span: Span, at: impl quote::ToTokens) -> Option<Id> {
        let args: Vec<&Expr> = args
            .iter()
            .map(|arg| match arg {
                Expr::Reference(r) => &*r.expr,
                other => *other,
            })
            .collect();
        let ty = Some(self.ty(x));
        let [y] = self.values(at, &args, [ty])?;
        self.expect_type(y, ty, span);
        Some(self.op(Ty::Bool, Op::Binary(compared(name)?, x, y), span))
    }

    fn apply_vec(&mut self, name: &str, x: Id, args: &[&Expr], span: Span, at: impl quote::ToTokens) -> Option<Id> {
        let ty = self.ty(x);
        let Ty::Vec(n) = ty else { return None };
        let (op, result) = match name {
            "dot" => (BinaryOp::Dot, Ty::Real),
            "mul_elem" => (BinaryOp::MulElem, ty),
            "cross" if n == 3 => (BinaryOp::Cross, ty),
            "outer" if n < 4 => (BinaryOp::Outer, Ty::Mat(n)),
            "norm" | "magnitude" | "norm_squared" | "normalize" => {
                self.values::<0>(at, args, [])?;
                let square = self.op(Ty::Real, Op::Binary(BinaryOp::Dot, x, x), span);
                if name == "norm_squared" {
                    return Some(square);
                }
                let norm = self.op(Ty::Real, Op::Unary(UnaryOp::Length, square), span);
                if name == "norm" || name == "magnitude" {
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

    pub(super) fn unary_op(&mut self, op: UnaryOp, x: Id, span: Span) -> Option<Id> {
        let ty = if op == UnaryOp::IsNan { Ty::Bool } else { self.ty(x) };
        Some(self.op(ty, Op::Unary(op, x), span))
    }

    pub(super) fn unknown(&self, name: &str, ty: Ty, known: &str, at: impl quote::ToTokens) -> Option<Id> {
        self.errors.at(at, format!("`{}` has no function `{name}` in a kernel; it has: {known}", self.type_name(ty)));
        None
    }
}

fn compared(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "greater_than" => BinaryOp::Gt,
        "greater_equal" => BinaryOp::Ge,
        "less_than" => BinaryOp::Lt,
        "less_equal" => BinaryOp::Le,
        "equal" => BinaryOp::Eq,
        "not_equal" => BinaryOp::Ne,
        _ => return None,
    })
}

/// What to write instead of a function of CubeCL.
pub(super) fn cube_function(c: &ExprCall) -> Option<&'static str> {
    let Expr::Path(path) = &*c.func else { return None };
    let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
    crate::cube::refused_function(&names)
}

impl Lower<'_> {
    /// A number as written, with its sign; `None` where it is a mistake, `Some(None)` where this is none.
    #[expect(clippy::option_option, reason = "refused, a number, or something else")]
    fn written_number(&self, e: &Expr) -> Option<Option<f64>> {
        match e {
            Expr::Lit(l) => match &l.lit {
                syn::Lit::Float(f) => self.real_number(f).map(Some),
                syn::Lit::Int(i) => Some(i.base10_parse::<i64>().ok().map(|v| v as f64)),
                _ => Some(None),
            },
            Expr::Unary(u) if matches!(u.op, syn::UnOp::Neg(_)) => Some(self.written_number(&u.expr)?.map(|x| -x)),
            Expr::Paren(p) => self.written_number(&p.expr),
            _ => Some(None),
        }
    }
}

/// The largest integer of a type, or the least.
pub(super) fn extreme(ty: Ty, largest: bool) -> i64 {
    match (ty, largest) {
        (Ty::I32, true) => i64::from(i32::MAX),
        (Ty::I32, false) => i64::from(i32::MIN),
        (_, true) => i64::from(u32::MAX),
        (_, false) => 0,
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
