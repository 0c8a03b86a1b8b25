use diffkern::prelude::*;

#[diff_trait]
trait Law {
    #[cfg(windows)]
    fn force<F: Float>(x: F) -> F;
}

fn main() {}
