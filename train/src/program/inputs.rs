//! The numbers of a run on the device, and what is made of them before the first step.

use crate::scene::Part;
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;

/// One array for each part.
pub(crate) struct Inputs<F: Float>(Vec<Array<F>>);

impl<F: Float> Inputs<F> {
    /// From the array of each part.
    pub(crate) fn new(array: impl Fn(Part) -> diffkern::Result<Array<F>>) -> diffkern::Result<Self> {
        Ok(Self(Part::ALL.into_iter().map(array).collect::<diffkern::Result<_>>()?))
    }

    /// Puts another array in place of that of a part.
    pub(crate) fn put(&mut self, part: Part, array: Array<F>) {
        self.0[part as usize] = array;
    }

    /// The same with arrays that want a gradient.
    pub(crate) fn requires_grad(self) -> Self {
        Self(self.0.into_iter().map(Array::requires_grad).collect())
    }
}

impl<F: Float> std::ops::Index<Part> for Inputs<F> {
    type Output = Array<F>;

    fn index(&self, part: Part) -> &Array<F> {
        &self.0[part as usize]
    }
}

/// The number of each particle's piece, or of each collider.
#[diff_kernel]
pub(crate) fn to_particles<F: Float>(values: &Array<F>, piece_of: &Array<u32>, out: &mut Array<F>) {
    out[ABSOLUTE_POS] = values[piece_of[ABSOLUTE_POS] as usize];
}

/// Lamé parameters: of what is marked from Young's modulus and Poisson's ratio, else as they are. Arrays of one element stand for all.
#[diff_kernel]
pub(crate) fn lame_of<F: Float>(
    first: &Array<F>,
    second: &Array<F>,
    engineering: &Array<u32>,
    mu: &mut Array<F>,
    lambda: &mut Array<F>,
) {
    let k = ABSOLUTE_POS;
    let a = first[k.min(first.len() - 1)];
    let b = second[k.min(second.len() - 1)];
    let mut shear = a;
    let mut other = b;
    if engineering[k.min(engineering.len() - 1)] == 1 {
        shear = a / (2.0 * (1.0 + b));
        other = a * b / ((1.0 + b) * (1.0 - 2.0 * b));
    }
    mu[k] = shear;
    lambda[k] = other;
}

/// Three numbers as a vector, from place `first` on.
#[diff_kernel]
pub(crate) fn vector_of<F: Float>(values: &Array<F>, out: &mut Array<Vec3<F>>, first: usize) {
    out[0] = Vec3::new(values[first], values[first + 1], values[first + 2]);
}

/// The number at a place.
#[diff_kernel]
pub(crate) fn number_of<F: Float>(values: &Array<F>, out: &mut Array<F>, place: usize) {
    out[0] = values[place];
}

/// Pairs of numbers.
#[diff_kernel]
pub(crate) fn in_pairs<F: Float>(first: &Array<F>, second: &Array<F>, out: &mut Array<F>) {
    out[2 * ABSOLUTE_POS] = first[ABSOLUTE_POS];
    out[2 * ABSOLUTE_POS + 1] = second[ABSOLUTE_POS];
}

/// The numbers of each vector.
#[diff_kernel]
pub(crate) fn numbers_of<F: Float>(vectors: &Array<Vec3<F>>, out: &mut Array<F>) {
    let v = vectors[ABSOLUTE_POS];
    out[3 * ABSOLUTE_POS] = v.x;
    out[3 * ABSOLUTE_POS + 1] = v.y;
    out[3 * ABSOLUTE_POS + 2] = v.z;
}

/// A component of each vector.
#[diff_kernel]
pub(crate) fn component_of<F: Float>(vectors: &Array<Vec3<F>>, out: &mut Array<F>, axis: u32) {
    let v = vectors[ABSOLUTE_POS];
    let rest = select(axis == 1, v.y, v.z);
    out[ABSOLUTE_POS] = select(axis == 0, v.x, rest);
}

/// Each number times its factor.
#[diff_kernel]
pub(crate) fn times<F: Float>(values: &Array<F>, factors: &Array<F>, out: &mut Array<F>) {
    out[ABSOLUTE_POS] = values[ABSOLUTE_POS] * factors[ABSOLUTE_POS];
}

/// Points that are sums of four others by their weights.
#[diff_kernel]
pub(crate) fn of_four<F: Float>(x: &Array<Vec3<F>>, index: &Array<u32>, weights: &Array<F>, out: &mut Array<Vec3<F>>) {
    let mut sum = Vec3::zero();
    for k in 0..4 {
        let at = ABSOLUTE_POS * 4 + k;
        sum = sum + x[index[at] as usize] * weights[at];
    }
    out[ABSOLUTE_POS] = sum;
}

/// The numbers from place `first` on.
#[diff_kernel]
pub(crate) fn part_of<F: Float>(values: &Array<F>, out: &mut Array<F>, first: usize) {
    out[ABSOLUTE_POS] = values[first + ABSOLUTE_POS];
}

/// Adds up positions by their weights: `out` becomes the place of their mean.
#[diff_kernel]
pub(crate) fn weighted_mean<F: Float>(x: &Array<Vec3<F>>, weights: &Array<F>, out: &mut Array<F>) {
    let part = x[ABSOLUTE_POS] * weights[ABSOLUTE_POS];
    out[0] += part.x;
    out[1] += part.y;
    out[2] += part.z;
}

/// Velocities, and their derivatives by place, of bodies that move as rigid ones; `motion` has velocity and angular velocity of
/// each. Gravity has acted for a time `since` \[s\].
#[diff_kernel]
pub(crate) fn launch<F: Float>(
    x: &Array<Vec3<F>>,
    body_of: &Array<u32>,
    centres: &Array<Vec3<F>>,
    motion: &Array<F>,
    gravity: &Array<Vec3<F>>,
    v: &mut Array<Vec3<F>>,
    c: &mut Array<Mat3<F>>,
    since: F,
) {
    let body = body_of[ABSOLUTE_POS] as usize;
    let k = 6 * body;
    let velocity = Vec3::new(motion[k], motion[k + 1], motion[k + 2]);
    let w = Vec3::new(motion[k + 3], motion[k + 4], motion[k + 5]);
    let r = x[ABSOLUTE_POS] - centres[body];
    v[ABSOLUTE_POS] = velocity + w.cross(r) + gravity[0] * since;
    let zero = F::new(0.0);
    c[ABSOLUTE_POS] =
        Mat3::from_rows(Vec3::new(zero, -w.z, w.y), Vec3::new(w.z, zero, -w.x), Vec3::new(-w.y, w.x, zero));
}

/// Velocities of the control points of bodies that move as rigid ones about their `centres`; those that are not free do not move.
#[diff_kernel]
pub(crate) fn launch_free<F: Float>(
    x: &Array<Vec3<F>>,
    free: &Array<u32>,
    body_of: &Array<u32>,
    centres: &Array<Vec3<F>>,
    motion: &Array<F>,
    v: &mut Array<Vec3<F>>,
) {
    let body = body_of[ABSOLUTE_POS] as usize;
    let k = 6 * body;
    let velocity = Vec3::new(motion[k], motion[k + 1], motion[k + 2]);
    let w = Vec3::new(motion[k + 3], motion[k + 4], motion[k + 5]);
    let moving = velocity + w.cross(x[ABSOLUTE_POS] - centres[body]);
    v[ABSOLUTE_POS] = if free[ABSOLUTE_POS] == 1 { moving } else { Vec3::zero() };
}

/// Places of bodies that begin elsewhere: each moves with its body from where that lies in its scene, `from`, to `place`.
#[diff_kernel]
pub(crate) fn placed<F: Float>(
    x: &Array<Vec3<F>>,
    body_of: &Array<u32>,
    from: &Array<F>,
    place: &Array<F>,
    out: &mut Array<Vec3<F>>,
) {
    let k = 3 * body_of[ABSOLUTE_POS] as usize;
    let shift = Vec3::new(place[k] - from[k], place[k + 1] - from[k + 1], place[k + 2] - from[k + 2]);
    out[ABSOLUTE_POS] = x[ABSOLUTE_POS] + shift;
}

/// The same of the poses of rigid bodies, one each.
#[diff_kernel]
pub(crate) fn placed_poses<F: Float>(
    poses: &Array<Pose<F>>,
    from: &Array<F>,
    place: &Array<F>,
    out: &mut Array<Pose<F>>,
) {
    let k = 3 * ABSOLUTE_POS;
    let shift = Vec3::new(place[k] - from[k], place[k + 1] - from[k + 1], place[k + 2] - from[k + 2]);
    let pose = poses[ABSOLUTE_POS];
    out[ABSOLUTE_POS] = Pose { centre: pose.centre + shift, ..pose };
}

/// Poses with the motions of their colliders, velocity and angular velocity of each of the scene; `colliders` says which they are of.
#[diff_kernel]
pub(crate) fn driven<F: Float>(
    poses: &Array<Pose<F>>,
    colliders: &Array<u32>,
    motion: &Array<F>,
    out: &mut Array<Pose<F>>,
) {
    let k = 6 * colliders[ABSOLUTE_POS] as usize;
    let velocity = Vec3::new(motion[k], motion[k + 1], motion[k + 2]);
    let spin = Vec3::new(motion[k + 3], motion[k + 4], motion[k + 5]);
    out[ABSOLUTE_POS] = Pose { velocity, spin, ..poses[ABSOLUTE_POS] };
}

/// Stiffness of contact of each body: `scale` times the sum of its P-wave moduli, times its factor.
pub(crate) fn stiffness_of_contact<F: Float>(
    device: &Device,
    [mu, lambda]: [&Array<F>; 2],
    body_of: &Array<u32>,
    factor: &Array<F>,
    scale: impl Fn(usize) -> f64,
) -> diffkern::Result<Array<F>> {
    let n = mu.len().max(lambda.len());
    let out = device.zeros(factor.len())?;
    floor_stiffness(n, mu, lambda, body_of, factor, &out, F::from_f64(scale(n)))?;
    Ok(out)
}

/// Adds up the P-wave moduli of each body times its factor, and `scale`; arrays of moduli of one element stand for all.
#[diff_kernel]
pub(crate) fn floor_stiffness<F: Float>(
    mu: &Array<F>,
    lambda: &Array<F>,
    body_of: &Array<u32>,
    factor: &Array<F>,
    out: &mut Array<F>,
    scale: F,
) {
    let k = ABSOLUTE_POS;
    let body = body_of[k] as usize;
    out[body] += (lambda[k.min(lambda.len() - 1)] + 2.0 * mu[k.min(mu.len() - 1)]) * factor[body] * scale;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: usize) -> Vec<f64> {
        (0..n).map(|k| ((k + 1) as f64 * 0.754_877_666 + seed as f64 * 0.381_966).fract() - 0.4).collect()
    }

    #[test]
    fn kernels_have_right_gradients() -> diffkern::Result<()> {
        let device = Device::cpu();
        for seed in 1..4 {
            let n = 5;
            let vectors = |n: usize, seed| -> diffkern::Result<Array<Vec3<f64>>> {
                let all = numbers(3 * n, seed);
                device.array(&all.chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect::<Vec<_>>())
            };
            let (x, centres, gravity) = (vectors(n, seed)?, vectors(2, seed + 1)?, vectors(1, seed + 2)?);
            let (motion, body_of) = (device.array(&numbers(12, seed + 3))?, device.array(&[0u32, 1, 1, 0, 1])?);
            let (v, c) = (device.zeros::<Vec3<f64>>(n)?, device.zeros::<Mat3<f64>>(n)?);
            launch::gradcheck(n, &x, &body_of, &centres, &motion, &gravity, &v, &c, 0.3)?;
            let free = device.array(&[1u32, 0, 1, 1, 0])?;
            launch_free::gradcheck(n, &x, &free, &body_of, &centres, &motion, &v)?;
            let (from, place) = (device.array(&numbers(6, seed + 6))?, device.array(&numbers(6, seed + 7))?);
            placed::gradcheck(n, &x, &body_of, &from, &place, &device.zeros(n)?)?;
            let pose = |at: [f64; 3], turn: [f64; 3]| {
                let [centre, velocity] = [at, turn].map(Vec3::from_array);
                Pose { centre, rotation: Quat::from_rotation_vector(velocity), velocity, spin: centre }
            };
            let poses = device.array(&[pose([0.3, -0.2, 0.1], [0.2, 0.1, -0.4]), pose([0.1; 3], [0.3, 0.5, 0.2])])?;
            let moved = || device.array(&[pose([0.0; 3], [0.0; 3]); 2]);
            placed_poses::gradcheck(2, &poses, &from, &place, &moved()?)?;
            driven::gradcheck(2, &poses, &device.array(&[1u32, 0])?, &motion, &moved()?)?;
            let (one, factors) = (device.array(&[0.7])?, device.array(&[0.3, 0.8])?);
            let (mu, out) = (device.array(&numbers(n, seed))?, device.zeros(2)?);
            floor_stiffness::gradcheck(n, &mu, &one, &body_of, &factors, &out, 1.3)?;
            to_particles::gradcheck(n, &device.array(&numbers(2, seed))?, &body_of, &device.zeros(n)?)?;
            weighted_mean::gradcheck(n, &x, &device.array(&numbers(n, seed))?, &device.zeros(3)?)?;
            let ratios: Vec<f64> = numbers(n, seed + 5).iter().map(|x| 0.22 + 0.3 * x).collect();
            let (marks, moduli) = (device.array(&[1u32, 0, 1, 1, 0])?, device.array(&numbers(n, seed + 4))?);
            for moduli in [moduli, device.array(&[1.7])?] {
                let (mu, lambda) = (device.zeros(n)?, device.zeros(n)?);
                lame_of::gradcheck(n, &moduli, &device.array(&ratios)?, &marks, &mu, &lambda)?;
            }
            times::gradcheck(2, &device.array(&numbers(2, seed))?, &factors, &device.zeros(2)?)?;
            let four = device.array(&[4u32, 2, 0, 1, 3, 3, 1, 0])?;
            of_four::gradcheck(2, &x, &four, &device.array(&numbers(8, seed))?, &device.zeros(2)?)?;
            let (first, second) = (device.array(&numbers(n, seed))?, device.array(&numbers(n, seed + 1))?);
            in_pairs::gradcheck(n, &first, &second, &device.zeros(2 * n)?)?;
            numbers_of::gradcheck(n, &x, &device.zeros(3 * n)?)?;
            for axis in 0..3 {
                component_of::gradcheck(n, &x, &device.zeros(n)?, axis)?;
            }
            part_of::gradcheck(3, &device.array(&numbers(7, seed))?, &device.zeros(3)?, 2)?;
            vector_of::gradcheck(1, &device.array(&numbers(7, seed))?, &device.zeros(1)?, 3)?;
            number_of::gradcheck(1, &device.array(&numbers(7, seed))?, &device.zeros(1)?, 6)?;
        }
        Ok(())
    }
}
