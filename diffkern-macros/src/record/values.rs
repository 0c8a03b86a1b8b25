//! Where structs are, and how their fields are read and written there.

use diffkern_ir::Ty;
use proc_macro2::{Literal, Span};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Member, Type, parse_quote, parse_quote_spanned};

use super::def::{Kind, Leaf, Record};
use super::rewrite::{Rewrite, Var};
use crate::names::bare;

/// The variable of a field.
pub fn leaf_name(var: &Ident, path: &[Ident]) -> Ident {
    let path: Vec<String> = path.iter().map(bare).collect();
    format_ident!("{}__{}", bare(var), path.join("__"), span = var.span())
}

pub fn plain_type(ty: Ty, real: Option<&Ident>) -> Type {
    let f = real.cloned().unwrap_or_else(|| Ident::new("f32", Span::call_site()));
    match ty {
        Ty::Real => parse_quote!(#f),
        Ty::U32 => parse_quote!(u32),
        Ty::I32 => parse_quote!(i32),
        Ty::Usize => parse_quote!(usize),
        Ty::Bool => parse_quote!(bool),
        Ty::Vec(n) => {
            let name = format_ident!("Vec{n}");
            parse_quote!(#name<#f>)
        }
        Ty::Mat(n) => {
            let name = format_ident!("Mat{n}");
            parse_quote!(#name<#f>)
        }
        Ty::Quat => parse_quote!(Quat<#f>),
    }
}

/// Component `k` of a value.
pub fn component(value: &Expr, ty: Ty, k: usize) -> Expr {
    let span = value.span();
    match ty {
        Ty::Vec(_) | Ty::Quat => {
            let names = if ty == Ty::Quat { ["w", "x", "y", "z"] } else { ["x", "y", "z", "w"] };
            let name = Ident::new(names[k], span);
            parse_quote_spanned!(span=> #value.#name)
        }
        Ty::Mat(n) => {
            let (r, c) = (k / n as usize, k % n as usize);
            parse_quote_spanned!(span=> #value[(#r, #c)])
        }
        _ => value.clone(),
    }
}

/// The parameters that the components of `var` are.
pub fn parts(var: &Ident, ty: Ty) -> Vec<Ident> {
    (0..ty.components()).map(|k| format_ident!("{}_{k}", bare(var), span = var.span())).collect()
}

/// A value from its components.
pub fn compose(ty: Ty, parts: Vec<Expr>, span: Span) -> Expr {
    let name = match ty {
        Ty::Vec(n) => format_ident!("Vec{n}", span = span),
        Ty::Mat(n) => format_ident!("Mat{n}", span = span),
        Ty::Quat => format_ident!("Quat", span = span),
        _ => return parts.into_iter().next().unwrap_or_else(|| parse_quote!(())),
    };
    parse_quote_spanned!(span=> #name::new(#(#parts),*))
}

/// Where a struct is: in variables, or in an array.
pub enum Place {
    Variable(Ident),
    Element { array: Ident, index: Box<Expr>, stride: usize },
}

impl Place {
    /// Scalar `k` of an element. The numbers are of the type of the index, `usize` or `u32`.
    pub fn scalar(array: &Ident, index: &Expr, stride: usize, k: usize) -> Expr {
        let (stride, k) = (Literal::usize_unsuffixed(stride), Literal::usize_unsuffixed(k));
        parse_quote_spanned!(index.span()=> #array[(#index) * #stride + #k])
    }
}

impl Rewrite<'_> {
    /// The struct that `e` names: where it is, the fields on the way, what it is.
    pub fn named(&self, e: &Expr) -> Option<(Place, Vec<Ident>, Kind)> {
        match e {
            Expr::Paren(p) => self.named(&p.expr),
            Expr::Group(g) => self.named(&g.expr),
            Expr::Path(p) => {
                let name = p.path.get_ident()?;
                match self.find(name)? {
                    Var::Value(record) => Some((Place::Variable(name.clone()), Vec::new(), Kind::Record(record))),
                    Var::Array(_) => None,
                }
            }
            Expr::Index(i) => {
                let Expr::Path(p) = &*i.expr else { return None };
                let name = p.path.get_ident()?;
                match self.find(name)? {
                    Var::Array(record) => {
                        let stride = record.scalars();
                        let place = Place::Element { array: name.clone(), index: i.index.clone(), stride };
                        Some((place, Vec::new(), Kind::Record(record)))
                    }
                    Var::Value(_) => None,
                }
            }
            Expr::Field(f) => {
                let (place, mut path, kind) = self.named(&f.base)?;
                let (Kind::Record(record), Member::Named(name)) = (kind, &f.member) else { return None };
                let kind = record.field(name)?.kind.clone();
                path.push(name.clone());
                Some((place, path, kind))
            }
            _ => None,
        }
    }

    /// The value at a place, of a plain type.
    pub fn read(&self, place: &Place, root: &Record, path: &[Ident], ty: Ty, span: Span) -> Expr {
        match place {
            Place::Variable(var) => {
                let mut name = leaf_name(var, path);
                name.set_span(span);
                parse_quote!(#name)
            }
            Place::Element { array, index, stride } => {
                let offset = root.offset(path).unwrap_or(0);
                let parts = (0..ty.components()).map(|k| Place::scalar(array, index, *stride, offset + k)).collect();
                compose(ty, parts, span)
            }
        }
    }

    /// [`Rewrite::named`] with the struct at the place itself.
    pub fn root(&self, e: &Expr) -> Option<(Place, Vec<Ident>, Kind, Record)> {
        let (place, path, kind) = self.named(e)?;
        let name = match &place {
            Place::Variable(name) => name,
            Place::Element { array, .. } => array,
        };
        let (Var::Value(record) | Var::Array(record)) = self.find(name)?;
        Some((place, path, kind, record))
    }

    /// Statements that write `values`, one per leaf, to an element of an array from scalar `offset` on.
    pub fn store(
        &self,
        (array, index, stride): (&Ident, &Expr, usize),
        offset: usize,
        (leaves, values): (&[Leaf], &[Expr]),
        op: &proc_macro2::TokenStream,
    ) -> Vec<syn::Stmt> {
        let mut at = offset;
        let mut stmts = Vec::new();
        for (leaf, value) in leaves.iter().zip(values) {
            for k in 0..leaf.ty.components() {
                let (to, part) = (Place::scalar(array, index, stride, at), component(value, leaf.ty, k));
                let text = quote!(#to #op #part;);
                stmts.extend(syn::parse2::<syn::Stmt>(text));
                at += 1;
            }
        }
        stmts
    }
}
