//! Whole programs in one or a few kernels.

use diffkern::prelude::*;

use crate::case::{Case, Point, Program, Real, Run, case, dot, list, reals, signed};
use crate::softras;

pub fn cases() -> Vec<Case> {
    vec![
        coverage_of_triangles(),
        a_mass_on_a_spring(),
        particles_to_a_grid_and_back(),
        a_layer_of_neurons(),
        gravity_between_all_pairs(),
        relaxation_on_a_grid(),
        a_filter_and_its_energy(),
        a_bouncing_ball(),
    ]
}

case! {
    /// A soft silhouette of two triangles in one kernel: a run-time loop over triangles, a sum that is used in an
    /// exponential after it. What Warp 1.19 gets wrong by a factor.
    coverage_of_triangles<S>(run; v: Vec2<S> = softras::corners()) {
        let faces = run.dev.array(&[0u32, 1, 2, 2, 1, 3])?;
        let y = run.zeros::<S>(1)?;
        softras::coverage((6, 6), &v, &faces, &y, 6, S::from_f64(0.05), S::from_f64(1.0 / 36.0))?;
        run.output(&y);
    }
    by_hand(w) {
        let (loss, gradient) = softras::by_hand(v, &[[0, 1, 2], [2, 1, 3]], 6, 0.05);
        (w[0] * loss, vec![gradient.iter().map(|g| w[0] * g).collect()])
    }
}

#[diff_kernel]
fn oscillate<F: Float>(x: &Array<F>, v: &Array<F>, k: &Array<F>, x1: &mut Array<F>, v1: &mut Array<F>, dt: F) {
    let i = ABSOLUTE_POS;
    let speed = v[i] - k[0] * x[i] * dt;
    v1[i] = speed;
    x1[i] = x[i] + speed * dt;
}

case! {
    /// Symplectic steps of a linear spring, twenty launches in turn between two states.
    a_mass_on_a_spring<S>(run; x: S = signed(3, 0.5, 1.5), v: S = signed(3, 0.5, 1.5), k: S = reals(1, 1.5, 2.5)) {
        let new = || -> Result<_> { Ok((run.zeros::<S>(3)?, run.zeros::<S>(3)?)) };
        let (mut now, mut next) = (new()?, new()?);
        now.0.copy_from(&x)?;
        now.1.copy_from(&v)?;
        for _ in 0..20 {
            oscillate(3, &now.0, &now.1, &k, &next.0, &next.1, S::from_f64(0.1))?;
            std::mem::swap(&mut now, &mut next);
        }
        run.output(&now.0);
    }
    by_hand(w) {
        let (dt, k) = (0.1, k[0]);
        // Rows: value, by x, by v, by k.
        let end = |i: usize| (0..20).fold(([x[i], 1.0, 0.0, 0.0], [v[i], 0.0, 1.0, 0.0]), |(x, v), _| {
            let v: [f64; 4] = std::array::from_fn(|j| v[j] - dt * (k * x[j] + if j == 3 { x[0] } else { 0.0 }));
            (std::array::from_fn(|j| x[j] + dt * v[j]), v)
        }).0;
        let ends: Vec<_> = (0..3).map(end).collect();
        let column = |j: usize| list(3, |i| ends[i][j]);
        let weighted = |j: usize| list(3, |i| w[i] * ends[i][j]);
        (dot(w, &column(0)), vec![weighted(1), weighted(2), vec![dot(w, &column(3))]])
    }
}

#[diff_kernel]
fn to_grid<F: Float>(x: &Array<F>, v: &Array<F>, momentum: &mut Array<F>, mass: &mut Array<F>) {
    let p = ABSOLUTE_POS;
    let base = u32::cast_from(x[p]);
    let t = x[p] - F::cast_from(base);
    momentum[base] += (1.0 - t) * v[p];
    momentum[base + 1] += t * v[p];
    mass[base] += 1.0 - t;
    mass[base + 1] += t;
}

#[diff_kernel]
fn on_grid<F: Float>(momentum: &Array<F>, mass: &Array<F>, v: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    v[i] = select(mass[i] > 1e-6, momentum[i] / mass[i], 0.0);
}

#[diff_kernel]
fn from_grid<F: Float>(x: &Array<F>, grid: &Array<F>, x1: &mut Array<F>, dt: F) {
    let p = ABSOLUTE_POS;
    let base = u32::cast_from(x[p]);
    let t = x[p] - F::cast_from(base);
    let speed = (1.0 - t) * grid[base] + t * grid[base + 1];
    x1[p] = x[p] + dt * speed;
}

case! {
    /// One step of particle-in-cell in one dimension: a scatter, a division that is 0/0 where nothing is, a gather.
    particles_to_a_grid_and_back<S>(run; u: S = reals(4, 0.1, 0.9), v: S = signed(4, 0.5, 1.5)) {
        let p = run.zeros::<S>(4)?;
        place(4, &u, &p)?;
        let (momentum, mass, grid, end) = (run.zeros(6)?, run.zeros(6)?, run.zeros(6)?, run.zeros::<S>(4)?);
        to_grid(4, &p, &v, &momentum, &mass)?;
        on_grid(6, &momentum, &mass, &grid)?;
        from_grid(4, &p, &grid, &end, S::from_f64(0.5))?;
        run.output(&end);
    }
    by_hand(w) {
        let cell = [0usize, 1, 1, 3];
        let (mut momentum, mut mass) = ([0.0; 6], [0.0; 6]);
        for p in 0..4 {
            let (c, t) = (cell[p], u[p]);
            momentum[c] += (1.0 - t) * v[p];
            momentum[c + 1] += t * v[p];
            mass[c] += 1.0 - t;
            mass[c + 1] += t;
        }
        let grid: [f64; 6] = std::array::from_fn(|i| if mass[i] > 1e-6 { momentum[i] / mass[i] } else { 0.0 });
        let end = list(4, |p| {
            let (c, t) = (cell[p], u[p]);
            c as f64 + t + 0.5 * ((1.0 - t) * grid[c] + t * grid[c + 1])
        });
        // Backwards: the gather, the division, the scatter.
        let (mut du, mut dv, mut bar) = (vec![0.0; 4], vec![0.0; 4], [0.0; 6]);
        for p in 0..4 {
            let (c, t) = (cell[p], u[p]);
            du[p] += w[p] * (1.0 + 0.5 * (grid[c + 1] - grid[c]));
            bar[c] += w[p] * 0.5 * (1.0 - t);
            bar[c + 1] += w[p] * 0.5 * t;
        }
        for p in 0..4 {
            let (c, t) = (cell[p], u[p]);
            for (node, weight, slope) in [(c, 1.0 - t, -1.0), (c + 1, t, 1.0)] {
                let by_momentum = bar[node] / mass[node];
                dv[p] += by_momentum * weight;
                du[p] += by_momentum * slope * (v[p] - grid[node]);
            }
        }
        (dot(w, &end), vec![du, dv])
    }
}

#[diff_kernel]
fn place<F: Float>(u: &Array<F>, x: &mut Array<F>) {
    let p = ABSOLUTE_POS;
    let mut cell = (p + 1) / 2;
    if p == 3 {
        cell = 3;
    }
    x[p] = F::cast_from(cell) + u[p];
}

#[diff_kernel]
fn layer<F: Float>(weights: &Array<F>, bias: &Array<F>, x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let n = x.len();
    let mut sum = bias[i];
    for k in 0..n {
        sum += weights[i * n + k] * x[k];
    }
    y[i] = sum.tanh();
}

case! {
    /// Two layers with one matrix: `tanh(W tanh(W x + b) + b)`.
    a_layer_of_neurons<S>(run; m: S = signed(9, 0.2, 0.8), b: S = signed(3, 0.2, 0.8), x: S = signed(3, 0.2, 0.8)) {
        let (h, y) = (run.zeros::<S>(3)?, run.zeros::<S>(3)?);
        layer(3, &m, &b, &x, &h)?;
        layer(3, &m, &b, &h, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let apply = |x: &[f64]| list(3, |i| (b[i] + dot(&m[3 * i..3 * i + 3], x)).tanh());
        let h = apply(x);
        let y = apply(&h);
        let (mut dm, mut db) = (vec![0.0; 9], vec![0.0; 3]);
        let mut back = |bar: &[f64], input: &[f64], output: &[f64]| {
            let mut below = vec![0.0; 3];
            for i in 0..3 {
                let s = bar[i] * (1.0 - output[i] * output[i]);
                db[i] += s;
                for k in 0..3 {
                    dm[3 * i + k] += s * input[k];
                    below[k] += s * m[3 * i + k];
                }
            }
            below
        };
        let dh = back(w, &h, &y);
        let dx = back(&dh, x, &h);
        (dot(w, &y), vec![dm, db, dx])
    }
}

#[diff_kernel]
fn energy<F: Float>(x: &Array<Vec3<F>>, m: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for j in 0..x.len() {
        if j != i {
            let d = x[j] - x[i];
            sum -= m[i] * m[j] / (d.norm_squared() + 0.01).sqrt();
        }
    }
    y[0] += 0.5 * sum;
}

case! {
    /// Softened potential of four bodies; the force on each is the sum over the others.
    gravity_between_all_pairs<S>(run; x: Vec3<S> = signed(12, 0.3, 1.3), m: S = reals(4, 0.5, 1.5)) {
        let y = run.zeros::<S>(1)?;
        energy(4, &x, &m, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut value, mut dx, mut dm) = (0.0, vec![0.0; 12], vec![0.0; 4]);
        for i in 0..4 {
            for j in 0..i {
                let d = list(3, |k| x[3 * j + k] - x[3 * i + k]);
                let r = (dot(&d, &d) + 0.01).sqrt();
                value -= m[i] * m[j] / r;
                dm[i] -= w[0] * m[j] / r;
                dm[j] -= w[0] * m[i] / r;
                for k in 0..3 {
                    let force = w[0] * m[i] * m[j] * d[k] / r.powi(3);
                    dx[3 * j + k] += force;
                    dx[3 * i + k] -= force;
                }
            }
        }
        (w[0] * value, vec![dx, dm])
    }
}

#[diff_kernel]
fn relax<F: Float>(u: &Array<F>, f: &Array<F>, next: &mut Array<F>, nx: usize, ny: usize) {
    let (i, j) = (ABSOLUTE_POS_X, ABSOLUTE_POS_Y);
    let at = i + nx * j;
    if i == 0 || j == 0 || i == nx - 1 || j == ny - 1 {
        next[at] = 0.0;
        return;
    }
    next[at] = 0.25 * (u[at - 1] + u[at + 1] + u[at - nx] + u[at + nx] + f[at] * u[at]);
}

case! {
    /// Four sweeps over a grid of 5 by 4 whose border is set to 0, with a coefficient that differs by node.
    relaxation_on_a_grid<S>(run; u: S = signed(20, 0.3, 1.3), f: S = signed(20, 0.3, 0.9)) {
        let (a, b) = (run.zeros::<S>(20)?, run.zeros::<S>(20)?);
        relax((5, 4), &u, &f, &a, 5, 4)?;
        relax((5, 4), &a, &f, &b, 5, 4)?;
        relax((5, 4), &b, &f, &a, 5, 4)?;
        relax((5, 4), &a, &f, &b, 5, 4)?;
        run.output(&b);
    }
    by_hand(w) {
        let inside = |at: usize| (1..4).contains(&(at % 5)) && (1..3).contains(&(at / 5));
        let sweep = |u: &[f64]| list(20, |at| match inside(at) {
            true => 0.25 * (u[at - 1] + u[at + 1] + u[at - 5] + u[at + 5] + f[at] * u[at]),
            false => 0.0,
        });
        let mut states = vec![u.clone()];
        (0..4).for_each(|k| states.push(sweep(&states[k])));
        let (mut bar, mut df) = (w.to_vec(), vec![0.0; 20]);
        for k in (0..4).rev() {
            let mut below = vec![0.0; 20];
            for at in (0..20).filter(|&at| inside(at)) {
                let b = 0.25 * bar[at];
                [at - 1, at + 1, at - 5, at + 5].iter().for_each(|&n| below[n] += b);
                below[at] += b * f[at];
                df[at] += b * states[k][at];
            }
            bar = below;
        }
        (dot(w, &states[4]), vec![bar, df])
    }
}

#[diff_kernel]
fn convolve<F: Float>(x: &Array<F>, taps: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for k in 0..taps.len() {
        if i + k >= 1 && i + k - 1 < x.len() {
            sum += taps[k] * x[i + k - 1];
        }
    }
    y[i] = sum;
}

#[diff_kernel]
fn power<F: Float>(y: &Array<F>, e: &mut Array<F>) {
    e[0] += y[ABSOLUTE_POS] * y[ABSOLUTE_POS];
}

case! {
    /// A convolution with three taps, cut at the ends, and the energy of its result.
    a_filter_and_its_energy<S>(run; x: S = signed(7, 0.3, 1.3), taps: S = signed(3, 0.3, 1.3)) {
        let (y, e) = (run.zeros::<S>(7)?, run.zeros::<S>(1)?);
        convolve(7, &x, &taps, &y)?;
        power(7, &y, &e)?;
        run.output(&e);
    }
    by_hand(w) {
        let at = |i: usize, k: usize| (i + k).checked_sub(1).filter(|&j| j < 7);
        let y = list(7, |i| (0..3).filter_map(|k| Some(taps[k] * x[at(i, k)?])).sum());
        let (mut dx, mut dt) = (vec![0.0; 7], vec![0.0; 3]);
        for i in 0..7 {
            for k in 0..3 {
                if let Some(j) = at(i, k) {
                    dx[j] += w[0] * 2.0 * y[i] * taps[k];
                    dt[k] += w[0] * 2.0 * y[i] * x[j];
                }
            }
        }
        (w[0] * dot(&y, &y), vec![dx, dt])
    }
}

#[diff_kernel]
fn fall<F: Float>(height: &Array<F>, speed: &Array<F>, y: &mut Array<F>, steps: usize, dt: F) {
    let i = ABSOLUTE_POS;
    let (mut h, mut v) = (height[i], speed[i]);
    let mut hits = 0u32;
    for _ in 0..steps {
        v -= 9.8 * dt;
        h += v * dt;
        if h < 0.0 {
            h = -h * 0.8;
            v = -v * 0.8;
            hits += 1;
        }
    }
    y[i] = h * F::cast_from(hits + 1);
}

case! {
    /// Forty steps with impacts; the number of impacts is a factor of the result.
    a_bouncing_ball<S>(run; height: S = reals(3, 0.3, 0.9), speed: S = signed(3, 0.3, 1.3)) {
        let y = run.zeros::<S>(3)?;
        fall(3, &height, &speed, &y, 40, S::from_f64(0.03125))?;
        run.output(&y);
    }
    by_hand(w) {
        let dt = 0.03125;
        // Rows: value, by height, by speed.
        let end = |i: usize| {
            let (mut h, mut v, mut hits) = ([height[i], 1.0, 0.0], [speed[i], 0.0, 1.0], 1.0);
            for _ in 0..40 {
                v[0] -= 9.8 * dt;
                (0..3).for_each(|k| h[k] += v[k] * dt);
                if h[0] < 0.0 {
                    h = h.map(|h| -0.8 * h);
                    v = v.map(|v| -0.8 * v);
                    hits += 1.0;
                }
            }
            h.map(|h| h * hits)
        };
        let ends: Vec<_> = (0..3).map(end).collect();
        let weighted = |k: usize| list(3, |i| w[i] * ends[i][k]);
        (dot(w, &list(3, |i| ends[i][0])), vec![weighted(1), weighted(2)])
    }
}
