//! Structs: as values, parameters, results and elements of arrays, nested, in branches and loops; exact like what they
//! are made of.

use diffkern::prelude::*;

mod bodies {
    use diffkern::prelude::*;

    /// Where something is and how fast.
    #[diff_struct]
    pub struct Motion<F> {
        pub x: Vec3<F>,
        pub v: Vec3<F>,
    }

    #[diff_struct]
    pub struct Body<F> {
        pub motion: Motion<F>,
        pub mass: F,
        pub spin: Quat<F>,
    }
}

use bodies::{Body, Motion};

/// Of one launch: not all real, so no element of an array.
#[diff_struct]
struct Setup<F> {
    gravity: Vec3<F>,
    dt: F,
    steps: u32,
    bounce: bool,
    first: usize,
}

#[diff_fn]
fn pushed<F: Float>(m: Motion<F>, force: Vec3<F>, s: Setup<F>) -> Motion<F> {
    let v = m.v + (force + s.gravity) * s.dt;
    Motion { x: m.x + v * s.dt, v }
}

#[diff_fn]
fn energy<F: Float>(b: Body<F>, g: F) -> (F, Motion<F>) {
    let kinetic = 0.5 * b.mass * b.motion.v.dot(b.motion.v);
    let turned = Motion { x: b.spin.rotate(b.motion.x), ..b.motion };
    (kinetic + b.mass * g * b.motion.x.z, turned)
}

#[diff_fn]
fn higher<F: Float>(a: Motion<F>, b: Motion<F>) -> Motion<F> {
    if a.x.z > b.x.z { a } else { Motion { v: a.v, ..b } }
}

#[diff_kernel]
fn advance<F: Float>(
    bodies: &Array<Body<F>>,
    force: &Array<Vec3<F>>,
    next: &mut Array<Body<F>>,
    total: &mut Array<Motion<F>>,
    e: &mut Array<F>,
    setup: Setup<F>,
) {
    let i = ABSOLUTE_POS + setup.first;
    if i < bodies.len() {
        let b = bodies[i];
        let mut m = b.motion;
        for _ in 0..setup.steps {
            let after: Motion<F> = pushed(m, force[i] * b.mass, setup);
            m = after;
            m.v.z *= 0.9;
            m.x += m.v * (0.1 * m.x.x);
            if setup.bounce && m.x.z < 0.4 {
                m = Motion { x: m.x, v: -m.v };
            }
        }
        let (energy_now, turned): (F, Motion<F>) = energy(bodies[i], setup.gravity.z);
        let top: Motion<F> = higher(turned, m);
        e[i] = energy_now + top.x.y * top.v.x;
        next[i] = Body { motion: m, mass: b.mass * m.x.x, spin: b.spin };
        total[0].x += m.x * b.mass;
        total[0].v.y -= b.motion.v.y * m.v.z;
    }
}

#[diff_kernel]
fn parts<F: Float>(bodies: &Array<Body<F>>, next: &mut Array<Body<F>>) {
    let i = ABSOLUTE_POS;
    let chosen: Motion<F> = if bodies[i].mass > 0.5 { bodies[i].motion } else { bodies[0].motion };
    let swapped = Motion { x: chosen.v, v: chosen.x };
    let along = swapped.x.dot(bodies[i].motion.v);
    next[i].motion = swapped;
    next[i].mass = bodies[i].mass * along + bodies[i].spin.w;
    next[i].spin = bodies[i].spin * bodies[i].spin;
}

fn body(seed: u32) -> Body<f64> {
    let at = |k: u32| 0.6 + 0.5 * (f64::from(seed * 29 + k) * 1.3).sin();
    Body {
        motion: Motion { x: Vec3::new(at(0), at(1), at(2)), v: Vec3::new(at(3), -at(4), at(5)) },
        mass: at(6),
        spin: Quat::new(at(7), at(8), -at(9), at(10)),
    }
}

fn setup(bounce: bool) -> Setup<f64> {
    Setup { gravity: Vec3::new(0.1, -0.2, -1.3), dt: 0.2, steps: 3, bounce, first: 0 }
}

#[test]
fn structs_are_exact_in_every_place() {
    let dev = Device::cpu();
    for seed in 0..4 {
        let bodies = dev.array(&[body(seed), body(seed + 10), body(seed + 20)]).unwrap();
        let force: Vec<Vec3<f64>> = (0..3).map(|k| body(seed + k).motion.v * 0.5).collect();
        let force = dev.array(&force).unwrap();
        let (next, total, e) = (dev.zeros(3).unwrap(), dev.zeros(1).unwrap(), dev.zeros(3).unwrap());
        for bounce in [false, true] {
            advance::gradcheck(3, &bodies, &force, &next, &total, &e, setup(bounce)).unwrap();
        }
        parts::gradcheck(3, &bodies, &next).unwrap();
    }
}

#[test]
fn values_are_those_of_the_same_text_on_the_host() {
    let dev = Device::cpu();
    let all = [body(1), body(2)];
    let force = Vec3::new(0.3, 0.5, -0.1);
    let (bodies, forces) = (dev.array(&all).unwrap(), dev.array(&[force, force]).unwrap());
    let (next, total, e) = (dev.zeros(2).unwrap(), dev.zeros(1).unwrap(), dev.zeros::<f64>(2).unwrap());
    let s = setup(true);
    advance(2, &bodies, &forces, &next, &total, &e, s).unwrap();
    let mut sum = Motion { x: Vec3::zero(), v: Vec3::zero() };
    for (k, b) in all.into_iter().enumerate() {
        let mut m = b.motion;
        for _ in 0..s.steps {
            m = pushed(m, force * b.mass, s);
            m.v.z *= 0.9;
            m.x += m.v * (0.1 * m.x.x);
            if m.x.z < 0.4 {
                m.v = -m.v;
            }
        }
        let (now, turned) = energy(b, s.gravity.z);
        let top = higher(turned, m);
        let found: Body<f64> = next.to_vec().unwrap()[k];
        assert!((found.motion.x - m.x).norm() + (found.motion.v - m.v).norm() < 1e-14, "{found:?} {m:?}");
        assert_eq!((found.mass, found.spin), (b.mass * m.x.x, b.spin));
        assert!((e.to_vec().unwrap()[k] - (now + top.x.y * top.v.x)).abs() < 1e-14);
        sum.x += m.x * b.mass;
        sum.v.y -= b.motion.v.y * m.v.z;
    }
    let found: Motion<f64> = total.to_vec().unwrap()[0];
    assert!((found.x - sum.x).norm() + (found.v - sum.v).norm() < 1e-14, "{found:?} {sum:?}");
}

#[diff_kernel]
fn momentum<F: Float>(bodies: &Array<Body<F>>, p: &mut Array<F>) {
    let b = bodies[ABSOLUTE_POS];
    p[0] += b.mass * b.motion.v.x * b.motion.v.x;
}

#[test]
fn gradients_of_arrays_of_structs_are_structs() {
    let dev = Device::cpu();
    let all = [body(3), body(4)];
    let (bodies, p) = (dev.array(&all).unwrap().requires_grad(), dev.zeros::<f64>(1).unwrap());
    assert_eq!((bodies.len(), bodies.to_vec().unwrap()), (2, all.to_vec()));
    assert_eq!(bodies.slice(1..).unwrap().to_vec().unwrap(), [all[1]]);
    let tape = Tape::record(|| momentum(2, &bodies, &p)).unwrap();
    tape.backward(&p).unwrap();
    for (grad, b) in bodies.grad().unwrap().to_vec().unwrap().into_iter().zip(all) {
        let v = b.motion.v.x;
        let still = Vec3::zero();
        let motion = Motion { x: still, v: Vec3::new(2.0 * b.mass * v, 0.0, 0.0) };
        assert_eq!(grad, Body { motion, mass: v * v, spin: Quat::zero() });
    }
    let other = dev.zeros::<Body<f64>>(2).unwrap();
    other.fill(all[0]).unwrap();
    assert_eq!(other.to_vec().unwrap(), [all[0], all[0]]);
}

#[test]
fn devices_agree_on_structs() {
    let dev = Device::cpu();
    for device in diffkern::gradcheck::devices().unwrap() {
        let bodies = dev.array(&[body(1), body(2)]).unwrap();
        let force = dev.array(&[Vec3::new(0.3, 0.5, -0.1), Vec3::new(-0.2, 0.4, 0.6)]).unwrap();
        let (next, total, e) = (dev.zeros(2).unwrap(), dev.zeros(1).unwrap(), dev.zeros(2).unwrap());
        advance::devicecheck(&device, 2, &bodies, &force, &next, &total, &e, setup(true)).unwrap();
        parts::devicecheck(&device, 2, &bodies, &next).unwrap();
    }
}

mod left {
    use diffkern::prelude::*;

    #[diff_struct]
    pub struct Pair<F> {
        pub a: F,
        pub b: F,
    }
}

mod right {
    use diffkern::prelude::*;

    #[diff_struct]
    pub struct Pair<F> {
        pub b: F,
        pub a: F,
    }

    #[diff_enum]
    pub enum Mode {
        Zero,
        Product,
    }
}

use left::Pair;
use right::{Mode as Which, Pair as Swapped};

#[diff_kernel]
fn product_of_pairs<F: Float>(x: &Array<Pair<F>>, y: &Array<Swapped<F>>, z: &mut Array<F>, which: Which) {
    z[ABSOLUTE_POS] = match which {
        Which::Zero => F::new(0.0),
        Which::Product => x[ABSOLUTE_POS].a * y[ABSOLUTE_POS].a + x[ABSOLUTE_POS].b,
    };
}

#[test]
fn two_structs_of_one_name_go_by_those_of_their_imports() -> Result<()> {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[Pair { a: 2.0, b: 3.0 }])?, dev.array(&[Swapped { b: 7.0, a: 5.0 }])?);
    let z = dev.zeros(1)?;
    product_of_pairs::gradcheck(1, &x, &y, &z, Which::Product)?;
    product_of_pairs(1, &x, &y, &z, Which::Product)?;
    assert_eq!(z.to_vec()?, [13.0]);
    product_of_pairs(1, &x, &y, &z, Which::Zero)?;
    assert_eq!(z.to_vec()?, [0.0]);
    Ok(())
}

#[diff_struct]
struct Frame<F> {
    small: Mat2<F>,
    s: F,
    large: Mat3<F>,
}

#[diff_kernel]
fn squared<F: Float>(frames: &Array<Frame<F>>, out: &mut Array<Frame<F>>) {
    let i = ABSOLUTE_POS;
    let f = frames[i];
    out[i].small = f.small * frames[i].small * f.s;
    out[i].s = f.large.determinant();
    out[i].large = f.large * f.large;
}

#[test]
fn matrices_in_arrays_of_structs_lie_row_by_row() {
    let dev = Device::cpu();
    let frame = |seed: u32| {
        let at = |k: usize| 0.5 + 0.4 * (f64::from(seed) + k as f64 * 1.7).sin();
        Frame {
            small: Mat2::from_array(std::array::from_fn(at)),
            s: at(20),
            large: Mat3::from_array(std::array::from_fn(|k| at(k + 30))),
        }
    };
    let all = [frame(1), frame(2), frame(3)];
    let (frames, out) = (dev.array(&all).unwrap(), dev.zeros(3).unwrap());
    squared(3, &frames, &out).unwrap();
    for (found, f) in out.to_vec().unwrap().into_iter().zip(all) {
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(near(&found.small.to_array(), &(f.small * f.small * f.s).to_array()), "{found:?} {f:?}");
        assert!(near(&found.large.to_array(), &(f.large * f.large).to_array()), "{found:?} {f:?}");
        assert!(near(&[found.s], &[f.large.determinant()]), "{found:?} {f:?}");
    }
    squared::gradcheck(3, &frames, &out).unwrap();
}
