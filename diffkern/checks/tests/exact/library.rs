//! What the library gives to kernels and programs: random numbers, sums, sorting, gathering.

use diffkern::prelude::*;
use diffkern::{ops, rand};

use crate::case::{Case, Point, Program, Real, Run, case, dot, fixed, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        a_parameter_of_a_distribution(),
        a_random_walk(),
        sums_before_each_element(),
        gathered_twice(),
        scattered_over_a_value(),
        gathered_in_sorted_order(),
    ]
}

#[diff_kernel]
fn sample<F: Float>(mean: &Array<F>, spread: &Array<F>, y: &mut Array<F>, seed: u32) {
    let i = ABSOLUTE_POS as u32;
    let z: F = rand::normal::<F>(seed, i, 0u32);
    let u: F = rand::uniform::<F>(seed, i, 1u32);
    y[i] = (mean[0] + spread[0] * z) * (1.0 + u);
}

case! {
    /// `(m + s z) (1 + u)`: the numbers are constants of the draw.
    a_parameter_of_a_distribution<S>(run; mean: S = signed(1, 0.5, 1.5), spread: S = reals(1, 0.5, 1.5)) {
        let y = run.zeros::<S>(6)?;
        sample(6, &mean, &spread, &y, 7)?;
        run.output(&y);
    }
    by_hand(w) {
        let z = |i: usize| rand::normal::<f64>(7, i as u32, 0);
        let factor = |i: usize| 1.0 + rand::uniform::<f64>(7, i as u32, 1);
        (dot(w, &list(6, |i| (mean[0] + spread[0] * z(i)) * factor(i))), vec![
            vec![(0..6).map(|i| w[i] * factor(i)).sum()],
            vec![(0..6).map(|i| w[i] * factor(i) * z(i)).sum()],
        ])
    }
}

#[diff_kernel]
fn walk<F: Float>(x: &Array<F>, y: &mut Array<F>, steps: u32) {
    let i = ABSOLUTE_POS;
    let mut a = x[i];
    for k in 0..steps {
        let u: F = rand::uniform::<F>(11u32, i as u32, k);
        if u < 0.4 {
            a *= x[i];
        } else {
            a += u;
        }
    }
    y[i] = a;
}

case! {
    /// A draw decides each turn.
    a_random_walk<S>(run; x: S = reals(4, 0.6, 1.4)) {
        let y = run.zeros::<S>(4)?;
        walk(4, &x, &y, 9)?;
        run.output(&y);
    }
    by_hand(w) {
        let both = |i: usize| (0..9).fold((x[i], 1.0), |(a, da), k| {
            let u = rand::uniform::<f64>(11, i as u32, k);
            if u < 0.4 { (a * x[i], da * x[i] + a) } else { (a + u, da) }
        });
        (dot(w, &list(4, |i| both(i).0)), vec![list(4, |i| w[i] * both(i).1)])
    }
}

case! {
    /// Each element is in every sum after it.
    sums_before_each_element<S>(run; x: S = signed(7, 0.5, 1.5)) {
        let y = ops::exclusive_sum(&x)?;
        run.output(&y);
    }
    by_hand(w) {
        let before = |i: usize| x[..i].iter().sum::<f64>();
        (dot(w, &list(7, before)), vec![list(7, |j| w[j + 1..].iter().sum())])
    }
}

case! {
    /// Through an index with a repetition, and back through another.
    gathered_twice<S>(run; x: S = signed(4, 0.5, 1.5)) {
        let first = ops::gather(&x, &run.dev.array(&[2u32, 2, 0, 3, 1])?)?;
        let second = ops::gather(&first, &run.dev.array(&[1u32, 0, 4])?)?;
        run.output(&first);
        run.output(&second);
    }
    by_hand(w) {
        let from = [2, 2, 0, 3, 1, 2, 2, 1];
        let mut dx = vec![0.0; 4];
        (0..8).for_each(|k| dx[from[k]] += w[k]);
        (dot(w, &list(8, |k| x[from[k]])), vec![dx])
    }
}

case! {
    /// On top of what is there, which has its gradient, too.
    scattered_over_a_value<S>(run; x: S = signed(5, 0.5, 1.5), start: S = signed(3, 0.5, 1.5)) {
        let y = run.zeros::<S>(3)?;
        y.copy_from(&start)?;
        ops::scatter_add(&x, &run.dev.array(&[1u32, 0, 1, 2, 1])?, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let to = [1, 0, 1, 2, 1];
        let mut y = start.clone();
        (0..5).for_each(|k| y[to[k]] += x[k]);
        (dot(w, &y), vec![list(5, |k| w[to[k]]), w.to_vec()])
    }
}

#[diff_kernel]
fn keys<F: Float>(x: &Array<F>, key: &mut Array<u32>) {
    key[ABSOLUTE_POS] = u32::cast_from(x[ABSOLUTE_POS] * 1000.0);
}

case! {
    /// Sorted by value: the derivative of a sorted array is that of the element in its place.
    gathered_in_sorted_order<S>(run; x: S = fixed(&[0.7, 0.2, 0.9, 0.4, 0.3])) {
        let key = run.zeros::<u32>(5)?;
        keys(5, &x, &key)?;
        let sorted = ops::sort(&key)?;
        let y = ops::gather(&x, &sorted.order)?;
        run.output(&y);
    }
    by_hand(w) {
        let order = [1, 4, 3, 0, 2];
        let mut dx = vec![0.0; 5];
        (0..5).for_each(|k| dx[order[k]] += w[k]);
        (dot(w, &list(5, |k| x[order[k]])), vec![dx])
    }
}
