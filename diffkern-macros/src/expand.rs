//! The whole way from an annotated function to what replaces it.

use diffkern_ir::{Access, Block, Func, FuncKind, ParamKind, StmtKind};
use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

use crate::attribute::{self, Attribute};
use crate::custom::{self, Form};
use crate::diagnostics::Diagnostics;
use crate::dimension::{self, Over};
use crate::emit::{self, Forms};
use crate::parse::Signature;
use crate::record::{self, Records};
use crate::source::Source;
use crate::{adjoint, directions, guard, lower, parse, port, simplify, spell, tangent, writes};

pub fn expand(args: TokenStream, item: TokenStream, kind: FuncKind) -> TokenStream {
    expand_with(args, item, kind, &Records::default())
}

/// Goes on when some structs are known: asks for the next, or expands.
pub fn expand_with(args: TokenStream, tokens: TokenStream, kind: FuncKind, records: &Records) -> TokenStream {
    let original: ItemFn = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(e) => return no_function(&tokens, kind).unwrap_or(e).into_compile_error(),
    };
    let (rest, errors) = match dimension::of(&args, &original, kind) {
        Ok(over) => return expand_over(over, &args, &tokens, kind, records),
        Err(plain) => plain,
    };
    let mut plain = original.clone();
    port::plain(&mut plain, &Diagnostics::default());
    if let Some(path) = record::missing(&plain, records) {
        return record::ask(&path, records, dimension::attribute(kind), &args, &tokens);
    }
    let (error, item) = expand_item(rest, original, kind, records, errors);
    let error = error.map(syn::Error::into_compile_error);
    quote!(#error #item)
}

/// The instances of a function over the dimension, and the one name for them.
fn expand_over(over: Over, args: &TokenStream, tokens: &TokenStream, kind: FuncKind, records: &Records) -> TokenStream {
    let (mut found, mut instances) = (Vec::new(), Vec::new());
    for (args_here, item, errors) in over.instances() {
        let mut plain = item.clone();
        port::plain(&mut plain, &Diagnostics::default());
        if let Some(path) = record::missing(&plain, records) {
            return record::ask(&path, records, dimension::attribute(kind), args, tokens);
        }
        let (error, item) = expand_item(args_here, item, kind, records, errors);
        found.push(error);
        instances.push(item);
    }
    let one_name = over.one_name(kind);
    found.insert(0, over.finish().err());
    let error = dimension::merged(found).map(syn::Error::into_compile_error);
    quote!(#error #(#instances)* #one_name)
}

/// The mistakes of a function all of whose structs are known, `errors` among them, and what replaces it.
fn expand_item(
    args: TokenStream,
    mut original: ItemFn,
    kind: FuncKind,
    records: &Records,
    errors: Diagnostics,
) -> (Option<syn::Error>, TokenStream) {
    let broken = errors.found();
    port::plain(&mut original, &errors);
    if let Some(path) = record::ambiguous(&original, records) {
        errors.at(
            path,
            "a type of this name is written by another path above; name a type in one way, and two types of one name by \
             `use .. as ..`",
        );
    }
    let (item, host) = translate(&mut original, kind, records, &errors);
    let attribute = attribute::attribute(args, kind, &errors);
    let mut sig = parse::signature(&item, kind, &errors);
    if let Some(sig) = &mut sig {
        sig.host = host;
    }
    if let (Some(path), Some(sig)) = (attribute.vjp.as_ref().or(attribute.jvp.as_ref()), &sig)
        && !sig.laws.is_empty()
    {
        errors.at(
            path,
            "a function with a law among its type parameters has no derivative by hand; give the law's methods one",
        );
    }
    // What could not be translated would be reported again.
    let lowered = if broken || errors.found() && !records.all.is_empty() { None } else { sig.as_ref() };
    let forms = lowered.map(|sig| forms(lower::lower(&item, sig, kind, &errors), &attribute, &errors));
    match (errors.finish(), sig, forms) {
        (Ok(()), Some(sig), Some(Some(forms))) => match kind {
            FuncKind::Kernel => (None, emit::kernel(&original, &sig, &forms, &attribute)),
            FuncKind::DiffFn => (None, emit::function(&original, &sig, &forms)),
        },
        (result, sig, _) => {
            let rest = sig.and_then(|sig| stand_in(&original, &item, &sig, kind));
            (result.err(), rest.unwrap_or_default())
        }
    }
}

/// The function over values that the rest reads, and what the host goes on seeing of its parameters and results.
pub fn translate(
    original: &mut ItemFn,
    kind: FuncKind,
    records: &Records,
    errors: &Diagnostics,
) -> (ItemFn, parse::HostSide) {
    let of_dimension = record::of_dimension(original, records, errors);
    let records = of_dimension.as_ref().unwrap_or(records);
    let mut params = record::rewrite_enums(original, kind, &records.choices, errors);
    let mut item = original.clone();
    params.extend(record::rewrite_options(&mut item, kind, errors));
    if kind == FuncKind::Kernel {
        params.extend(record::rewrite_compounds(&mut item));
    }
    spell::plain(&mut item, errors);
    let (item, mut host) = match records.all.is_empty() {
        true => (item, parse::HostSide::default()),
        false => record::rewrite(&item, kind, records, errors),
    };
    host.params.extend(params);
    (item, host)
}

/// What stands in place of an item with mistakes, so that its uses are no mistakes as well: one that does nothing.
fn stand_in(original: &ItemFn, item: &ItemFn, sig: &Signature, kind: FuncKind) -> Option<TokenStream> {
    let (errors, attribute) = (Diagnostics::default(), Attribute::default());
    let forms = forms(lower::nothing(item, sig, kind, &errors), &attribute, &errors)?;
    let mut original = original.clone();
    original.attrs.retain(|attr| attr.path().is_ident("doc"));
    Some(match kind {
        FuncKind::Kernel => emit::kernel(&original, sig, &forms, &attribute),
        FuncKind::DiffFn => emit::function(&original, sig, &forms),
    })
}

/// What is wrong with an item that is no function.
fn no_function(tokens: &TokenStream, kind: FuncKind) -> Option<syn::Error> {
    let name = dimension::attribute(kind);
    let way = "a method is a function of its own, `fn area<F: Float>(b: Body<F>) -> F`";
    let (span, way) = match syn::parse2::<syn::Item>(tokens.clone()).ok()? {
        syn::Item::Impl(i) if i.trait_.is_some() => {
            (i.impl_token.span, "on the methods of a law stands `#[diff_impl]`")
        }
        syn::Item::Impl(i) => (i.impl_token.span, way),
        syn::Item::Trait(t) => (t.trait_token.span, "on a law stands `#[diff_trait]`"),
        syn::Item::Enum(e) => (e.enum_token.span, "on an enum stands `#[diff_enum]`"),
        syn::Item::Struct(s) => (s.struct_token.span, "on a struct stands `#[diff_struct]`"),
        _ => return None,
    };
    Some(syn::Error::new(span, format!("`#[{name}]` stands on a function; {way}")))
}

/// All forms, if the primal has no mistakes.
pub fn forms((mut primal, mut source): (Func, Source), attribute: &Attribute, errors: &Diagnostics) -> Option<Forms> {
    if errors.found() {
        return None;
    }
    let mut by_hand = |form, path: &Option<syn::Path>| match (path, primal.kind) {
        (Some(path), FuncKind::DiffFn) => Some(custom::form(&primal, form, path, &mut source, errors)),
        _ => None,
    };
    let adjoint = match by_hand(Form::Vjp, &attribute.vjp) {
        Some(func) => func?,
        None => adjoint::adjoint(&primal),
    };
    let mut tangent = match by_hand(Form::Jvp, &attribute.jvp) {
        Some(func) => func?,
        None => tangent::tangent(&primal),
    };
    let replay = by_hand(Form::Replay, &attribute.replay);
    refuse_updates(&primal, &source, attribute, errors);
    let mut clear = match (primal.kind, &attribute.vjp) {
        (FuncKind::Kernel, Some(_)) => Some(adjoint::clearing(&primal)),
        _ => None,
    };
    let directions = match (primal.kind, attribute.directions) {
        (FuncKind::Kernel, Some(count)) => Some((count, directions::directions(&primal, count))),
        (FuncKind::Kernel, None) | (FuncKind::DiffFn, _) => None,
    };
    let by_hand = attribute.jvp.is_some() || attribute.replay.is_some();
    let second = tangent::SECOND_ORDER.then(|| tangent::second(&adjoint));
    let adjoint = guard::lower(adjoint);
    for func in [&mut primal, &mut tangent].into_iter().chain(&mut clear) {
        simplify::simplify(func);
    }
    if primal.kind == FuncKind::Kernel {
        writes::refuse_shared(&primal, &source, errors);
    }
    let replay = match replay {
        Some(func) => func?,
        None => custom::replayed(&primal),
    };
    for func in [&adjoint, &tangent].into_iter().chain(&clear) {
        refuse_fetches(&func.body, &source, errors);
    }
    if errors.found() {
        return None;
    }
    Some(Forms { source, primal, replay, by_hand, adjoint, tangent, directions, clear, second })
}

/// An adjoint by hand would find two adjoints in one bar: of what was there before and of what is there after.
fn refuse_updates(primal: &Func, source: &Source, attribute: &Attribute, errors: &Diagnostics) {
    if primal.kind != FuncKind::Kernel || (attribute.vjp.is_none() && attribute.jvp.is_none()) {
        return;
    }
    for (param, span) in primal.params.iter().zip(&source.params) {
        if let ParamKind::Array { elem, access: Access::Update, .. } = param.kind
            && elem.is_real()
        {
            errors.error(
                *span,
                format!(
                    "a kernel with derivatives written by hand does not read what it overwrites; read `{}` and store to \
                     a second array",
                    param.name
                ),
            );
        }
    }
}

/// What an adjoint or tangent still fetches it needs, but it would fetch something else.
fn refuse_fetches(block: &Block, source: &Source, errors: &Diagnostics) {
    block.each(&mut |stmt| {
        if let StmtKind::Fetch { .. } = stmt.kind {
            errors.error(
                source.span(stmt.node),
                "a gradient depends on the old value that this returns, and its kernel would get another one; store the \
                 old value in an array of integers here, and use it in a second kernel",
            );
        }
    });
}
