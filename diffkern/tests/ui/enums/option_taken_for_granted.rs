use diffkern::prelude::*;

#[diff_kernel]
fn scale<F: Float>(x: &mut Array<F>, n: Option<u32>) {
    x[ABSOLUTE_POS] *= F::cast_from(n.unwrap());
    x[ABSOLUTE_POS] *= F::cast_from(n.expect("a number"));
    let more = match n {
        Some(LIMIT) => 2.0,
        _ => 1.0,
    };
    x[ABSOLUTE_POS] *= more;
}

fn main() {}
