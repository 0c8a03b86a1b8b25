use diffkern::prelude::*;

#[diff_kernel]
fn kernel<F: Float>(x: &Array<F>)
where
    Vec3<F>: Send,
{
    let a = 1.0;
}

fn main() {}
