//! Adjoints that begin in the memory of others: the gradients have the same bits as with memory of their own.

use diffkern::prelude::*;
use diffkern::private::{Arg, Arrays, KernelDef, Native, launch};
use diffkern::set_threads;

use crate::numbers;

const N: usize = 37;

/// The adjoints of all three may take the place of that of `y`.
#[diff_kernel]
fn step<F: Float>(a: &Array<F>, x: &Array<F>, b: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = a[i] * x[i] + b[i];
}

/// Integers, signed and unsigned, in the adjoint.
#[diff_kernel]
fn scaled<F: Float>(k: &Array<u32>, s: &Array<i32>, x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * (F::cast_from(k[i]) - F::cast_from(s[i]));
}

/// Two results, by elements of three and nine, and one array that is read elsewhere too.
#[diff_kernel]
fn turn<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    m: &Array<Mat3<F>>,
    t: &Array<F>,
    x_next: &mut Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    m_next: &mut Array<Mat3<F>>,
) {
    let i = ABSOLUTE_POS;
    let w = m[i] * v[i] + x[i] * t[(i + 1) % t.len()];
    v_next[i] = w;
    x_next[i] = x[i] + w * 0.1;
    m_next[i] = m[i] * m[i] * t[i];
}

/// The adjoint takes that of `w` first: that of `z` is there before that of `u` is taken.
#[diff_kernel]
fn two<F: Float>(x: &Array<F>, z: &Array<F>, u: &mut Array<F>, w: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    u[i] = x[i].sin();
    w[i] = z[i].cos();
}

/// Stores that not every position makes, and additions that some make twice.
#[diff_kernel]
fn some<F: Float>(x: &Array<F>, z: &Array<F>, u: &mut Array<F>, w: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if x[i] > 0.0 {
        u[i] = x[i] * 2.0;
    }
    w[i] = z[i] * z[(i + 1) % z.len()];
}

fn reals(seed: u64, n: usize) -> Result<Array<f32>> {
    let all: Vec<f32> = numbers(seed, n, -1.0, 1.0).into_iter().map(|x| x as f32).collect();
    Device::cpu().array(&all)
}

fn vectors(seed: u64) -> Result<Array<Vec3<f32>>> {
    let all = reals(seed, 3 * N)?.to_vec()?;
    Device::cpu().array(&all.chunks(3).map(|v| Vec3::new(v[0], v[1], v[2])).collect::<Vec<_>>())
}

fn bits(x: &Array<f32>) -> Result<Vec<u32>> {
    Ok(x.grad()?.to_vec()?.into_iter().map(f32::to_bits).collect())
}

/// The same bits in place and apart, of `gradients` with a way to run a kernel.
fn same(natives: &[Native], gradients: impl Fn(Native) -> Result<Vec<Vec<u32>>>) -> Result<()> {
    for (k, &native) in natives.iter().enumerate() {
        assert!(native.in_place);
        let apart = gradients(Native { in_place: false, ..native })?;
        assert!(apart.iter().flatten().any(|&bits| bits != 0), "there are gradients");
        assert_eq!(gradients(native)?, apart, "way {k}");
    }
    Ok(())
}

fn run(def: &'static KernelDef, native: Native, n: usize, arrays: &[&diffkern::AnyArray]) -> Result<()> {
    let args: Vec<Arg<'_>> = arrays.iter().map(|array| Arg::Array(array)).collect();
    launch(def, native, n.into(), &args)
}

/// `n` positions of a chain of steps over arrays of `N`.
fn chain(native: Native, n: usize) -> Result<Vec<Vec<u32>>> {
    let (a, b, x) = (reals(1, N)?.requires_grad(), reals(2, N)?.requires_grad(), reals(3, N)?.requires_grad());
    let (tape, loss) = Tape::record_value(|| {
        let mut y = x.clone();
        for _ in 0..5 {
            let next = Device::cpu().full(N, 0.5f32)?;
            run(step::def(), native, n, &[a.as_any(), y.as_any(), b.as_any(), next.as_any()])?;
            y = next;
        }
        diffkern::reduce::dot(&y, &y)
    })?;
    // The second walk adds to the gradients of the first.
    tape.backward(&loss)?;
    tape.backward(&loss)?;
    [&a, &b, &x].into_iter().map(bits).collect()
}

#[test]
fn pairs_are_those_where_nothing_is_lost() {
    // The adjoint's parameters are those of the kernel and then the adjoints, in order.
    assert_eq!(step::def().places, [(7, 4), (7, 5), (7, 6)]);
    assert_eq!(two::def().places, [(6, 4), (7, 4), (7, 5)]);
    assert_eq!(some::def().places, [] as [(usize, usize); 0]);
    let pairs = turn::def().places;
    let [v, m, t, v_next, m_next] = [8, 9, 10, 12, 13];
    assert!(pairs.contains(&(v_next, v)), "{pairs:?}");
    assert!(pairs.iter().all(|&(from, to)| (from == m_next) == (to == m)), "of one type: {pairs:?}");
    assert!(pairs.iter().all(|&(_, to)| to != t), "read at other indices too: {pairs:?}");
}

#[test]
fn a_chain_of_steps() -> Result<()> {
    for n in [N, N - 6, 16, 1] {
        same(&natives!(step), |native| chain(native, n))?;
    }
    Ok(())
}

#[test]
fn factors_that_are_integers() -> Result<()> {
    for n in [N, N - 6] {
        same(&natives!(scaled), |native| {
            let dev = Device::cpu();
            let k = dev.array(&(0..N as u32).map(|i| 7 * i % 5).collect::<Vec<_>>())?;
            let s = dev.array(&(0..N as i32).map(|i| 3 * i % 7 - 3).collect::<Vec<_>>())?;
            let x = reals(11, N)?.requires_grad();
            let (tape, loss) = Tape::record_value(|| {
                let mut y = x.clone();
                for _ in 0..3 {
                    let next = dev.zeros::<f32>(N)?;
                    run(scaled::def(), native, n, &[k.as_any(), s.as_any(), y.as_any(), next.as_any()])?;
                    y = next;
                }
                diffkern::reduce::dot(&y, &y)
            })?;
            tape.backward(&loss)?;
            let (x, gradient) = (x.to_vec()?, x.grad()?.to_vec()?);
            for i in 0..n {
                let factor = (7 * i % 5) as f32 - (3 * i % 7) as f32 + 3.0;
                assert!((gradient[i] - 2.0 * factor.powi(6) * x[i]).abs() <= 1e-5 * gradient[i].abs(), "element {i}");
            }
            Ok(vec![gradient.into_iter().map(f32::to_bits).collect()])
        })?;
    }
    Ok(())
}

#[test]
fn one_array_less_is_in_use() -> Result<()> {
    let n = 1 << 16;
    let peak = |native: Native| -> Result<usize> {
        let dev = Device::cpu();
        let x = dev.array(&vec![0.5f32; n])?.requires_grad();
        let (tape, y) = Tape::record_value(|| {
            let mut y = x.clone();
            for _ in 0..3 {
                let next = dev.uninit::<f32>(n)?;
                run(step::def(), native, n, &[x.as_any(), y.as_any(), x.as_any(), next.as_any()])?;
                y = next;
            }
            Ok::<_, diffkern::Error>(y)
        })?;
        let seed = dev.array(&vec![1.0f32; n])?;
        tape.backward_from(&[(y.as_any(), seed.as_any())])?;
        Ok(tape.report().peak_bytes)
    };
    let native = step::on_lanes::<f32, Arrays>();
    let (apart, here) = (peak(Native { in_place: false, ..native })?, peak(native)?);
    assert_eq!(apart - here, 4 * n, "{here} bytes in place, {apart} apart");
    Ok(())
}

#[test]
fn several_results_of_several_types() -> Result<()> {
    let matrices = || -> Result<Array<Mat3<f32>>> {
        let all = reals(6, 9 * N)?.to_vec()?;
        let one = |m: &[f32]| Mat3::identity() + Mat3::from_array(std::array::from_fn(|k| 0.1 * m[k]));
        Device::cpu().array(&all.chunks(9).map(one).collect::<Vec<_>>())
    };
    for n in [N, 32] {
        same(&natives!(turn), |native| {
            let (x, v, m) = (vectors(4)?.requires_grad(), vectors(5)?.requires_grad(), matrices()?.requires_grad());
            let t = reals(7, N)?.requires_grad();
            let (tape, loss) = Tape::record_value(|| {
                let (mut x, mut v, mut m) = (x.clone(), v.clone(), m.clone());
                for _ in 0..3 {
                    let dev = Device::cpu();
                    let next = (dev.zeros::<Vec3<f32>>(N)?, dev.zeros::<Vec3<f32>>(N)?, dev.zeros::<Mat3<f32>>(N)?);
                    let (a, b, c) = (next.0.as_any(), next.1.as_any(), next.2.as_any());
                    run(turn::def(), native, n, &[x.as_any(), v.as_any(), m.as_any(), t.as_any(), a, b, c])?;
                    (x, v, m) = next;
                }
                let loss = Device::cpu().zeros::<f32>(1)?;
                size(N, &x, &v, &m, &loss)?;
                Ok::<_, diffkern::Error>(loss)
            })?;
            tape.backward(&loss)?;
            let flat = |g: Vec<Vec3<f32>>| g.into_iter().flat_map(|v| [v.x, v.y, v.z]).map(f32::to_bits).collect();
            let square = m.grad()?.to_vec()?.into_iter().flat_map(|m| m.to_array()).map(f32::to_bits).collect();
            Ok(vec![flat(x.grad()?.to_vec()?), flat(v.grad()?.to_vec()?), square, bits(&t)?])
        })?;
    }
    Ok(())
}

#[diff_kernel]
fn size<F: Float>(x: &Array<Vec3<F>>, v: &Array<Vec3<F>>, m: &Array<Mat3<F>>, out: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    out[0] += x[i].norm_squared() + v[i].norm_squared() * 0.5 + m[i].determinant();
}

/// One array as two arguments, views of one array, an array whose gradient is there already, one that is not tracked.
#[test]
fn arrays_that_are_not_alone() -> Result<()> {
    same(&natives!(step), |native| {
        let (a, x) = (reals(1, N)?.requires_grad(), reals(3, 2 * N)?.requires_grad());
        let (tape, loss) = Tape::record_value(|| {
            let dev = Device::cpu();
            let out = dev.full(2 * N, 0.25f32)?;
            let (lower, upper) = (x.slice(0..N)?, x.slice(N..2 * N)?);
            let (y, z, w) = (dev.zeros::<f32>(N)?, dev.zeros::<f32>(N)?, dev.zeros::<f32>(N)?);
            run(step::def(), native, N, &[lower.as_any(), upper.as_any(), lower.as_any(), y.as_any()])?;
            run(step::def(), native, N, &[y.as_any(), y.as_any(), a.as_any(), z.as_any()])?;
            run(step::def(), native, N, &[z.as_any(), a.as_any(), y.as_any(), w.as_any()])?;
            run(step::def(), native, N, &[w.as_any(), z.as_any(), w.as_any(), out.slice(3..N + 3)?.as_any()])?;
            diffkern::reduce::dot(&out, &out)
        })?;
        tape.backward(&loss)?;
        [&a, &x].into_iter().map(bits).collect()
    })
}

/// The adjoint of `x` has another size than those that end.
#[test]
fn arrays_longer_than_the_result() -> Result<()> {
    same(&natives!(step), |native| {
        let (a, x) = (reals(1, N)?.requires_grad(), reals(3, 2 * N)?.requires_grad());
        let (tape, loss) = Tape::record_value(|| {
            let y = Device::cpu().zeros::<f32>(N)?;
            run(step::def(), native, N, &[x.as_any(), a.as_any(), x.as_any(), y.as_any()])?;
            run(
                step::def(),
                native,
                N,
                &[x.as_any(), a.as_any(), a.as_any(), Device::cpu().zeros::<f32>(N)?.as_any()],
            )?;
            let z = Device::cpu().zeros::<f32>(N)?;
            run(step::def(), native, N, &[x.as_any(), y.as_any(), a.as_any(), z.as_any()])?;
            diffkern::reduce::dot(&z, &z)
        })?;
        tape.backward(&loss)?;
        [&a, &x].into_iter().map(bits).collect()
    })
}

/// An array that another launch has overwritten in part before: its adjoint does not end here.
#[test]
fn results_that_are_overwritten_in_part() -> Result<()> {
    same(&natives!(step), |native| {
        let [a, x, b, c] = [1, 2, 3, 4].map(|seed| reals(seed, N).map(Array::requires_grad));
        let (a, x, b, c) = (a?, x?, b?, c?);
        let (tape, loss) = Tape::record_value(|| {
            let y = Device::cpu().zeros::<f32>(N)?;
            run(step::def(), native, N, &[a.as_any(), x.as_any(), a.as_any(), y.as_any()])?;
            run(step::def(), native, 16, &[b.as_any(), c.as_any(), c.as_any(), y.as_any()])?;
            diffkern::reduce::dot(&y, &y)
        })?;
        tape.backward(&loss)?;
        [&a, &x, &b, &c].into_iter().map(bits).collect()
    })
}

#[test]
fn two_results_one_of_which_is_not_used() -> Result<()> {
    for used in [[true, true], [true, false], [false, true]] {
        same(&natives!(two), |native| {
            let (x, z) = (reals(8, N)?.requires_grad(), reals(9, N)?.requires_grad());
            let (tape, loss) = Tape::record_value(|| {
                let (u, w) = (Device::cpu().zeros::<f32>(N)?, Device::cpu().zeros::<f32>(N)?);
                run(two::def(), native, N, &[x.as_any(), z.as_any(), u.as_any(), w.as_any()])?;
                let loss = Device::cpu().zeros::<f32>(1)?;
                for (array, _) in [&u, &w].into_iter().zip(used).filter(|(_, used)| *used) {
                    diffkern::reduce::sum_into(&diffkern::reduce::dot(array, array)?, 1.0, &loss)?;
                }
                Ok::<_, diffkern::Error>(loss)
            })?;
            tape.backward(&loss)?;
            Ok([&x, &z].into_iter().filter_map(|array| bits(array).ok()).collect())
        })?;
    }
    Ok(())
}

#[test]
fn nothing_depends_on_the_number_of_threads() -> Result<()> {
    let n = 20_000;
    let gradient = |threads: usize| -> Result<Vec<u32>> {
        set_threads(threads);
        let x = reals(10, n)?.requires_grad();
        let (tape, loss) = Tape::record_value(|| {
            let mut y = x.clone();
            for _ in 0..20 {
                let next = Device::cpu().uninit::<f32>(n)?;
                run(
                    step::def(),
                    step::on_lanes::<f32, Arrays>(),
                    n,
                    &[x.as_any(), y.as_any(), x.as_any(), next.as_any()],
                )?;
                y = next;
            }
            diffkern::reduce::dot(&y, &y)
        })?;
        tape.backward(&loss)?;
        set_threads(0);
        bits(&x)
    };
    let one = gradient(1)?;
    assert_eq!(one, gradient(2)?);
    assert_eq!(one, gradient(3)?);
    Ok(())
}

#[test]
fn no_elements_and_no_positions() -> Result<()> {
    for (n, positions) in [(0, 0), (N, 0)] {
        let native = step::on_lanes::<f32, Arrays>();
        let (a, x) = (reals(1, n)?.requires_grad(), reals(2, n)?.requires_grad());
        let (tape, y) = Tape::record_value(|| {
            let y = Device::cpu().full(n, 1.0f32)?;
            run(step::def(), native, positions, &[a.as_any(), x.as_any(), a.as_any(), y.as_any()])?;
            Ok::<_, diffkern::Error>(y)
        })?;
        tape.backward_from(&[(y.as_any(), Device::cpu().full(n, 1.0f32)?.as_any())])?;
        for array in [&a, &x] {
            assert_eq!(array.grad().map_or(Ok(vec![0.0; n]), |g| g.to_vec())?, vec![0.0; n]);
        }
    }
    Ok(())
}
