//! Singular values and polar factors: what they are, and their gradients at matrices of every kind.

#![expect(clippy::unwrap_used, reason = "tests")]

use diffkern::prelude::*;

/// Numbers in (-1, 1) that repeat for a seed.
fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            2.0 * (state >> 11) as f64 / (1u64 << 53) as f64 - 1.0
        })
        .collect()
}

fn rotation(seed: u64) -> Mat3<f64> {
    let q = numbers(seed, 4);
    let q = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]));
    q.to_rotation_matrix().into_inner().into()
}

fn turn(angle: f64) -> Mat2<f64> {
    Mat2::new(angle.cos(), -angle.sin(), angle.sin(), angle.cos())
}

/// A matrix with these singular values and axes by the seed.
fn with_values(s: [f64; 3], seed: u64) -> Mat3<f64> {
    rotation(seed) * Mat3::from_diagonal(s.into()) * rotation(seed + 100).transpose()
}

fn with_values2(s: [f64; 2], seed: u64) -> Mat2<f64> {
    let a = numbers(seed, 2);
    turn(3.0 * a[0]) * Mat2::from_diagonal(s.into()) * turn(3.0 * a[1])
}

const TRIPLES: [[f64; 3]; 16] = [
    [1.7, 1.1, 0.4],
    [1.7, 1.1, -0.4],
    [1.0, 1.0, 1.0],
    [1.3, 1.3, 0.6],
    [1.3, 0.6, 0.6],
    [1.3, 0.6, -0.6],
    [0.8, 0.8, -0.8],
    [1.0, 1.0 - 1e-4, 1.0 - 2e-4],
    [1.0, 1.0 - 1e-7, 1.0 - 3e-7],
    [1.0, 1.0 - 1e-11, 1.0 - 1e-9],
    [1.0, 1.0 - 1e-13, 0.5],
    [1.2, 0.7, 0.0],
    [1.2, 0.7, 1e-9],
    [1.2, 0.0, 0.0],
    [0.0, 0.0, 0.0],
    [12.0, 1.0, -1e-3],
];

const PAIRS: [[f64; 2]; 9] = [
    [1.7, 0.4],
    [1.7, -0.4],
    [1.0, 1.0],
    [0.7, -0.7],
    [1.0, 1.0 - 1e-7],
    [1.0, 1.0 - 1e-10],
    [1.2, 0.0],
    [1.2, 1e-9],
    [0.0, 0.0],
];

fn size(m: Mat3<f64>) -> f64 {
    m.ddot(m).sqrt()
}

#[test]
fn the_factors_are_rotations_and_ordered_values_that_give_the_matrix_back() {
    for (k, triple) in TRIPLES.into_iter().enumerate() {
        for seed in 1..6 {
            let a = with_values(triple, seed * 31 + k as u64);
            let (u, s, v) = svd3(a);
            let scale = triple[0].max(1e-300);
            assert!(size(u * Mat3::from_diagonal(s) * v.transpose() - a) < 3e-15 * scale, "{triple:?} {s:?}");
            for r in [u, v] {
                assert!(size(r * r.transpose() - Mat3::identity()) < 4e-15, "{triple:?} {r:?}");
                assert!((r.determinant() - 1.0).abs() < 4e-15, "{triple:?}");
            }
            assert!(s.x >= s.y - 1e-16 * scale && s.y >= s.z.abs() - 1e-16 * scale, "{triple:?} {s:?}");
            for (found, expected) in s.to_array().into_iter().zip(triple) {
                assert!((found - expected).abs() < 2e-15 * scale, "{triple:?} {s:?}");
            }
        }
    }
    assert_eq!(svd3(Mat3::<f64>::identity()), (Mat3::identity(), Vec3::new(1.0, 1.0, 1.0), Mat3::identity()));
    for pair in PAIRS {
        for seed in 1..6 {
            let a = with_values2(pair, seed);
            let (u, s, v) = svd2(a);
            let scale = pair[0].max(1e-300);
            let error = u * Mat2::from_diagonal(s) * v.transpose() - a;
            assert!(error.ddot(error).sqrt() < 2e-15 * scale, "{pair:?} {s:?}");
            assert!((u.determinant() - 1.0).abs() < 2e-15 && (v.determinant() - 1.0).abs() < 2e-15, "{pair:?}");
            assert!((s.x - pair[0]).abs() + (s.y - pair[1]).abs() < 2e-15 * scale, "{pair:?} {s:?}");
        }
    }
}

#[test]
fn single_precision_and_extreme_sizes_work() {
    for scale in [1e-30f32, 1e-12, 1.0, 1e12, 1e30] {
        for seed in 1..20 {
            let n = numbers(seed, 9);
            let a = Mat3::from_array(std::array::from_fn(|k| n[k] as f32 * scale));
            let (u, s, v) = svd3(a);
            let error = (u * Mat3::from_diagonal(s) * v.transpose() - a) / scale;
            assert!(error.ddot(error).sqrt() < 2e-6, "{scale} {error:?}");
            let expected = nalgebra::Matrix3::from(a / scale).singular_values();
            let found = [s.x / scale, s.y / scale, s.z.abs() / scale];
            assert!(found.iter().zip(expected.iter()).all(|(a, b)| (a - b).abs() < 2e-6), "{found:?} {expected:?}");
        }
    }
}

// ---- what does not depend on the choice of the axes

/// `U f(s) Vᵀ`, singular values, their squares, the polar factors, each contracted with something without symmetry.
#[diff_kernel]
fn invariant<F: Float>(
    a: &Array<Mat3<F>>,
    c: &Array<Mat3<F>>,
    y: &mut Array<Mat3<F>>,
    z: &mut Array<F>,
    #[comptime] odd: bool,
) {
    let i = ABSOLUTE_POS;
    let (u, s, v): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a[i]);
    let mut f = s * 0.5 + s.mul_elem(s).mul_elem(s) * 0.3;
    if !odd {
        f += Vec3::new(s.x.exp(), s.y.exp(), s.z.exp());
    }
    y[i] = u * Mat3::from_diagonal(f) * v.transpose();
    let g = Vec3::new(s.x.sin(), s.y.sin(), s.z.sin()).mul_elem(s);
    let w = u * Mat3::from_diagonal(g) * u.transpose() + v * Mat3::from_diagonal(g) * v.transpose();
    z[i] = w.ddot(c[i]) + s.norm_squared() + s.x * s.y * s.z;
}

#[diff_kernel]
fn polar<F: Float>(a: &Array<Mat3<F>>, y: &mut Array<Mat3<F>>, z: &mut Array<Mat3<F>>) {
    let i = ABSOLUTE_POS;
    let (r, s): (Mat3<F>, Mat3<F>) = polar3(a[i]);
    y[i] = r;
    z[i] = s * 0.7;
}

#[diff_kernel]
fn values<F: Float>(a: &Array<Mat3<F>>, z: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let s: Vec3<F> = singular_values3(a[i]);
    z[i] = (s.x - 1.0).powi(2) + (s.y - 1.0).powi(2) + (s.z - 1.0).powi(2) + 0.4 * s.x * s.y * s.z;
}

type Matrices = Array<Mat3<f64>>;
type Launch<'a> = &'a dyn Fn(&Matrices, &Matrices, &Matrices) -> Result<()>;

fn arrays(ms: &[Mat3<f64>]) -> (Matrices, Matrices, Matrices, Array<f64>) {
    let dev = Device::cpu();
    let c: Vec<_> = (0..ms.len() as u64).map(|k| Mat3::from_array(numbers(k + 7, 9).try_into().unwrap())).collect();
    (dev.array(ms).unwrap(), dev.array(&c).unwrap(), dev.zeros(ms.len()).unwrap(), dev.zeros(ms.len()).unwrap())
}

#[test]
fn functions_that_do_not_depend_on_the_axes_have_exact_gradients() {
    for triple in TRIPLES {
        for seed in 1..4 {
            let (a, c, y, z) = arrays(&[with_values(triple, seed), with_values(triple, seed + 50)]);
            // A function that is not odd jumps where two values have opposite signs.
            let mirrored = triple[1] + triple[2] < 1e-6;
            if apart(triple) > 1e-5 * triple[0] {
                let report = invariant::gradcheck(2, &a, &c, &y, &z, mirrored);
                report.unwrap_or_else(|e| panic!("{triple:?}, seed {seed}: {e}"));
            }
            if !mirrored {
                let report = values::gradcheck(2, &a, &z);
                report.unwrap_or_else(|e| panic!("values {triple:?}, seed {seed}: {e}"));
                let report = polar::gradcheck(2, &a, &y, &c.detached().unwrap());
                report.unwrap_or_else(|e| panic!("polar {triple:?}, seed {seed}: {e}"));
            }
        }
    }
}

/// The least distance of two absolute singular values.
fn apart([a, b, c]: [f64; 3]) -> f64 {
    (a - b).min(b - c.abs())
}

/// The gradient of `<g, U f(s) Vᵀ>` by its formula, from values and axes that are known.
fn formula(u: Mat3<f64>, s: [f64; 3], v: Mat3<f64>, g: Mat3<f64>, f: impl Fn(f64) -> [f64; 2]) -> Mat3<f64> {
    let h = u.transpose() * g * v;
    let mut p = Mat3::zero();
    for i in 0..3 {
        for j in 0..3 {
            let ([fi, slope], [fj, other]) = (f(s[i]), f(s[j]));
            let turn = if (s[i] - s[j]).abs() < 1e-6 { 0.5 * (slope + other) } else { (fj - fi) / (s[j] - s[i]) };
            let twist = if (s[i] + s[j]).abs() < 1e-6 { 0.5 * (slope + other) } else { (fj + fi) / (s[j] + s[i]) };
            let (a, b) = (h[(i, j)], h[(j, i)]);
            p[(i, j)] = if i == j { a * slope } else { 0.5 * (a + b) * turn + 0.5 * (a - b) * twist };
        }
    }
    u * p * v.transpose()
}

#[test]
fn repeated_values_have_the_gradients_and_tangents_of_the_formula() {
    let dev = Device::cpu();
    let odd = |s: f64| [0.5 * s + 0.3 * s * s * s, 0.5 + 0.9 * s * s];
    let any = |s: f64| [odd(s)[0] + s.exp(), odd(s)[1] + s.exp()];
    for triple in TRIPLES.into_iter().filter(|t| t[0] < 10.0) {
        for seed in 1..6 {
            let (u, v) = (rotation(seed), rotation(seed + 100));
            let g = Mat3::from_array(numbers(seed + 3, 9).try_into().unwrap());
            let da = Mat3::from_array(numbers(seed + 30, 9).try_into().unwrap());
            let a = dev.array(&[u * Mat3::from_diagonal(triple.into()) * v.transpose()]).unwrap().requires_grad();
            let mirrored = triple[1] + triple[2] < 1e-6;
            let expected = if mirrored { formula(u, triple, v, g, odd) } else { formula(u, triple, v, g, any) };
            let (c, w) = (dev.zeros(1).unwrap(), dev.array(&[g]).unwrap());
            let (y, z, loss) = (dev.zeros(1).unwrap(), dev.zeros(1).unwrap(), dev.zeros::<f64>(1).unwrap());
            let program = || -> Result<()> {
                invariant(1, &a, &c, &y, &z, mirrored)?;
                contract(1, &y, &w, &loss)
            };
            Tape::record(program).unwrap().backward(&loss).unwrap();
            let found = a.grad().unwrap().to_vec().unwrap()[0];
            let error = size(found - expected) / size(expected);
            assert!(error < 2e-7, "{triple:?}: {error:e}");
            let direction = dev.array(&[da]).unwrap();
            let ((), tangents) = diffkern::jvp(&[&[(a.as_any(), direction.as_any())]], program).unwrap();
            let slope = tangents.get(0, &loss).unwrap().to_vec().unwrap()[0];
            let error = (slope - da.ddot(expected)).abs() / size(expected);
            assert!(error < 2e-7, "tangent {triple:?}: {error:e}");
        }
    }
}

#[test]
fn the_identity_has_the_gradients_of_the_formulas() {
    let dev = Device::cpu();
    let g = Mat3::from_array(numbers(3, 9).try_into().unwrap());
    let weight = dev.array(&[g]).unwrap();
    let gradient = |run: Launch<'_>, which: usize| {
        let a = dev.array(&[Mat3::<f64>::identity()]).unwrap().requires_grad();
        let (y, z, loss) = (dev.zeros(1).unwrap(), dev.zeros(1).unwrap(), dev.zeros::<f64>(1).unwrap());
        let tape = Tape::record(|| {
            run(&a, &y, &z)?;
            contract(1, [&y, &z][which], &weight, &loss)
        })
        .unwrap();
        tape.backward(&loss).unwrap();
        a.grad().unwrap().to_vec().unwrap()[0]
    };
    // dR = (dA - dAᵀ) / 2 and dS = (dA + dAᵀ) / 2 at the identity.
    let r = gradient(&|a, y, z| polar(1, a, y, z), 0);
    let s = gradient(&|a, y, z| polar(1, a, y, z), 1);
    assert!(size(r - (g - g.transpose()) * 0.5) < 1e-15, "{r:?}");
    assert!(size(s - (g + g.transpose()) * 0.35) < 1e-15, "{s:?}");
    // U f(s) Vᵀ is f'(1) (dA + dAᵀ) / 2 + f(1) (dA - dAᵀ) / 2.
    let c = dev.zeros::<Mat3<f64>>(1).unwrap();
    let z0 = dev.zeros::<f64>(1).unwrap();
    let f = gradient(&|a, y, _| invariant(1, a, &c, y, &z0, false), 0);
    let (value, slope) = (0.8 + 1f64.exp(), 0.5 + 0.9 + 1f64.exp());
    let expected = (g + g.transpose()) * (0.5 * slope) + (g - g.transpose()) * (0.5 * value);
    assert!(size(f - expected) < 3e-7, "{f:?} {expected:?}");
}

#[diff_kernel]
fn contract<F: Float>(y: &Array<Mat3<F>>, w: &Array<Mat3<F>>, loss: &mut Array<F>) {
    loss[0] += y[ABSOLUTE_POS].ddot(w[ABSOLUTE_POS]);
}

// ---- everything, where the axes are well defined; finite, where not

#[diff_kernel]
fn everything<F: Float>(a: &Array<Mat3<F>>, u: &mut Array<Mat3<F>>, s: &mut Array<Vec3<F>>, v: &mut Array<Mat3<F>>) {
    let i = ABSOLUTE_POS;
    let (u0, s0, v0): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3(a[i]);
    u[i] = u0;
    s[i] = s0;
    v[i] = v0;
}

#[test]
fn the_axes_themselves_have_exact_gradients_where_they_are_defined() {
    for seed in 1..6 {
        let dev = Device::cpu();
        let a: Vec<_> = [TRIPLES[0], TRIPLES[1], TRIPLES[11]].map(|t| with_values(t, seed)).to_vec();
        let (u, v) = (dev.zeros(3).unwrap(), dev.zeros(3).unwrap());
        everything::gradcheck(3, &dev.array(&a).unwrap(), &u, &dev.zeros(3).unwrap(), &v).unwrap();
    }
}

fn gradients<F: Float>(a: Mat3<F>) -> Mat3<F> {
    let dev = Device::cpu();
    let a = dev.array(&[a]).unwrap().requires_grad();
    let (u, s, v) = (dev.zeros(1).unwrap(), dev.zeros(1).unwrap(), dev.zeros(1).unwrap());
    let tape = Tape::record(|| everything(1, &a, &u, &s, &v)).unwrap();
    let n = numbers(5, 21);
    let at = |k: usize| F::from_f64(n[k]);
    let seed = |k: usize| dev.array(&[Mat3::from_array(std::array::from_fn(|j| at(k + j)))]).unwrap();
    let (du, ds, dv) = (seed(0), dev.array(&[Vec3::new(at(9), at(10), at(11))]).unwrap(), seed(12));
    tape.backward_from(&[(u.as_any(), du.as_any()), (s.as_any(), ds.as_any()), (v.as_any(), dv.as_any())]).unwrap();
    a.grad().unwrap().to_vec().unwrap()[0]
}

#[test]
fn every_gradient_is_finite_in_both_precisions() {
    for triple in TRIPLES {
        for seed in 1..6 {
            let a = with_values(triple, seed);
            assert!(gradients(a).to_array().iter().all(|x| x.is_finite()), "{triple:?}");
            let single = Mat3::from_array(a.to_array().map(|x| x as f32));
            assert!(gradients(single).to_array().iter().all(|x| x.is_finite()), "f32 {triple:?}");
        }
    }
}

#[test]
fn single_precision_gradients_at_repeated_values_are_near() {
    let dev = Device::cpu();
    for triple in [[1.0, 1.0, 1.0], [1.3, 1.3, 0.6], [1.3, 0.6, 0.6], [1.7, 1.1, 0.4]] {
        let a = with_values(triple, 9);
        let g = Mat3::from_array(numbers(3, 9).try_into().unwrap());
        let single = |m: Mat3<f64>| Mat3::from_array(m.to_array().map(|x| x as f32));
        let x = dev.array(&[single(a)]).unwrap().requires_grad();
        let (w, c) = (dev.array(&[single(g)]).unwrap(), dev.zeros(1).unwrap());
        let (y, z, loss) = (dev.zeros(1).unwrap(), dev.zeros(1).unwrap(), dev.zeros::<f32>(1).unwrap());
        let tape = Tape::record(|| {
            invariant(1, &x, &c, &y, &z, false)?;
            contract(1, &y, &w, &loss)
        })
        .unwrap();
        tape.backward(&loss).unwrap();
        let x64 = dev.array(&[a]).unwrap().requires_grad();
        let (w, c) = (dev.array(&[g]).unwrap(), dev.zeros(1).unwrap());
        let (y, z, loss) = (dev.zeros(1).unwrap(), dev.zeros(1).unwrap(), dev.zeros::<f64>(1).unwrap());
        let tape = Tape::record(|| {
            invariant(1, &x64, &c, &y, &z, false)?;
            contract(1, &y, &w, &loss)
        })
        .unwrap();
        tape.backward(&loss).unwrap();
        let found = x.grad().unwrap().to_vec().unwrap()[0].to_array().map(f64::from);
        let exact = x64.grad().unwrap().to_vec().unwrap()[0];
        assert!(size(Mat3::from_array(found) - exact) < 3e-3 * size(exact), "{triple:?} {found:?} {exact:?}");
    }
}

// ---- the plane

#[diff_kernel]
fn plane<F: Float>(
    a: &Array<Mat2<F>>,
    c: &Array<Mat2<F>>,
    y: &mut Array<Mat2<F>>,
    z: &mut Array<F>,
    #[comptime] odd: bool,
) {
    let i = ABSOLUTE_POS;
    let (u, s, v): (Mat2<F>, Vec2<F>, Mat2<F>) = svd2(a[i]);
    let mut f = s * 0.5 + s.mul_elem(s).mul_elem(s) * 0.3;
    if !odd {
        f += Vec2::new(s.x.exp(), s.y.exp());
    }
    y[i] = u * Mat2::from_diagonal(f) * v.transpose();
    let t: Vec2<F> = singular_values2(a[i]);
    z[i] = (v * Mat2::from_diagonal(s.mul_elem(s)) * v.transpose()).ddot(c[i]) + t.norm_squared() + t.x * t.y;
}

#[diff_kernel]
fn plane_polar<F: Float>(a: &Array<Mat2<F>>, y: &mut Array<Mat2<F>>, z: &mut Array<Mat2<F>>) {
    let i = ABSOLUTE_POS;
    let (r, s): (Mat2<F>, Mat2<F>) = polar2(a[i]);
    y[i] = r;
    z[i] = s * r + s;
}

#[test]
fn the_plane_is_exact_too() {
    let dev = Device::cpu();
    for pair in PAIRS {
        for seed in 1..4 {
            let a = dev.array(&[with_values2(pair, seed), with_values2(pair, seed + 9)]).unwrap();
            let c = dev.array(&[Mat2::new(0.3, -0.8, 0.5, 0.9), Mat2::new(-0.2, 0.6, 0.7, 0.1)]).unwrap();
            let (y, z) = (dev.zeros(2).unwrap(), dev.zeros(2).unwrap());
            let mirrored = pair[0] + pair[1] < 1e-6;
            if pair[0] - pair[1].abs() > 1e-5 {
                let report = plane::gradcheck(2, &a, &c, &y, &z, mirrored);
                report.unwrap_or_else(|e| panic!("{pair:?}, seed {seed}: {e}"));
            }
            if !mirrored {
                let report = plane_polar::gradcheck(2, &a, &y, &dev.zeros(2).unwrap());
                report.unwrap_or_else(|e| panic!("polar {pair:?}, seed {seed}: {e}"));
            }
        }
    }
}

#[test]
fn devices_agree_on_decompositions() {
    for device in diffkern::gradcheck::devices().unwrap() {
        let ms: Vec<_> = [TRIPLES[0], TRIPLES[1], TRIPLES[11]].map(|t| with_values(t, 4)).to_vec();
        let (a, c, y, z) = arrays(&ms);
        invariant::devicecheck(&device, 3, &a, &c, &y, &z, false).unwrap();
        values::devicecheck(&device, 3, &a, &z).unwrap();
        polar::devicecheck(&device, 3, &a, &y, &c).unwrap();
        let a = Device::cpu().array(&[with_values2(PAIRS[0], 1), with_values2(PAIRS[1], 2)]).unwrap();
        let (c, y, z) = (a.detached().unwrap(), a.detached().unwrap(), Device::cpu().zeros(2).unwrap());
        plane::devicecheck(&device, 2, &a, &c, &y, &z, false).unwrap();
        plane_polar::devicecheck(&device, 2, &a, &y, &c).unwrap();
    }
}
