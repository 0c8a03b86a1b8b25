//! Quaternions in kernels: the host's values, exact gradients, the exponential at and near zero.

use diffkern::prelude::*;

#[diff_fn]
fn attitude<F: Float>(q: Quat<F>, spin: Vec3<F>, dt: F) -> Quat<F> {
    (Quat::from_rotation_vector(spin * dt) * q).normalize()
}

#[diff_kernel]
fn algebra<F: Float>(
    p: &Array<Quat<F>>,
    q: &Array<Quat<F>>,
    v: &Array<Vec3<F>>,
    product: &mut Array<Quat<F>>,
    turned: &mut Array<Vec3<F>>,
    matrix: &mut Array<Mat3<F>>,
    number: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    let (a, b) = (p[i], q[i]);
    let unit = a.normalize();
    product[i] = a * b.conjugate() + b.inverse() * 0.5 - a / 3.0 + Quat::new(1.0, a.x, a.y, b.z) * b.w;
    turned[i] = unit.rotate(v[i]) + (unit.to_mat3() * v[i]).cross(b.vector());
    matrix[i] = (Quat::from_axis_angle(v[i].normalize(), a.w) * unit).to_mat3();
    number[i] = a.dot(b) + a.norm() * b.norm_squared() + b.y * a.w;
}

#[diff_kernel]
fn spin<F: Float>(
    q: &Array<Quat<F>>,
    w: &Array<Vec3<F>>,
    end: &mut Array<Quat<F>>,
    sum: &mut Array<Quat<F>>,
    steps: usize,
) {
    let i = ABSOLUTE_POS;
    let mut at = q[i];
    for k in 0..steps {
        let next: Quat<F> = attitude(at, w[i] * F::cast_from(k + 1), 0.1);
        at = next;
        at.x += 0.01 * at.w * at.y;
    }
    end[i] = at;
    sum[0] += at * at;
}

#[diff_kernel]
fn exponential<F: Float>(v: &Array<Vec3<F>>, q: &mut Array<Quat<F>>) {
    q[ABSOLUTE_POS] = Quat::from_rotation_vector(v[ABSOLUTE_POS]);
}

fn number(seed: u32, k: u32) -> f64 {
    (f64::from(seed * 31 + k) * 2.399).sin() * 0.9 + 0.05
}

fn quat(seed: u32) -> Quat<f64> {
    Quat::new(number(seed, 0), number(seed, 1), number(seed, 2), number(seed, 3))
}

fn vector(seed: u32) -> Vec3<f64> {
    Vec3::new(number(seed, 4), number(seed, 5), number(seed, 6))
}

#[test]
fn the_algebra_has_the_values_of_the_host_and_exact_gradients() {
    let dev = Device::cpu();
    for seed in 0..4 {
        let (a, b, u) = (quat(seed), quat(seed + 10), vector(seed + 20));
        let (p, q, v) = (dev.array(&[a]).unwrap(), dev.array(&[b]).unwrap(), dev.array(&[u]).unwrap());
        let (product, turned) = (dev.zeros(1).unwrap(), dev.zeros(1).unwrap());
        let (matrix, number) = (dev.zeros(1).unwrap(), dev.zeros(1).unwrap());
        algebra::gradcheck(1, &p, &q, &v, &product, &turned, &matrix, &number).unwrap();
        algebra(1, &p, &q, &v, &product, &turned, &matrix, &number).unwrap();
        let unit = a.normalize();
        let expected = a * b.conjugate() + b.inverse() * 0.5 - a / 3.0 + Quat::new(1.0, a.x, a.y, b.z) * b.w;
        let found: Quat<f64> = product.to_vec().unwrap()[0];
        assert!((found - expected).norm() < 1e-14, "{found:?} {expected:?}");
        let expected: Vec3<f64> = unit.rotate(u) + (unit.to_mat3() * u).cross(b.vector());
        assert!((turned.to_vec().unwrap()[0] - expected).norm() < 1e-14);
        let expected = (Quat::from_axis_angle(u.normalize(), a.w) * unit).to_mat3();
        let error: Mat3<f64> = matrix.to_vec().unwrap()[0] - expected;
        assert!(error.ddot(error) < 1e-28);
        let expected = a.dot(b) + a.norm() * b.norm_squared() + b.y * a.w;
        assert!((number.to_vec().unwrap()[0] - expected).abs() < 1e-14);
    }
}

#[test]
fn a_spinning_body_is_exact_through_functions_loops_and_components() {
    let dev = Device::cpu();
    for seed in 0..4 {
        let q = dev.array(&[quat(seed), quat(seed + 5)]).unwrap();
        let w = dev.array(&[vector(seed), vector(seed + 5)]).unwrap();
        spin::gradcheck(2, &q, &w, &dev.zeros(2).unwrap(), &dev.zeros(1).unwrap(), 6).unwrap();
    }
}

#[test]
fn the_exponential_is_smooth_at_zero() {
    let dev = Device::cpu();
    for size in [0.0, 1e-9, 1e-3, 0.009_999, 0.010_001, 0.3, 3.0, 7.0] {
        for seed in 0..3 {
            let v = vector(seed).normalize() * size;
            exponential::gradcheck(1, &dev.array(&[v]).unwrap(), &dev.zeros(1).unwrap()).unwrap();
            let n = nalgebra::UnitQuaternion::from_scaled_axis(nalgebra::Vector3::from(v));
            let error = Quat::from_rotation_vector(v) - Quat::from(n.into_inner());
            assert!(error.norm() < 1e-15, "{size}: {error:?}");
        }
    }
    // At zero the derivative is half the vector.
    let v = dev.array(&[Vec3::<f64>::zero()]).unwrap().requires_grad();
    let q = dev.zeros(1).unwrap();
    let tape = Tape::record(|| exponential(1, &v, &q)).unwrap();
    let seed = dev.array(&[Quat::new(0.7, 1.0, -2.0, 4.0)]).unwrap();
    tape.backward_from(&[(q.as_any(), seed.as_any())]).unwrap();
    assert_eq!(v.grad().unwrap().to_vec().unwrap(), [Vec3::new(0.5, -1.0, 2.0)]);
}

#[test]
fn the_host_agrees_with_nalgebra() {
    for seed in 0..6 {
        let (a, b, v) = (quat(seed), quat(seed + 10), vector(seed));
        let (na, nb): (nalgebra::Quaternion<f64>, nalgebra::Quaternion<f64>) = (a.into(), b.into());
        assert!((Quat::from(na * nb) - a * b).norm() < 1e-15);
        assert!((Quat::from(na.conjugate()) - a.conjugate()).norm() == 0.0);
        let unit = nalgebra::UnitQuaternion::from_quaternion(na);
        let turned: Vec3<f64> = (unit * nalgebra::Vector3::from(v)).into();
        assert!((a.normalize().rotate(v) - turned).norm() < 1e-15);
        let m: Mat3<f64> = unit.to_rotation_matrix().into_inner().into();
        let error = a.normalize().to_mat3() - m;
        assert!(error.ddot(error).sqrt() < 2e-15);
        let axis = nalgebra::Unit::new_normalize(nalgebra::Vector3::from(v));
        let n = nalgebra::UnitQuaternion::from_axis_angle(&axis, 1.3).into_inner();
        assert!((Quat::from_axis_angle(v.normalize(), 1.3) - Quat::from(n)).norm() < 1e-15);
        assert!((a * a.inverse() - Quat::identity()).norm() < 1e-15);
        assert_eq!((a.to_array(), a.get(0), a.w), ([a.w, a.x, a.y, a.z], a.w, a.get(0)));
    }
}

#[test]
fn devices_agree_on_quaternions() {
    let dev = Device::cpu();
    for device in diffkern::gradcheck::devices().unwrap() {
        let (q, w) = (dev.array(&[quat(1), quat(2)]).unwrap(), dev.array(&[vector(1), vector(2)]).unwrap());
        spin::devicecheck(&device, 2, &q, &w, &dev.zeros(2).unwrap(), &dev.zeros(1).unwrap(), 6).unwrap();
        exponential::devicecheck(&device, 2, &w, &dev.zeros(2).unwrap()).unwrap();
    }
}
