//! Tuples in tuples, whole local arrays, loops that count down, `^` of truth values, vectors by value.

use diffkern::prelude::*;

use crate::numbers;

#[diff_struct]
struct Pair<F> {
    a: F,
    b: F,
}

#[diff_kernel]
fn tuples<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let (a, (b, (mut c, _)), p) = (x[i], (x[i] * 2.0, (x[i].sin(), 3.0)), Pair { a: x[0], b: x[i] });
    let (d, (e, n)): (F, (F, u32)) = if i > 1 {
        (a, (b * c, 2))
    } else {
        let t = a * b;
        (t, (t + c, 3))
    };
    let mut f = d;
    (c, (f, _)) = (f * c, (c + p.b, a));
    let ((g, h), k) = match n {
        2 => ((c, f), e),
        _ => {
            let u = e * e;
            ((u, d), p.a)
        }
    };
    y[i] = g * h + k * F::cast_from(n);
}

#[test]
fn tuples_in_tuples_are_taken_apart() {
    let (x, y) = (numbers(4), Device::cpu().zeros(4).unwrap());
    tuples::gradcheck(4, &x, &y).unwrap();
    tuples(4, &x, &y).unwrap();
    let (x, y) = (x.to_vec().unwrap(), y.to_vec().unwrap());
    for i in 0..4 {
        let (a, (b, (mut c, _)), p) = (x[i], (x[i] * 2.0, (x[i].sin(), 3.0)), Pair { a: x[0], b: x[i] });
        let (d, (e, n)) = if i > 1 { (a, (b * c, 2)) } else { (a * b, (a * b + c, 3)) };
        let mut f = d;
        (c, (f, _)) = (f * c, (c + p.b, a));
        let ((g, h), k) = if n == 2 { ((c, f), e) } else { ((e * e, d), p.a) };
        assert!((y[i] - (g * h + k * f64::from(n))).abs() < 1e-12, "{i}");
    }
}

#[diff_kernel]
fn copies<F: Float>(x: &Array<F>, n: u32, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a = [x[i], x[0], 2.0];
    let mut b = a;
    let mut old: [F; 3] = b;
    for k in 0..n {
        b[k % 3] *= x[i];
        if k == 1 {
            old = b;
        }
        b[0] += old[1];
    }
    let kept = b;
    b = [0.5; 3];
    b[2] += a[0];
    y[i] = kept[0] * old[1] + kept[2] * b[2] + b[0];
}

#[test]
fn local_arrays_are_copied() {
    let (x, y) = (numbers(3), Device::cpu().zeros(3).unwrap());
    for n in [0, 1, 2, 5] {
        copies::gradcheck(3, &x, n, &y).unwrap();
        copies(3, &x, n, &y).unwrap();
        let x = x.to_vec().unwrap();
        for (i, y) in y.to_vec().unwrap().into_iter().enumerate() {
            let a = [x[i], x[0], 2.0];
            let (mut b, mut old) = (a, a);
            for k in 0..n as usize {
                b[k % 3] *= x[i];
                if k == 1 {
                    old = b;
                }
                b[0] += old[1];
            }
            assert!((y - (b[0] * old[1] + b[2] * (0.5 + a[0]) + 0.5)).abs() < 1e-12, "{n} {i}");
        }
    }
}

#[diff_kernel]
fn down<F: Float>(x: &Array<F>, y: &mut Array<F>, seen: &mut Array<i32>) {
    let mut s = x[0];
    let mut last = 0;
    for k in range_stepped(10, 0, -3) {
        s = s * x[1] + F::cast_from(k);
        last = 10 * last + k;
    }
    y[0] = s;
    seen[0] = last;
}

#[test]
fn a_loop_between_numbers_counts_down() {
    let (x, y, seen) = (numbers(2), Device::cpu().zeros(1).unwrap(), Device::cpu().zeros(1).unwrap());
    down::gradcheck(1, &x, &y, &seen).unwrap();
    down(1, &x, &y, &seen).unwrap();
    assert_eq!(seen.to_vec().unwrap(), [10 * (10 * (10 * 10 + 7) + 4) + 1]);
    let (a, b) = (x.to_vec().unwrap()[0], x.to_vec().unwrap()[1]);
    let expected = [10.0, 7.0, 4.0, 1.0].iter().fold(a, |s, k| s * b + k);
    assert!((y.to_vec().unwrap()[0] - expected).abs() < 1e-12);
}

#[diff_kernel]
fn exclusive<F: Float>(x: &Array<F>, on: bool, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut odd = (i % 2 == 1) ^ on;
    odd ^= x[i] > 100.0;
    y[i] = if odd { x[i] * x[i] } else { x[i] };
}

#[test]
fn one_of_two_truth_values() {
    let (x, y) = (numbers(4), Device::cpu().zeros(4).unwrap());
    for on in [false, true] {
        exclusive::gradcheck(4, &x, on, &y).unwrap();
        exclusive::lanecheck(4, &x, on, &y).unwrap();
        exclusive(4, &x, on, &y).unwrap();
        for (i, (x, y)) in x.to_vec().unwrap().into_iter().zip(y.to_vec().unwrap()).enumerate() {
            assert_eq!(y, if (i % 2 == 1) ^ on { x * x } else { x });
        }
    }
}

#[diff_kernel]
fn by_value<F: Float>(x: &Array<F>, g: Vec3<F>, m: Mat2<F>, q: Quat<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = q.rotate(g * x[i]);
    y[i] = v.y + m[(1, 0)] * x[i] * x[i] + m[(0, 1)];
}

#[diff_kernel]
fn of_one_precision(x: &Array<f64>, g: Vec2<f64>, y: &mut Array<f64>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * g.x + g.y;
}

#[test]
fn vectors_matrices_and_quaternions_are_passed_by_value() {
    let (x, y) = (numbers(3), Device::cpu().zeros(3).unwrap());
    let (g, m) = (Vec3::new(0.5, -9.81, 2.0), Mat2::new(1.0, 2.0, 3.0, 4.0));
    let q = Quat::from_axis_angle(Vec3::new(0.0, 0.0, 1.0), 0.3);
    by_value::gradcheck(3, &x, g, m, q, &y).unwrap();
    by_value(3, &x, g, m, q, &y).unwrap();
    for (x, y) in x.to_vec().unwrap().into_iter().zip(y.to_vec().unwrap()) {
        assert!((y - (q.rotate(g * x).y + 3.0 * x * x + 2.0)).abs() < 1e-12);
    }
    of_one_precision::gradcheck(3, &x, Vec2::new(2.0, 3.0), &y).unwrap();
    of_one_precision(3, &x, Vec2::new(2.0, 3.0), &y).unwrap();
    assert_eq!(y.to_vec().unwrap()[0], x.to_vec().unwrap()[0] * 2.0 + 3.0);
}

#[diff_kernel]
fn counted<F: Float>(x: &Array<F>, count: usize, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * F::cast_from(count);
}

#[diff_struct]
struct Sizes {
    rows: usize,
}

#[diff_kernel]
fn sized<F: Float>(x: &Array<F>, sizes: Sizes, last: Option<usize>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * F::cast_from(sizes.rows + last.unwrap_or(1));
}

#[test]
fn an_index_that_is_too_large_names_kernel_and_parameter() {
    let (x, y) = (numbers(1), Device::cpu().zeros(1).unwrap());
    let large = (1usize << 32) + 5;
    let says = |result: Result<()>, words: [&str; 2]| {
        let message = result.unwrap_err().to_string();
        let all = words.iter().chain(&["4294967301", "4294967295"]).all(|word| message.contains(word));
        assert!(all, "{message}");
    };
    says(counted(1, &x, large, &y), ["`counted`", "`count`"]);
    says(sized(1, &x, Sizes { rows: large }, None, &y), ["`sized`", "`sizes.rows`"]);
    says(sized(1, &x, Sizes { rows: 1 }, Some(large), &y), ["`sized`", "`last`"]);
}
