//! The kernels that `sim` and `render` declare, read from their sources.

use std::io::Result;
use std::path::Path;

/// Names of all functions under `#[diff_kernel]` in `sim/src` and `render/src`, but for those of rigid bodies: `sim/checks/tests/rigid_kernels.rs` checks their gradients, and no
/// bench times them yet.
///
/// # Errors
/// When the sources are not where this crate was compiled.
pub fn declared() -> Result<Vec<String>> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut names = Vec::new();
    for package in ["sim", "render"] {
        search(&workspace.join(package).join("src"), &mut names)?;
    }
    Ok(names)
}

const UNTIMED: &str = "sim/src/rigid";

fn search(folder: &Path, names: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with(UNTIMED) {
                search(&path, names)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            names.extend(kernels_of(&std::fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// The name after the first `fn` that follows each attribute, that of each instance of a kernel over the dimension.
fn kernels_of(source: &str) -> Vec<String> {
    let is_attribute = |line: &&str| ["#[diff_kernel", "#[diffkern::diff_kernel"].iter().any(|a| line.starts_with(a));
    let lines: Vec<&str> = source.lines().map(str::trim_start).collect();
    let attributes = lines.iter().enumerate().filter(|(_, line)| is_attribute(line));
    let named = attributes.filter_map(|(at, attribute)| {
        let name = lines[at..].iter().find_map(|line| function_name(line))?;
        Some(match dimensions(attribute) {
            dims if dims.is_empty() => vec![name],
            dims => dims.iter().map(|d| format!("{name}_{d}d")).collect(),
        })
    });
    named.flatten().collect()
}

/// The numbers of `dims(2, 3)`.
fn dimensions(attribute: &str) -> Vec<char> {
    let list = attribute.split_once("dims(").and_then(|(_, rest)| rest.split_once(')'));
    list.map_or_else(Vec::new, |(list, _)| list.chars().filter(char::is_ascii_digit).collect())
}

fn function_name(line: &str) -> Option<String> {
    let after = line.split_once("fn ")?.1;
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!line.starts_with("//") && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::kernels_of;

    #[test]
    fn names_follow_their_attributes() {
        let source = "//! Not `#[diff_kernel]` here: fn no() {}\n#[diff_kernel]\n// fn nor_here\npub fn first<F: Float>(\n\
                      x: F) {}\nfn helper() {}\n    #[diff_kernel(vjp = own)]\n    #[allow(x)]\n    fn second_2d() {}\n\
                      #[diff_kernel(dims(2, 3), injective)]\nfn third() {}\n";
        assert_eq!(kernels_of(source), ["first", "second_2d", "third_2d", "third_3d"]);
    }
}
