//! What stands in the brackets of `#[diff_fn(..)]` and `#[diff_kernel(..)]`: derivatives written by hand, promises.

use diffkern_ir::FuncKind;
use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Path, Token};

use crate::diagnostics::Diagnostics;

/// Paths of what replaces a generated form, and what the author promises.
#[derive(Default)]
pub struct Attribute {
    pub vjp: Option<Path>,
    pub jvp: Option<Path>,
    /// What adjoints and tangents run in place of the function.
    pub replay: Option<Path>,
    /// That no two threads store to one element.
    pub injective: bool,
}

struct Entry {
    name: Ident,
    path: Option<Path>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse()?;
        if name == "injective" {
            return Ok(Self { name, path: None });
        }
        input.parse::<Token![=]>()?;
        Ok(Self { name, path: Some(input.parse()?) })
    }
}

/// Reads the brackets.
pub fn attribute(args: TokenStream, kind: FuncKind, errors: &Diagnostics) -> Attribute {
    let mut found = Attribute::default();
    let known = match kind {
        FuncKind::Kernel => "write `vjp = adjoint_kernel`, `jvp = tangent_kernel` or `injective`",
        FuncKind::DiffFn => "write `vjp = function` or `jvp = function`",
    };
    let entries = match syn::parse::Parser::parse2(Punctuated::<Entry, Token![,]>::parse_terminated, args.clone()) {
        Ok(entries) => entries,
        Err(_) => {
            let cube = args.to_string().starts_with("launch");
            errors.at(args, if cube { "a kernel is launched by calling it; remove this" } else { known });
            return found;
        }
    };
    for entry in entries {
        let slot = match entry.name.to_string().as_str() {
            "vjp" => &mut found.vjp,
            "jvp" => &mut found.jvp,
            "replay" if kind == FuncKind::DiffFn => &mut found.replay,
            "injective" if kind == FuncKind::Kernel => {
                found.injective = true;
                continue;
            }
            _ => {
                errors.at(&entry.name, format!("`{}` is not known here; {known}", entry.name));
                continue;
            }
        };
        if slot.is_some() {
            errors.at(&entry.name, format!("`{}` is given twice", entry.name));
        }
        *slot = entry.path;
    }
    found
}
