//! Placeholder until the end of this file is written below.
fn main() {}
