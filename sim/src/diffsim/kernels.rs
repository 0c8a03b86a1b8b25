//! What the facade adds to the elements of [`fem::tets`](crate::fem::tets).

// A `Barrier` in a kernel would be that of CubeCL.
use crate::contact::Barrier as SmoothBarrier;
use crate::contact::{ContactModel, coulomb_3d};
use diffkern::prelude::*;

/// Lamé parameters of Young's modulus and Poisson's ratio: `mu = E / (2 (1 + nu))`, `lambda = E nu / ((1 + nu) (1 - 2 nu))`.
#[diff_kernel]
pub fn lame_parameters<F: Float>(young: &Array<F>, poisson: &Array<F>, mu: &mut Array<F>, lambda: &mut Array<F>) {
    let e = ABSOLUTE_POS;
    let stiffness = young[e.min(young.len() - 1)];
    let nu = poisson[e.min(poisson.len() - 1)];
    let shear = stiffness / (2.0 * (1.0 + nu));
    mu[e] = shear;
    lambda[e] = shear * 2.0 * nu / (1.0 - 2.0 * nu);
}

/// The ground as kernels take it.
#[diff_struct]
#[derive(Clone, Copy, Debug)]
pub struct GroundForce<F> {
    /// Stiffness times width \[N\]: what the barrier of [`contact`](crate::contact) has as its stiffness.
    pub push: F,
    /// Height up to which it pushes \[m\].
    pub width: F,
    /// Coefficient of friction.
    pub friction: F,
    /// Speed below which friction fades \[m/s\].
    pub slip: F,
}

/// Adds the upward force on each free vertex that is nearer to `y = 0` than the width.
#[diff_kernel]
pub fn ground_push<F: Float>(
    x: &Array<Vec3<F>>,
    fixed: &Array<u32>,
    force: &mut Array<Vec3<F>>,
    ground: GroundForce<F>,
) {
    let i = ABSOLUTE_POS;
    let mut push = F::new(0.0);
    if fixed[i] == 0 {
        let law = Vec4::new(ground.push, 0.0, ground.width, ground.friction);
        push = SmoothBarrier::force(x[i].y, F::new(0.0), law);
    }
    force[i] += Vec3::new(0.0, push, 0.0);
}

/// Velocities after the friction of a substep, of the push at its beginning: `v - h/m mu N v_t / sqrt(v_t^2 + ..)`.
#[diff_kernel]
pub fn ground_friction<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    mass: &Array<F>,
    fixed: &Array<u32>,
    slowed: &mut Array<Vec3<F>>,
    ground: GroundForce<F>,
    h: F,
) {
    let i = ABSOLUTE_POS;
    let mut velocity = v[i];
    if fixed[i] == 0 {
        let law = Vec4::new(ground.push, 0.0, ground.width, ground.friction);
        let push: F = SmoothBarrier::force(x[i].y, F::new(0.0), law);
        let h_over_m = h / mass[i];
        let slide = Vec3::new(velocity.x, 0.0, velocity.z);
        let friction: Vec3<F> = coulomb_3d(slide, ground.friction * push, ground.slip, h_over_m);
        velocity = velocity - friction * h_over_m;
    }
    slowed[i] = velocity;
}

/// `v+ = damping (v + h (f / m + g))`, of fixed vertices 0.
#[diff_kernel]
pub fn damped_velocity<F: Float>(
    v: &Array<Vec3<F>>,
    force: &Array<Vec3<F>>,
    mass: &Array<F>,
    fixed: &Array<u32>,
    gravity: &Array<F>,
    damping: &Array<F>,
    v_next: &mut Array<Vec3<F>>,
    h: F,
) {
    let i = ABSOLUTE_POS;
    let mut next = Vec3::zero();
    if fixed[i] == 0 {
        let acceleration = force[i] / mass[i] + Vec3::new(0.0, gravity[0], 0.0);
        next = (v[i] + acceleration * h) * damping[0];
    }
    v_next[i] = next;
}

/// `y`, of fixed vertices `x`: so the forces do not depend on where an iteration puts those, and its matrix is symmetric.
#[diff_kernel]
pub fn held_positions<F: Float>(y: &Array<Vec3<F>>, x: &Array<Vec3<F>>, fixed: &Array<u32>, held: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    let mut at = y[i];
    if fixed[i] != 0 {
        at = x[i];
    }
    held[i] = at;
}

/// `r = m (y - x - d h v) - d h^2 (f + m g)` with the damping `d`, of fixed vertices `m (y - x)`: zero where `y` is the position after
/// `v+ = d (v + h (f(y) / m + g))`, `y = x + h v+`.
#[diff_kernel]
pub fn implicit_residual<F: Float>(
    y: &Array<Vec3<F>>,
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    force: &Array<Vec3<F>>,
    mass: &Array<F>,
    fixed: &Array<u32>,
    gravity: &Array<F>,
    damping: &Array<F>,
    residual: &mut Array<Vec3<F>>,
    h: F,
) {
    let i = ABSOLUTE_POS;
    let m = mass[i];
    let mut r = (y[i] - x[i]) * m;
    if fixed[i] == 0 {
        let d = damping[0];
        r = r - v[i] * (m * d * h) - (force[i] + Vec3::new(0.0, m * gravity[0], 0.0)) * (d * h * h);
    }
    residual[i] = r;
}

/// Of each point of `a` the nearest of `b`, of equally near ones the first. Without a gradient.
#[diff_kernel]
pub fn nearest<F: Float>(a: &Array<Vec3<F>>, b: &Array<Vec3<F>>, index: &mut Array<u32>) {
    let i = ABSOLUTE_POS;
    let at = a[i];
    let mut best = 0u32;
    let mut least = F::max_value();
    for j in 0..b.len() {
        let square = (b[j] - at).norm_squared();
        if square < least {
            least = square;
            best = j as u32;
        }
    }
    index[i] = best;
}

/// `|a_i - b_index(i)|^2`.
#[diff_kernel]
pub fn square_distances<F: Float>(a: &Array<Vec3<F>>, b: &Array<Vec3<F>>, index: &Array<u32>, squares: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    squares[i] = (a[i] - b[index[i] as usize]).norm_squared();
}

/// `|a_i - b_i|^2`.
#[diff_kernel]
pub fn square_differences<F: Float>(a: &Array<Vec3<F>>, b: &Array<Vec3<F>>, squares: &mut Array<F>) {
    squares[ABSOLUTE_POS] = (a[ABSOLUTE_POS] - b[ABSOLUTE_POS]).norm_squared();
}

/// Energies of the motion and of the height of each vertex, `m v^2 / 2` and `-m g y`.
#[diff_kernel]
pub fn vertex_energies<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    mass: &Array<F>,
    gravity: &Array<F>,
    kinetic: &mut Array<F>,
    height: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    kinetic[i] = 0.5 * mass[i] * v[i].norm_squared();
    height[i] = -mass[i] * gravity[0] * x[i].y;
}

/// Energy of each free vertex in the barrier, `-kappa (y - w)^2 ln(y / w)`.
#[diff_kernel]
pub fn ground_energies<F: Float>(
    x: &Array<Vec3<F>>,
    fixed: &Array<u32>,
    energy: &mut Array<F>,
    ground: GroundForce<F>,
) {
    let i = ABSOLUTE_POS;
    let mut stored = F::new(0.0);
    if fixed[i] == 0 && x[i].y < ground.width {
        let short = x[i].y - ground.width;
        stored = -ground.push / ground.width * short * short * (x[i].y / ground.width).ln();
    }
    energy[i] = stored;
}
