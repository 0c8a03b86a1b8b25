//! An item goes on when one more struct that it names is known.

use diffkern_ir::FuncKind;
use proc_macro2::TokenStream;

use crate::record::{Resume, declare_with};
use crate::{expand, law, names};

/// Goes on with an item when one more struct is known.
pub fn resume(input: TokenStream) -> TokenStream {
    let resume: Resume = match syn::parse2(names::plain(input)) {
        Ok(resume) => resume,
        Err(e) => return e.into_compile_error(),
    };
    let (args, item, records) = (resume.args, resume.item, &resume.records);
    let expanded = match resume.what.to_string().as_str() {
        "diff_kernel" => expand::expand_with(args, item, FuncKind::Kernel, records),
        "diff_fn" => expand::expand_with(args, item, FuncKind::DiffFn, records),
        "diff_trait" => law::expand_trait_with(args, item, records),
        "diff_impl" => law::expand_impl_with(args, item, records),
        _ => declare_with(args, item, records),
    };
    resume.home.moved(expanded)
}
