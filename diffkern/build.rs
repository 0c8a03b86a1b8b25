//! Tells the crate how far it is optimised: `cfg` knows of debug assertions alone.

fn main() {
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=DIFFKERN_OPT_LEVEL={level}");
}
