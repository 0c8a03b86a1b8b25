//! Which structs an item speaks of.

use syn::visit::Visit;
use syn::{Ident, ItemFn, Path, Type};

use super::Records;
use crate::cube::refused_type;
use crate::parse::named_shape;

/// The first type that may be a struct and is not known yet.
pub fn missing(item: &ItemFn, known: &Records) -> Option<Path> {
    let generics = item.sig.generics.params.iter().filter_map(|p| match p {
        syn::GenericParam::Type(t) => Some(t.ident.clone()),
        _ => None,
    });
    let mut find = Find { known, generics: generics.collect(), found: None };
    for input in &item.sig.inputs {
        find.visit_fn_arg(input);
    }
    find.visit_return_type(&item.sig.output);
    find.visit_block(&item.block);
    find.found
}

/// A type of a known name that is written by another path than before: it may be another struct.
pub fn ambiguous(item: &ItemFn, known: &Records) -> Option<Path> {
    struct Paths<'a> {
        known: &'a Records,
        seen: Vec<(Ident, String)>,
        found: Option<Path>,
    }
    impl<'ast> Visit<'ast> for Paths<'_> {
        fn visit_path(&mut self, path: &'ast Path) {
            let mut plain = path.clone();
            for segment in &mut plain.segments {
                segment.arguments = syn::PathArguments::None;
            }
            // `Mode::Zeros` is of `Mode`.
            let of = |name: &Ident| {
                self.known.named(name).is_some() || self.known.choices.iter().any(|choice| choice.name == *name)
            };
            if plain.segments.last().is_some_and(|last| !of(&last.ident)) {
                plain.segments.pop();
                plain.segments.pop_punct();
            }
            if let Some(last) = plain.segments.last().filter(|last| of(&last.ident)) {
                let text = quote::ToTokens::to_token_stream(&plain).to_string();
                match self.seen.iter().find(|(name, _)| *name == last.ident) {
                    Some((_, other)) if *other != text => self.found = self.found.take().or_else(|| Some(path.clone())),
                    Some(_) => {}
                    None => self.seen.push((last.ident.clone(), text)),
                }
            }
            syn::visit::visit_path(self, path);
        }
    }
    let mut paths = Paths { known, seen: Vec::new(), found: None };
    paths.visit_item_fn(item);
    paths.found
}

/// The same for the type of a field.
pub fn missing_in_type(ty: &Type, real: Option<&Ident>, known: &Records) -> Option<Path> {
    let mut find = Find { known, generics: real.into_iter().cloned().collect(), found: None };
    find.visit_type(ty);
    find.found
}

struct Find<'a> {
    known: &'a Records,
    generics: Vec<Ident>,
    found: Option<Path>,
}

impl Find<'_> {
    fn look(&mut self, path: &Path) {
        let Some(last) = path.segments.last() else { return };
        let name = last.ident.to_string();
        let is_struct = name.starts_with(char::is_uppercase)
            && !self.generics.contains(&last.ident)
            && named_shape(&name).is_none()
            && refused_type(&name).is_none()
            && !matches!(name.as_str(), "Array" | "Self" | "String" | "Vec" | "Box" | "Float" | "Dim2" | "Dim3")
            && !is_vector_of_another_size(&name)
            && self.known.named(&last.ident).is_none()
            && !self.known.choices.iter().any(|choice| choice.name == last.ident);
        if is_struct && self.found.is_none() {
            let mut path = path.clone();
            for segment in &mut path.segments {
                segment.arguments = syn::PathArguments::None;
            }
            self.found = Some(path);
        }
    }
}

fn is_vector_of_another_size(name: &str) -> bool {
    ["Vec", "Mat"].iter().any(|stem| name.strip_prefix(stem).is_some_and(|n| n.chars().all(|c| c.is_ascii_digit())))
}

impl<'ast> Visit<'ast> for Find<'_> {
    fn visit_type_path(&mut self, ty: &'ast syn::TypePath) {
        if ty.path.segments.last().is_some_and(|last| refused_type(&last.ident.to_string()).is_some()) {
            return;
        }
        if ty.qself.is_none() {
            self.look(&ty.path);
        }
        syn::visit::visit_type_path(self, ty);
    }

    fn visit_expr_struct(&mut self, e: &'ast syn::ExprStruct) {
        self.look(&e.path);
        syn::visit::visit_expr_struct(self, e);
    }

    /// `Mode::Zeros` is of an enum. A turbofish may name laws.
    fn visit_expr_path(&mut self, e: &'ast syn::ExprPath) {
        let mut path = e.path.clone();
        let variant = path.segments.pop().map(|last| last.into_value().ident.to_string()).unwrap_or_default();
        path.segments.pop_punct();
        let named = variant.starts_with(char::is_uppercase) && variant.contains(char::is_lowercase);
        let owner_is_type = path.segments.last().is_some_and(|s| s.ident.to_string().starts_with(char::is_uppercase));
        let of_cubecl = path.segments.first().is_some_and(|s| s.ident == "cmma" || s.ident == "tma");
        if e.qself.is_none() && named && owner_is_type && !of_cubecl {
            self.look(&path);
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
