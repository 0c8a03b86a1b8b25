//! Names that are written raw, types of other crates' names, imports that only a signature uses, a crate that is renamed.

use diffkern::prelude::*;

use crate::numbers;

#[diff_struct]
struct Spring<F> {
    r#type: F,
    r#move: Vec2<F>,
    r#loop: r#Inner<F>,
}

#[diff_struct]
struct Inner<F> {
    r#in: F,
}

#[diff_enum]
enum r#Mode {
    r#Half,
    Whole,
}

#[diff_fn]
fn r#try<F: Float>(r#as: F, s: Spring<F>) -> F {
    r#as * s.r#type + s.r#move.y * s.r#loop.r#in
}

#[diff_trait]
trait Law {
    fn r#box<F: Float>(r#ref: F) -> F;
}

struct Square;

#[diff_impl]
impl Law for Square {
    fn r#box<F: Float>(r#ref: F) -> F {
        r#ref * r#ref
    }
}

#[diff_kernel]
fn r#match<r#F: Float, L: Law>(
    r#fn: &Array<Spring<F>>,
    r#mod: Spring<F>,
    r#type: usize,
    r#use: Mode,
    r#yield: &mut Array<F>,
) {
    let r#for = ABSOLUTE_POS;
    let mut r#let = r#fn[r#for];
    r#let.r#type += r#mod.r#move.x;
    let r#struct: F = r#try(r#fn[r#for].r#type, r#let);
    let r#enum: F = L::r#box(r#struct);
    let share = if r#use == Mode::r#Half { 0.5 } else { 1.0 };
    r#yield[r#for] = r#enum * share + F::cast_from(r#type) * r#for_each(r#struct);
}

#[diff_fn]
fn r#for_each<F: Float>(x: F) -> F {
    x.sin()
}

#[test]
fn raw_names_are_names() {
    let springs: Vec<Spring<f64>> = (0..5)
        .map(|k| {
            let x = 0.3 + 0.1 * f64::from(k);
            Spring { r#type: x, r#move: Vec2::new(x * x, 1.0 - x), r#loop: Inner { r#in: 2.0 * x } }
        })
        .collect();
    let (dev, one) = (Device::cpu(), springs[1]);
    let (springs, y) = (dev.array(&springs).unwrap(), dev.zeros(5).unwrap());
    r#match::<Square>::gradcheck(5, &springs, one, 3, Mode::Half, &y).unwrap();
    r#match::<f64, Square>(5, &springs, one, 3, Mode::Whole, &y).unwrap();
    let s = springs.to_vec().unwrap()[0];
    let t = s.r#type * (s.r#type + one.r#move.x) + s.r#move.y * s.r#loop.r#in;
    assert!((y.to_vec().unwrap()[0] - (t * t + 3.0 * t.sin())).abs() < 1e-12);
    let message = r#match::<f64, Square>(5, &springs, one, 1 << 33, Mode::Half, &y).unwrap_err().to_string();
    assert!(message.contains("`match`") && message.contains("`type`") && message.contains("8589934592"), "{message}");
}

/// The names of numbers are the numbers', whatever the module calls so.
mod other_types {
    #![expect(non_camel_case_types, dead_code, reason = "names that a module may have")]

    use diffkern::prelude::*;

    use crate::numbers;

    pub struct f32;
    pub struct f64;
    pub struct u32;
    pub struct i32;
    pub struct usize;
    pub struct bool;

    #[diff_fn]
    fn twice<F: Float>(x: F, n: u32) -> F {
        x * F::cast_from(n)
    }

    #[diff_trait]
    trait Law {
        fn force<F: Float>(x: F, n: u32) -> F;
    }

    struct Linear;

    #[diff_impl]
    impl Law for Linear {
        fn force<F: Float>(x: F, n: u32) -> F {
            let some = n as usize;
            x * F::cast_from(some)
        }
    }

    #[diff_kernel]
    fn kernel<F: Float, L: Law>(x: &Array<F>, #[comptime] most: usize, on: bool, by: i32, y: &mut Array<F>) {
        let mut s = x[ABSOLUTE_POS];
        for k in 0..most {
            s = (s + x[k]).sin();
        }
        let t: F = twice(s, 3u32);
        let u: F = L::force(t, 2u32);
        y[ABSOLUTE_POS] += if on { u * F::cast_from(by) } else { s };
    }

    #[test]
    fn types_of_the_names_of_numbers_are_not_seen() {
        let y = Device::cpu().zeros(4).unwrap();
        kernel::<Linear>::gradcheck(4, &numbers(4), 3, true, -2, &y).unwrap();
        kernel::<Linear>::lanecheck(4, &numbers(4), 3, true, -2, &y).unwrap();
    }
}

/// `#![deny(warnings)]` of the whole is the test.
mod imported {
    use diffkern::{Array, Float, Mat2, Quat, Vec2, Vec3, diff_fn, diff_impl, diff_kernel, diff_struct, diff_trait};

    #[diff_kernel]
    pub fn scale<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>, by: F) {
        y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * by;
    }

    #[diff_fn]
    pub fn turn<F: Float>(q: Quat<F>, v: F) -> F {
        q.rotate(Vec3::new(v, v, v)).x
    }

    pub mod laws {
        use super::{Float, Mat2, diff_impl, diff_trait};

        #[diff_trait]
        pub trait Law {
            fn force<F: Float>(m: Mat2<F>) -> Mat2<F>;
        }

        pub struct Linear;

        #[diff_impl]
        impl Law for Linear {
            fn force<F: Float>(m: Mat2<F>) -> Mat2<F> {
                m * 2.0
            }
        }
    }

    #[diff_struct]
    #[derive(PartialOrd)]
    pub struct Pair<F> {
        pub a: F,
    }
}

/// Without any import but the macro's own.
mod not_imported {
    use diffkern::diff_kernel;

    #[diff_kernel]
    pub fn scale<F: Float>(x: &Array<F>, y: &mut Array<F>) {
        let v = Vec3::new(x[0], x[0], x[0]);
        y[ABSOLUTE_POS] = v.norm();
    }
}

#[test]
fn imports_are_used_and_not_needed() {
    use imported::laws::{Law, Linear};

    let dev = Device::cpu();
    let (x, y) = (dev.array(&[Vec2::new(1.0, 2.0)]).unwrap(), dev.zeros(1).unwrap());
    imported::scale::gradcheck(1, &x, &y, 0.5).unwrap();
    not_imported::scale::gradcheck(4, &numbers(1), &dev.zeros(4).unwrap()).unwrap();
    assert_eq!(Linear::force(Mat2::new(1.0, 2.0, 3.0, 4.0)).get(3), 8.0);
    assert_eq!(imported::turn(Quat::identity(), 2.0), 2.0);
    assert!(imported::Pair { a: 1.0 } < imported::Pair { a: 2.0 });
}

/// A crate of another name, with none of `diffkern`'s own.
pub mod dk {
    pub use ::diffkern::*;
}

mod renamed {
    use super::dk;
    use super::dk::prelude::*;
    use crate::numbers;

    #[diff_struct(crate = dk)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pair<F> {
        pub a: F,
        pub b: F,
    }

    #[diff_enum(crate = crate::names::dk)]
    #[derive(Debug)]
    enum Mode {
        First,
        Second,
    }

    #[diff_trait(crate = dk)]
    trait Law {
        fn force<F: Float>(p: Pair<F>) -> F;
    }

    struct Product;

    #[diff_impl(crate = dk)]
    impl Law for Product {
        fn force<F: Float>(p: Pair<F>) -> F {
            p.a * p.b
        }
    }

    #[diff_fn(crate = dk)]
    fn swapped<F: Float>(p: Pair<F>) -> Pair<F> {
        Pair { a: p.b, b: p.a * p.a }
    }

    #[diff_kernel(crate = dk)]
    fn kernel<F: Float>(x: &Array<Pair<F>>, mode: Mode, y: &mut Array<F>) {
        let p: Pair<F> = swapped(x[ABSOLUTE_POS]);
        y[ABSOLUTE_POS] = match mode {
            Mode::First => Product::force(p),
            Mode::Second => p.a,
        };
    }

    #[test]
    fn the_crate_is_where_the_attribute_says() {
        let x = numbers(6).to_vec().unwrap();
        let pairs: Vec<_> = x.chunks(2).map(|x| Pair { a: x[0], b: x[1] }).collect();
        let (x, y) = (Device::cpu().array(&pairs).unwrap(), Device::cpu().zeros(3).unwrap());
        for mode in [Mode::First, Mode::Second] {
            let shown = format!("{mode:?}");
            kernel::gradcheck(3, &x, mode, &y).map_err(|e| format!("{shown}: {e}")).unwrap();
        }
    }
}
