use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F>(x: &Array<F>)
where
    F: Float,
{
    let a = 1.0;
}

fn main() {}
