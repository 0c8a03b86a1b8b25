//! Collects all mistakes of an item, each on the token to change.

use std::cell::RefCell;

use proc_macro2::Span;

/// Errors found so far. Every message says what to write instead.
#[derive(Default)]
pub struct Diagnostics {
    error: RefCell<Option<syn::Error>>,
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

    pub fn found(&self) -> bool {
        self.error.borrow().is_some()
    }

    pub fn finish(self) -> syn::Result<()> {
        self.error.into_inner().map_or(Ok(()), Err)
    }
}
