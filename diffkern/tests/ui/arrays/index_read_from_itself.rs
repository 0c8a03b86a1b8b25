use diffkern::prelude::*;

#[diff_kernel]
fn chase(next: &mut Array<u32>) {
    let i = ABSOLUTE_POS;
    next[i] = next[next[i]];
}

fn main() {}
