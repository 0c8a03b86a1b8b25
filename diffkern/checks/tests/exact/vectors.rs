//! Vectors and matrices: components assigned, products, inverses.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![
        a_component_assigned_twice(),
        a_component_assigned_in_a_branch(),
        matrix_entries_assigned(),
        matrix_entries_in_unrolled_loops(),
        cross_products(),
        a_unit_vector(),
        an_inverse(),
        a_determinant(),
        outer_and_contraction(),
        rows_and_columns(),
        built_from_parts(),
        four_components(),
        scaled_from_both_sides(),
        an_element_wise_product(),
        accumulated_vectors(),
        one_component_read(),
        a_matrix_times_itself(),
        the_order_of_factors(),
    ]
}

#[diff_kernel]
fn reassigned<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<Vec3<F>>) {
    let mut v = x[ABSOLUTE_POS];
    v.x = v.x * v.y;
    let old = v;
    v.x *= v.z;
    v[1] += v.x;
    v.y = v.y * old.x;
    y[ABSOLUTE_POS] = v;
}

case! {
    /// `x` twice, `y` twice, each from the other, and a copy in between.
    a_component_assigned_twice<S>(run; x: Vec3<S> = signed(6, 0.4, 1.3)) {
        let y = run.zeros::<Vec3<S>>(2)?;
        reassigned(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![]);
        for (x, w) in x.chunks(3).zip(w.chunks(3)) {
            let (a, b, c) = (x[0], x[1], x[2]);
            // (a b c, (b + a b c) a b, c)
            y.extend([a * b * c, (b + a * b * c) * a * b, c]);
            dx.extend([
                w[0] * b * c + w[1] * (b * b + 2.0 * a * b * b * c),
                w[0] * a * c + w[1] * (2.0 * a * b + 2.0 * a * a * b * c),
                w[0] * a * b + w[1] * a * a * b * b + w[2],
            ]);
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn reflected<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>) {
    let mut v = x[ABSOLUTE_POS];
    if v.y < 0.0 {
        v.y = -0.5 * v.y;
        v.x = v.x * v.y;
    } else {
        v.x -= v.y;
    }
    v.y += v.x;
    y[ABSOLUTE_POS] = v;
}

case! {
    /// A bounce.
    a_component_assigned_in_a_branch<S>(run; x: Vec2<S> = signed(8, 0.4, 1.3)) {
        let y = run.zeros::<Vec2<S>>(4)?;
        reflected(4, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![]);
        for (v, w) in x.chunks(2).zip(w.chunks(2)) {
            let (a, b) = (v[0], v[1]);
            if b < 0.0 {
                y.extend([-0.5 * a * b, -0.5 * b - 0.5 * a * b]);
                dx.extend([-0.5 * b * (w[0] + w[1]), -0.5 * a * (w[0] + w[1]) - 0.5 * w[1]]);
            } else {
                y.extend([a - b, a]);
                dx.extend([w[0] + w[1], -w[0]]);
            }
        }
        (dot(w, &y), vec![dx])
    }
}

#[diff_kernel]
fn entries<F: Float>(x: &Array<Mat2<F>>, y: &mut Array<Mat2<F>>) {
    let mut m = x[ABSOLUTE_POS];
    m[(0, 1)] = m[(1, 0)] * m[(0, 0)];
    m[(1, 0)] -= m[(0, 1)];
    m[(1, 1)] *= m[(1, 1)];
    y[ABSOLUTE_POS] = m;
}

case! {
    /// Entries of a matrix from each other.
    matrix_entries_assigned<S>(run; x: Mat2<S> = signed(4, 0.4, 1.3)) {
        let y = run.zeros::<Mat2<S>>(1)?;
        entries(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (a, c, d) = (x[0], x[2], x[3]);
        (dot(w, &[a, a * c, c - a * c, d * d]), vec![vec![
            w[0] + (w[1] - w[2]) * c, 0.0, w[1] * a + w[2] * (1.0 - a), w[3] * 2.0 * d,
        ]])
    }
}

#[diff_kernel]
fn filled<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<Mat3<F>>) {
    let v = x[ABSOLUTE_POS];
    let mut m = Mat3::zero();
    #[unroll]
    for r in 0..3 {
        #[unroll]
        for c in 0..3 {
            m[(r, c)] = v[r] * v[c];
            if r == c {
                m[(r, c)] += v[(r + 1) % 3].sin();
            }
        }
    }
    y[ABSOLUTE_POS] = m;
}

case! {
    /// `v v^T` and a diagonal, entry by entry.
    matrix_entries_in_unrolled_loops<S>(run; x: Vec3<S> = signed(3, 0.4, 1.3)) {
        let y = run.zeros::<Mat3<S>>(1)?;
        filled(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![0.0; 3]);
        for r in 0..3 {
            for c in 0..3 {
                let on = if r == c { 1.0 } else { 0.0 };
                y.push(x[r] * x[c] + on * x[(r + 1) % 3].sin());
                dx[r] += w[3 * r + c] * x[c];
                dx[c] += w[3 * r + c] * x[r];
                dx[(r + 1) % 3] += w[3 * r + c] * on * x[(r + 1) % 3].cos();
            }
        }
        (dot(w, &y), vec![dx])
    }
}

fn cross(a: &[f64], b: &[f64]) -> Vec<f64> {
    vec![a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[diff_kernel]
fn volume<F: Float>(a: &Array<Vec3<F>>, b: &Array<Vec3<F>>, y: &mut Array<F>) {
    let (u, v) = (a[ABSOLUTE_POS], b[ABSOLUTE_POS]);
    y[ABSOLUTE_POS] = u.cross(v).dot(Vec3::new(1.0, -2.0, 0.5)) * u.dot(v);
}

case! {
    /// `(a x b) . c  (a . b)`: by `a`, `b x c (a . b) + b (a x b . c)`.
    cross_products<S>(run; a: Vec3<S> = signed(3, 0.4, 1.3), b: Vec3<S> = signed(3, 0.4, 1.3)) {
        let y = run.zeros::<S>(1)?;
        volume(1, &a, &b, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let c = [1.0, -2.0, 0.5];
        let (triple, ab) = (dot(&cross(a, b), &c), dot(a, b));
        let (bc, ca) = (cross(b, &c), cross(&c, a));
        (w[0] * triple * ab, vec![
            list(3, |k| w[0] * (bc[k] * ab + b[k] * triple)), list(3, |k| w[0] * (ca[k] * ab + a[k] * triple)),
        ])
    }
}

#[diff_kernel]
fn unit<F: Float>(x: &Array<Vec4<F>>, y: &mut Array<Vec4<F>>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].normalize() * x[ABSOLUTE_POS].norm_squared();
}

case! {
    /// `v |v|`, of four components: `w |v| + v (w . v) / |v|`.
    a_unit_vector<S>(run; x: Vec4<S> = signed(8, 0.4, 1.3)) {
        let y = run.zeros::<Vec4<S>>(2)?;
        unit(2, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx) = (vec![], vec![]);
        for (v, w) in x.chunks(4).zip(w.chunks(4)) {
            let n = dot(v, v).sqrt();
            y.extend(v.iter().map(|v| v * n));
            dx.extend((0..4).map(|k| w[k] * n + v[k] * dot(w, v) / n));
        }
        (dot(w, &y), vec![dx])
    }
}

/// Row-major product of two matrices of `n` rows.
fn product(n: usize, a: &[f64], b: &[f64]) -> Vec<f64> {
    list(n * n, |k| (0..n).map(|j| a[k / n * n + j] * b[j * n + k % n]).sum())
}

fn transposed(n: usize, a: &[f64]) -> Vec<f64> {
    list(n * n, |k| a[k % n * n + k / n])
}

/// Of three rows, by cofactors.
fn inverse(m: &[f64]) -> (f64, Vec<f64>) {
    let columns = [cross(&m[3..6], &m[6..9]), cross(&m[6..9], &m[0..3]), cross(&m[0..3], &m[3..6])];
    let det = dot(&m[0..3], &columns[0]);
    (det, list(9, |k| columns[k % 3][k / 3] / det))
}

#[diff_kernel]
fn inverted<F: Float>(x: &Array<Mat3<F>>, y: &mut Array<Mat3<F>>) {
    let m = Mat3::identity() * 2.0 + x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = m.inverse();
}

case! {
    /// `d M^-1 = - M^-1 dM M^-1`.
    an_inverse<S>(run; x: Mat3<S> = signed(9, 0.1, 0.6)) {
        let y = run.zeros::<Mat3<S>>(1)?;
        inverted(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let m = list(9, |k| x[k] + if k % 4 == 0 { 2.0 } else { 0.0 });
        let (_, inv) = inverse(&m);
        let t = transposed(3, &inv);
        let bar = product(3, &product(3, &t, w), &t);
        (dot(w, &inv), vec![bar.iter().map(|b| -b).collect()])
    }
}

#[diff_kernel]
fn volumes<F: Float>(x: &Array<Mat3<F>>, y: &mut Array<F>) {
    let m = Mat3::identity() * 2.0 + x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = m.determinant().ln() + m.transpose().determinant() * 0.1;
}

case! {
    /// `d det M = det M tr(M^-1 dM)`.
    a_determinant<S>(run; x: Mat3<S> = signed(9, 0.1, 0.6)) {
        let y = run.zeros::<S>(1)?;
        volumes(1, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let m = list(9, |k| x[k] + if k % 4 == 0 { 2.0 } else { 0.0 });
        let (det, inv) = inverse(&m);
        let t = transposed(3, &inv);
        (w[0] * (det.ln() + 0.1 * det), vec![t.iter().map(|t| w[0] * (1.0 + 0.1 * det) * t).collect()])
    }
}

#[diff_kernel]
fn contracted<F: Float>(m: &Array<Mat2<F>>, a: &Array<Vec2<F>>, b: &Array<Vec2<F>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let n = a[i].outer(b[i]);
    y[i] = m[i].ddot(n) * n.trace();
}

case! {
    /// `(M : a b^T) (a . b) = (a M b) (a . b)`.
    outer_and_contraction<S>(run; m: Mat2<S> = signed(4, 0.4, 1.3), a: Vec2<S> = signed(2, 0.4, 1.3), b: Vec2<S> = signed(2, 0.4, 1.3)) {
        let y = run.zeros::<S>(1)?;
        contracted(1, &m, &a, &b, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let mb = [dot(&m[0..2], b), dot(&m[2..4], b)];
        let am = [a[0] * m[0] + a[1] * m[2], a[0] * m[1] + a[1] * m[3]];
        let (q, ab) = (dot(a, &mb), dot(a, b));
        (w[0] * q * ab, vec![
            list(4, |k| w[0] * ab * a[k / 2] * b[k % 2]),
            list(2, |k| w[0] * (mb[k] * ab + q * b[k])),
            list(2, |k| w[0] * (am[k] * ab + q * a[k])),
        ])
    }
}

#[diff_kernel]
fn lines<F: Float>(m: &Array<Mat3<F>>, y: &mut Array<F>) {
    let a = m[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = a.row(0).dot(a.col(2)) + a.col(1).norm_squared();
}

case! {
    /// A row times a column, and a column squared.
    rows_and_columns<S>(run; m: Mat3<S> = signed(9, 0.4, 1.3)) {
        let y = run.zeros::<S>(1)?;
        lines(1, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut value, mut dm) = (0.0, vec![0.0; 9]);
        for k in 0..3 {
            value += m[k] * m[3 * k + 2] + m[3 * k + 1] * m[3 * k + 1];
            dm[k] += w[0] * m[3 * k + 2];
            dm[3 * k + 2] += w[0] * m[k];
            dm[3 * k + 1] += w[0] * 2.0 * m[3 * k + 1];
        }
        (w[0] * value, vec![dm])
    }
}

#[diff_kernel]
fn built<F: Float>(a: &Array<Vec2<F>>, y: &mut Array<Mat2<F>>) {
    let i = ABSOLUTE_POS;
    let v = a[i];
    let w = Vec2::new(v.y * v.y, v.x);
    y[i] = Mat2::from_cols(v, w) + Mat2::from_rows(w, v) * Mat2::from_diagonal(v) - Mat2::new(v.x, 1.0, 0.0, v.y);
}

case! {
    /// From columns, rows, a diagonal and entries.
    built_from_parts<S>(run; a: Vec2<S> = signed(2, 0.4, 1.3)) {
        let y = run.zeros::<Mat2<S>>(1)?;
        built(1, &a, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (x, v) = (a[0], a[1]);
        // (x, v^2; v, x) + (v^2 x, x v; x x, v v) - (x, 1; 0, v)
        let y = [v * v * x, v * v + x * v - 1.0, v + x * x, x + v * v - v];
        (dot(w, &y), vec![vec![
            w[0] * v * v + w[1] * v + w[2] * 2.0 * x + w[3],
            w[0] * 2.0 * v * x + w[1] * (2.0 * v + x) + w[2] + w[3] * (2.0 * v - 1.0),
        ]])
    }
}

#[diff_kernel]
fn quartet<F: Float>(q: &Array<Vec4<F>>, y: &mut Array<F>) {
    let p = q[ABSOLUTE_POS];
    let mut r = Vec4::new(p.w, p.z, p.y, p.x);
    r.w = r.w * r.x;
    y[ABSOLUTE_POS] = p.dot(r) + p[3] * r[0] * Vec4::splat(p.y).norm_squared();
}

case! {
    /// All four of a vector, in the other order.
    four_components<S>(run; q: Vec4<S> = signed(4, 0.4, 1.3)) {
        let y = run.zeros::<S>(1)?;
        quartet(1, &q, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (a, b, c, d) = (q[0], q[1], q[2], q[3]);
        // a d + 2 b c + d (a d) + d d 4 b b
        (w[0] * (a * d + 2.0 * b * c + a * d * d + 4.0 * b * b * d * d), vec![vec![
            w[0] * (d + d * d), w[0] * (2.0 * c + 8.0 * b * d * d), w[0] * 2.0 * b,
            w[0] * (a + 2.0 * a * d + 8.0 * b * b * d),
        ]])
    }
}

#[diff_kernel]
fn scaled<F: Float>(v: &Array<Vec3<F>>, s: &Array<F>, y: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    let mut u = v[i] * s[i] - 2.0 * v[i] / s[i];
    u *= s[i];
    u /= v[i].x;
    u -= v[i];
    y[i] = -u;
}

case! {
    /// `-((v s - 2 v / s) s / v.x - v)`: a factor on either side, a divisor, compound assignments.
    scaled_from_both_sides<S>(run; v: Vec3<S> = signed(3, 0.5, 1.3), s: S = signed(1, 0.5, 1.3)) {
        let y = run.zeros::<Vec3<S>>(1)?;
        scaled(1, &v, &s, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // v_k (1 - (s^2 - 2) / v_0)
        let f = (s[0] * s[0] - 2.0) / v[0];
        (dot(w, &list(3, |k| v[k] * (1.0 - f))), vec![
            list(3, |k| w[k] * (1.0 - f) + if k == 0 { dot(w, v) * f / v[0] } else { 0.0 }),
            vec![-dot(w, v) * 2.0 * s[0] / v[0]],
        ])
    }
}

#[diff_kernel]
fn by_element<F: Float>(a: &Array<Vec3<F>>, b: &Array<Vec3<F>>, y: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    y[i] = a[i].mul_elem(b[i]).mul_elem(a[i]) + Vec3::splat(a[i].x * b[i].y);
}

case! {
    /// `a a b` by component, and one product added to all.
    an_element_wise_product<S>(run; a: Vec3<S> = signed(3, 0.5, 1.3), b: Vec3<S> = signed(3, 0.5, 1.3)) {
        let y = run.zeros::<Vec3<S>>(1)?;
        by_element(1, &a, &b, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let sum: f64 = w.iter().sum();
        (dot(w, &list(3, |k| a[k] * a[k] * b[k] + a[0] * b[1])), vec![
            list(3, |k| w[k] * 2.0 * a[k] * b[k] + if k == 0 { sum * b[1] } else { 0.0 }),
            list(3, |k| w[k] * a[k] * a[k] + if k == 1 { sum * a[0] } else { 0.0 }),
        ])
    }
}

#[diff_kernel]
fn collect<F: Float>(x: &Array<Vec3<F>>, mass: &Array<F>, p: &mut Array<Vec3<F>>, q: &mut Array<Mat3<F>>) {
    let i = ABSOLUTE_POS;
    p[0] += x[i] * mass[i];
    p[1] -= x[i];
    q[0] += x[i].outer(x[i]) * mass[i];
}

case! {
    /// First and second moments of five points, by all threads at once.
    accumulated_vectors<S>(run; x: Vec3<S> = signed(15, 0.4, 1.3), mass: S = reals(5, 0.5, 1.5)) {
        let (p, q) = (run.zeros::<Vec3<S>>(2)?, run.zeros::<Mat3<S>>(1)?);
        collect(5, &x, &mass, &p, &q)?;
        run.output(&p);
        run.output(&q);
    }
    by_hand(w) {
        let (mut y, mut dx, mut dm) = (vec![0.0; 15], vec![0.0; 15], vec![0.0; 5]);
        for i in 0..5 {
            let (v, m) = (&x[3 * i..3 * i + 3], mass[i]);
            for k in 0..3 {
                y[k] += m * v[k];
                y[3 + k] -= v[k];
                dx[3 * i + k] += w[k] * m - w[3 + k];
                dm[i] += w[k] * v[k];
                for j in 0..3 {
                    y[6 + 3 * k + j] += m * v[k] * v[j];
                    dx[3 * i + k] += (w[6 + 3 * k + j] + w[6 + 3 * j + k]) * m * v[j];
                    dm[i] += w[6 + 3 * k + j] * v[k] * v[j];
                }
            }
        }
        (dot(w, &y), vec![dx, dm])
    }
}

#[diff_kernel]
fn height<F: Float>(x: &Array<Vec3<F>>, m: &Array<Mat3<F>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i].y * m[0][(2, 1)] + (m[0] * x[i]).z;
}

case! {
    /// Only one component of a load, of a matrix and of a product matters; the others get 0.
    one_component_read<S>(run; x: Vec3<S> = signed(6, 0.4, 1.3), m: Mat3<S> = signed(9, 0.4, 1.3)) {
        let y = run.zeros::<S>(2)?;
        height(2, &x, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut dx, mut dm) = (vec![], vec![], vec![0.0; 9]);
        for (v, w) in x.chunks(3).zip(w) {
            y.push(v[1] * m[7] + dot(&m[6..9], v));
            dx.extend([w * m[6], w * 2.0 * m[7], w * m[8]]);
            dm[6] += w * v[0];
            dm[7] += w * 2.0 * v[1];
            dm[8] += w * v[2];
        }
        (dot(w, &y), vec![dx, dm])
    }
}

#[diff_kernel]
fn squared<F: Float>(m: &Array<Mat3<F>>, y: &mut Array<Mat3<F>>) {
    let a = m[ABSOLUTE_POS];
    let b = a * a;
    y[ABSOLUTE_POS] = b * a.transpose() + b;
}

case! {
    /// `A A A^T + A A`.
    a_matrix_times_itself<S>(run; m: Mat3<S> = signed(9, 0.3, 0.9)) {
        let y = run.zeros::<Mat3<S>>(1)?;
        squared(1, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (b, t) = (product(3, m, m), transposed(3, m));
        let y = product(3, &b, &t);
        // bar of B: W A + W; of A by A^T: (B^T W)^T = W^T B; of A by B: bar A^T + A^T bar
        let wa = product(3, w, m);
        let bar = list(9, |k| wa[k] + w[k]);
        let (left, right) = (product(3, &bar, &t), product(3, &t, &bar));
        let last = product(3, &transposed(3, w), &b);
        (dot(w, &list(9, |k| y[k] + b[k])), vec![list(9, |k| left[k] + right[k] + last[k])])
    }
}

#[diff_kernel]
fn ordered<F: Float>(m: &Array<Mat2<F>>, n: &Array<Mat2<F>>, x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    y[i] = m[i] * n[i] * x[i] - n[i] * (m[i] * x[i]);
}

case! {
    /// The commutator of two matrices, on a vector.
    the_order_of_factors<S>(run; m: Mat2<S> = signed(4, 0.4, 1.3), n: Mat2<S> = signed(4, 0.4, 1.3), x: Vec2<S> = signed(2, 0.4, 1.3)) {
        let y = run.zeros::<Vec2<S>>(1)?;
        ordered(1, &m, &n, &x, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let apply = |m: &[f64], x: &[f64]| [dot(&m[0..2], x), dot(&m[2..4], x)];
        let (mt, nt) = (transposed(2, m), transposed(2, n));
        let (nx, mx) = (apply(n, x), apply(m, x));
        let (a, b) = (apply(m, &nx), apply(n, &mx));
        let (mtw, ntw) = (apply(&mt, w), apply(&nt, w));
        (dot(w, &[a[0] - b[0], a[1] - b[1]]), vec![
            list(4, |k| w[k / 2] * nx[k % 2] - ntw[k / 2] * x[k % 2]),
            list(4, |k| mtw[k / 2] * x[k % 2] - w[k / 2] * mx[k % 2]),
            list(2, |k| apply(&nt, &mtw)[k] - apply(&mt, &ntw)[k]),
        ])
    }
}
