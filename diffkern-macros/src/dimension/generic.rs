//! The one name that stands for all instances of a function over the dimension.

use diffkern_ir::FuncKind;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, GenericArgument, GenericParam, Ident, ItemFn, Pat, PathArguments, Type, TypeParamBound, parse_quote,
    parse_quote_spanned,
};

use super::constant::Known;
use super::dims;
use super::instance::named;
use crate::parse::{generic_real, is_law};

/// The arguments of an attribute for an instance: its derivatives by hand are for that dimension, too.
pub fn by_hand(args: TokenStream, d: u8) -> TokenStream {
    let mut value = false;
    let mut trees: Vec<proc_macro2::TokenTree> = args.into_iter().collect();
    let ends = |next: Option<&proc_macro2::TokenTree>| {
        next.is_none_or(|next| matches!(next, proc_macro2::TokenTree::Punct(p) if p.as_char() == ','))
    };
    for k in 0..trees.len() {
        let next = trees.get(k + 1).cloned();
        match &mut trees[k] {
            proc_macro2::TokenTree::Punct(p) if p.as_char() == '=' => value = true,
            proc_macro2::TokenTree::Punct(p) if p.as_char() == ',' => value = false,
            proc_macro2::TokenTree::Ident(name) if value && ends(next.as_ref()) => *name = named(name, d),
            _ => {}
        }
    }
    trees.into_iter().collect()
}

/// What the host launches for a dimension that it is generic over, or the type by which other functions find an instance.
pub fn one_name(item: &ItemFn, dimension: &Ident, all: &[u8], kind: FuncKind) -> TokenStream {
    match kind {
        FuncKind::Kernel if all.len() == dims::ALL.len() => launched(item, dimension),
        FuncKind::Kernel => quote!(),
        FuncKind::DiffFn => chosen(item, dimension, all),
    }
}

/// `type push<M, D> = <D as Dimension>::Choose<push_2d<M>, push_3d<M>>;`
fn chosen(item: &ItemFn, dimension: &Ident, all: &[u8]) -> TokenStream {
    let (name, vis, real) = (&item.sig.ident, &item.vis, generic_real(&item.sig.generics));
    let params = item.sig.generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(t) if Some(&t.ident) != real.as_ref() => Some(&t.ident),
        GenericParam::Const(c) if c.ident == *dimension => Some(&c.ident),
        _ => None,
    });
    let params: Vec<_> = params.collect();
    let laws: Vec<_> = params.iter().filter(|param| **param != dimension).collect();
    let of_laws = (!laws.is_empty()).then(|| quote!(<#(#laws),*>));
    let instance = |d: u8| {
        let instance = named(name, d);
        quote!(#instance #of_laws)
    };
    let choice = match all {
        [2] | [3] => {
            let (only, instance) = (if all == [2] { quote!(InPlane) } else { quote!(InSpace) }, instance(all[0]));
            quote!(<#dimension as ::diffkern::private::#only>::Of<#instance>)
        }
        _ => {
            let instances = dims::ALL.map(instance);
            quote!(<#dimension as ::diffkern::Dimension>::Choose<#(#instances),*>)
        }
    };
    quote! {
        #[doc(hidden)]
        #[allow(unused, non_camel_case_types, type_alias_bounds, clippy::all, clippy::pedantic, clippy::nursery)]
        #vis type #name<#(#params),*> = #choice;
    }
}

/// The function that launches the instance of a dimension.
fn launched(item: &ItemFn, dimension: &Ident) -> TokenStream {
    let (name, vis) = (&item.sig.ident, &item.vis);
    let docs = item.attrs.iter().filter(|attr| attr.path().is_ident("doc"));
    let real = generic_real(&item.sig.generics);
    let mut host = Host { dimension: dimension.clone(), real: real.clone() };
    let mut generics = item.sig.generics.clone();
    for param in &mut generics.params {
        match param {
            GenericParam::Const(c) if c.ident == *dimension => *param = parse_quote!(#dimension: ::diffkern::Dimension),
            GenericParam::Type(t) => t.bounds.iter_mut().for_each(float),
            _ => {}
        }
    }
    let types = |wanted: &dyn Fn(&syn::TypeParam) -> bool| -> Vec<Ident> {
        let types = item.sig.generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(t) if wanted(t) => Some(t.ident.clone()),
            _ => None,
        });
        types.collect()
    };
    // The real type comes first in what is generated.
    let is_real = |t: &syn::TypeParam| Some(&t.ident) == real.as_ref();
    let args = [types(&is_real), types(&|t| !is_real(t) && is_law(t))].concat();
    let of_args = (!args.is_empty()).then(|| quote!(::<#(#args),*>));
    let (mut names, mut types, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for arg in &item.sig.inputs {
        let FnArg::Typed(arg) = arg else { return quote!() };
        let Pat::Ident(pat) = &*arg.pat else { return quote!() };
        let (name, mut ty) = (pat.ident.clone(), (*arg.ty).clone());
        values.push(match (host.mentions(&ty), &ty) {
            (false, _) => quote!(#name),
            (true, Type::Reference(_)) => quote!(::diffkern::private::same(#name)?),
            (true, _) => quote!(*::diffkern::private::same(&#name)?),
        });
        host.parameter(&mut ty);
        names.push(name);
        types.push(ty);
    }
    let domain = Ident::new("domain", proc_macro2::Span::mixed_site());
    let (in_plane, in_space) = (named(name, 2), named(name, 3));
    let (params, clause) = (&generics.params, &generics.where_clause);
    quote! {
        #(#docs)*
        #[allow(unused, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        #vis fn #name<#params>(
            #domain: impl ::core::convert::Into<::diffkern::Domain>,
            #(#names: #types),*
        ) -> ::diffkern::Result<()> #clause {
            match <#dimension as ::diffkern::Dimension>::AXES {
                2 => #in_plane #of_args(#domain, #(#values),*),
                _ => #in_space #of_args(#domain, #(#values),*),
            }
        }
    }
}

/// `Float` by its path, as it need not be imported.
fn float(bound: &mut TypeParamBound) {
    if let TypeParamBound::Trait(bound) = bound
        && bound.path.is_ident("Float")
    {
        bound.path = parse_quote!(::diffkern::Float);
    }
}

/// Types over the dimension, as the host has them.
pub struct Host {
    dimension: Ident,
    real: Option<Ident>,
}

impl Host {
    pub fn new(dimension: Ident) -> Host {
        Host { dimension, real: None }
    }

    fn parameter(&mut self, ty: &mut Type) {
        if let Type::Reference(r) = ty {
            r.mutability = None;
            if let Type::Slice(slice) = &*r.elem {
                let elem = &slice.elem;
                *r.elem = parse_quote!(Array<#elem>);
            }
        } else if let (Type::Path(path), Some(real)) = (&*ty, &self.real)
            && path.path.is_ident("f32")
        {
            *ty = parse_quote!(#real);
        }
        self.visit_type_mut(ty);
    }

    /// Whether a type is another in each dimension.
    fn mentions(&self, ty: &Type) -> bool {
        dims::mentions(ty.to_token_stream(), &self.dimension.to_string())
    }

    /// `D::Vector<F>` of `Vector<F, D>`.
    fn over(&self, segment: &syn::PathSegment) -> Option<Type> {
        let (of, n) = dims::over(segment)?;
        let counts = dims::ALL.map(|d| {
            let mut known = Known::default();
            known.bind(self.dimension.to_string(), Some(d.into()));
            known.value(&n)
        });
        let ([Some(plane), Some(space)], dimension) = (counts, &self.dimension) else { return None };
        if ![plane, space].iter().all(|count| (2..=4).contains(count)) {
            return None;
        }
        let stem = if segment.ident == "Vector" { "Vec" } else { "Mat" };
        let (plane_type, space_type) = (format_ident!("{stem}{plane}"), format_ident!("{stem}{space}"));
        let of_dimension = quote!(<#dimension as ::diffkern::Dimension>);
        let span = segment.span();
        Some(match (stem, plane, space) {
            ("Vec", 2, 3) => parse_quote_spanned!(span=> #of_dimension::Vector<#of>),
            ("Vec", 3, 4) => parse_quote_spanned!(span=> #of_dimension::Homogeneous<#of>),
            ("Mat", 2, 3) => parse_quote_spanned!(span=> #of_dimension::Matrix<#of>),
            (_, a, b) if a == b => parse_quote_spanned!(span=> ::diffkern::#plane_type<#of>),
            _ => {
                parse_quote_spanned!(span=> #of_dimension::Choose<::diffkern::#plane_type<#of>, ::diffkern::#space_type<#of>>)
            }
        })
    }
}

impl VisitMut for Host {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        let Type::Path(path) = &mut *ty else { return visit_mut::visit_type_mut(self, ty) };
        if let Some(last) = path.path.segments.last()
            && let Some(host) = self.over(last)
        {
            *ty = host;
            return;
        }
        if let Some(last) = path.path.segments.last()
            && last.ident == "Atomic"
            && let PathArguments::AngleBracketed(args) = &last.arguments
            && let Some(GenericArgument::Type(of)) = args.args.first()
        {
            *ty = of.clone();
            return self.visit_type_mut(ty);
        }
        let known = ["Array", "Vec2", "Vec3", "Vec4", "Mat2", "Mat3", "Quat"];
        if let Some(only) = path.path.segments.first()
            && path.path.segments.len() == 1
            && known.iter().any(|name| only.ident == name)
        {
            let only = only.clone();
            path.path = parse_quote!(::diffkern::#only);
        }
        visit_mut::visit_type_mut(self, ty);
    }
}
