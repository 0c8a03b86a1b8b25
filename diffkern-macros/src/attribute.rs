//! What stands in the brackets of `#[diff_fn(..)]` and `#[diff_kernel(..)]`: derivatives written by hand.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Path, Token};

use crate::diagnostics::Diagnostics;
use crate::ir::FuncKind;

/// Paths of what replaces a generated form.
#[derive(Default)]
pub struct Attribute {
    pub vjp: Option<Path>,
    pub jvp: Option<Path>,
    /// What adjoints and tangents run in place of the function.
    pub replay: Option<Path>,
}

struct Entry {
    name: Ident,
    path: Path,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self { name, path: input.parse()? })
    }
}

/// Reads the brackets.
pub fn attribute(args: TokenStream, kind: FuncKind, errors: &Diagnostics) -> Attribute {
    let mut found = Attribute::default();
    let known = match kind {
        FuncKind::Kernel => "write `vjp = adjoint_kernel` or `jvp = tangent_kernel`",
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
            _ => {
                errors.at(&entry.name, format!("`{}` is not known here; {known}", entry.name));
                continue;
            }
        };
        if slot.is_some() {
            errors.at(&entry.name, format!("`{}` is given twice", entry.name));
        }
        *slot = Some(entry.path);
    }
    found
}
