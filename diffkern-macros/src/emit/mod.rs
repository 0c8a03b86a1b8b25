//! From IR to what the user's crate is given: the host function that launches a kernel, and its generated parts.

mod callee;
mod checks;
mod function;
mod growing;
mod imports;
mod kernel;
mod lanes;
mod law;
mod native;
#[cfg(test)]
mod rows;
mod signature;
mod table;
mod texts;

use diffkern_ir::Func;
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;

use crate::names::named;
use crate::source::Source;

pub use function::function;
pub use imports::imports;
pub use kernel::kernel;
pub use law::{law_impl, law_method, law_name};
pub use native::rust_type;
pub use signature::{index, primitives};

/// A function in its forms, and where it comes from.
pub struct Forms {
    pub source: Source,
    pub primal: Func,
    /// The primal as adjoints and tangents run it again.
    pub replay: Func,
    /// Whether the replay or the tangent is written by hand.
    pub by_hand: bool,
    pub adjoint: Func,
    pub tangent: Func,
    /// The kernel with its tangents along so many directions, where it asks for that.
    pub directions: Option<(usize, Func)>,
    /// Beside an adjoint kernel written by hand.
    pub clear: Option<Func>,
    /// The tangent of the adjoint, where second derivatives are asked for.
    pub second: Option<Func>,
}

/// `tokens` with others for one name.
fn replace_ident_by(tokens: TokenStream, from: &str, to: &dyn Fn(Span) -> TokenStream) -> TokenStream {
    let replaced = |t: TokenTree| match t {
        TokenTree::Ident(i) if i == from => to(i.span()),
        TokenTree::Group(g) => {
            TokenTree::from(Group::new(g.delimiter(), replace_ident_by(g.stream(), from, to))).into()
        }
        other => other.into(),
    };
    tokens.into_iter().flat_map(replaced).collect()
}

/// `tokens` with one name for another.
pub fn replace_ident(tokens: TokenStream, from: &str, to: &str) -> TokenStream {
    replace_ident_by(tokens, from, &|span| named(to, span).into_token_stream())
}
