//! `#[diff_enum]`: a choice among names, which is a number in a kernel.
//!
//! ```text
//! #[diff_enum] enum Mode { Zeros, Border }                the enum, and macro_rules! Mode
//! #[comptime] mode: Mode                                  #[comptime] mode: u32, and the launch passes `mode as u32`
//! match mode { Mode::Zeros => a, Mode::Border => b }      match mode { 0u32 => a, _ => b }
//! ```

use diffkern_ir::FuncKind;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, ExprMatch, FnArg, Ident, ItemEnum, ItemFn, LitInt, Pat, Path, ReturnType, Token, Type, parse_quote,
    parse_quote_spanned,
};

use super::declare::{refuse_cfg, teller};
use crate::diagnostics::Diagnostics;
use crate::parse::HostParam;

/// An enum: its name, and the number of each variant.
#[derive(Clone)]
pub struct Choice {
    pub name: Ident,
    variants: Vec<(Ident, u32)>,
}

impl Choice {
    /// As `__resume!` reads it.
    pub fn tokens(&self) -> TokenStream {
        let name = &self.name;
        let variants = self.variants.iter().map(|(variant, number)| quote!(#variant = #number));
        quote!(enum #name { #(#variants),* })
    }
}

impl Parse for Choice {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![enum]>()?;
        let name = input.parse()?;
        let inner;
        syn::braced!(inner in input);
        let variant = |input: ParseStream<'_>| -> syn::Result<(Ident, u32)> {
            let name = input.parse()?;
            input.parse::<Token![=]>()?;
            Ok((name, input.parse::<LitInt>()?.base10_parse()?))
        };
        let variants = inner.parse_terminated(variant, Token![,])?;
        Ok(Self { name, variants: variants.into_iter().collect() })
    }
}

/// `#[diff_enum] enum Mode { Zeros, Border }`
pub fn declare(args: TokenStream, item: TokenStream) -> TokenStream {
    if !args.is_empty() {
        return syn::Error::new_spanned(args, "this attribute takes no argument but `crate = path`")
            .into_compile_error();
    }
    let item: ItemEnum = match syn::parse2(item) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
    let errors = Diagnostics::default();
    if !item.generics.params.is_empty() {
        errors.at(&item.generics, "an enum of the kernel language has no parameters");
    }
    let mut next = 0;
    let mut variants = Vec::new();
    for variant in &item.variants {
        refuse_cfg(&variant.attrs, "variants are numbered", "enums", &errors);
        if !variant.fields.is_empty() {
            errors.at(
                &variant.fields,
                "a variant holds nothing in a kernel; pass what belongs to it as parameters of the kernel",
            );
        }
        match &variant.discriminant {
            Some((_, Expr::Lit(lit))) => match &lit.lit {
                syn::Lit::Int(number) => match number.base10_parse() {
                    Ok(number) => next = number,
                    Err(_) => errors.at(number, "the number of a variant is a `u32`"),
                },
                other => errors.at(other, "the number of a variant is an integer"),
            },
            Some((_, other)) => errors.at(other, "the number of a variant is written out"),
            None => {}
        }
        variants.push((variant.ident.clone(), next));
        next = u32::wrapping_add(next, 1);
    }
    let choice = Choice { name: item.ident.clone(), variants };
    let error = errors.finish().err().map(syn::Error::into_compile_error);
    let macros = teller(&item.ident, &item.vis, &choice.tokens());
    quote!(#error #item #macros)
}

/// Rewrites a function with enums as one with numbers; gives what the host sees of its parameters.
pub fn rewrite(item: &mut ItemFn, kind: FuncKind, choices: &[Choice], errors: &Diagnostics) -> Vec<HostParam> {
    let mut numbers = Numbers { choices, errors };
    let mut params = Vec::new();
    for arg in &mut item.sig.inputs {
        let FnArg::Typed(arg) = arg else { continue };
        let Pat::Ident(name) = &*arg.pat else { continue };
        if numbers.choice_of(&arg.ty).is_some() {
            let name = name.ident.clone();
            let args = match kind {
                FuncKind::Kernel => quote!(::diffkern::private::Arg::U32(#name as ::core::primitive::u32)),
                FuncKind::DiffFn => quote!(#name as ::core::primitive::u32),
            };
            params.push(HostParam { name, ty: arg.ty.to_token_stream(), args: vec![args] });
            *arg.ty = parse_quote_spanned!(arg.ty.span()=> u32);
        } else if numbers.inside(&arg.ty) {
            errors.at(&arg.ty, "an enum is a parameter by value; an array holds numbers, `&Array<u32>`");
            *arg.ty = parse_quote_spanned!(arg.ty.span()=> &Array<u32>);
        }
    }
    if let ReturnType::Type(_, ty) = &mut item.sig.output
        && numbers.inside(ty)
    {
        errors.at(&*ty, "a device function returns values; give back a number, `-> u32`");
        **ty = parse_quote_spanned!(ty.span()=> u32);
    }
    numbers.visit_block_mut(&mut item.block);
    params
}

struct Numbers<'a> {
    choices: &'a [Choice],
    errors: &'a Diagnostics,
}

impl Numbers<'_> {
    fn choice_of(&self, ty: &Type) -> Option<&Choice> {
        let Type::Path(path) = ty else { return None };
        let last = path.path.segments.last()?;
        self.choices.iter().find(|choice| choice.name == last.ident)
    }

    /// Whether an enum is named anywhere in a type.
    fn inside(&self, ty: &Type) -> bool {
        struct Find<'a>(&'a [Choice], bool);
        impl<'ast> syn::visit::Visit<'ast> for Find<'_> {
            fn visit_ident(&mut self, name: &'ast Ident) {
                self.1 |= self.0.iter().any(|choice| choice.name == *name);
            }
        }
        let mut find = Find(self.choices, false);
        syn::visit::Visit::visit_type(&mut find, ty);
        find.1
    }

    /// The enum and the number that `Mode::Zeros` is.
    fn variant(&self, path: &Path) -> Option<(&Choice, u32)> {
        let mut segments = path.segments.iter().rev();
        let (last, owner) = (segments.next()?, segments.next()?);
        let choice = self.choices.iter().find(|choice| choice.name == owner.ident)?;
        match choice.variants.iter().find(|(variant, _)| *variant == last.ident) {
            Some((_, number)) => Some((choice, *number)),
            None => {
                let known: Vec<String> = choice.variants.iter().map(|(variant, _)| format!("`{variant}`")).collect();
                self.errors.at(
                    &last.ident,
                    format!("`{}` has no variant `{}`; it has {}", choice.name, last.ident, known.join(", ")),
                );
                Some((choice, 0))
            }
        }
    }

    /// The enum that the patterns of a match name.
    fn matched<'p>(&self, arms: impl Iterator<Item = &'p Pat>) -> Option<&Choice> {
        arms.into_iter().find_map(|pattern| match pattern {
            Pat::Path(p) => {
                let owner = p.path.segments.iter().rev().nth(1)?;
                self.choices.iter().find(|choice| choice.name == owner.ident)
            }
            Pat::Or(or) => self.matched(or.cases.iter()),
            Pat::Paren(p) => self.matched(std::iter::once(&*p.pat)),
            _ => None,
        })
    }

    /// A match that names every variant needs no `_`: its last arm is one.
    fn close(&self, m: &mut ExprMatch) {
        let Some(choice) = self.matched(m.arms.iter().map(|arm| &arm.pat)) else { return };
        let mut covered = Vec::new();
        for arm in m.arms.iter().filter(|arm| arm.guard.is_none()) {
            if matches!(&arm.pat, Pat::Wild(_) | Pat::Ident(_)) {
                return;
            }
            names(&arm.pat, &mut covered);
        }
        let left: Vec<String> = choice
            .variants
            .iter()
            .filter(|(variant, _)| !covered.iter().any(|name| name == variant))
            .map(|(variant, _)| format!("`{}::{variant}`", choice.name))
            .collect();
        if !left.is_empty() {
            self.errors.at(m.match_token, format!("no arm is for {}", left.join(", ")));
        }
        if let Some(last) = m.arms.iter_mut().rev().find(|arm| arm.guard.is_none()) {
            last.pat = parse_quote_spanned!(last.pat.span()=> _);
        }
    }
}

/// The variants that a pattern names.
fn names(pattern: &Pat, found: &mut Vec<Ident>) {
    match pattern {
        Pat::Path(p) => found.extend(p.path.segments.last().map(|s| s.ident.clone())),
        Pat::Or(or) => or.cases.iter().for_each(|case| names(case, found)),
        Pat::Paren(p) => names(&p.pat, found),
        _ => {}
    }
}

fn number(value: u32, span: Span) -> Expr {
    let literal = LitInt::new(&format!("{value}u32"), span);
    parse_quote!(#literal)
}

impl VisitMut for Numbers<'_> {
    fn visit_expr_match_mut(&mut self, m: &mut ExprMatch) {
        self.close(m);
        visit_mut::visit_expr_match_mut(self, m);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        if let Expr::Path(path) = e
            && let Some((_, value)) = self.variant(&path.path)
        {
            *e = number(value, path.span());
            return;
        }
        // `if let Mode::Zeros = mode`
        if let Expr::Let(l) = e
            && let Pat::Path(path) = &*l.pat
            && let Some((_, value)) = self.variant(&path.path)
        {
            let (matched, value) = (&l.expr, number(value, path.span()));
            *e = parse_quote_spanned!(l.span()=> (#matched) == #value);
        }
        visit_mut::visit_expr_mut(self, e);
    }

    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        if let Pat::Path(path) = pattern
            && let Some((_, value)) = self.variant(&path.path)
        {
            let literal = LitInt::new(&format!("{value}u32"), path.span());
            *pattern = Pat::Lit(parse_quote!(#literal));
            return;
        }
        visit_mut::visit_pat_mut(self, pattern);
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        if self.choice_of(ty).is_some() {
            *ty = parse_quote_spanned!(ty.span()=> u32);
        }
        visit_mut::visit_type_mut(self, ty);
    }
}
