//! Launches whose derivatives are written by hand, of kernels and of device functions in loops and branches.

use diffkern::prelude::*;

/// With both.
#[diff_fn(vjp = bend_vjp, jvp = bend_jvp)]
fn bend<F: Float>(x: F, w: F, n: u32) -> (F, F) {
    (x.sin() * w + x * F::cast_from(n) * 0.1, x * w)
}

#[diff_fn]
fn bend_vjp<F: Float>(x: F, w: F, n: u32, bar: F, side_bar: F) -> (F, F) {
    (bar * (x.cos() * w + F::cast_from(n) * 0.1) + side_bar * w, bar * x.sin() + side_bar * x)
}

#[diff_fn]
fn bend_jvp<F: Float>(x: F, w: F, n: u32, dx: F, dw: F) -> (F, F, F, F) {
    let s = F::cast_from(n) * 0.1;
    (x.sin() * w + x * s, x * w, (x.cos() * w + s) * dx + x.sin() * dw, dx * w + x * dw)
}

/// With one, from within another.
#[diff_fn(vjp = soft_vjp)]
fn soft<F: Float>(v: Vec2<F>) -> Vec2<F> {
    v * (v.norm_squared() + 1.0).sqrt().recip()
}

#[diff_fn]
fn soft_vjp<F: Float>(v: Vec2<F>, bar: Vec2<F>) -> Vec2<F> {
    let r = (v.norm_squared() + 1.0).sqrt().recip();
    bar * r - v * (v.dot(bar) * r * r * r)
}

#[diff_fn(jvp = steep_jvp)]
fn steep<F: Float>(x: F) -> F {
    let v: Vec2<F> = soft(Vec2::new(x, 0.5));
    v.x + v.y
}

#[diff_fn]
fn steep_jvp<F: Float>(x: F, dx: F) -> (F, F) {
    let r = (x * x + 1.25).sqrt().recip();
    ((x + 0.5) * r, (r - (x + 0.5) * x * r * r * r) * dx)
}

/// Functions by hand in a loop that data end, behind branches and an early return.
#[diff_kernel]
pub fn bent<F: Float>(x: &Array<F>, w: &Array<F>, y: &mut Array<F>, n: u32) {
    let i = ABSOLUTE_POS;
    let mut s = x[i];
    if s < -0.8 {
        let v: F = steep(s);
        y[i] += v;
        return;
    }
    for k in 0..n + 2 {
        let (a, b): (F, F) = bend(s, w[i] * 0.5, k);
        if b > 0.3 {
            s = a * 0.7;
            continue;
        }
        let v: F = steep(b);
        s = s * 0.5 + v;
        if s > 1.5 {
            break;
        }
    }
    let v: Vec2<F> = soft(Vec2::new(s, w[i]));
    y[i] += v.x * v.y;
}

#[diff_kernel(vjp = product_adjoint)]
pub fn product<F: Float>(x: &Array<F>, y: &Array<F>, z: &mut Array<F>) {
    z[ABSOLUTE_POS] = (x[ABSOLUTE_POS] * y[ABSOLUTE_POS]).sin();
}

#[diff_kernel]
fn product_adjoint<F: Float>(
    x: &Array<F>,
    y: &Array<F>,
    z: &Array<F>,
    x_bar: &mut Array<F>,
    y_bar: &mut Array<F>,
    z_bar: &Array<F>,
) {
    let i = ABSOLUTE_POS;
    // A domain shorter than the arrays says the rest.
    if i < z.len() {
        let g = z_bar[i] * (x[i] * y[i]).cos();
        x_bar[i] += g * y[i];
        y_bar[i] += g * x[i];
    }
}

/// Stores here, accumulates there.
#[diff_kernel(vjp = part_adjoint, jvp = part_tangent)]
pub fn part<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>, z: &mut Array<F>, n: u32, limit: F) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    if v > limit {
        y[i] = v * v * 0.2;
        return;
    }
    z[at[i] as usize % z.len()] += v.sin() * F::cast_from(n) * 0.3;
}

#[diff_kernel]
fn part_adjoint<F: Float>(
    x: &Array<F>,
    at: &Array<u32>,
    y: &Array<F>,
    z: &Array<F>,
    n: u32,
    limit: F,
    x_bar: &mut Array<F>,
    y_bar: &Array<F>,
    z_bar: &Array<F>,
) {
    let i = ABSOLUTE_POS;
    if i >= y.len() || i >= z.len() {
        return;
    }
    let v = x[i];
    let slope =
        if v > limit { y_bar[i] * v * 0.4 } else { z_bar[at[i] as usize % z.len()] * v.cos() * F::cast_from(n) * 0.3 };
    x_bar[i] += slope;
}

#[diff_kernel]
fn part_tangent<F: Float>(
    x: &Array<F>,
    at: &Array<u32>,
    y: &Array<F>,
    z: &Array<F>,
    n: u32,
    limit: F,
    x_dot: &Array<F>,
    y_dot: &mut Array<F>,
    z_dot: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    let v = x[i];
    if y.len() == z.len() && v > limit {
        y_dot[i] = v * x_dot[i] * 0.4;
        return;
    }
    z_dot[at[i] as usize % z.len()] += v.cos() * F::cast_from(n) * 0.3 * x_dot[i];
}

/// Reads two of a few elements by turns; several positions add to one.
#[diff_kernel(vjp = gather_adjoint)]
pub fn gather<F: Float>(x: &Array<F>, at: &Array<u32>, w: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut s = w[i % 5 % w.len()] * 0.5;
    for k in 0..2u32 {
        s += x[(at[i] + k - k * at[i]) as usize % x.len()].sin() * 0.4;
    }
    y[i / 2] += s * w[0];
}

#[diff_kernel]
fn gather_adjoint<F: Float>(
    x: &Array<F>,
    at: &Array<u32>,
    w: &Array<F>,
    y: &Array<F>,
    x_bar: &mut Array<F>,
    w_bar: &mut Array<F>,
    y_bar: &Array<F>,
) {
    let i = ABSOLUTE_POS;
    if y.len() > 0 {
        let g = y_bar[i / 2];
        let (a, b, c) = (at[i] as usize % x.len(), 1 % x.len(), i % 5 % w.len());
        let sum = w[c] * 0.5 + (x[a].sin() + x[b].sin()) * 0.4;
        x_bar[a] += g * w[0] * 0.4 * x[a].cos();
        x_bar[b] += g * w[0] * 0.4 * x[b].cos();
        w_bar[0] += g * sum;
        w_bar[c] += g * w[0] * 0.5;
    }
}
