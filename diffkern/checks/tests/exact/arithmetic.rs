//! Sums, scaled sums and products of arrays, and losses put together from them.

use diffkern::prelude::*;
use diffkern::{arith, reduce};

use crate::case::{Case, Point, Program, Real, Run, case, dot, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        sums_and_differences(),
        a_scaled_sum_of_four_terms(),
        in_place_on_top_of_a_value(),
        a_factor_on_the_device(),
        products_by_element(),
        vectors_with_a_factor_each(),
        vectors_apart_and_together(),
        the_inner_product_of_vectors(),
        a_loss_with_a_regularisation(),
    ]
}

case! {
    /// `(a + b) - (b + b)`, and the sum itself.
    sums_and_differences<S>(run; a: S = signed(5, 0.5, 1.5), b: S = signed(5, 0.5, 1.5)) {
        let sum = arith::add(&a, &b)?;
        run.output(&sum);
        run.output(&arith::sub(&sum, &arith::add(&b, &b)?)?);
    }
    by_hand(w) {
        let y = [list(5, |i| a[i] + b[i]), list(5, |i| a[i] - b[i])].concat();
        (dot(w, &y), vec![list(5, |i| w[i] + w[5 + i]), list(5, |i| w[i] - w[5 + i])])
    }
}

case! {
    /// One array is two of the terms.
    a_scaled_sum_of_four_terms<S>(run; a: S = signed(4, 0.5, 1.5), b: S = signed(4, 0.5, 1.5), c: S = signed(4, 0.5, 1.5)) {
        let s = |x| S::from_f64(x);
        let y = arith::scaled_sum(&[(s(2.0), &a), (s(-0.5), &b), (s(0.25), &c), (s(3.0), &a)])?;
        run.output(&arith::scaled_sum(&[(s(-1.5), &y)])?);
    }
    by_hand(w) {
        let y = list(4, |i| -1.5 * (5.0 * a[i] - 0.5 * b[i] + 0.25 * c[i]));
        (dot(w, &y), vec![list(4, |i| -7.5 * w[i]), list(4, |i| 0.75 * w[i]), list(4, |i| -0.375 * w[i])])
    }
}

case! {
    /// The gradient of what was there goes on to where it came from.
    in_place_on_top_of_a_value<S>(run; x: Vec3<S> = signed(6, 0.5, 1.5), start: Vec3<S> = signed(6, 0.5, 1.5)) {
        let y = run.zeros::<Vec3<S>>(2)?;
        y.copy_from(&start)?;
        arith::add_scaled(&x, S::from_f64(-2.0), &y)?;
        run.output(&y);
    }
    by_hand(w) {
        (dot(w, &list(6, |i| start[i] - 2.0 * x[i])), vec![list(6, |i| -2.0 * w[i]), w.to_vec()])
    }
}

case! {
    /// Its gradient is a sum over all elements.
    a_factor_on_the_device<S>(run; x: Vec2<S> = signed(6, 0.5, 1.5), s: S = signed(1, 0.5, 1.5)) {
        run.output(&arith::scale_by(&arith::scale(&x, S::from_f64(0.5))?, &s)?);
    }
    by_hand(w) {
        let y = list(6, |i| 0.5 * s[0] * x[i]);
        (dot(w, &y), vec![list(6, |i| 0.5 * s[0] * w[i]), vec![0.5 * dot(w, x)]])
    }
}

case! {
    /// `a a b`
    products_by_element<S>(run; a: S = signed(5, 0.5, 1.5), b: S = signed(5, 0.5, 1.5)) {
        run.output(&arith::multiply(&a, &arith::multiply(&a, &b)?)?);
    }
    by_hand(w) {
        let y = list(5, |i| a[i] * a[i] * b[i]);
        (dot(w, &y), vec![list(5, |i| 2.0 * w[i] * a[i] * b[i]), list(5, |i| w[i] * a[i] * a[i])])
    }
}

case! {
    /// A factor per vector.
    vectors_with_a_factor_each<S>(run; factor: S = reals(3, 0.5, 1.5), x: Vec3<S> = signed(9, 0.5, 1.5)) {
        run.output(&arith::multiply(&factor, &x)?);
    }
    by_hand(w) {
        let y = list(9, |k| factor[k / 3] * x[k]);
        let of = |i: usize| (3 * i..3 * i + 3).map(|k| w[k] * x[k]).sum();
        (dot(w, &y), vec![list(3, of), list(9, |k| w[k] * factor[k / 3])])
    }
}

case! {
    /// Squares of the components, as vectors again.
    vectors_apart_and_together<S>(run; x: Vec4<S> = signed(8, 0.5, 1.5)) {
        let flat = arith::components(&x)?;
        run.output(&arith::from_components::<Vec4<S>>(&arith::multiply(&flat, &flat)?)?);
    }
    by_hand(w) {
        (dot(w, &list(8, |k| x[k] * x[k])), vec![list(8, |k| 2.0 * w[k] * x[k])])
    }
}

case! {
    /// `<a, b> |a|^2` over three vectors.
    the_inner_product_of_vectors<S>(run; a: Vec2<S> = signed(6, 0.5, 1.5), b: Vec2<S> = signed(6, 0.5, 1.5)) {
        run.output(&arith::multiply(&reduce::dot(&a, &b)?, &reduce::squared_norm(&a)?)?);
    }
    by_hand(w) {
        let (product, square) = (dot(a, b), dot(a, a));
        (w[0] * product * square, vec![
            list(6, |k| w[0] * (b[k] * square + 2.0 * product * a[k])),
            list(6, |k| w[0] * a[k] * square),
        ])
    }
}

case! {
    /// `|x - seen|^2 / 2 + |x|^2 / 10`, without a kernel.
    a_loss_with_a_regularisation<S>(run; x: Vec3<S> = signed(6, 0.5, 1.5), seen: Vec3<S> = signed(6, 0.5, 1.5)) {
        let misfit = reduce::squared_norm(&arith::sub(&x, &seen)?)?;
        let penalty = reduce::squared_norm(&x)?;
        run.output(&arith::scaled_sum(&[(S::from_f64(0.5), &misfit), (S::from_f64(0.1), &penalty)])?);
    }
    by_hand(w) {
        let apart = list(6, |k| x[k] - seen[k]);
        (w[0] * (0.5 * dot(&apart, &apart) + 0.1 * dot(x, x)), vec![
            list(6, |k| w[0] * (apart[k] + 0.2 * x[k])),
            list(6, |k| -w[0] * apart[k]),
        ])
    }
}
