//! The crate to copy, and the README's first screen, tell Cargo to optimise the dev profile. Its program is the example
//! `template` here; its own build is a line of the checks.

const PROFILE: &str = "[profile.dev]\nopt-level = 3";

#[test]
fn the_dev_profile_is_optimised_where_users_copy_from() {
    let manifest = include_str!("../../template/Cargo.toml");
    assert!(manifest.contains(PROFILE) && manifest.contains("\n[workspace]\n"));
    let readme = include_str!("../../README.md");
    let first_screen = readme.split("\n## ").next();
    assert!(first_screen.is_some_and(|text| text.contains(PROFILE) && text.contains("[dependencies]")));
}
