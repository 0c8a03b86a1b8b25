//! The signature of a kernel or device function: names, parameters, types.

use diffkern_ir::{FuncKind, Ty};
use proc_macro2::{Span, TokenStream};
use syn::{FnArg, GenericParam, Ident, ItemFn, Pat, ReturnType, Type, TypeParamBound};

use crate::cube;
use crate::diagnostics::Diagnostics;

/// A parameter as the host passes it.
pub struct HostParam {
    pub name: Ident,
    pub ty: TokenStream,
    /// The arguments of the launch, or of the function over the fields.
    pub args: Vec<TokenStream>,
}

/// The signature before it was rewritten.
#[derive(Default)]
pub struct HostSide {
    pub params: Vec<HostParam>,
    /// Type of the result, and how it is made from the values `r`.
    pub result: Option<(TokenStream, TokenStream)>,
}

/// What a signature says.
pub struct Signature {
    /// Name of the real type: `F` in `F: Float`, or `f32` or `f64` where the function is not generic.
    pub real: Option<Ident>,
    /// Whether `real` is `f32` or `f64`.
    pub concrete: bool,
    /// Type parameters that are laws, and `Self` in the method of one.
    pub laws: Vec<String>,
    /// The same as written, with their bounds.
    pub law_params: Vec<syn::TypeParam>,
    pub params: Vec<SigParam>,
    /// Where structs are among the parameters or results.
    pub host: HostSide,
    /// Results of a device function; more than one is a tuple.
    pub results: Vec<Ty>,
}

pub struct SigParam {
    pub name: Ident,
    pub kind: SigKind,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SigKind {
    /// `atomic`: of `Atomic<elem>`.
    Array {
        elem: Ty,
        mutable: bool,
        atomic: bool,
    },
    Scalar {
        ty: Ty,
        comptime: bool,
    },
}

/// Functions that a call by a plain name means.
const TAKEN: [&str; 5] = ["select", "detach", "min", "max", "fma"];

/// Reads the signature; `None` when it is too broken to go on.
pub fn signature(item: &ItemFn, kind: FuncKind, errors: &Diagnostics) -> Option<Signature> {
    let sig = &item.sig;
    for (token, what) in [
        (sig.constness.map(|t| t.span), "const"),
        (sig.asyncness.map(|t| t.span), "async"),
        (sig.unsafety.map(|t| t.span), "unsafe"),
        (sig.abi.as_ref().map(|t| t.extern_token.span), "extern"),
    ] {
        if let Some(span) = token {
            errors.error(span, format!("a kernel cannot be `{what}`; remove the keyword"));
        }
    }
    if kind == FuncKind::DiffFn && TAKEN.iter().any(|name| sig.ident == name) {
        errors.at(&sig.ident, format!("in kernels `{}` is a function of the language; choose another name", sig.ident));
    }
    for attr in item.attrs.iter().filter(|a| a.path().segments.last().is_some_and(|s| s.ident == "cube")) {
        errors
            .at(attr, "`#[diff_kernel]` and `#[diff_fn]` stand in place of `#[cube(launch)]` and `#[cube]`; remove it");
    }
    let generic = real_parameter(item, errors);
    let concrete = generic.is_none().then(|| concrete_real(item)).flatten();
    let is_concrete = concrete.is_some();
    let real = generic.or(concrete);
    let mut params = Vec::new();
    for arg in &sig.inputs {
        if let Some(param) = parameter(arg, kind, real.as_ref(), errors) {
            params.push(param);
        }
    }
    let results = results(&sig.output, kind, real.as_ref(), errors)?;
    let law_params = law_params(item);
    let laws = law_params.iter().map(|p| p.ident.to_string()).collect();
    let whole = params.len() == sig.inputs.len();
    whole.then_some(Signature {
        real,
        concrete: is_concrete,
        laws,
        law_params,
        params,
        host: HostSide::default(),
        results,
    })
}

fn real_parameter(item: &ItemFn, errors: &Diagnostics) -> Option<Ident> {
    let mut real = None;
    for generic in &item.sig.generics.params {
        match generic {
            GenericParam::Type(t) if is_float(t.bounds.iter()) => {
                if real.is_some() {
                    errors.at(t, "a kernel has one real type; use the same `F: Float` for all its reals");
                    errors.blame(&t.ident);
                }
                real.get_or_insert_with(|| t.ident.clone());
            }
            GenericParam::Type(t) if is_law(t) => {}
            GenericParam::Type(t) => {
                errors.blame(&t.ident);
                if t.bounds.is_empty() && item.sig.generics.where_clause.is_some() {
                    continue;
                }
                if let Some(way) = t.bounds.iter().find_map(cube_bound) {
                    errors.at(t, way);
                    continue;
                }
                errors.at(
                    t,
                    format!(
                        "write the bound as `{0}: Float` for reals, or `{0}: Law` with a `#[diff_trait]` for a choice of \
                         device functions; other type parameters are not supported",
                        t.ident
                    ),
                );
            }
            GenericParam::Lifetime(l) => errors.at(l, "a kernel takes no lifetimes; remove it"),
            GenericParam::Const(c) => {
                errors.at(c, format!("pass it as a parameter: `#[comptime] {}: u32`", c.ident));
                errors.blame(&c.ident);
            }
        }
    }
    if let Some(clause) = &item.sig.generics.where_clause {
        errors.at(clause, "write the bound in the angle brackets: `<F: Float>`");
    }
    real
}

/// What to write in place of a type parameter that CubeCL's authors have for numbers.
fn cube_bound(bound: &TypeParamBound) -> Option<&'static str> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    Some(match bound.path.segments.last()?.ident.to_string().as_str() {
        "Int" => "integers have no type parameter here: write `u32` or `i32`",
        "Numeric" | "CubePrimitive" | "Scalar" => {
            "a kernel is generic over its reals: write `F: Float`, and `u32` or `i32` for integers"
        }
        "Runtime" => "a kernel runs on every device; remove the parameter",
        _ => return None,
    })
}

/// A bound that is a trait, but none that CubeCL or Rust has for numbers.
pub fn is_law(param: &syn::TypeParam) -> bool {
    let known = [
        "Float",
        "Numeric",
        "Int",
        "CubePrimitive",
        "CubeType",
        "Scalar",
        "Copy",
        "Clone",
        "Default",
        "Runtime",
        "Send",
        "Sync",
    ];
    param.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(t) => t.path.segments.last().is_some_and(|s| !known.iter().any(|k| s.ident == k)),
        _ => false,
    })
}

fn law_params(item: &ItemFn) -> Vec<syn::TypeParam> {
    let types = item.sig.generics.params.iter().filter_map(|generic| match generic {
        GenericParam::Type(t) if !is_float(t.bounds.iter()) && is_law(t) => Some(t.clone()),
        _ => None,
    });
    types.collect()
}

/// The real type parameter of a function that is generic over it.
pub fn generic_real(generics: &syn::Generics) -> Option<Ident> {
    generics.params.iter().find_map(|param| match param {
        GenericParam::Type(t) if is_float(t.bounds.iter()) => Some(t.ident.clone()),
        _ => None,
    })
}

/// The real type of a function, generic over it or not.
pub fn real_of(item: &ItemFn) -> Option<Ident> {
    generic_real(&item.sig.generics).or_else(|| concrete_real(item))
}

/// The first `f32` or `f64` in the signature of a function without a real type parameter.
fn concrete_real(item: &ItemFn) -> Option<Ident> {
    fn find(tokens: proc_macro2::TokenStream) -> Option<Ident> {
        tokens.into_iter().find_map(|token| match token {
            proc_macro2::TokenTree::Ident(ident) if ident == "f32" || ident == "f64" => Some(ident),
            proc_macro2::TokenTree::Group(group) => find(group.stream()),
            _ => None,
        })
    }
    find(quote::ToTokens::to_token_stream(&item.sig))
}

fn is_float<'a>(mut bounds: impl Iterator<Item = &'a TypeParamBound>) -> bool {
    bounds.any(|b| match b {
        TypeParamBound::Trait(t) => t.path.segments.last().is_some_and(|s| s.ident == "Float"),
        _ => false,
    })
}

fn parameter(arg: &FnArg, kind: FuncKind, real: Option<&Ident>, errors: &Diagnostics) -> Option<SigParam> {
    let FnArg::Typed(arg) = arg else {
        errors.at(arg, "there is no `self` in a kernel, a device function or a law; pass what it needs as parameters");
        return None;
    };
    let Pat::Ident(pat) = &*arg.pat else {
        errors.at(&arg.pat, "a parameter is a plain name");
        return None;
    };
    if let Some(token) = &pat.mutability {
        errors.at(token, format!("parameters do not change; write `let mut {0} = {0};` in the body", pat.ident));
    }
    let mut comptime = false;
    for attr in &arg.attrs {
        if attr.path().is_ident("comptime") {
            comptime = true;
        } else if attr.path().is_ident("define") {
            errors.at(attr, "a launch knows the types of its arrays; remove this parameter");
            return None;
        } else {
            errors.at(attr, "only `#[comptime]` is known on a parameter");
        }
    }
    let kind = match &*arg.ty {
        Type::Reference(r) => {
            let (elem, atomic) = array_element(&r.elem, real, errors)?;
            if let (Some(token), FuncKind::DiffFn) = (&r.mutability, kind) {
                errors
                    .at(token, "a device function cannot write an array; return the value and write it in the kernel");
                return None;
            }
            if comptime {
                errors.at(arg, "an array cannot be `#[comptime]`");
            }
            SigKind::Array { elem, mutable: r.mutability.is_some(), atomic }
        }
        other => {
            if let Some(segment) = last_segment(other)
                && segment.ident == "Array"
            {
                errors.at(other, "pass arrays by reference: `&Array<..>` to read, `&mut Array<..>` to write");
                return None;
            }
            let ty = value_type(other, real, errors)?;
            if comptime && !(ty.is_int() || ty == Ty::Bool) {
                errors.at(other, "a `#[comptime]` parameter is an integer or a bool");
            }
            SigKind::Scalar { ty, comptime }
        }
    };
    Some(SigParam { name: pat.ident.clone(), kind, span: pat.ident.span() })
}

/// The one type argument of `name<..>`.
pub fn argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    last_segment(ty).filter(|s| s.ident == name).and_then(|s| match &s.arguments {
        syn::PathArguments::AngleBracketed(args) if args.args.len() == 1 => match args.args.first() {
            Some(syn::GenericArgument::Type(t)) => Some(t),
            _ => None,
        },
        _ => None,
    })
}

/// The type of the elements, and whether they are atomic.
fn array_element(ty: &Type, real: Option<&Ident>, errors: &Diagnostics) -> Option<(Ty, bool)> {
    let Some(mut inner) = argument(ty, "Array") else {
        if let Some(segment) = last_segment(ty)
            && let Some(way) = cube::refused_type(&segment.ident.to_string())
        {
            errors.at(segment, format!("`{}` of CubeCL is not part of the kernel language; {way}", segment.ident));
            return None;
        }
        errors.at(ty, "a reference parameter is `&Array<T>` or `&mut Array<T>`; pass values without `&`");
        return None;
    };
    let atomic = argument(inner, "Atomic");
    if let Some(of) = atomic {
        inner = of;
    }
    let elem = value_type(inner, real, errors)?;
    if atomic.is_some() && !matches!(elem, Ty::U32 | Ty::I32 | Ty::Real) {
        errors.at(inner, "an atomic is of `u32`, `i32` or the kernel's real type");
        return None;
    }
    if matches!(elem, Ty::Bool | Ty::Usize) {
        errors.at(inner, "arrays hold reals, vectors, matrices, `u32` or `i32`; use `u32`");
        return None;
    }
    Some((elem, atomic.is_some()))
}

fn results(output: &ReturnType, kind: FuncKind, real: Option<&Ident>, errors: &Diagnostics) -> Option<Vec<Ty>> {
    match (output, kind) {
        (ReturnType::Default, FuncKind::Kernel) => Some(Vec::new()),
        (ReturnType::Default, FuncKind::DiffFn) => Some(Vec::new()),
        (ReturnType::Type(_, ty), FuncKind::Kernel) => {
            errors.at(ty, "a kernel returns nothing; write its result to a `&mut Array<..>` parameter");
            None
        }
        (ReturnType::Type(_, ty), FuncKind::DiffFn) => annotated(ty, real, errors),
    }
}

/// Of a tuple in a tuple that is more than a way to write values.
pub const NESTED: &str = "a tuple in a tuple is taken apart where it is written out, `let (a, (b, c)) = (x, (y, z));`; the \
                          results of a function are one tuple";

/// The types of an annotation: one, or those of a tuple.
pub fn annotated(ty: &Type, real: Option<&Ident>, errors: &Diagnostics) -> Option<Vec<Ty>> {
    match ty {
        Type::Tuple(t) => {
            if let Some(inner) = t.elems.iter().find(|ty| matches!(ty, Type::Tuple(_))) {
                errors.at(inner, NESTED);
                return None;
            }
            t.elems.iter().map(|t| value_type(t, real, errors)).collect()
        }
        Type::Paren(p) => annotated(&p.elem, real, errors),
        other => Some(vec![value_type(other, real, errors)?]),
    }
}

/// The type of a value as written.
pub fn value_type(ty: &Type, real: Option<&Ident>, errors: &Diagnostics) -> Option<Ty> {
    if let Type::Paren(p) = ty {
        return value_type(&p.elem, real, errors);
    }
    if let Type::Group(g) = ty {
        return value_type(&g.elem, real, errors);
    }
    let Some(segment) = last_segment(ty) else {
        errors.at(
            ty,
            "not a type of the kernel language; use F, u32, i32, usize, bool, Vec2/3/4<F>, Mat2/3<F> or Quat<F>",
        );
        return None;
    };
    if real.is_some_and(|r| segment.ident == *r) {
        return Some(Ty::Real);
    }
    let name = segment.ident.to_string();
    if errors.is_blamed(&name) {
        return None;
    }
    let found = match name.as_str() {
        "u32" => Ty::U32,
        "i32" => Ty::I32,
        "usize" => Ty::Usize,
        "bool" => Ty::Bool,
        _ => match named_shape(&name) {
            Some(shape) => shape,
            None => {
                if let Some(way) = cube::refused_type(&name) {
                    errors.at(segment, format!("`{name}` of CubeCL is not part of the kernel language; {way}"));
                    return None;
                }
                let hint = match name.as_str() {
                    "f32" | "f64" | "Self" => {
                        "; a function has one real type: write its name everywhere, or make it generic, `<F: Float>`, \
                         and write `F`, so that one source serves f32 and f64"
                    }
                    "String" | "str" => "; pass a number or a `bool`",
                    "f16" | "bf16" | "flex32" | "tf32" => {
                        "; reals are f32 or f64: make it generic, `<F: Float>`, and write `F`"
                    }
                    "u8" | "u16" | "u64" | "u128" => "; integers are 32 bits wide on a GPU: use `u32`",
                    "i8" | "i16" | "i64" | "i128" | "isize" => "; integers are 32 bits wide on a GPU: use `i32`",
                    _ => "; use F, u32, i32, usize, bool, Vec2/3/4<F>, Mat2/3<F> or Quat<F>",
                };
                errors.at(ty, format!("`{name}` is not a type of the kernel language{hint}"));
                return None;
            }
        },
    };
    if found.is_real() {
        let generic_ok = match &segment.arguments {
            syn::PathArguments::AngleBracketed(args) if args.args.len() == 1 => match args.args.first() {
                Some(syn::GenericArgument::Type(t)) => {
                    last_segment(t).is_some_and(|s| real.is_some_and(|r| s.ident == *r))
                }
                _ => false,
            },
            _ => false,
        };
        if !generic_ok {
            let f = real.map_or_else(|| "F".to_owned(), ToString::to_string);
            errors.at(
                ty,
                format!("vectors and matrices are of the kernel's real type: write `{name}<{f}>` with `<{f}: Float>`"),
            );
            return None;
        }
    }
    Some(found)
}

/// `Vec2`, `Vec3`, `Vec4`, `Mat2`, `Mat3`, `Quat`.
pub fn named_shape(name: &str) -> Option<Ty> {
    Some(match name {
        "Vec2" => Ty::Vec(2),
        "Vec3" => Ty::Vec(3),
        "Vec4" => Ty::Vec(4),
        "Mat2" => Ty::Mat(2),
        "Mat3" => Ty::Mat(3),
        "Quat" => Ty::Quat,
        _ => return None,
    })
}

fn last_segment(ty: &Type) -> Option<&syn::PathSegment> {
    match ty {
        Type::Path(p) if p.qself.is_none() => p.path.segments.last(),
        _ => None,
    }
}
