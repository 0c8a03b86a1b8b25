//! What keeps a function from packs of lanes.

use diffkern_ir::{Block, Stmt, StmtKind};
use proc_macro2::TokenStream;
use quote::quote;

use super::Lanes;

/// A construct without lanes.
#[derive(Clone, Copy)]
pub struct Lack {
    /// For reports.
    what: &'static str,
    /// Where it stands; 0 where that is in no line in particular.
    line: usize,
}

impl Lack {
    /// An array of which a thread reads what it overwrites.
    pub const UPDATE: Lack = Lack { what: "an array that is read and overwritten", line: 0 };

    fn of(stmt: &Stmt, line: usize) -> Lack {
        let what = match stmt.kind {
            StmtKind::Fetch { .. } => "the old value that `fetch_add` gives",
            StmtKind::Add { .. } => "an accumulation of integers",
            StmtKind::StackNew { .. } => "the adjoint of a loop that ends early",
            StmtKind::Call { .. } => "a call that adds to one array in two of its arguments",
            StmtKind::Let { .. }
            | StmtKind::Load { .. }
            | StmtKind::Take { .. }
            | StmtKind::Store { .. }
            | StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::StackSet { .. }
            | StmtKind::StackGet { .. }
            | StmtKind::Fault { .. } => "an operation",
        };
        Lack { what, line }
    }

    /// Its words, an `Option<&'static str>`.
    pub fn words(self) -> TokenStream {
        let Lack { what, line } = self;
        let place = match line {
            0 => " in ".to_owned(),
            line => format!(", line {line} of "),
        };
        quote!(::core::option::Option::Some(::core::concat!(#what, #place, ::core::file!())))
    }
}

/// The first of these that there is, all `Option<&'static str>`.
pub fn first(lacks: &[TokenStream]) -> TokenStream {
    match lacks {
        [] => quote!(::core::option::Option::None),
        lacks => quote!(::diffkern::private::first_lack(&[#(#lacks),*])),
    }
}

impl Lanes<'_> {
    /// The statements on packs, or what has no lanes.
    pub fn statements(&self, block: &Block, out: &mut TokenStream) -> Result<(), Lack> {
        self.block(block, out).ok_or_else(|| self.lack.borrow().unwrap_or(Lack { what: "an operation", line: 0 }))
    }

    /// Notes a statement that has no lanes, unless one inside it is noted.
    pub fn note(&self, stmt: &Stmt) {
        self.lack.borrow_mut().get_or_insert_with(|| Lack::of(stmt, self.source.line(stmt.node)));
    }
}
