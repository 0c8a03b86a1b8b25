//! Laws as type parameters: kernels and functions over them, their gradients, and that each instance is a kernel of its
//! own; device functions in loops and branches.

#![expect(clippy::unwrap_used, reason = "tests")]

use diffkern::prelude::*;

mod physics {
    use diffkern::prelude::*;

    /// A hyperelastic material.
    #[diff_trait]
    pub trait Material {
        /// Energy density \[Pa\].
        fn energy<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> F;
        /// First Piola-Kirchhoff stress \[Pa\].
        fn stress<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> Mat3<F>;
        /// Number of turns and a measure of the strain.
        fn strain<F: Float>(f: Mat3<F>, turns: u32) -> (u32, F);
    }

    pub struct NeoHookean;

    #[diff_impl]
    impl Material for NeoHookean {
        fn energy<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> F {
            let log_j = f.determinant().ln();
            0.5 * mu * (f.ddot(f) - 3.0) - mu * log_j + 0.5 * lambda * log_j * log_j
        }

        fn stress<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> Mat3<F> {
            let inverse = f.inverse().transpose();
            (f - inverse) * mu + inverse * (lambda * f.determinant().ln())
        }

        fn strain<F: Float>(f: Mat3<F>, turns: u32) -> (u32, F) {
            let mut s = f.trace();
            for _ in 0..turns {
                s = (s * 0.5).sin() + f[(0, 1)];
            }
            (turns * 2, s)
        }
    }
}

use physics::{Material, NeoHookean};

struct Corotated;

#[diff_impl]
impl physics::Material for Corotated {
    fn energy<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> F {
        let s: Vec3<F> = singular_values3(f);
        let d = s - Vec3::splat(1.0);
        let j = s.x * s.y * s.z - 1.0;
        mu * d.norm_squared() + 0.5 * lambda * j * j
    }

    fn stress<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> Mat3<F> {
        let (r, _s): (Mat3<F>, Mat3<F>) = polar3(f);
        let j = f.determinant();
        (f - r) * (2.0 * mu) + f.inverse().transpose() * (lambda * (j - 1.0) * j)
    }

    fn strain<F: Float>(f: Mat3<F>, turns: u32) -> (u32, F) {
        let energy: F = Self::energy(f, 1.0, 0.5);
        (turns, energy)
    }
}

#[diff_fn]
fn twice<F: Float, M: Material>(f: Mat3<F>, mu: F) -> F {
    let a: F = M::energy(f, mu, 2.0);
    let b: F = M::energy(f * 1.1, mu, 1.0);
    a * b
}

#[diff_kernel]
fn energies<F: Float, M: Material>(
    f: &Array<Mat3<F>>,
    q: &Array<Vec2<F>>,
    energy: &mut Array<F>,
    stress: &mut Array<Mat3<F>>,
    count: &mut Array<u32>,
) {
    let i = ABSOLUTE_POS;
    let e: F = M::energy(f[i], q[i].x, q[i].y);
    let (n, s): (u32, F) = M::strain::<F>(f[i], 3u32);
    let both: F = twice::<F, M>(f[i], q[i].x);
    energy[i] = e + s + both;
    let p: Mat3<F> = M::stress(f[i], q[i].x, q[i].y);
    stress[i] = p;
    count[i] = n;
}

fn states() -> (Array<Mat3<f64>>, Array<Vec2<f64>>) {
    let dev = Device::cpu();
    let f = [
        Mat3::new(1.1, 0.2, -0.1, 0.05, 0.9, 0.3, -0.2, 0.1, 1.2),
        Mat3::new(0.8, -0.1, 0.2, 0.3, 1.3, 0.1, 0.1, -0.2, 0.95),
    ];
    (dev.array(&f).unwrap(), dev.array(&[Vec2::new(1.2, 0.7), Vec2::new(0.6, 1.4)]).unwrap())
}

type Outputs = (Array<f64>, Array<Mat3<f64>>, Array<u32>);

fn outputs() -> Outputs {
    let dev = Device::cpu();
    (dev.zeros(2).unwrap(), dev.zeros(2).unwrap(), dev.zeros(2).unwrap())
}

#[test]
fn kernels_over_a_law_are_exact() {
    let ((f, q), (e, p, n)) = (states(), outputs());
    energies::<NeoHookean>::gradcheck(2, &f, &q, &e, &p, &n).unwrap();
    energies::<Corotated>::gradcheck(2, &f, &q, &e, &p, &n).unwrap();
}

#[test]
fn each_instance_computes_its_own_law_and_the_stress_is_the_gradient_of_the_energy() {
    fn check<M: Material>(expected: u32) {
        let ((f, q), (e, p, n)) = (states(), outputs());
        energies::<f64, M>(2, &f, &q, &e, &p, &n).unwrap();
        assert_eq!(n.to_vec().unwrap(), [expected; 2]);
        let (f, q) = (f.to_vec().unwrap(), q.to_vec().unwrap());
        let stress: Vec<Mat3<f64>> = p.to_vec().unwrap();
        for ((f, q), p) in f.into_iter().zip(q).zip(stress) {
            assert_eq!(M::stress(f, q.x, q.y), p);
            for k in 0..9 {
                let at = |h: f64| M::energy(f.with(k, f.get(k) + h), q.x, q.y);
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((slope - p.get(k)).abs() < 1e-8, "component {k}: {slope} {}", p.get(k));
            }
        }
    }
    check::<NeoHookean>(6);
    check::<Corotated>(3);
}

// ---- device functions everywhere

#[diff_fn]
fn blend<F: Float>(x: F, y: Vec2<F>, table: &Array<F>, k: usize) -> (F, Vec2<F>, bool, u32) {
    let t = table[k] * x;
    let mut v = y;
    if t > 0.4 {
        v = y * t.cos();
    }
    (t + v.x * table[k + 1], v, t > 0.2, k as u32)
}

#[diff_fn]
fn outer<F: Float>(x: F, table: &Array<F>, n: usize) -> F {
    let mut sum = x;
    for k in 0..n {
        let (a, v, big, at): (F, Vec2<F>, bool, u32) = blend(sum, Vec2::new(x, sum * 0.3), table, k);
        if big && at != 1 {
            let (b, _v, _big, _at): (F, Vec2<F>, bool, u32) = blend(a * v.y, v, table, 0usize);
            sum = 0.7 * sum + 0.2 * b;
        } else {
            sum += 0.1 * a;
        }
    }
    sum
}

#[diff_kernel]
fn nested<F: Float>(x: &Array<F>, table: &Array<F>, bounds: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut total = F::new(0.0);
    for k in 0..bounds[i] {
        let s: F = outer(x[i] + 0.1 * F::cast_from(k), table, k as usize + 1);
        total = total * s + s;
    }
    y[i] = total;
}

#[test]
fn calls_in_loops_of_unknown_length_with_arrays_and_several_results_are_exact() {
    let dev = Device::cpu();
    for seed in 0..4 {
        let at = |k: u32| 0.45 + 0.4 * (f64::from(seed * 13 + k) * 1.7).sin();
        let x = dev.array(&[at(0), at(1), at(2), at(3)]).unwrap();
        let table = dev.array(&[at(4), at(5), at(6), at(7), at(8), at(9), at(10)]).unwrap();
        let bounds = dev.array(&[0u32, 1, 3, 5]).unwrap();
        nested::gradcheck(4, &x, &table, &bounds, &dev.zeros(4).unwrap()).unwrap();
    }
}

#[test]
fn devices_agree_on_laws() {
    for device in diffkern::gradcheck::devices().unwrap() {
        let ((f, q), (e, p, n)) = (states(), outputs());
        energies::<NeoHookean>::devicecheck(&device, 2, &f, &q, &e, &p, &n).unwrap();
        energies::<Corotated>::devicecheck(&device, 2, &f, &q, &e, &p, &n).unwrap();
    }
}
