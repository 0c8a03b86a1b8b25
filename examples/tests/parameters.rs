//! What belongs together is a struct: no kernel of the libraries takes more than ten parameters.

use std::path::{Path, PathBuf};

use syn::visit::Visit;

const MOST: usize = 10;

/// The kernels of a file, by how many parameters they have in the source.
#[derive(Default)]
struct Kernels {
    found: Vec<(String, usize)>,
}

impl<'ast> Visit<'ast> for Kernels {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let is_kernel = |attr: &syn::Attribute| attr.path().segments.last().is_some_and(|s| s.ident == "diff_kernel");
        if item.attrs.iter().any(is_kernel) {
            self.found.push((item.sig.ident.to_string(), item.sig.inputs.len()));
        }
        syn::visit::visit_item_fn(self, item);
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of a folder").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn kernels(package: &str) -> Vec<(String, usize)> {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package).join("src"), &mut files);
    let mut kernels = Kernels::default();
    for file in files {
        let text = std::fs::read_to_string(file).expect("a source");
        kernels.visit_file(&syn::parse_file(&text).expect("Rust"));
    }
    kernels.found
}

#[test]
fn no_kernel_has_more_than_ten_parameters() {
    for (package, least) in [("sim", 10), ("render", 10)] {
        let kernels = kernels(package);
        assert!(kernels.len() >= least, "the search finds the kernels of {package}: {kernels:?}");
        let long: Vec<_> = kernels.into_iter().filter(|(_, parameters)| *parameters > MOST).collect();
        assert_eq!(long, [], "of {package}, with more than {MOST} parameters");
    }
}
