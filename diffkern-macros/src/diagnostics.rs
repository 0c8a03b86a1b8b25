//! Collects all mistakes of an item, each on the token to change.

use std::cell::RefCell;

use proc_macro2::Span;

/// Errors found so far. Every message says what to write instead.
#[derive(Default)]
pub struct Diagnostics {
    error: RefCell<Option<syn::Error>>,
    /// Names that are wrong where they are declared, so that their uses are not reported again.
    blamed: RefCell<Vec<String>>,
}

impl Diagnostics {
    pub fn error(&self, span: Span, message: impl std::fmt::Display) {
        self.push(syn::Error::new(span, message));
    }

    /// An error that underlines the whole of `tokens`.
    pub fn at(&self, tokens: impl quote::ToTokens, message: impl std::fmt::Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    fn push(&self, new: syn::Error) {
        let mut slot = self.error.borrow_mut();
        match slot.as_mut() {
            Some(all) => all.combine(new),
            None => *slot = Some(new),
        }
    }

    /// Nothing found yet; the same declarations are reported.
    pub fn apart(&self) -> Diagnostics {
        Diagnostics { error: RefCell::default(), blamed: self.blamed.clone() }
    }

    /// Takes what `other` has found.
    pub fn take(&self, other: Diagnostics) {
        if let Some(error) = other.error.into_inner() {
            self.push(error);
        }
        self.blamed.replace(other.blamed.into_inner());
    }

    /// The declaration of `name` is reported.
    pub fn blame(&self, name: impl ToString) {
        self.blamed.borrow_mut().push(name.to_string());
    }

    pub fn is_blamed(&self, name: &str) -> bool {
        self.blamed.borrow().iter().any(|blamed| blamed == name)
    }

    pub fn found(&self) -> bool {
        self.error.borrow().is_some()
    }

    pub fn finish(self) -> syn::Result<()> {
        self.error.into_inner().map_or(Ok(()), Err)
    }
}

/// `tokens` in one line, about as an author spaces them.
pub fn as_written(tokens: impl quote::ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    for (spaced, close) in
        [(" ,", ","), (" (", "("), ("( ", "("), (" )", ")"), (" [", "["), (" :: ", "::"), (" . ", ".")]
    {
        text = text.replace(spaced, close);
    }
    text.replace("::< ", "::<").replace(" >::", ">::").replace(" >(", ">(")
}
