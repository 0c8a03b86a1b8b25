//! Kernels that compute tangents along several directions in one pass, against one direction at a time and against the plain
//! launch: the same bits, in scalar and on packs, in both precisions.

use diffkern::prelude::*;
use diffkern::private::{Arg, Arrays, Kind, Narrow, Native, OneByOne, Wide, launch};
use diffkern::{AnyArray, Direction, Schedule, jvp, rollout, svd3};

/// Two packs and a rest; and enough for sums in chunks.
const SIZES: [usize; 2] = [37, 9_001];

fn numbers(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        0.1 + 0.9 * (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n).map(|_| next()).collect()
}

/// What a test does in each precision.
trait Real: Float + Element {
    fn bits(self) -> u64;
    fn of(x: f64) -> Self;
}

impl Real for f32 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }

    fn of(x: f64) -> f32 {
        x as f32
    }
}

impl Real for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }

    fn of(x: f64) -> f64 {
        x
    }
}

fn reals<F: Real>(seed: u64, n: usize) -> Result<Array<F>> {
    Device::cpu().array(&numbers(seed, n).into_iter().map(F::of).collect::<Vec<F>>())
}

fn vectors<F: Real>(seed: u64, n: usize) -> Result<Array<Vec3<F>>> {
    let all: Vec<F> = numbers(seed, 3 * n).into_iter().map(F::of).collect();
    Device::cpu().array(&all.chunks(3).map(|v| Vec3::new(v[0], v[1], v[2])).collect::<Vec<_>>())
}

fn indices(n: usize, below: usize) -> Result<Array<u32>> {
    Device::cpu().array(&(0..n).map(|i| (i * 7919 % below) as u32).collect::<Vec<_>>())
}

/// The bits of an array of reals or of vectors.
fn bits<F: Real>(array: &AnyArray) -> Result<Vec<u64>> {
    if let Ok(vectors) = Array::<Vec3<F>>::try_from(array.clone()) {
        return Ok(vectors.to_vec()?.into_iter().flat_map(|v| v.to_array().map(Real::bits)).collect());
    }
    Ok(Array::<F>::try_from(array.clone())?.to_vec()?.into_iter().map(Real::bits).collect())
}

/// Arrays of a launch, in order, each with whether it is of reals.
struct Launched<F: Real> {
    arrays: Vec<AnyArray>,
    real: std::marker::PhantomData<F>,
}

/// The bits of all arrays of reals after a launch, and of the tangents of these along each direction.
type Outcome = (Vec<Vec<u64>>, Vec<Vec<Vec<u64>>>);

impl<F: Real> Launched<F> {
    fn reals(&self) -> impl Iterator<Item = &AnyArray> {
        self.arrays.iter().filter(|array| Array::<u32>::try_from((*array).clone()).is_err())
    }
}

/// Makes the arrays, moves those that `moving` says along each direction, and runs.
fn outcome<F: Real>(
    make: &dyn Fn() -> Result<Vec<AnyArray>>,
    run: &dyn Fn(&[AnyArray]) -> Result<()>,
    directions: &[usize],
) -> Result<Outcome> {
    let at = Launched::<F> { arrays: make()?, real: std::marker::PhantomData };
    let dots: Vec<Vec<AnyArray>> = directions.iter().map(|k| dots::<F>(&at, *k)).collect::<Result<_>>()?;
    let pairs: Vec<Vec<(&AnyArray, &AnyArray)>> = dots
        .iter()
        .zip(directions)
        .map(|(dots, k)| {
            // Each direction leaves out one array, whose tangent is absent.
            at.reals().zip(dots).enumerate().filter(|(nth, _)| *nth != *k % 4).map(|(_, pair)| pair).collect()
        })
        .collect();
    let pairs: Vec<Direction<'_>> = pairs.iter().map(Vec::as_slice).collect();
    let ((), tangents) = jvp(&pairs, || run(&at.arrays))?;
    let values = at.reals().map(bits::<F>).collect::<Result<_>>()?;
    let along = |k: usize| at.reals().map(|array| bits::<F>(&tangents.get_any(k, array)?)).collect::<Result<_>>();
    Ok((values, (0..directions.len()).map(along).collect::<Result<_>>()?))
}

fn dots<F: Real>(at: &Launched<F>, k: usize) -> Result<Vec<AnyArray>> {
    let dot = |(nth, array): (usize, &AnyArray)| {
        let seed = (100 + 17 * k + nth) as u64;
        Ok(match Array::<Vec3<F>>::try_from(array.clone()) {
            Ok(_) => vectors::<F>(seed, array.len())?.as_any().clone(),
            Err(_) => reals::<F>(seed, array.len())?.as_any().clone(),
        })
    };
    at.reals().enumerate().map(dot).collect()
}

/// Along up to seven directions at once, against each alone, and the plain launch.
fn agree<F: Real>(make: &dyn Fn() -> Result<Vec<AnyArray>>, run: &dyn Fn(&[AnyArray]) -> Result<()>) -> Result<()> {
    let (plain, _) = outcome::<F>(make, run, &[])?;
    let alone: Vec<Outcome> = (0..7).map(|k| outcome::<F>(make, run, &[k])).collect::<Result<_>>()?;
    for count in 2..=7 {
        let several: Vec<usize> = (0..count).collect();
        let (values, tangents) = outcome::<F>(make, run, &several)?;
        assert_eq!(values, plain, "values beside {count} directions");
        for (k, tangent) in tangents.iter().enumerate() {
            assert_eq!(*tangent, alone[k].1[0], "direction {k} of {count}");
        }
    }
    Ok(())
}

/// A kernel on every kind of bodies that this machine has, and as it is launched; whether it has one for several directions.
macro_rules! every_way {
    ($real:ty, $kernel:ident, $make:expr, $args:expr, $several:expr) => {
        let natives: [(&str, Option<Native>); 5] = [
            ("as launched", Some($kernel::native::<$real>())),
            ("scalar", Some($kernel::on_lanes::<$real, OneByOne>())),
            ("packs in arrays", Some($kernel::on_lanes::<$real, Arrays>())),
            ("AVX2", (Narrow::is_here() && size_of::<$real>() == 4).then(|| $kernel::on_lanes::<$real, Narrow>())),
            ("AVX-512", (Wide::is_here() && size_of::<$real>() == 4).then(|| $kernel::on_lanes::<$real, Wide>())),
        ];
        for (name, native) in natives {
            let Some(native) = native else { continue };
            assert_eq!(native.directions.is_some(), $several, "{name}");
            for n in SIZES {
                let make: &dyn Fn(usize) -> Result<Vec<AnyArray>> = &$make;
                let run = |arrays: &[AnyArray]| {
                    let args: &dyn for<'a> Fn(&'a [AnyArray]) -> Vec<Arg<'a>> = &$args;
                    launch($kernel::def(), native, n.into(), &args(arrays))
                };
                agree::<$real>(&|| make(n), &run).inspect_err(|_| eprintln!("{name}"))?;
            }
        }
    };
}

fn arrays(arrays: &[AnyArray]) -> Vec<Arg<'_>> {
    arrays.iter().map(Arg::Array).collect()
}

#[diff_fn]
fn soft<F: Float>(x: F, k: u32) -> F {
    let mut y = x;
    for _ in 0..k {
        y = y + (y * x).sin() * 0.5;
    }
    if y > 0.8 { y.sqrt() } else { y * y }
}

#[diff_trait]
trait Spring {
    fn force<F: Float>(stretch: F) -> F;
}

struct Stiff;

#[diff_impl]
impl Spring for Stiff {
    fn force<F: Float>(stretch: F) -> F {
        stretch * (stretch * stretch + 1.0)
    }
}

#[diff_struct]
#[allow(dead_code, reason = "the kernel is made of its fields")]
struct Pull<F> {
    size: F,
    along: Vec3<F>,
}

#[diff_kernel(directions = 3)]
fn control<F: Float>(x: &Array<F>, v: &Array<Vec3<F>>, idx: &Array<u32>, y: &mut Array<F>, z: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    let pull = Pull { size: x[i], along: v[i] };
    let mut kept = [F::new(0.0); 5];
    let mut sum = pull.size;
    for k in 0..idx[i] % 5 {
        kept[k as usize] = sum;
        if sum > 0.7 {
            sum = sum * pull.along.x + (sum * 0.5).exp();
        } else if pull.along.y > 0.5 {
            sum = sum + kept[(k / 2) as usize] * pull.along.z;
        }
        if sum > 3.0 {
            break;
        }
    }
    let called: F = soft::<F>(sum, idx[i] % 3);
    y[i] = called + kept[2];
    z[i] = pull.along * called;
}

#[test]
fn control_flow_local_arrays_and_calls() -> Result<()> {
    fn make<F: Real>(n: usize) -> Result<Vec<AnyArray>> {
        Ok(vec![
            reals::<F>(1, n)?.as_any().clone(),
            vectors::<F>(2, n)?.as_any().clone(),
            indices(n, n)?.as_any().clone(),
            Device::cpu().uninit::<F>(n)?.as_any().clone(),
            Device::cpu().uninit::<Vec3<F>>(n)?.as_any().clone(),
        ])
    }
    every_way!(f64, control, make::<f64>, arrays, true);
    every_way!(f32, control, make::<f32>, arrays, true);
    Ok(())
}

#[diff_kernel(directions = 2)]
fn scatter<F: Float, S: Spring>(
    x: &Array<F>,
    v: &Array<Vec3<F>>,
    idx: &Array<u32>,
    sums: &mut Array<F>,
    near: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let force: F = S::force::<F>(x[i]);
    let at = idx[i] as usize;
    for k in 0usize..3 {
        sums[at + k] += force * x[i] * F::cast_from(k as u32);
    }
    if force > 0.4 {
        near[at] += v[i] * force;
    }
    sums[0] += force;
}

#[test]
fn sums_at_any_index() -> Result<()> {
    fn make<F: Real>(n: usize) -> Result<Vec<AnyArray>> {
        let len = n / 3 + 5;
        Ok(vec![
            reals::<F>(3, n)?.as_any().clone(),
            vectors::<F>(4, n)?.as_any().clone(),
            indices(n, n / 3)?.as_any().clone(),
            reals::<F>(5, len)?.as_any().clone(),
            Device::cpu().zeros::<Vec3<F>>(len)?.as_any().clone(),
        ])
    }
    type Kernel = scatter<Stiff>;
    every_way!(f64, Kernel, make::<f64>, arrays, true);
    every_way!(f32, Kernel, make::<f32>, arrays, true);
    Ok(())
}

#[diff_kernel(directions = 4)]
fn update<F: Float>(x: &Array<F>, y: &mut Array<F>, sums: &mut Array<F>, scale: F) {
    let i = ABSOLUTE_POS;
    y[i] = y[i] * x[i] * scale + y[i].sin();
    sums[i] += x[i] * x[i];
}

#[test]
fn arrays_that_are_read_and_overwritten() -> Result<()> {
    fn make<F: Real>(n: usize) -> Result<Vec<AnyArray>> {
        (6..9).map(|seed| Ok(reals::<F>(seed, n)?.as_any().clone())).collect()
    }
    fn args(all: &[AnyArray]) -> Vec<Arg<'_>> {
        arrays(all).into_iter().chain([Arg::Real(0.7)]).collect()
    }
    every_way!(f64, update, make::<f64>, args, true);
    every_way!(f32, update, make::<f32>, args, true);
    Ok(())
}

#[diff_kernel(directions = 3)]
fn counted<F: Float>(
    x: &Array<F>,
    idx: &Array<u32>,
    slots: &mut Array<u32>,
    hits: &mut Array<Atomic<u32>>,
    sums: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    let before = hits[idx[i] as usize].fetch_add(1);
    slots[i] = before;
    sums[idx[i] as usize] += x[i].exp();
}

#[test]
fn atomics() -> Result<()> {
    fn make<F: Real>(n: usize) -> Result<Vec<AnyArray>> {
        Ok(vec![
            reals::<F>(9, n)?.as_any().clone(),
            indices(n, n / 4)?.as_any().clone(),
            Device::cpu().uninit::<u32>(n)?.as_any().clone(),
            Device::cpu().zeros::<u32>(n)?.as_any().clone(),
            Device::cpu().zeros::<F>(n)?.as_any().clone(),
        ])
    }
    every_way!(f64, counted, make::<f64>, arrays, false);
    every_way!(f32, counted, make::<f32>, arrays, false);
    Ok(())
}

#[diff_kernel(directions = 2)]
fn rotations<F: Float>(v: &Array<Vec3<F>>, x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let a = v[i];
    let m = Mat3::new(1.0 + a.x, a.y, a.z, a.y * a.z, 1.0 - a.x, 0.3, x[i], 0.1, 0.7 + a.z);
    let (u, s, _): (Mat3<F>, Vec3<F>, Mat3<F>) = svd3::<F>(m);
    y[i] = u.trace() * s.x + s.y * s.z;
}

#[test]
fn functions_with_tangents_by_hand_have_one_direction_at_a_time() -> Result<()> {
    fn make<F: Real>(n: usize) -> Result<Vec<AnyArray>> {
        let y = Device::cpu().uninit::<F>(n)?.as_any().clone();
        Ok(vec![vectors::<F>(10, n)?.as_any().clone(), reals::<F>(11, n)?.as_any().clone(), y])
    }
    every_way!(f64, rotations, make::<f64>, arrays, false);
    every_way!(f32, rotations, make::<f32>, arrays, false);
    Ok(())
}

#[diff_kernel(directions = 3)]
fn spread<F: Float>(x: &Array<F>, next: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let v = x[i] * x[i];
    next[i] += v.sin();
    next[(i * 7) % 37] += v * 0.25;
}

#[test]
fn rollouts_carry_directions_along() -> Result<()> {
    let run = |directions: &[u64]| -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
        let x = reals::<f64>(1, 37)?;
        let dots: Vec<Array<f64>> = directions.iter().map(|k| reals::<f64>(20 + k, 37)).collect::<Result<_>>()?;
        let pairs: Vec<[(&AnyArray, &AnyArray); 1]> = dots.iter().map(|dot| [(x.as_any(), dot.as_any())]).collect();
        let pairs: Vec<Direction<'_>> = pairs.iter().map(|pair| pair.as_slice()).collect();
        let (end, tangents) = jvp(&pairs, || {
            rollout(5, Schedule::Auto, x.clone(), |x: &Array<f64>, _| {
                let next = x.device().zeros(37)?;
                spread(37, x, &next)?;
                Ok(next)
            })
        })?;
        let tangents = (0..directions.len()).map(|k| tangents.get(k, &end)?.to_vec()).collect::<Result<_>>()?;
        Ok((end.to_vec()?, tangents))
    };
    let (values, _) = run(&[])?;
    for several in [&[0, 1][..], &[0, 1, 2], &[0, 1, 2, 3], &[0, 1, 2, 3, 4]] {
        let (beside, tangents) = run(several)?;
        assert_eq!(beside, values);
        for (k, tangent) in several.iter().zip(tangents) {
            assert_eq!(tangent, run(&[*k])?.1[0], "direction {k} of {}", several.len());
        }
    }
    Ok(())
}

#[diff_kernel(directions = 3)]
fn gather<F: Float>(x: &Array<F>, idx: &Array<u32>, y: &mut Array<F>, most: u32) {
    let i = ABSOLUTE_POS;
    let mut v = x[idx[i] as usize];
    let mut k = 0u32;
    #[bound(8)]
    while k < most {
        v = v * x[i];
        k += 1;
    }
    y[i] = v;
}

#[test]
fn errors_are_those_of_one_direction() -> Result<()> {
    let device = Device::cpu();
    let run = |directions: usize, index: u32, most: u32| -> Result<String> {
        let (x, y) = (reals::<f64>(1, 8)?, device.uninit::<f64>(8)?);
        let idx = device.array(&[0, 1, 2, index, 4, 5, 6, 7])?;
        let pair: Direction<'_> = &[(x.as_any(), x.as_any())];
        let done = jvp(&vec![pair; directions], || gather(8, &x, &idx, &y, most));
        Ok(done.map_or_else(|error| error.to_string(), |_| "no error".to_owned()))
    };
    for (index, most) in [(3, 8), (11, 2), (3, 9), (11, 9)] {
        let alone = run(1, index, most)?;
        assert_eq!(alone == "no error", index < 8 && most < 9);
        for directions in 2..5 {
            assert_eq!(run(directions, index, most)?, alone, "{directions} directions");
        }
    }
    Ok(())
}

#[test]
fn directions_that_reach_no_launch_stay_absent() -> Result<()> {
    let device = Device::cpu();
    let (x, apart) = (reals::<f64>(1, 8)?, reals::<f64>(2, 8)?);
    let (idx, y) = (indices(8, 8)?, device.uninit::<f64>(8)?);
    let moving: Direction<'_> = &[(x.as_any(), x.as_any())];
    let elsewhere: Direction<'_> = &[(apart.as_any(), apart.as_any())];
    let ((), tangents) = jvp(&[moving, elsewhere, moving], || gather(8, &x, &idx, &y, 2))?;
    assert_eq!(tangents.get(0, &y)?.to_vec()?, tangents.get(2, &y)?.to_vec()?);
    assert_eq!(tangents.get(1, &y)?.to_vec()?, [0.0; 8]);
    assert_eq!(tangents.get(1, &apart)?.to_vec()?, apart.to_vec()?);
    Ok(())
}

#[test]
fn views_of_one_array_are_read_and_written() -> Result<()> {
    let device = Device::cpu();
    let tangents = |directions: usize| -> Result<Vec<Vec<f64>>> {
        let (all, idx) = (reals::<f64>(1, 16)?, indices(8, 8)?);
        let (low, high) = (all.slice(0..8)?, all.slice(8..16)?);
        let ones = device.array(&[1.0; 16])?;
        let along: Direction<'_> = &[(all.as_any(), ones.as_any())];
        let ((), tangents) = jvp(&vec![along; directions], || gather(8, &low, &idx, &high, 3))?;
        (0..directions).map(|k| tangents.get(k, &all)?.to_vec()).collect()
    };
    let alone = tangents(1)?;
    for several in [tangents(2)?, tangents(3)?, tangents(5)?] {
        assert!(several.iter().all(|tangent| *tangent == alone[0]));
    }
    Ok(())
}
