//! What authors of CubeCL kernels write in another way, as the language has it. Structs and what the rest reads come after.
//!
//! | source | becomes |
//! |---|---|
//! | `fn k<F>(..) where F: Float` | `fn k<F: Float>(..)` |
//! | `<F: Float, N: Size>`, `Vector<F, N>`, `Line<F>` | `<F: Float>`, `F`: vectors of one component |
//! | `f::<F, N>(x)`, `N::value()`, `x.line_size()` | `f::<F>(x)`, `1` |
//! | `x: &[F]`, `y: &mut [F]` | `x: &Array<F>`, `y: &mut Array<F>` |
//! | `mut x: F` | `x: F`, and `let mut x = x;` |
//! | `n as f32`, `scale: f32` in a function over `F` | `n as F`, `scale: F` |
//! | `i.runtime()`, `n.comptime()` | `i`, `n` |
//! | `comptime!(e)`, `comptime!(2.0f32.sqrt())` | `(e)`, `(2.0.sqrt())`: numbers of the kernel's real type |
//! | `matches!(k, 1 \| 2)` | `match k { 1 \| 2 => true, _ => false }` |
//! | `#[comptime] let n = e;`, `#[allow(..)]` on a parameter | without |

mod body;

use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Expr, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Pat, PathArguments, Stmt, Type, TypeParam,
    TypeParamBound, WherePredicate, parse_quote_spanned,
};

use crate::diagnostics::Diagnostics;
use crate::parse::is_law;

/// Names of type parameters in what is generated.
const GENERATED: [&str; 3] = ["F", "K", "S"];

/// Rewrites `item`.
pub fn plain(item: &mut ItemFn, errors: &Diagnostics) {
    bounds(item);
    let real = crate::parse::generic_real(&item.sig.generics);
    let mut sizes = Vec::new();
    let mut others = Vec::new();
    let params = std::mem::take(&mut item.sig.generics.params);
    for param in params {
        match &param {
            GenericParam::Type(t) if is_size(t) => sizes.push(t.ident.clone()),
            GenericParam::Type(t) => {
                if real.as_ref() != Some(&t.ident) && is_law(t) && GENERATED.iter().any(|name| t.ident == name) {
                    others.push(t.ident.clone());
                }
                item.sig.generics.params.push(param);
            }
            _ => item.sig.generics.params.push(param),
        }
    }
    if item.sig.generics.params.is_empty() {
        (item.sig.generics.lt_token, item.sig.generics.gt_token) = (None, None);
    }
    let mut port = Port { errors, real, sizes, others, comptime: false };
    port.visit_generics_mut(&mut item.sig.generics);
    let mut changing = Vec::new();
    for arg in &mut item.sig.inputs {
        changing.extend(port.parameter(arg));
    }
    port.visit_return_type_mut(&mut item.sig.output);
    port.visit_block_mut(&mut item.block);
    let lets = changing.into_iter().map(|name| -> Stmt { parse_quote_spanned!(name.span()=> let mut #name = #name;) });
    item.block.stmts.splice(0..0, lets);
}

/// The bounds of a `where` at the parameters they are of; what is left is of other types.
fn bounds(item: &mut ItemFn) {
    let generics = &mut item.sig.generics;
    let Some(clause) = generics.where_clause.take() else { return };
    let mut left = syn::WhereClause { where_token: clause.where_token, predicates: Default::default() };
    for predicate in clause.predicates {
        let of = match &predicate {
            WherePredicate::Type(p) if p.lifetimes.is_none() => match &p.bounded_ty {
                Type::Path(path) => path.path.get_ident().cloned(),
                _ => None,
            },
            _ => None,
        };
        let param = generics.params.iter_mut().find_map(|param| match param {
            GenericParam::Type(t) if Some(&t.ident) == of.as_ref() => Some(t),
            _ => None,
        });
        match (param, predicate) {
            (Some(param), WherePredicate::Type(p)) => {
                param.colon_token = Some(p.colon_token);
                param.bounds.extend(p.bounds);
            }
            (_, predicate) => left.predicates.push(predicate),
        }
    }
    generics.where_clause = (!left.predicates.is_empty()).then_some(left);
}

fn is_size(param: &TypeParam) -> bool {
    param.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(t) => t.path.segments.last().is_some_and(|s| s.ident == "Size"),
        _ => false,
    })
}

/// Whether an attribute speaks to the compiler's lints only.
fn is_lint(attr: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|name| attr.path().is_ident(name))
}

struct Port<'a> {
    errors: &'a Diagnostics,
    /// The real type of a generic function.
    real: Option<Ident>,
    /// Widths of vectors: type parameters that are gone.
    sizes: Vec<Ident>,
    /// Type parameters that what is generated has, too.
    others: Vec<Ident>,
    /// Inside of `comptime!`.
    comptime: bool,
}

impl Port<'_> {
    /// The name of a scalar parameter that changes.
    fn parameter(&mut self, arg: &mut FnArg) -> Option<Ident> {
        let FnArg::Typed(arg) = arg else { return None };
        arg.attrs.retain(|attr| !is_lint(attr));
        if let Type::Reference(r) = &mut *arg.ty {
            if let Type::Slice(slice) = &*r.elem {
                let elem = &slice.elem;
                *r.elem = parse_quote_spanned!(slice.span()=> Array<#elem>);
            }
            // An array of `f32` beside arrays of `F` would be a second real type.
            let real = self.real.take();
            self.visit_type_mut(&mut arg.ty);
            self.real = real;
        } else {
            self.visit_type_mut(&mut arg.ty);
        }
        match (&mut *arg.pat, &*arg.ty) {
            (Pat::Ident(name), ty) if name.mutability.is_some() => {
                name.mutability = None;
                (!matches!(ty, Type::Reference(_))).then(|| name.ident.clone())
            }
            _ => None,
        }
    }

    fn is_size(&self, ty: &Type) -> bool {
        match ty {
            Type::Path(path) => path.path.get_ident().is_some_and(|name| self.sizes.contains(name)),
            _ => false,
        }
    }

    /// The component of a vector whose width is a parameter.
    fn component(&self, ty: &Type) -> Option<Type> {
        let Type::Path(path) = ty else { return None };
        let last = path.path.segments.last()?;
        let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
        let mut types = args.args.iter().map(|arg| match arg {
            GenericArgument::Type(t) => Some(t),
            _ => None,
        });
        match (last.ident.to_string().as_str(), types.next(), types.next(), types.next()) {
            ("Line", Some(elem), None, None) => elem.cloned(),
            ("Vector", Some(elem), Some(Some(size)), None) if self.is_size(size) => elem.cloned(),
            _ => None,
        }
    }

    /// A number in place of what tells a width.
    fn width(&self, e: &Expr) -> bool {
        match e {
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) if call.args.is_empty() && path.path.segments.len() == 2 => {
                    let segments = &path.path.segments;
                    segments[1].ident == "value" && self.sizes.contains(&segments[0].ident)
                }
                _ => false,
            },
            Expr::MethodCall(m) => m.args.is_empty() && (m.method == "line_size" || m.method == "vector_size"),
            _ => false,
        }
    }
}
