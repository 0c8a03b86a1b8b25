use diffkern::prelude::*;

#[diff_trait]
trait Law {
    fn force<F: Float>(x: F) -> F {
        x
    }
}

fn main() {}
