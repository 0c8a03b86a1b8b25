//! Every refusal of the macro, on the token to change, with the way out.
//!
//! `TRYBUILD=overwrite cargo test -p diffkern --test ui` writes the messages anew; read the diff before you commit it.

#[test]
fn refusals() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/*.rs");
}
