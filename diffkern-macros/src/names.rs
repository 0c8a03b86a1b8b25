//! Names that are written raw: `r#type` is a keyword's letters as a name, `r#x` the name `x`.
//!
//! A name made of others, `s__type` of `s.r#type`, has none of the marks.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

/// `tokens` with one spelling for each name: raw only where it must be.
///
/// Groups without such a name are left as they are, since a group that is made anew has one span for both its delimiters.
pub fn plain(tokens: TokenStream) -> TokenStream {
    if !any_raw(&tokens) {
        return tokens;
    }
    let plain_tree = |tree: TokenTree| match tree {
        TokenTree::Ident(name) => TokenTree::Ident(plain_name(name)),
        TokenTree::Group(group) if any_raw(&group.stream()) => {
            let mut made = Group::new(group.delimiter(), plain(group.stream()));
            made.set_span(group.span());
            TokenTree::Group(made)
        }
        other => other,
    };
    tokens.into_iter().map(plain_tree).collect()
}

fn any_raw(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Ident(name) => is_raw(&name),
        TokenTree::Group(group) => any_raw(&group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn is_raw(name: &Ident) -> bool {
    name.to_string().starts_with("r#")
}

fn plain_name(name: Ident) -> Ident {
    if !is_raw(&name) {
        return name;
    }
    let bare = name.unraw();
    // `gen` is a keyword since the edition of 2024, which syn takes for a name.
    let is_name = bare != "gen" && syn::parse_str::<Ident>(&bare.to_string()).is_ok();
    if is_name { bare } else { name }
}

/// A name's letters, without the mark of a raw one.
pub fn bare(name: &Ident) -> String {
    name.unraw().to_string()
}

/// The name that prints as `text`, raw or not.
pub fn named(text: &str, span: Span) -> Ident {
    match text.strip_prefix("r#") {
        Some(letters) => Ident::new_raw(letters, span),
        None => Ident::new(text, span),
    }
}

/// A name for what is made of `name`, of its place in the source.
pub fn hidden(what: &str, name: &Ident) -> Ident {
    Ident::new(&format!("__diffkern_{what}_{}_{}", bare(name), place(name.span())), Span::call_site())
}

/// A number for the place in the source, the same in every build of it.
fn place(span: Span) -> String {
    let start = span.start();
    let text = format!("{}:{}:{}", span.file(), start.line, start.column);
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_keywords_stay_raw() {
        let found = super::plain("fn r#fast(r#type: r#u32) { let r#gen = r#type.r#loop.r#x; }".parse().unwrap());
        assert_eq!(found.to_string(), "fn fast (r#type : u32) { let r#gen = r#type . r#loop . x ; }");
    }
}
