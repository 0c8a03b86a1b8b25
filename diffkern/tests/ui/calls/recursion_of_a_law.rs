use diffkern::prelude::*;

#[diff_trait]
trait Law {
    fn force<F: Float>(x: F) -> F;
}

struct Spring;

#[diff_impl]
impl Law for Spring {
    fn force<F: Float>(x: F) -> F {
        let y: F = Self::force(x);
        y
    }
}

fn main() {}
