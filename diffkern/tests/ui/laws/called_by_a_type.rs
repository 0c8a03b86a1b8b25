use diffkern::prelude::*;

#[diff_trait]
trait Law {
    fn force<F: Float>(x: F) -> F;
}

struct Spring;

#[diff_impl]
impl Law for Spring {
    fn force<F: Float>(x: F) -> F {
        x
    }
}

struct Other;

#[diff_kernel]
fn qualified<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let f: F = <Spring as Law>::force(x[0]);
    y[ABSOLUTE_POS] = f;
}

#[diff_kernel]
fn of_no_law<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let f: F = Other::force(x[0]);
    y[ABSOLUTE_POS] = f;
}

fn main() {}
