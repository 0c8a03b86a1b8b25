//! Every row of the table of operations, as Rust for one position and for packs.

use diffkern_ir::{FuncKind, Row, rows};
use proc_macro2::TokenStream;
use quote::format_ident;

use super::{lanes, native};
use crate::diagnostics::Diagnostics;
use crate::parse;
use crate::source::Source;

/// Of a row's kernel, which no source has.
fn source() -> Source {
    let item: syn::ItemFn = syn::parse_quote!(
        fn row<F: Float>() {}
    );
    let sig = parse::signature(&item, FuncKind::Kernel, &Diagnostics::default());
    Source::new(&sig.expect("the signature is right"))
}

fn is_rust(row: &Row, text: TokenStream) {
    syn::parse2::<syn::File>(text).unwrap_or_else(|e| panic!("{}: {e}", row.name));
}

#[test]
fn every_row_is_written_for_one_position() {
    for row in rows() {
        let text = native::kernel(&row.func, &source(), &format_ident!("row"), &[], true);
        is_rust(&row, text);
    }
}

#[test]
fn every_row_is_written_for_packs() {
    for row in rows() {
        let text = lanes::any(&row.func, &source()).unwrap_or_else(|_| panic!("no lanes for {}", row.name));
        is_rust(&row, quote::quote!(impl Body for Row { #text }));
    }
}
