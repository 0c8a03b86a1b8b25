//! Where generated code finds `diffkern`: at `::diffkern`, or where `crate = path` in the brackets of an attribute says.
//!
//! What is generated says `::diffkern` throughout, and is given the other path last.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Path;
use syn::parse::{Parse, ParseStream, Parser};

use crate::names;

/// The path to the crate, if it is another than `::diffkern`.
#[derive(Default)]
pub struct Home(Option<Path>);

/// `crate = path`, or what else is among the arguments.
enum Argument {
    Home(Path),
    Other(TokenStream),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(syn::Token![crate]) && input.peek2(syn::Token![=]) {
            input.parse::<syn::Token![crate]>()?;
            input.parse::<syn::Token![=]>()?;
            return Ok(Argument::Home(input.call(Path::parse_mod_style)?));
        }
        let mut tokens = TokenStream::new();
        while !input.is_empty() && !input.peek(syn::Token![,]) {
            tokens.extend([input.parse::<TokenTree>()?]);
        }
        Ok(Argument::Other(tokens))
    }
}

/// Expands an item in which each name is spelled one way, and moves what is made to where the arguments say the crate is.
pub fn at_home(
    args: TokenStream,
    item: TokenStream,
    expand: impl FnOnce(TokenStream, TokenStream) -> TokenStream,
) -> TokenStream {
    match Home::take(names::plain(args)) {
        Ok((home, args)) => home.moved(expand(args, names::plain(item))),
        Err(e) => e.into_compile_error(),
    }
}

impl Home {
    /// Takes `crate = path` out of the arguments of an attribute.
    pub fn take(args: TokenStream) -> syn::Result<(Home, TokenStream)> {
        let all = syn::punctuated::Punctuated::<Argument, syn::Token![,]>::parse_terminated.parse2(args)?;
        let (mut home, mut rest) = (Home::default(), TokenStream::new());
        for argument in all {
            match argument {
                Argument::Home(path) => home = Home(Some(path)),
                Argument::Other(tokens) if rest.is_empty() => rest = tokens,
                Argument::Other(tokens) => rest = quote!(#rest, #tokens),
            }
        }
        Ok((home, rest))
    }

    /// As it is handed on.
    pub fn parse(input: ParseStream<'_>) -> syn::Result<Home> {
        let path: Path = input.call(Path::parse_mod_style)?;
        let usual = path.leading_colon.is_some() && path.segments.len() == 1 && path.segments[0].ident == "diffkern";
        Ok(Home((!usual).then_some(path)))
    }

    /// `tokens`, with this path in place of `::diffkern`.
    pub fn moved(&self, tokens: TokenStream) -> TokenStream {
        match &self.0 {
            None => tokens,
            Some(path) => moved(tokens, &path.to_token_stream()),
        }
    }
}

fn moved(tokens: TokenStream, to: &TokenStream) -> TokenStream {
    let mut found: Vec<TokenTree> = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Ident(name) if name == "diffkern" && begins_a_path(&found) => {
                found.truncate(found.len() - 2);
                found.extend(to.clone());
            }
            TokenTree::Group(group) => {
                let mut made = proc_macro2::Group::new(group.delimiter(), moved(group.stream(), to));
                made.set_span(group.span());
                found.push(TokenTree::Group(made));
            }
            other => found.push(other),
        }
    }
    found.into_iter().collect()
}

/// Whether the last two are the `::` that a path begins with, and none in the midst of one.
fn begins_a_path(before: &[TokenTree]) -> bool {
    let colon = |tree: &TokenTree| matches!(tree, TokenTree::Punct(p) if p.as_char() == ':');
    let [rest @ .., first, second] = before else { return false };
    let within = matches!(rest.last(), Some(TokenTree::Ident(name)) if !is_keyword(name));
    colon(first) && colon(second) && !within
}

fn is_keyword(name: &Ident) -> bool {
    let word = name.to_string();
    syn::parse_str::<Ident>(&word).is_err() && !matches!(word.as_str(), "crate" | "self" | "super" | "Self")
}

#[cfg(test)]
mod tests {
    use super::Home;

    #[test]
    fn only_paths_to_the_crate_are_moved() {
        let (home, rest) = Home::take("crate = super::dk, vjp = back".parse().unwrap()).unwrap();
        assert_eq!(rest.to_string(), "vjp = back");
        let text = "fn f(x: impl ::diffkern::A) -> ::diffkern::B { my::diffkern::c(diffkern) }";
        let found = home.moved(text.parse().unwrap()).to_string().replace(' ', "");
        assert_eq!(found, "fnf(x:implsuper::dk::A)->super::dk::B{my::diffkern::c(diffkern)}");
    }
}
