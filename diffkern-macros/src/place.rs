//! Where a kernel stands: an item of a module or of a function's body, not a method.
//!
//! A macro cannot see that, and rustc has an error for each item that it finds in an `impl` and for each use of one. So the
//! macro first makes one item, which rustc takes or refuses as a whole, and what is taken makes the rest:
//!
//! ```text
//! #[diff_kernel] fn scale<F: Float>(..) { .. }      #[__expand(diff_kernel () fn scale<F: Float>(..) { .. })] enum scale {}
//! ```

use diffkern_ir::FuncKind;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};

use crate::expand;
use crate::home::{Home, at_home};
use crate::names;

/// The item that stands for a function until its place is known.
pub fn placed(what: &str, args: TokenStream, item: TokenStream) -> TokenStream {
    let Some((keyword, name)) = function(item.clone()) else { return run(what, args, item) };
    let home = match Home::take(names::plain(args.clone())) {
        Ok((home, _)) => home,
        Err(e) => return e.into_compile_error(),
    };
    let (what, head) = (format_ident!("{what}"), quote_spanned!(name.span()=> {}));
    let kind = quote_spanned!(keyword.span()=> enum);
    let path = home.moved(quote!(::diffkern::__expand));
    quote!(#[#path(#what (#args) #item)] #kind #name #head)
}

/// The keyword and the name of a function.
fn function(item: TokenStream) -> Option<(Ident, Ident)> {
    let mut names = item.into_iter().skip_while(|tree| !matches!(tree, TokenTree::Ident(name) if name == "fn"));
    match (names.next(), names.next()) {
        (Some(TokenTree::Ident(keyword)), Some(TokenTree::Ident(name))) => Some((keyword, name)),
        _ => None,
    }
}

/// What [`placed`] hands on.
struct Placed {
    what: Ident,
    args: TokenStream,
    item: TokenStream,
}

impl Parse for Placed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let what = input.parse()?;
        let args;
        syn::parenthesized!(args in input);
        Ok(Placed { what, args: args.parse()?, item: input.parse()? })
    }
}

/// The function that stands in its place.
pub fn expand(placed: TokenStream) -> TokenStream {
    match syn::parse2::<Placed>(placed) {
        Ok(Placed { what, args, item }) => run(&what.to_string(), args, item),
        Err(e) => e.into_compile_error(),
    }
}

fn run(what: &str, args: TokenStream, item: TokenStream) -> TokenStream {
    let kind = if what == "diff_kernel" { FuncKind::Kernel } else { FuncKind::DiffFn };
    at_home(args, item, |args, item| expand::expand(args, item, kind))
}
