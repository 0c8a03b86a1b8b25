//! The files of a crate, as the `mod` lines lead to them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, File, Item, Meta, UseTree};

/// A file with the module that it is: names from the root on.
pub struct Source {
    pub module: Vec<String>,
    pub file: PathBuf,
    pub items: Vec<Item>,
}

/// A crate.
pub struct Tree {
    /// Modules of the root, by the order of their `mod` lines.
    modules: Vec<String>,
    /// What the root gives other names to, or brings up from a module: the module that it is in.
    exports: HashMap<String, String>,
    pub sources: Vec<Source>,
}

impl Tree {
    pub fn read(root: &Path) -> Tree {
        let mut tree = Tree::of(parse(root).items);
        let items = std::mem::take(&mut tree.sources[0].items);
        let folder = root.parent().expect("a folder");
        collect(&items, &mut Vec::new(), folder, &mut tree.sources);
        tree.sources[0] = Source { module: Vec::new(), file: root.to_owned(), items };
        tree
    }

    /// The same from texts: of the root, and of some of its modules.
    pub fn parsed(root: &str, files: &[(&str, &str)]) -> Tree {
        let parse = |text: &str| syn::parse_file(text).expect("a file").items;
        let mut tree = Tree::of(parse(root));
        let file = |(name, text): &(&str, &str)| Source {
            module: vec![(*name).to_owned()],
            file: PathBuf::from(format!("{name}.rs")),
            items: parse(text),
        };
        tree.sources.extend(files.iter().map(file));
        tree
    }

    fn of(items: Vec<Item>) -> Tree {
        let mut modules: Vec<String> = Vec::new();
        let mut exports = HashMap::new();
        for item in items.iter().filter(|item| !is_test(item)) {
            match item {
                // A module may have two lines, for two features.
                Item::Mod(item) if !modules.contains(&item.ident.to_string()) => modules.push(item.ident.to_string()),
                Item::Use(item) => export(&item.tree, &mut Vec::new(), &mut exports),
                _ => {}
            }
        }
        Tree { modules, exports, sources: vec![Source { module: Vec::new(), file: PathBuf::from("lib.rs"), items }] }
    }

    pub fn modules(&self) -> &[String] {
        &self.modules
    }

    /// Number of a module of the root. The root itself comes last: it may use everything.
    pub fn place(&self, module: &str) -> Option<usize> {
        match module {
            "" => Some(self.modules.len()),
            _ => self.modules.iter().position(|name| name == module),
        }
    }

    /// The module of the root that a name in the root belongs to.
    pub fn owner<'a>(&'a self, name: &'a str) -> &'a str {
        match self.exports.get(name) {
            Some(module) if self.place(name).is_none() => module,
            _ => name,
        }
    }

    /// Whether a name in the root is that of something in another crate.
    pub fn is_foreign(&self, name: &str) -> bool {
        self.place(name).is_none() && self.exports.get(name).is_some_and(|module| self.place(module).is_none())
    }
}

/// Notes what a `use` of the root brings up.
fn export(tree: &UseTree, path: &mut Vec<String>, exports: &mut HashMap<String, String>) {
    let mut note = |name: String, path: &[String]| {
        if let Some(module) = path.iter().find(|name| !matches!(name.as_str(), "crate" | "self")) {
            exports.insert(name, module.clone());
        }
    };
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            export(&tree.tree, path, exports);
            path.pop();
        }
        UseTree::Group(tree) => tree.items.iter().for_each(|tree| export(tree, path, exports)),
        UseTree::Name(tree) => note(tree.ident.to_string(), path),
        UseTree::Rename(tree) => note(tree.rename.to_string(), path),
        UseTree::Glob(_) => {}
    }
}

fn parse(file: &Path) -> File {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Reads the files that `mod` lines name; those of tests are left out.
fn collect(items: &[Item], module: &mut Vec<String>, folder: &Path, sources: &mut Vec<Source>) {
    for item in items.iter().filter(|item| !is_test(item)) {
        let Item::Mod(item) = item else { continue };
        let name = item.ident.to_string();
        module.push(name.clone());
        let inside = folder.join(&name);
        match &item.content {
            Some((_, items)) => collect(items, module, &inside, sources),
            None if sources.iter().any(|source| source.module == *module) => {}
            None => {
                let candidates = [inside.with_extension("rs"), inside.join("mod.rs")];
                let file = candidates.iter().find(|file| file.exists()).expect("a file of the module");
                let items = parse(file).items;
                collect(&items, module, &inside, sources);
                sources.push(Source { module: module.clone(), file: file.clone(), items });
            }
        }
        module.pop();
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an item is there in tests alone.
pub fn is_test(item: &Item) -> bool {
    attributes(item).iter().any(is_test_attribute)
}

/// `#[cfg(test)]`, or `test` with conditions.
pub fn is_test_attribute(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    let text = list.tokens.to_string().replace(' ', "");
    list.path.is_ident("cfg") && (text == "test" || text.starts_with("all(test,"))
}
