use diffkern::prelude::*;

mod left {
    use diffkern::prelude::*;

    #[diff_struct]
    pub struct Pair<F> {
        pub a: F,
        pub b: F,
    }
}

mod right {
    use diffkern::prelude::*;

    #[diff_struct]
    pub struct Pair<F> {
        pub b: F,
        pub a: F,
    }
}

#[diff_kernel]
fn kernel<F: Float>(x: &Array<left::Pair<F>>, y: &Array<right::Pair<F>>, z: &mut Array<F>) {
    z[0] = x[0].a * y[0].a;
}

fn main() {}
