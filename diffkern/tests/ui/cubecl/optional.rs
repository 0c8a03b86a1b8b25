use diffkern::prelude::*;

#[diff_kernel]
fn of_an_array<F: Float>(x: &Array<F>, bias: Option<Array<F>>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS];
}

#[diff_kernel]
fn mapped<F: Float>(x: &Array<F>, y: &mut Array<F>, #[comptime] end: Option<u32>) {
    let twice = end.map(|end| end * 2);
    y[ABSOLUTE_POS] = match end {
        Some(end) => x[end],
    };
}

fn main() {}
