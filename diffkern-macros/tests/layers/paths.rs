//! The paths of a crate that name one of its own modules.

use std::path::PathBuf;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, Item, ItemMod, Macro, Meta, UseTree, VisRestricted};

use crate::modules::{Source, Tree, is_test, is_test_attribute};

/// A path from one module of the root to another.
pub struct Found {
    pub file: PathBuf,
    pub line: usize,
    /// As it is written, up to the name in the root.
    pub path: String,
    /// The module of the root that it stands in, nothing in the root.
    pub module: String,
    pub target: String,
}

/// All of a crate, which may call itself `name`.
pub fn of(tree: &Tree, name: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for source in &tree.sources {
        let Source { module, file, items } = source;
        let mut search = Search { tree, name, module: module.clone(), file, found: &mut found };
        items.iter().for_each(|item| search.visit_item(item));
    }
    found
}

struct Search<'a> {
    tree: &'a Tree,
    name: &'a str,
    module: Vec<String>,
    file: &'a PathBuf,
    found: &'a mut Vec<Found>,
}

impl Search<'_> {
    /// How many names of a path lead to the root, if it does.
    fn to_root(&self, names: &[String]) -> Option<usize> {
        match names.first()?.as_str() {
            "crate" => Some(1),
            "self" | "super" => {
                let start = usize::from(names[0] == "self");
                let up = names[start..].iter().take_while(|name| *name == "super").count();
                (up == self.module.len()).then_some(start + up)
            }
            first => (first == self.name && !self.is_module(first)).then_some(1),
        }
    }

    fn is_module(&self, name: &str) -> bool {
        self.tree.modules().iter().any(|module| module == name)
    }

    /// Notes a path whose first names are these.
    fn note(&mut self, names: &[String], line: usize) {
        let Some(from) = self.to_root(names) else { return };
        let Some(name) = names.get(from) else { return };
        let module = self.module.first().cloned().unwrap_or_default();
        let target = self.tree.owner(name).to_owned();
        // The root re-exports what is above it, and names other crates.
        if module == target || module.is_empty() || self.tree.is_foreign(name) {
            return;
        }
        let path = names[..=from].join("::");
        self.found.push(Found { file: self.file.clone(), line, path, module, target });
    }

    fn tree(&mut self, tree: &UseTree, names: &mut Vec<String>) {
        match tree {
            UseTree::Path(tree) => {
                names.push(tree.ident.to_string());
                self.tree_below(&tree.tree, names, tree.ident.span().start().line);
                names.pop();
            }
            UseTree::Group(tree) => tree.items.iter().for_each(|tree| self.tree(tree, names)),
            UseTree::Name(tree) => self.leaf(&tree.ident, names),
            UseTree::Rename(tree) => self.leaf(&tree.ident, names),
            UseTree::Glob(_) => {
                names.push("*".to_owned());
                self.note(names, 0);
                names.pop();
            }
        }
    }

    /// Once a path has reached a module of the root, all below it is one use.
    fn tree_below(&mut self, tree: &UseTree, names: &mut Vec<String>, line: usize) {
        match self.to_root(names) {
            _ if matches!(tree, UseTree::Group(_)) && self.to_root(names) == Some(names.len()) => {
                self.tree(tree, names)
            }
            Some(from) if names.len() > from => self.note(names, line),
            _ => self.tree(tree, names),
        }
    }

    fn leaf(&mut self, ident: &syn::Ident, names: &mut Vec<String>) {
        names.push(ident.to_string());
        self.note(names, ident.span().start().line);
        names.pop();
    }

    /// Paths among the tokens of a macro: names with `::` between them, and groups after a last one.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut k = 0;
        while k < tokens.len() {
            match &tokens[k] {
                TokenTree::Ident(first) => {
                    let mut names = vec![first.to_string()];
                    let line = first.span().start().line;
                    k += 1;
                    while is_colon(tokens.get(k)) && is_colon(tokens.get(k + 1)) {
                        match tokens.get(k + 2) {
                            Some(TokenTree::Ident(next)) => {
                                names.push(next.to_string());
                                k += 3;
                            }
                            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                                self.group(&names, group.stream());
                                k += 3;
                            }
                            _ => break,
                        }
                    }
                    self.note(&names, line);
                }
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    k += 1;
                }
                _ => k += 1,
            }
        }
    }

    /// `a::{b, c}` among the tokens of a macro.
    fn group(&mut self, names: &[String], group: TokenStream) {
        let mut first = true;
        for token in group.clone() {
            match &token {
                TokenTree::Ident(ident) if first => {
                    let names: Vec<String> = names.iter().cloned().chain([ident.to_string()]).collect();
                    self.note(&names, ident.span().start().line);
                    first = false;
                }
                TokenTree::Punct(punct) if punct.as_char() == ',' => first = true,
                _ => {}
            }
        }
        self.tokens(group);
    }
}

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !item.attrs.iter().any(is_test_attribute) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let line = path.segments.first().map_or(0, |segment| segment.ident.span().start().line);
        self.note(&names, line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }

    /// Who may see an item is no use of it.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}
}
