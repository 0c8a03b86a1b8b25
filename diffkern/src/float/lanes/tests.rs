//! The elementary functions of packs, in ulp of the exact value; all arguments by `DIFFKERN_EXHAUSTIVE=1`, else every
//! 4001st (a few hundred under Miri).

use super::element;
use super::math::{self, Bits};
use super::memory::Lanes;
use super::values::Values;

fn step() -> u32 {
    match std::env::var_os("DIFFKERN_EXHAUSTIVE") {
        Some(_) => 1,
        None if cfg!(miri) => 10_000_019,
        None => 4001,
    }
}

/// How far `found` is from `exact`, in units of the last place of an `f32` of that size.
fn ulp(found: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if found == rounded || found.is_nan() && exact.is_nan() {
        return 0.0;
    }
    if !found.is_finite() || !rounded.is_finite() {
        // The largest number beside infinity.
        let neighbour = found.abs().max(rounded.abs()).is_infinite() && found.abs().min(rounded.abs()) == f32::MAX;
        return if neighbour { 1.0 } else { f64::INFINITY };
    }
    let size = rounded.abs().max(f32::MIN_POSITIVE);
    let unit = f64::from(f32::from_bits(size.to_bits() + 1)) - f64::from(size);
    (f64::from(found) - exact).abs() / unit
}

/// The worst argument and its error.
fn worst<S: Bits>(f: impl Fn(S::R) -> S::R, exact: fn(f64) -> f64) -> (f32, f64) {
    let (mut at, mut most) = (0.0, 0.0);
    let mut bits = 0u32;
    loop {
        let x: [f32; 16] = std::array::from_fn(|k| f32::from_bits(bits.wrapping_add(k as u32 * step())));
        let y = S::put(f(S::get(&x)));
        for (&x, &y) in x.iter().zip(&y).take(S::N) {
            let error = ulp(y, exact(f64::from(x)));
            if error > most {
                (at, most) = (x, error);
            }
        }
        match bits.checked_add(S::N as u32 * step()) {
            Some(next) => bits = next,
            None => return (at, most),
        }
    }
}

/// Beyond some 10^5 the sine of an f64 is good enough as a reference only if its argument is exact, which it is.
#[inline(always)]
fn all<S: Bits>() {
    let rows: [(&str, (f32, f64)); 5] = [
        ("exp", worst::<S>(math::exp::<S>, f64::exp)),
        ("ln", worst::<S>(math::ln::<S>, f64::ln)),
        ("log1p", worst::<S>(math::log1p::<S>, f64::ln_1p)),
        ("sin", worst::<S>(math::sin::<S>, f64::sin)),
        ("cos", worst::<S>(math::cos::<S>, f64::cos)),
    ];
    let errors: Vec<_> = rows.iter().map(|(name, (at, error))| format!("{name} {error:.3} at {at:e}")).collect();
    assert!(rows.iter().all(|(_, (_, error))| *error <= 2.0), "{errors:?}");
    below_normal::<S>();
}

/// The exponential of every number from where it is normal to where it is nothing: half a step of what is below normal numbers beside what the series leaves.
#[inline(always)]
fn below_normal<S: Bits>() {
    let [first, last] = [-87.0f32, -104.5].map(f32::to_bits);
    let least = f64::from(f32::from_bits(1));
    for bits in (first..=last).step_by(if cfg!(miri) { 100_003 } else { S::N }) {
        let x: [f32; 16] = std::array::from_fn(|k| f32::from_bits(bits + k as u32));
        let y = S::put(math::exp::<S>(S::get(&x)));
        for (&x, &y) in x.iter().zip(&y).take(S::N) {
            let exact = f64::from(x).exp();
            assert!((f64::from(y) - exact).abs() <= 0.5 * least + 2e-7 * exact, "exp {x} is {y}, not {exact}");
        }
    }
}

/// # Safety
/// The machine has AVX2.
#[target_feature(enable = "avx2,fma")]
fn narrow() {
    all::<super::Avx2>();
}

/// # Safety
/// The machine has AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn wide() {
    all::<super::Avx512>();
}

#[test]
fn functions_are_within_two_ulp() {
    use crate::backend::native::{Kind, Narrow, Wide};
    if Narrow::is_here() {
        // SAFETY: the machine has the instructions.
        unsafe { narrow() };
    }
    if Wide::is_here() {
        // SAFETY: the machine has the instructions.
        unsafe { wide() };
    }
}

/// Every operation against the default one, which goes lane by lane.
fn agree<S: Lanes<F = f32>>() {
    type P = super::Portable<f32>;
    let special = [0.0, -0.0, 1.5, -2.5, 0.5, 1e-40, -3e9, 3e9, 5e9, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let other = [1.0, 0.0, f32::NAN, 2.5, -0.5, 1e30, -1.0, 7.0];
    let integers = [0u32, 1, 31, 33, u32::MAX, 1 << 31, 12_345, 0x7FFF_FFFF];
    for shift in 0..special.len() {
        let x: [f32; 16] = std::array::from_fn(|k| special[(k + shift) % special.len()]);
        let y: [f32; 16] = std::array::from_fn(|k| other[k % other.len()]);
        let (a, b, c, d) = (S::get(&x), S::get(&y), P::get(&x), P::get(&y));
        let same = |what: &str, found: S::R, expected: [f32; 4]| {
            let (found, expected) = (S::put(found), P::put(expected));
            for k in 0..4 {
                let equal = found[k] == expected[k] || found[k].is_nan() && expected[k].is_nan();
                assert!(equal, "{what} of {} and {}: {} or {}", x[k], y[k], found[k], expected[k]);
            }
        };
        same("min", S::min(a, b), P::min(c, d));
        same("max", S::max(a, b), P::max(c, d));
        same("floor", S::floor(a), P::floor(c));
        same("ceil", S::ceil(a), P::ceil(c));
        same("round", S::round(a), P::round(c));
        same("sign", S::sign(a), P::sign(c));
        same("abs", S::abs(a), P::abs(c));
        same("neg", S::neg(a), P::neg(c));
        same("sqrt", S::sqrt(a), P::sqrt(c));
        let mask = |what: &str, found: S::M, expected: u8| {
            assert_eq!(S::bits(found) & 15, u32::from(expected), "{what} of {x:?} and {y:?}");
        };
        mask("lt", S::lt(a, b), P::lt(c, d));
        mask("le", S::le(a, b), P::le(c, d));
        mask("eq", S::eq(a, b), P::eq(c, d));
        mask("is_nan", S::is_nan(a), P::is_nan(c));
        let ints = |what: &str, found: S::I, expected: [u32; 4]| {
            assert_eq!(S::put_i(found)[..4], expected, "{what} of {x:?}");
        };
        ints("to_i32", S::to_i32(a), P::to_i32(c));
        ints("to_u32", S::to_u32(a), P::to_u32(c));
        let i: [u32; 16] = std::array::from_fn(|k| integers[(k + shift) % 8]);
        let j: [u32; 16] = std::array::from_fn(|k| integers[k % 8]);
        let (p, q, r, s) = (S::get_i(&i), S::get_i(&j), P::get_i(&i), P::get_i(&j));
        ints("shl", S::shl(p, q), P::shl(r, s));
        ints("shr_u", S::shr_u(p, q), P::shr_u(r, s));
        ints("shr_i", S::shr_i(p, q), P::shr_i(r, s));
        ints("mul_i", S::mul_i(p, q), P::mul_i(r, s));
        ints("min_u", S::min_u(p, q), P::min_u(r, s));
        ints("max_i", S::max_i(p, q), P::max_i(r, s));
        ints("abs_i", S::abs_i(p), P::abs_i(r));
        mask("lt_u", S::lt_u(p, q), P::lt_u(r, s));
        mask("lt_i", S::lt_i(p, q), P::lt_i(r, s));
        same("from_i32", S::from_i32(p), P::from_i32(r));
        same("from_u32", S::from_u32(p), P::from_u32(r));
        ints("select_i", S::select_i(S::from_bits(0b1011_0010), p, q), P::select_i(0b0010, r, s));
    }
    // Memory: elements of two to nine reals.
    let data: Vec<f32> = (0..256).map(|k| k as f32).collect();
    let numbers: Vec<u32> = (0..64).collect();
    let offset: [u32; 16] = std::array::from_fn(|k| (k as u32 * 7) % 16 * 9);
    let (o, p) = (S::get_i(&offset), P::get_i(&offset));
    // SAFETY: offsets are below 140.
    unsafe {
        for (c, (found, expected)) in
            S::gather4(data.as_ptr(), o).into_iter().zip(P::gather4(data.as_ptr(), p)).enumerate()
        {
            assert_eq!(S::put(found)[..4], expected, "component {c} of four");
        }
        for (found, expected) in S::gather2(data.as_ptr(), o).into_iter().zip(P::gather2(data.as_ptr(), p)) {
            assert_eq!(S::put(found)[..4], expected);
        }
        for stride in 2..5 {
            let lanes = S::put_i(S::load_i_by(numbers.as_ptr(), stride));
            assert!((0..S::N).all(|k| lanes[k] == stride * k as u32), "every {stride}th: {lanes:?}");
        }
        let row2 = S::load2(data.as_ptr()).map(S::put);
        assert!((0..2 * S::N).all(|k| row2[k % 2][k / 2] == k as f32), "{row2:?}");
        let row3 = S::load3(data.as_ptr()).map(S::put);
        assert!((0..3 * S::N).all(|k| row3[k % 3][k / 3] == k as f32), "{row3:?}");
        for first in [0, 7, u32::MAX - 3] {
            let mut run: [u32; 16] = std::array::from_fn(|k| first.wrapping_add(k as u32));
            assert!(S::head(S::get_i(&run)) == first && S::is_run(S::get_i(&run)));
            run[S::N - 1] ^= 1;
            assert!(!S::is_run(S::get_i(&run)));
        }
        elements::<S, 1>();
        elements::<S, 2>();
        elements::<S, 3>();
        elements::<S, 4>();
        elements::<S, 5>();
        elements::<S, 9>();
        elements::<S, 18>();
        some::<S, 1>();
        some::<S, 2>();
        some::<S, 3>();
        some::<S, 4>();
        let packs: [S::R; 4] = std::array::from_fn(|c| S::get(&std::array::from_fn(|k| (4 * k + c) as f32)));
        let [a, b, c, _] = packs;
        let mut out = vec![-1.0f32; 80];
        S::store4(out.as_mut_ptr(), 4, packs);
        assert!(out[..4 * S::N].iter().enumerate().all(|(k, &x)| x == k as f32) && out[4 * S::N] == -1.0);
        S::stage4(out.as_mut_ptr(), packs);
        for k in 0..S::N {
            assert_eq!(out[4 * S::slot4(k)..][..4], std::array::from_fn::<f32, 4, _>(|c| (4 * k + c) as f32));
        }
        let mut out = vec![-1.0f32; 80];
        S::store3(out.as_mut_ptr(), [a, b, c]);
        assert!((0..3 * S::N).all(|k| out[k] == (k / 3 * 4 + k % 3) as f32) && out[3 * S::N] == -1.0, "{out:?}");
        let mut out = vec![-1.0f32; 80];
        S::store2(out.as_mut_ptr(), [a, b]);
        assert!((0..2 * S::N).all(|k| out[k] == (k / 2 * 4 + k % 2) as f32) && out[2 * S::N] == -1.0, "{out:?}");
    }
}

/// Elements of `C` reals: gathered, loaded and stored in a row.
fn elements<S: Lanes<F = f32>, const C: usize>() {
    let data: Vec<f32> = (0..C * S::N + 4).map(|e| e as f32).collect();
    let scattered: [u32; 16] = std::array::from_fn(|k| (k * 5 % S::N * C) as u32);
    let mut out = vec![-1.0f32; C * S::N + 1];
    // SAFETY: all elements are there, and more reals than are read beyond the last one.
    let (gathered, row) = unsafe {
        let row = element::load::<S, C>(data.as_ptr());
        element::store::<S, C>(out.as_mut_ptr(), row);
        (element::gather::<S, C>(data.as_ptr(), S::get_i(&scattered)), row)
    };
    for (c, (gathered, row)) in gathered.into_iter().zip(row).enumerate() {
        let (gathered, row) = (S::put(gathered), S::put(row));
        for k in 0..S::N {
            assert_eq!(gathered[k], (scattered[k] as usize + c) as f32, "gathered: component {c} of {C}, lane {k}");
            assert_eq!(row[k], (C * k + c) as f32, "in a row: component {c} of {C}, lane {k}");
        }
    }
    assert!(out[..C * S::N] == data[..C * S::N] && out[C * S::N] == -1.0, "stored: {out:?}");
}

/// Rows of `C` reals for the lanes of a mask, read and added to.
fn some<S: Lanes<F = f32>, const C: usize>() {
    let data: Vec<f32> = (0..C * S::N).map(|e| e as f32).collect();
    for bits in [0, 1, 0b0110, 0b1011_0101_1100_0010, u32::MAX] {
        let m = S::from_bits(bits);
        let taken = |k: usize| S::bits(m) >> k & 1 == 1;
        // SAFETY: the rows of all lanes are there.
        let found = S::unpack(unsafe { S::load_some(data.as_ptr(), m, [S::splat(-1.0); C]) }).map(S::put);
        let mut sum = data.clone();
        let more: [S::R; C] = std::array::from_fn(|c| S::get(&std::array::from_fn(|k| (100 * k + c) as f32)));
        // SAFETY: as above.
        unsafe { S::add_some(sum.as_mut_ptr(), m, more) };
        for (e, (&before, &after)) in data.iter().zip(&sum).enumerate() {
            let (k, c) = (e / C, e % C);
            assert_eq!(found[c][k], if taken(k) { before } else { -1.0 }, "component {c} of lane {k} of {bits:b}");
            let added = if taken(k) { (100 * k + c) as f32 } else { 0.0 };
            assert_eq!(after - before, added, "component {c} of lane {k} of {bits:b}");
        }
    }
}

#[test]
fn instructions_do_what_the_operations_mean() {
    use crate::backend::native::{Kind, Narrow, Wide};
    agree::<super::Portable<f32>>();
    if Narrow::is_here() {
        agree::<super::Avx2>();
    }
    if Wide::is_here() {
        agree::<super::Avx512>();
    }
}
