//! Operands that become statements keep the order of the text.

use std::collections::HashSet;

use diffkern_ir::Ty;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, Stmt, parse_quote, parse_quote_spanned};

use super::def::Record;
use super::parts::{Parts, tuple};
use super::rewrite::Rewrite;
use super::values::plain_type;
use crate::effects::{changed, name_of};

/// What an operand is: a struct, or something else, of a type that may be known.
pub enum Want {
    Record(Record),
    /// A struct of which some fields are taken.
    Base(Record),
    Plain(Option<Ty>),
}

impl Rewrite<'_> {
    /// The values of each operand, and what runs before all of them. `moved`: they will not stand in the order of the text.
    ///
    /// Where an operand changes a variable, each gets its value in its turn.
    pub(super) fn operands(&mut self, all: Vec<(Expr, Want)>, moved: bool) -> Option<(Vec<Stmt>, Vec<Vec<Expr>>)> {
        let changed = changed(all.iter().map(|(e, _)| e));
        let mut parts = Vec::new();
        let mut mistaken = false;
        for (e, want) in &all {
            let found = match want {
                Want::Record(record) => self.parts(e, record),
                Want::Base(record) => self.all_parts(e, record),
                Want::Plain(_) => {
                    let mut value = e.clone();
                    self.expression(&mut value);
                    Some(Parts { before: Vec::new(), values: vec![value] })
                }
            };
            mistaken |= found.is_none();
            parts.push(found.unwrap_or_default());
        }
        if mistaken {
            return None;
        }
        let in_turn = !changed.is_empty() && (moved || parts.iter().any(|p| !p.before.is_empty()));
        let mut before = Vec::new();
        let mut values = Vec::new();
        for ((e, want), mut part) in all.iter().zip(parts) {
            before.append(&mut part.before);
            match want {
                Want::Record(record) | Want::Base(record) if in_turn => {
                    let mut bound = self.bound(&tuple(&part.values, e.span()), record);
                    before.append(&mut bound.before);
                    part.values = bound.values;
                }
                Want::Plain(ty) if in_turn && varies(e, &changed) => {
                    let (name, value) = (self.temporaries(1).remove(0), &part.values[0]);
                    let ty = ty.map(|ty| plain_type(ty, self.real.as_ref()));
                    let ty = ty.map(|ty| quote::quote!(: #ty));
                    before.push(parse_quote_spanned!(e.span()=> let #name #ty = #value;));
                    part.values = vec![parse_quote!(#name)];
                }
                _ => {}
            }
            values.push(part.values);
        }
        Some((before, values))
    }
}

/// Whether the value of `e` may depend on when it is evaluated. A name alone may be that of an array, which is no value.
fn varies(e: &Expr, changed: &HashSet<String>) -> bool {
    match e {
        Expr::Reference(r) => varies(&r.expr, changed),
        Expr::Path(_) => name_of(e).is_some_and(|name| changed.contains(&name)),
        _ => {
            let mut names = Names(false);
            names.visit_expr(e);
            names.0
        }
    }
}

/// Whether there is a name in an expression: of numbers alone, it is the same at any time.
struct Names(bool);

impl<'ast> Visit<'ast> for Names {
    fn visit_path(&mut self, _: &'ast syn::Path) {
        self.0 = true;
    }

    fn visit_macro(&mut self, _: &'ast syn::Macro) {
        self.0 = true;
    }
}
