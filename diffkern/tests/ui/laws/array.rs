use diffkern::prelude::*;

#[diff_trait]
trait Law {
    fn force<F: Float>(x: &Array<F>) -> F;
}

fn main() {}
