//! Semi-implicit Euler on vertices: velocities by the forces, then positions by the new velocities.

use diffkern::prelude::*;

/// `v+ = exp(-dt damping) v + dt (f / m + g)`; a held vertex keeps its velocity. An array of one mass stands for all vertices.
#[diff_kernel]
pub fn accelerate<F: Float>(
    v: &Array<Vec3<F>>,
    force: &Array<Vec3<F>>,
    mass: &Array<F>,
    held: &Array<u32>,
    gravity: &Array<Vec3<F>>,
    damping: &Array<F>,
    v_next: &mut Array<Vec3<F>>,
    dt: F,
) {
    let i = ABSOLUTE_POS;
    let old = v[i];
    let mut new = old;
    if held[i] == 0 {
        let keep = (-damping[0] * dt).exp();
        new = old * keep + (force[i] / mass[i.min(mass.len() - 1)] + gravity[0]) * dt;
    }
    v_next[i] = new;
}

/// `x+ = x + dt v`.
#[diff_kernel]
pub fn drift<F: Float>(x: &Array<Vec3<F>>, v: &Array<Vec3<F>>, x_next: &mut Array<Vec3<F>>, dt: F) {
    x_next[ABSOLUTE_POS] = x[ABSOLUTE_POS] + v[ABSOLUTE_POS] * dt;
}

/// Free fall: `x+ = x + t v + t^2/2 g`, `v+ = v + t g`.
#[diff_kernel]
pub fn fall<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    gravity: &Array<Vec3<F>>,
    x_next: &mut Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    time: F,
) {
    let speed = v[ABSOLUTE_POS];
    let gain = gravity[0] * time;
    x_next[ABSOLUTE_POS] = x[ABSOLUTE_POS] + (speed + gain * 0.5) * time;
    v_next[ABSOLUTE_POS] = speed + gain;
}
