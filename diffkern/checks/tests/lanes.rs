//! Bodies that run on packs of lanes against the scalar one: each construct in a kernel of its own, over a domain of two
//! packs and a rest.

use diffkern::prelude::*;
use diffkern::private::{Arg, Arrays, Narrow, OneByOne, Wide, launch, on_packs};

const N: usize = 37;

/// A kernel that runs in scalar after all would agree with itself.
macro_rules! check {
    ($kernel:ident, $($arg:expr),*) => {
        assert_eq!($kernel::LANES, [true, true, true]);
        $kernel::lanecheck($($arg),*)?;
    };
}

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

fn reals(seed: u64, lo: f64, hi: f64) -> Result<Array<f64>> {
    Device::cpu().array(&numbers(seed, N, lo, hi))
}

fn vectors(seed: u64) -> Result<Array<Vec3<f64>>> {
    let all = numbers(seed, 3 * N, -1.0, 1.0);
    Device::cpu().array(&all.chunks(3).map(|v| Vec3::new(v[0], v[1], v[2])).collect::<Vec<_>>())
}

fn matrices(seed: u64) -> Result<Array<Mat3<f64>>> {
    let all = numbers(seed, 9 * N, -0.3, 0.3);
    let near = |m: &[f64]| Mat3::identity() + Mat3::from_array(std::array::from_fn(|k| m[k]));
    Device::cpu().array(&all.chunks(9).map(near).collect::<Vec<_>>())
}

/// A permutation without a pattern.
fn shuffled() -> Result<Array<u32>> {
    Device::cpu().array(&(0..N as u32).map(|i| i * 14 % N as u32).collect::<Vec<_>>())
}

#[diff_kernel]
fn branches<F: Float>(x: &Array<F>, y: &Array<F>, out: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut v = x[i] * 2.0;
    if x[i] > 0.0 {
        v = v * y[i] + x[i].exp();
        if y[i] > 0.3 {
            v = v + (y[i] + 1.0).ln() * x[(i + 3) % 37];
        }
    } else if y[i] < -0.2 {
        v = (v - y[i]).sin();
    }
    out[i] = v;
}

#[test]
fn branches_are_taken_lane_by_lane() -> Result<()> {
    check!(branches, N, &reals(1, -1.0, 1.0)?, &reals(2, -0.9, 0.9)?, &Device::cpu().zeros(N)?);
    Ok(())
}

#[diff_kernel]
fn rounds<F: Float>(x: &Array<F>, first: &Array<u32>, last: &Array<u32>, out: &mut Array<F>, all: u32) {
    let i = ABSOLUTE_POS;
    let mut power = x[i];
    for k in 0..last[i] {
        power = power * (x[i] + F::cast_from(k) * 0.1);
    }
    let mut sum = F::new(0.0);
    for k in first[i]..last[i] {
        sum = sum + x[i] * F::cast_from(k);
    }
    for k in 0..all {
        if x[i] > F::cast_from(k) * 0.5 {
            sum = sum * x[i] + 0.25;
        }
    }
    out[i] = power + sum;
}

#[test]
fn loops_end_when_every_lane_has_had_its_turns() -> Result<()> {
    let dev = Device::cpu();
    let first = dev.array(&(0..N as u32).map(|i| i % 3).collect::<Vec<_>>())?;
    let last = dev.array(&(0..N as u32).map(|i| i * 5 % 7).collect::<Vec<_>>())?;
    check!(rounds, N, &reals(3, 0.5, 1.5)?, &first, &last, &dev.zeros(N)?, 4);
    Ok(())
}

#[diff_kernel]
fn elements<F: Float>(
    index: &Array<u32>,
    v: &Array<Vec3<F>>,
    m: &Array<Mat3<F>>,
    w: &Array<Vec2<F>>,
    out_v: &mut Array<Vec3<F>>,
    out_m: &mut Array<Mat3<F>>,
    out_w: &mut Array<Vec2<F>>,
    sums: &mut Array<Mat3<F>>,
    total: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let j = index[i] as usize;
    let a = m[j] * v[i] + v[j].cross(m[i].col(1));
    out_v[i] = a / (1.0 + a.norm());
    out_m[i] = m[i].inverse() * m[j].transpose() + v[i].outer(v[j]) * m[i].determinant();
    out_w[i] = w[i] * w[j].dot(w[i]);
    sums[j] += m[i] * v[i].x;
    sums[j / 2] += m[j];
    total[2] += a;
}

#[test]
fn elements_are_gathered_and_scattered() -> Result<()> {
    let dev = Device::cpu();
    let w = numbers(9, 2 * N, -1.0, 1.0);
    let w = dev.array(&w.chunks(2).map(|w| Vec2::new(w[0], w[1])).collect::<Vec<_>>())?;
    let (v, m) = (vectors(7)?, matrices(8)?);
    let outputs = (dev.zeros(N)?, dev.zeros(N)?, dev.zeros(N)?, dev.zeros(N)?, dev.zeros(3)?);
    check!(elements, N, &shuffled()?, &v, &m, &w, &outputs.0, &outputs.1, &outputs.2, &outputs.3, &outputs.4);
    Ok(())
}

#[diff_fn]
fn chosen<F: Float>(x: F, y: F, which: u32) -> F {
    let mut v = x * y;
    if which == 1 {
        v = x.exp() + y;
    }
    if which == 2 {
        v = (x * x + 1.0).sqrt() * y;
    }
    v
}

#[diff_fn]
fn neighbours<F: Float>(x: &Array<F>, i: u32, n: u32) -> F {
    let mut sum = F::new(0.0);
    for k in 0..n {
        let v = x[((i + k) % 37) as usize];
        sum = sum + v * v;
    }
    sum
}

#[diff_kernel]
fn calls<F: Float>(x: &Array<F>, y: &Array<F>, kind: &Array<u32>, out: &mut Array<F>, same: u32) {
    let i = ABSOLUTE_POS;
    let a: F = chosen::<F>(x[i], y[i], same);
    let b: F = chosen::<F>(y[i], a, kind[i]);
    let c: F = neighbours::<F>(x, i as u32, kind[i] + 1);
    let d: F = neighbours::<F>(y, same, 3u32);
    out[i] = a + b * c - d;
}

#[test]
fn device_functions_are_called_by_lanes() -> Result<()> {
    let dev = Device::cpu();
    let kind = dev.array(&(0..N as u32).map(|i| i % 4).collect::<Vec<_>>())?;
    for same in 0..3 {
        check!(calls, N, &reals(4, -1.0, 1.0)?, &reals(5, 0.2, 1.0)?, &kind, &dev.zeros(N)?, same);
    }
    Ok(())
}

#[diff_kernel]
fn integers<F: Float>(a: &Array<u32>, b: &Array<i32>, x: &Array<F>, out: &mut Array<u32>, real: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let s = b[i] - 3;
    let t = (x[i] * 10.0) as i32;
    let m = (a[i] / 3) ^ (a[i] << 2) | (a[i] % 5);
    let big = select(s < t, s.max(t) as u32, (s * t) as u32) >> 1;
    out[i] =
        m + big + (x[i] * 5.0) as u32 + ABSOLUTE_POS_X as u32 * 3 + ABSOLUTE_POS_Y as u32 * 5 + ABSOLUTE_POS_Z as u32;
    real[i] = F::cast_from(a[i]) * x[i] + F::cast_from(s) + x[i].powi(3) + x[i].floor() + (x[i] * 3.0).round();
}

#[test]
fn integers_and_positions_are_the_same_to_the_bit() -> Result<()> {
    let dev = Device::cpu();
    let a = dev.array(&(0..30u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect::<Vec<_>>())?;
    let b = dev.array(&(0..30i32).map(|i| i.wrapping_mul(0x3779_B97F)).collect::<Vec<_>>())?;
    let x = dev.array(&numbers(6, 30, -2.0, 2.0))?;
    // The adjoint and the tangent are plain enough for the compiler.
    assert_eq!(integers::LANES, [true, false, false]);
    for dims in [(5, 3, 2), (10, 3, 1), (3, 1, 10), (1, 6, 5), (30, 1, 1)] {
        integers::lanecheck(dims, &a, &b, &x, &dev.zeros(30)?, &dev.zeros(30)?)?;
    }
    Ok(())
}

#[diff_kernel]
fn pick<F: Float>(index: &Array<u32>, x: &Array<F>, out: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if i % 2 == 1 {
        out[i] = x[index[i] as usize];
    }
}

/// Two turns for an entry of two, each further on in the array.
#[diff_fn]
fn walk<F: Float>(x: &Array<F>, from: u32, turns: u32) -> F {
    let mut sum = F::new(0.0);
    for k in 0..turns {
        sum += x[(from + k * k) as usize];
    }
    sum
}

#[diff_kernel]
fn far_calls<F: Float>(index: &Array<u32>, x: &Array<F>, out: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let near: F = walk::<F>(x, i as u32 / 2, 2u32);
    let far: F = walk::<F>(x, index[i] % 50, index[i]);
    out[i] = near * far;
}

/// The index comes from reals.
#[diff_kernel]
fn cells<F: Float>(index: &Array<u32>, x: &Array<F>, out: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let at = F::cast_from(index[i]) * 0.7 + x[i] * 0.1;
    out[at.floor() as usize] += x[i];
}

#[diff_kernel]
fn slots<F: Float>(index: &Array<u32>, x: &Array<F>, out: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut a = [x[i]; 3];
    a[(index[i] % 3) as usize] = x[i] * 2.0;
    out[i] = a[(index[i] / 100) as usize];
}

#[test]
fn a_fault_is_that_of_the_scalar_body() -> Result<()> {
    let dev = Device::cpu();
    let mut index: Vec<u32> = (0..N as u32).collect();
    // Lanes that are masked off, then two that are not: the first counts.
    (index[4], index[6], index[21], index[29]) = (1000, u32::MAX, 77, 78);
    let picked = dev.array(&index)?;
    let mut index = vec![3u32; N];
    (index[19], index[23], index[24]) = (340, 55, 712);
    let listed = dev.array(&index)?;
    let (x, out) = (dev.array(&[1.0f32; N])?, dev.zeros::<f32>(N)?);
    macro_rules! alike {
        ($kernel:ident, $index:expr, $part:expr) => {
            assert_eq!($kernel::LANES[0], true);
            let args = [Arg::Array($index.as_any()), Arg::Array(x.as_any()), Arg::Array(out.as_any())];
            let error = |native| launch($kernel::def(), native, N.into(), &args).unwrap_err().to_string();
            let scalar = error($kernel::on_lanes::<f32, OneByOne>());
            assert!(scalar.contains($part) && scalar.contains(concat!(file!(), ":")), "{scalar}");
            assert_eq!(error($kernel::on_lanes::<f32, Arrays>()), scalar);
            for native in
                [on_packs::<Narrow>($kernel::on_lanes::<f32, Narrow>), on_packs::<Wide>($kernel::on_lanes::<f32, Wide>)]
            {
                assert_eq!(native.map_or(scalar.clone(), |(_, native)| error(native)), scalar);
            }
        };
    }
    alike!(pick, picked, "index 77");
    alike!(far_calls, listed, "index 40");
    alike!(cells, listed, "index 238");
    alike!(slots, listed, "index 3");
    Ok(())
}

#[diff_kernel]
fn histogram<F: Float>(x: &Array<F>, bins: &mut Array<F>, counts: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let k = (x[i] * 8.0) as u32;
    bins[k as usize] += x[i];
    if x[i] > 0.5 {
        counts[k as usize] += 1.0;
    }
}

#[test]
fn bits_do_not_depend_on_the_threads() -> Result<()> {
    let dev = Device::cpu();
    let n = 20_000;
    let x: Vec<f32> = numbers(12, n, 0.0, 1.0).into_iter().map(|x| x as f32).collect();
    let x = dev.array(&x)?;
    let natives = [
        histogram::on_lanes::<f32, Arrays>(),
        on_packs::<Narrow>(histogram::on_lanes::<f32, Narrow>).map_or(histogram::native::<f32>(), |(_, native)| native),
        on_packs::<Wide>(histogram::on_lanes::<f32, Wide>).map_or(histogram::native::<f32>(), |(_, native)| native),
    ];
    for native in natives {
        let run = |threads| -> Result<(Vec<u32>, Vec<f32>)> {
            diffkern::set_threads(threads);
            let (bins, counts) = (dev.zeros::<f32>(9)?, dev.zeros::<f32>(9)?);
            let args = [Arg::Array(x.as_any()), Arg::Array(bins.as_any()), Arg::Array(counts.as_any())];
            launch(histogram::def(), native, n.into(), &args)?;
            Ok((bins.to_vec()?.into_iter().map(f32::to_bits).collect(), counts.to_vec()?))
        };
        let one = run(1)?;
        assert_eq!(one, run(3)?);
        assert_eq!(one.1.iter().sum::<f32>(), x.to_vec()?.iter().filter(|&&x| x > 0.5).count() as f32);
    }
    Ok(())
}

/// Lists of neighbours: `ends` by two and `corners` by three, and a list that is used as it is and moved.
#[diff_kernel]
fn lists<F: Float>(
    x: &Array<Vec3<F>>,
    w: &Array<F>,
    ends: &Array<u32>,
    corners: &Array<u32>,
    f: &mut Array<Vec3<F>>,
    sums: &mut Array<F>,
    pairs: &mut Array<Vec2<F>>,
) {
    let s = ABSOLUTE_POS;
    let a = ends[2 * s];
    let b = ends[2 * s + 1];
    let c = corners[3 * s + 2];
    let d = (x[b] - x[a]) * w[c];
    f[a] += d;
    f[b] -= d * 0.5;
    sums[c + 1] += d.norm_squared();
    if d.x > 0.0 {
        pairs[b] += Vec2::new(d.y, d.z) * w[a];
    }
}

/// Rows that end within a pack, after any number of lanes, and that leave the pages of a chunk's copies.
fn listed(points: u32, row: u32) -> Result<[Array<u32>; 2]> {
    let firsts: Vec<u32> = (0..points - row).filter(|p| p % row != row - 1).collect();
    let ends: Vec<u32> = firsts.iter().flat_map(|&p| [p, if p % 5 == 4 { p + row } else { p + 1 }]).collect();
    let corners: Vec<u32> =
        firsts.iter().flat_map(|&p| [0, 0, (p * if p % 97 < 70 { 1 } else { 31 }) % points]).collect();
    Ok([Device::cpu().array(&ends)?, Device::cpu().array(&corners)?])
}

#[test]
fn neighbours_in_a_list_are_what_each_would_be_alone() -> Result<()> {
    let device = Device::cpu();
    for (points, row) in [(40, 9), (700, 23), (3000, 64), (3000, 641)] {
        let [ends, corners] = listed(points, row)?;
        let (n, springs) = (points as usize, ends.len() / 2);
        let all = numbers(3, 3 * n, -1.0, 1.0);
        let x = device.array(&all.chunks(3).map(|v| Vec3::new(v[0], v[1], v[2])).collect::<Vec<_>>())?;
        let w = device.array(&numbers(4, n, 0.5, 1.0))?;
        let (f, sums, pairs) = (device.zeros(n)?, device.zeros(n + 1)?, device.zeros(n)?);
        check!(lists, springs, &x, &w, &ends, &corners, &f, &sums, &pairs);
    }
    Ok(())
}

#[test]
fn a_list_that_leaves_its_array_is_a_fault() -> Result<()> {
    let device = Device::cpu();
    let [ends, corners] = listed(40, 9)?;
    let springs = ends.len() / 2;
    let (x, w) = (device.full(33, Vec3::new(0.5f32, 1.0, 1.5))?, device.full(40, 1.0f32)?);
    let (f, sums, pairs) = (device.zeros(40)?, device.zeros(41)?, device.zeros(40)?);
    let error =
        lists(springs, &x, &w, &ends, &corners, &f, &sums, &pairs).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("33"), "{error}");
    Ok(())
}
