//! The mutants of a table: one change each in the text of one row.

use std::ops::Range;

use anyhow::{Context, Result};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Arm, Expr, ExprClosure, ExprMethodCall, ItemFn};

/// One changed table.
pub struct Mutant {
    /// Row and change, for people.
    pub what: String,
    /// The whole file.
    pub source: String,
}

/// The mutants of all rows.
///
/// # Errors
/// When the file is not Rust.
pub fn of(source: &str) -> Result<Vec<Mutant>> {
    let file = syn::parse_file(source).context("the table does not parse")?;
    let mut finder = Finder { source, lines: line_starts(source), row: String::new(), found: Vec::new() };
    finder.visit_file(&file);
    Ok(finder.found)
}

/// Bytes before each line.
fn line_starts(source: &str) -> Vec<usize> {
    std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

struct Finder<'a> {
    source: &'a str,
    lines: Vec<usize>,
    /// The pattern of the arm, or the name of the helper.
    row: String,
    found: Vec<Mutant>,
}

impl Finder<'_> {
    fn range(&self, of: &impl Spanned) -> Range<usize> {
        let (start, end) = (of.span().start(), of.span().end());
        let at = |line: usize, column: usize| {
            let line = &self.source[self.lines[line - 1]..];
            self.source.len() - line.len() + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
        };
        at(start.line, start.column)..at(end.line, end.column)
    }

    fn text(&self, of: &impl Spanned) -> &str {
        &self.source[self.range(of)]
    }

    /// `new` in place of `old`.
    fn replace(&mut self, old: &impl Spanned, new: &str) {
        let range = self.range(old);
        let short = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut what = format!("{}: {} -> {}", self.row, short(&self.source[range.clone()]), short(new));
        // A row may say the same twice.
        let same = self.found.iter().filter(|mutant| mutant.what.split(" (again").next() == Some(&what)).count();
        if same > 0 {
            what = format!("{what} (again, {same})");
        }
        let mut source = self.source.to_owned();
        source.replace_range(range, new);
        self.found.push(Mutant { what, source });
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.row = item.sig.ident.to_string();
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        let outer = std::mem::take(&mut self.row);
        self.row = self.text(&arm.pat).to_owned();
        if let Expr::Path(rule) = &*arm.body {
            // A rule without a formula: nothing where something is, and the other way about.
            match rule.path.get_ident().map(ToString::to_string).as_deref() {
                Some("Linear") => self.replace(&arm.body, "Cut"),
                Some("Cut") if self.row.contains("Floor") => self.replace(&arm.body, "Linear"),
                _ => {}
            }
        }
        syn::visit::visit_arm(self, arm);
        self.row = outer;
    }

    /// A whole row with the other sign.
    fn visit_expr_closure(&mut self, row: &'ast ExprClosure) {
        let params: Vec<&str> = row.inputs.iter().map(|p| self.text(p)).collect();
        // A row without the derivative that comes in has no sign.
        if let [_, rest @ ..] = &params[..]
            && rest.contains(&"t")
        {
            let new = format!("|b, {}| {{ let m = {}; b.neg(m) }}", rest.join(", "), self.text(&row.body));
            self.replace(row, &new);
        }
        syn::visit::visit_expr_closure(self, row);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let args: Vec<String> = call.args.iter().map(|arg| self.text(arg).to_owned()).collect();
        match (call.method.to_string().as_str(), &args[..]) {
            ("neg" | "transpose", [x]) => self.replace(call, x),
            ("mul", [a, b]) => {
                self.replace(call, a);
                self.replace(call, b);
            }
            ("div", [a, _]) => self.replace(call, a),
            // The second operand of `Scale` is no vector.
            ("binary", [op, a, _]) if matches!(op.as_str(), "Scale" | "MulElem") => self.replace(call, a),
            ("add", [a, b]) => self.replace(call, &format!("b.sub({a}, {b})")),
            ("sub", [a, b]) => self.replace(call, &format!("b.add({a}, {b})")),
            ("select", [_, yes, no]) => {
                self.replace(call, yes);
                self.replace(call, no);
            }
            ("real", [x]) => self.replace(call, &format!("b.real(2.5 * {x} + 0.5)")),
            _ => {}
        }
        syn::visit::visit_expr_method_call(self, call);
    }
}
