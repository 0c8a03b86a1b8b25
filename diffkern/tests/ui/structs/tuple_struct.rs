use diffkern::prelude::*;

#[diff_struct]
struct Pair<F>(F, F);

fn main() {}
