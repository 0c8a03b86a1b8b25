//! Modules stand in the order in which data flows, and use only those above.
//!
//! In every crate the `mod` lines of the root are that order, and its documentation lists them. A path that goes down the list is
//! a circle in the making, wherever it stands: not only in a `use`, but in a type, an expression, a pattern, a macro. So the
//! syntax tree of every file is searched, with the tokens of macros.

#[path = "layers/modules.rs"]
mod modules;
#[path = "layers/paths.rs"]
mod paths;

use std::fs;
use std::path::Path;

use modules::{Tree, is_test};

/// Folder, and the name by which a crate may call itself.
const CRATES: [(&str, &str); 9] = [
    ("diffkern-ir", "diffkern_ir"),
    ("diffkern-macros", "diffkern_macros"),
    ("diffkern", "diffkern"),
    ("sim", "diffkern_sim"),
    ("render", "diffkern_render"),
    ("optim", "diffkern_optim"),
    ("train", "train"),
    ("benches", "benches"),
    ("fuzz", "diffkern_fuzz"),
];

fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn modules_use_only_modules_above() {
    let mut wrong = Vec::new();
    for (folder, name) in CRATES {
        let tree = Tree::read(&workspace().join(folder).join("src/lib.rs"));
        for found in paths::of(&tree, name) {
            let (from, to) = (tree.place(&found.module), tree.place(&found.target));
            if to.is_none_or(|to| Some(to) >= from) {
                wrong.push(format!(
                    "{}:{}: `{}` of `{}` uses `{}`, whose `mod` line stands below",
                    found.file.strip_prefix(workspace()).unwrap_or(&found.file).display(),
                    found.line,
                    found.path,
                    found.module,
                    found.target,
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} paths go up:\n{}\nmove the `mod` line, or move what is used to a module that both use: methods may be in any \
         module of the crate, and what the upper module has to hear of, it registers for below",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_documentation_of_a_crate_lists_its_modules_in_their_order() {
    for (folder, _) in CRATES {
        let file = workspace().join(folder).join("src/lib.rs");
        let text = fs::read_to_string(&file).expect("a file");
        let docs = text.lines().filter_map(|line| line.strip_prefix("//!"));
        let section = docs.skip_while(|line| line.trim() != "# Modules").skip(1);
        let rows = section.take_while(|line| !line.trim_start().starts_with("# "));
        let listed: Vec<&str> = rows.filter_map(|row| row.trim().strip_prefix("- ")?.split('`').nth(1)).collect();
        let tree = Tree::read(&file);
        assert_eq!(
            listed,
            tree.modules(),
            "{folder}/src/lib.rs: on the left what is listed under `# Modules`, on the right the `mod` lines; a module is \
             one line, \"- `name`: what it holds\""
        );
    }
}

#[test]
fn a_path_is_found_wherever_it_stands() {
    let source = "
        pub mod low; mod middle; mod high;
        pub use high::{Item as Renamed, deep::*};
        mod prelude { pub use crate::{Renamed, low}; }
    ";
    let middle = "
        use crate::{low::{self, A}, high::B as C};
        fn f(x: super::high::X) -> crate::Renamed { match x { self::own::Y => crate::high::g(), _ => krate::high::Z } }
        macro_rules! m { () => { $crate::high::h!(crate::{low::a, high}) }; }
        fn g() { println!(\"{}\", crate::high::i()); }
        #[attribute(by = crate::high::j)] pub(in crate::high) struct S;
        #[cfg(test)] mod tests { use crate::high::K; }
        #[cfg(test)] use crate::high::L;
        mod inner { use super::super::high; use super::own; fn h(self) { self.high::<crate::high::M>() } }
    ";
    let tree = Tree::parsed(source, &[("middle", middle)]);
    let found: Vec<(String, String)> =
        paths::of(&tree, "krate").into_iter().map(|found| (found.path, found.target)).collect();
    let to = |target: &str| found.iter().filter(|(_, to)| to == target).map(|(path, _)| &**path).collect::<Vec<_>>();
    assert_eq!(
        to("high"),
        [
            "crate::Renamed",
            "crate::high",
            "super::high",
            "crate::Renamed",
            "crate::high",
            "krate::high",
            "crate::high",
            "crate::high",
            "crate::high",
            "crate::high",
            "super::super::high",
            "crate::high"
        ]
    );
    assert_eq!(to("low"), ["crate::low", "crate::low", "crate::low"]);
    assert!(is_test(&syn::parse_quote!(
        #[cfg(all(test, feature = "a"))]
        use a;
    )));
    assert!(!is_test(&syn::parse_quote!(
        #[cfg(not(test))]
        use a;
    )));
}
