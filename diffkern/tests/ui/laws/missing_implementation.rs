use diffkern::prelude::*;

#[diff_trait]
trait Law {
    fn force<F: Float>(x: F) -> F;
}

struct Spring;

#[diff_kernel]
fn pull<F: Float, L: Law>(x: &Array<F>, y: &mut Array<F>) {
    let f: F = L::force(x[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = f;
}

fn launch(x: &Array<f32>, y: &Array<f32>) -> Result<()> {
    pull::<f32, Spring>(1, x, y)
}

fn main() {}
