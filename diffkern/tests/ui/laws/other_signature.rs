use diffkern::prelude::*;

#[diff_trait]
trait Law {
    fn force<F: Float>(x: F) -> F;
}

struct Spring;

#[diff_impl]
impl Law for Spring {
    fn force<F: Float>(x: F, k: F) -> F {
        x * k
    }
}

fn main() {}
