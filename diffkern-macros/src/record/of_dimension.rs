//! Structs over the dimension, as a function of one dimension has them.

use quote::ToTokens;
use syn::ItemFn;

use super::def::Records;
use crate::diagnostics::Diagnostics;
use crate::dimension;

/// The structs as a function has them, whose dimension its types say.
pub fn of_dimension(item: &ItemFn, records: &Records, errors: &Diagnostics) -> Option<Records> {
    let over = records.all.iter().find(|record| record.in_space.is_some())?;
    let found: Vec<u8> = dimension::ALL
        .into_iter()
        .filter(|d| dimension::mentions(item.to_token_stream(), &format!("Dim{d}")))
        .collect();
    match found.as_slice() {
        [d] => Some(records.at(*d)),
        _ => {
            let name = &over.name;
            let way = format!("`{name}` is over the dimension, of which a function has one: `{name}<F, Dim3>`");
            errors.at(&item.sig.ident, way);
            Some(records.at(3))
        }
    }
}
