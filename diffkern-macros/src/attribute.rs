//! What stands in the brackets of `#[diff_fn(..)]` and `#[diff_kernel(..)]`: derivatives written by hand, directions of forward
//! mode, promises.

use diffkern_ir::FuncKind;
use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, Path, Token};

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
    /// Along how many directions at once forward mode also runs the kernel.
    pub directions: Option<usize>,
}

/// The most directions of one pass: the code grows by each, and its values have to fit the registers.
const MOST_DIRECTIONS: usize = 4;

struct Entry {
    name: Ident,
    value: Value,
}

enum Value {
    None,
    Path(Path),
    Lit(Lit),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse()?;
        if name == "injective" {
            return Ok(Self { name, value: Value::None });
        }
        input.parse::<Token![=]>()?;
        let value = if input.peek(Lit) { Value::Lit(input.parse()?) } else { Value::Path(input.parse()?) };
        Ok(Self { name, value })
    }
}

/// Reads the brackets.
pub fn attribute(args: TokenStream, kind: FuncKind, errors: &Diagnostics) -> Attribute {
    let mut found = Attribute::default();
    let known = match kind {
        FuncKind::Kernel => "write `vjp = adjoint_kernel`, `jvp = tangent_kernel`, `directions = 3` or `injective`",
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
    for Entry { name, value } in entries {
        let slot = match name.to_string().as_str() {
            "vjp" => &mut found.vjp,
            "jvp" => &mut found.jvp,
            "replay" if kind == FuncKind::DiffFn => &mut found.replay,
            "injective" if kind == FuncKind::Kernel => {
                found.injective = true;
                continue;
            }
            "directions" if kind == FuncKind::Kernel => {
                if found.directions.is_some() {
                    errors.at(&name, "`directions` is given twice");
                }
                found.directions = directions(&value, &name, errors);
                continue;
            }
            _ => {
                errors.at(&name, format!("`{name}` is not known here; {known}"));
                continue;
            }
        };
        if slot.is_some() {
            errors.at(&name, format!("`{name}` is given twice"));
        }
        match value {
            Value::Path(path) => *slot = Some(path),
            Value::None => {}
            Value::Lit(lit) => errors.at(lit, format!("`{name}` is the path of what is written by hand; {known}")),
        }
    }
    if let (Some(path), Some(_)) = (&found.jvp, found.directions) {
        errors.at(path, "a tangent written by hand is that of one direction; leave out `directions` or `jvp`");
    }
    found
}

fn directions(value: &Value, name: &Ident, errors: &Diagnostics) -> Option<usize> {
    let count = match value {
        Value::Lit(Lit::Int(lit)) => lit.base10_parse().ok().filter(|count| (2..=MOST_DIRECTIONS).contains(count)),
        Value::Lit(_) | Value::Path(_) | Value::None => None,
    };
    if count.is_none() {
        let way = format!(
            "`directions` is how many tangents one pass computes, a number from 2 to {MOST_DIRECTIONS}; one direction is \
             always there"
        );
        match value {
            Value::Lit(lit) => errors.at(lit, way),
            Value::Path(path) => errors.at(path, way),
            Value::None => errors.at(name, way),
        }
    }
    count
}
