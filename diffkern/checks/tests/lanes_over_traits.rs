//! Kernels over laws on packs of lanes: bits of values and gradients are those of the same kernel with the law written in, on
//! packs of both precisions, and to rounding those of the scalar body; a law that lanes cannot run is run in scalar.

use diffkern::prelude::*;
use diffkern::private::{Arg, Arrays, KernelDef, Narrow, Native, launch, on_packs};

/// Two packs and a rest.
const N: usize = 37;

fn numbers(seed: u64, n: usize, lo: f64, hi: f64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            lo + (hi - lo) * (state >> 11) as f64 / (1u64 << 53) as f64
        })
        .collect()
}

#[diff_struct]
#[derive(Clone, Copy)]
struct Lame<F> {
    mu: F,
    lambda: F,
}

#[diff_struct]
#[derive(Clone, Copy)]
struct Response<F> {
    energy: F,
    stress: Mat2<F>,
    /// Whether the volume has grown.
    grown: bool,
}

#[diff_trait]
trait Material {
    fn response<F: Float>(f: Mat2<F>, q: Lame<F>) -> Response<F>;
    fn fatigue<F: Float>(x: F, cycles: u32, hard: bool) -> (u32, F);
}

struct NeoHookean;

#[diff_fn]
fn neo_hookean<F: Float>(f: Mat2<F>, q: Lame<F>) -> Response<F> {
    let j = f.determinant();
    let log_j = j.ln();
    let inverse = f.inverse().transpose();
    let stress = (f - inverse) * q.mu + inverse * (q.lambda * log_j);
    Response {
        energy: 0.5 * q.mu * (f.ddot(f) - 2.0) - q.mu * log_j + 0.5 * q.lambda * log_j * log_j,
        stress,
        grown: j > 1.0,
    }
}

#[diff_fn]
fn slow_fatigue<F: Float>(x: F, cycles: u32, hard: bool) -> (u32, F) {
    let mut s = x;
    for k in 0..cycles {
        s = (s * 0.7 + F::cast_from(k) * 0.1).sin();
        if hard {
            s = s * s + 0.3;
        }
    }
    (cycles * 2, s)
}

#[diff_impl]
impl Material for NeoHookean {
    fn response<F: Float>(f: Mat2<F>, q: Lame<F>) -> Response<F> {
        let j = f.determinant();
        let log_j = j.ln();
        let inverse = f.inverse().transpose();
        let stress = (f - inverse) * q.mu + inverse * (q.lambda * log_j);
        Response {
            energy: 0.5 * q.mu * (f.ddot(f) - 2.0) - q.mu * log_j + 0.5 * q.lambda * log_j * log_j,
            stress,
            grown: j > 1.0,
        }
    }

    fn fatigue<F: Float>(x: F, cycles: u32, hard: bool) -> (u32, F) {
        let mut s = x;
        for k in 0..cycles {
            s = (s * 0.7 + F::cast_from(k) * 0.1).sin();
            if hard {
                s = s * s + 0.3;
            }
        }
        (cycles * 2, s)
    }
}

struct Corotated;

/// With a decomposition, whose adjoint runs another one in its place.
#[diff_fn]
fn corotated<F: Float>(f: Mat2<F>, q: Lame<F>) -> Response<F> {
    let (r, _stretch): (Mat2<F>, Mat2<F>) = polar2(f);
    let j = f.determinant();
    let stress = (f - r) * (2.0 * q.mu) + f.inverse().transpose() * (q.lambda * (j - 1.0) * j);
    Response { energy: q.mu * (f - r).ddot(f - r) + 0.5 * q.lambda * (j - 1.0) * (j - 1.0), stress, grown: j > 1.0 }
}

#[diff_fn]
fn quick_fatigue<F: Float>(x: F, cycles: u32, hard: bool) -> (u32, F) {
    (cycles + 1, select(hard, x.exp(), x * x) * F::cast_from(cycles))
}

#[diff_impl]
impl Material for Corotated {
    fn response<F: Float>(f: Mat2<F>, q: Lame<F>) -> Response<F> {
        let (r, _stretch): (Mat2<F>, Mat2<F>) = polar2(f);
        let j = f.determinant();
        let stress = (f - r) * (2.0 * q.mu) + f.inverse().transpose() * (q.lambda * (j - 1.0) * j);
        Response { energy: q.mu * (f - r).ddot(f - r) + 0.5 * q.lambda * (j - 1.0) * (j - 1.0), stress, grown: j > 1.0 }
    }

    fn fatigue<F: Float>(x: F, cycles: u32, hard: bool) -> (u32, F) {
        (cycles + 1, select(hard, x.exp(), x * x) * F::cast_from(cycles))
    }
}

/// A function over the law, which kernels call like any other.
#[diff_fn]
fn hardened<F: Float, M: Material>(f: Mat2<F>, q: Lame<F>) -> F {
    let r: Response<F> = M::response(f * 1.1, q);
    r.energy * q.mu
}

/// The same body, once over a law and once with a law's functions written in.
macro_rules! kernel {
    (
        $name:ident [$($law:ident: $bound:ident)?],
        [$($response:tt)+],
        [$($fatigue:tt)+],
        [$($hardened:tt)+]
    ) => {
        #[diff_kernel]
        fn $name<F: Float $(, $law: $bound)?>(
            f: &Array<Mat2<F>>,
            q: &Array<Lame<F>>,
            cycles: &Array<u32>,
            energy: &mut Array<F>,
            stress: &mut Array<Mat2<F>>,
            counts: &mut Array<u32>,
            total: &mut Array<F>,
            all: u32,
            scale: F,
        ) {
            let i = ABSOLUTE_POS;
            let r: Response<F> = $($response)+(f[i], q[i]);
            // Integers and truth values that differ among lanes, and such that do not.
            let (n, own): (u32, F) = $($fatigue)+(r.energy, cycles[i], r.grown);
            let (m, common): (u32, F) = $($fatigue)+(r.energy * scale, all, all > 1);
            // All is alike.
            let (k, same): (u32, F) = $($fatigue)+(scale, all, true);
            let both: F = $($hardened)+(f[i], q[(i + 1) % q.len()]);
            energy[i] = r.energy + own * common + same + both;
            stress[i] = r.stress;
            counts[i] = n + m + k;
            if r.grown {
                total[0] += r.energy;
            }
        }
    };
}

kernel!(over_a_law [M: Material], [M::response], [M::fatigue], [hardened::<F, M>]);

#[diff_fn]
fn neo_hookean_hardened<F: Float>(f: Mat2<F>, q: Lame<F>) -> F {
    let r: Response<F> = neo_hookean(f * 1.1, q);
    r.energy * q.mu
}

#[diff_fn]
fn corotated_hardened<F: Float>(f: Mat2<F>, q: Lame<F>) -> F {
    let r: Response<F> = corotated(f * 1.1, q);
    r.energy * q.mu
}

kernel!(over_neo_hookean [], [neo_hookean], [slow_fatigue], [neo_hookean_hardened]);
kernel!(over_corotated [], [corotated], [quick_fatigue], [corotated_hardened]);

struct Point<F: Float> {
    f: Array<Mat2<F>>,
    q: Array<Lame<F>>,
    cycles: Array<u32>,
}

fn point<F: Float>() -> Result<Point<F>> {
    let dev = Device::cpu();
    let real = F::from_f64;
    let f = numbers(1, 4 * N, -0.3, 0.3);
    let near = |m: &[f64]| Mat2::identity() + Mat2::from_array(std::array::from_fn(|k| real(m[k])));
    let q = numbers(2, 2 * N, 0.5, 1.5);
    let lame = |q: &[f64]| Lame { mu: real(q[0]), lambda: real(q[1]) };
    Ok(Point {
        f: dev.array(&f.chunks(4).map(near).collect::<Vec<_>>())?.requires_grad(),
        q: dev.array(&q.chunks(2).map(lame).collect::<Vec<_>>())?.requires_grad(),
        cycles: dev.array(&(0..N as u32).map(|i| i * 5 % 4).collect::<Vec<_>>())?,
    })
}

/// Numbers of all that a launch gives, values then gradients.
fn outcome<F: Float>(def: &'static KernelDef, native: Native) -> Result<Vec<f64>> {
    let dev = Device::cpu();
    let Point { f, q, cycles } = point::<F>()?;
    let (energy, stress) = (dev.zeros::<F>(N)?, dev.zeros::<Mat2<F>>(N)?);
    let (counts, total) = (dev.zeros::<u32>(N)?, dev.zeros::<F>(1)?);
    let (tape, loss) = Tape::record_value(|| {
        let args = [
            Arg::Array(f.as_any()),
            Arg::Array(q.as_any()),
            Arg::Array(cycles.as_any()),
            Arg::Array(energy.as_any()),
            Arg::Array(stress.as_any()),
            Arg::Array(counts.as_any()),
            Arg::Array(total.as_any()),
            Arg::U32(3),
            Arg::Real(0.7),
        ];
        launch(def, native, N.into(), &args)?;
        let loss = dev.zeros::<F>(1)?;
        summed(N, &energy, &stress, &total, &loss)?;
        Ok(loss)
    })?;
    tape.backward(&loss)?;
    let mut all: Vec<f64> = energy.to_vec()?.into_iter().map(F::to_f64).collect();
    let matrix = |m: Mat2<F>| m.to_array().map(F::to_f64);
    all.extend(stress.to_vec()?.into_iter().flat_map(matrix));
    all.extend(counts.to_vec()?.into_iter().map(f64::from));
    all.extend(total.to_vec()?.into_iter().map(F::to_f64));
    all.extend(f.grad()?.to_vec()?.into_iter().flat_map(matrix));
    all.extend(q.grad()?.to_vec()?.into_iter().flat_map(|q| [q.mu.to_f64(), q.lambda.to_f64()]));
    assert!(all.iter().all(|x| x.is_finite()));
    Ok(all)
}

#[diff_kernel]
fn summed<F: Float>(energy: &Array<F>, stress: &Array<Mat2<F>>, total: &Array<F>, loss: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    loss[0] += energy[i] * energy[i] + stress[i].ddot(stress[i]) + energy[i] * total[0];
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// The natives of a kernel by kind, in f32 and in f64.
macro_rules! natives {
    ($kernel:ty) => {{
        let single = on_packs::<Narrow>(<$kernel>::on_lanes::<f32, Narrow>).map(|(_, native)| native);
        (single, Some(<$kernel>::on_lanes::<f64, Arrays>()))
    }};
}

/// A kernel that runs in scalar after all would agree with itself.
macro_rules! same_bits {
    ($law:ident, $written:ident) => {
        assert_eq!(over_a_law::<$law>::LANES, [true, true, true]);
        assert_eq!($written::LANES, [true, true, true]);
        let (law, written) = (natives!(over_a_law<$law>), natives!($written));
        for (law, written) in law.0.into_iter().zip(written.0) {
            let law = outcome::<f32>(over_a_law::<$law>::def(), law)?;
            assert_eq!(bits(&law), bits(&outcome::<f32>($written::def(), written)?));
        }
        for (law, written) in law.1.into_iter().zip(written.1) {
            let law = outcome::<f64>(over_a_law::<$law>::def(), law)?;
            assert_eq!(bits(&law), bits(&outcome::<f64>($written::def(), written)?));
        }
    };
}

#[test]
fn bits_are_those_of_the_law_written_in() -> Result<()> {
    same_bits!(NeoHookean, over_neo_hookean);
    same_bits!(Corotated, over_corotated);
    Ok(())
}

/// Values and gradients of packs and of one position at a time.
fn agree<M: Material>() -> Result<()> {
    let dev = Device::cpu();
    let Point { f, q, cycles } = point::<f64>()?;
    let (energy, stress, counts, total) = (dev.zeros(N)?, dev.zeros(N)?, dev.zeros(N)?, dev.zeros(1)?);
    over_a_law::<M>::lanecheck(N, &f, &q, &cycles, &energy, &stress, &counts, &total, 3, 0.7)?;
    over_a_law::<M>::gradcheck(N, &f, &q, &cycles, &energy, &stress, &counts, &total, 3, 0.7)?;
    Ok(())
}

#[test]
fn packs_give_what_the_scalar_body_gives() -> Result<()> {
    agree::<NeoHookean>()?;
    agree::<Corotated>()
}

// ---- a law without lanes

#[diff_trait]
trait Root {
    fn root<F: Float>(x: F) -> F;
}

/// Ends when it is near enough; its adjoint keeps as many turns as there were, which packs do not.
struct Newton;

#[diff_impl]
impl Root for Newton {
    fn root<F: Float>(x: F) -> F {
        let mut r = x;
        for _ in 0..60 {
            if (r * r - x).abs() < 1e-7 * x {
                break;
            }
            r = 0.5 * (r + x / r);
        }
        r
    }
}

struct Exact;

#[diff_impl]
impl Root for Exact {
    fn root<F: Float>(x: F) -> F {
        x.sqrt()
    }
}

#[diff_kernel]
fn roots<F: Float, R: Root>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    let a: F = R::root(x[i].x);
    let b: F = R::root(x[i].y + a);
    y[i] = Vec2::new(a, b);
}

#[test]
fn a_law_without_lanes_runs_in_scalar() -> Result<()> {
    // The choice is made for each law: a function runs on lanes if all that it calls does.
    assert_eq!(roots::<Exact>::LANES, [true, true, true]);
    assert_eq!(roots::<Newton>::LANES, [true, false, true]);
    let dev = Device::cpu();
    let x: Vec<_> = numbers(3, 2 * N, 0.5, 4.0).chunks(2).map(|x| Vec2::new(x[0], x[1])).collect();
    let (x, y) = (dev.array(&x)?, dev.zeros(N)?);
    roots::<Newton>::lanecheck(N, &x, &y)?;
    roots::<Exact>::lanecheck(N, &x, &y)?;
    roots::<Newton>::gradcheck(N, &x, &y)?;

    let x = x.requires_grad();
    let tape = Tape::record(|| roots::<f64, Newton>(N, &x, &y))?;
    let ones = dev.full(N, Vec2::new(1.0, 1.0))?;
    tape.backward_from(&[(y.as_any(), ones.as_any())])?;
    for ((x, y), g) in x.to_vec()?.into_iter().zip(y.to_vec()?).zip(x.grad()?.to_vec()?) {
        let (a, b) = (x.x.sqrt(), (x.y + x.x.sqrt()).sqrt());
        assert!((y.x - a).abs() < 1e-6 && (y.y - b).abs() < 1e-6, "{y:?}");
        let slope = (0.5 / a) * (1.0 + 0.5 / b);
        assert!((g.x - slope).abs() < 1e-5 && (g.y - 0.5 / b).abs() < 1e-5, "{g:?} at {x:?}");
    }
    Ok(())
}
