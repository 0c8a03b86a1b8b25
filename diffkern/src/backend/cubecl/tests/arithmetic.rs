//! Every operation against the host's own.

use super::*;

/// `out = op(x, y)` for each pair.
fn binary(device: &CubeDevice, body: &str, x: &[f32], y: &[f32]) -> Vec<f32> {
    let text = format!(
        "fn table\narray 0 read real x owned\narray 1 read real y owned\narray 2 store real out owned\nbody\n\
         %0 : usize = pos\n%1 : real = load 0 %0 @1\n%2 : real = load 1 %0 @1\n{body}\nstore 2 %0 %3 @1\n"
    );
    let (a, b, out) = (floats(device, x), floats(device, y), floats(device, &vec![7.0; x.len()]));
    run(device, program(&text), x.len(), &[real(&a), real(&b), real(&out)]).unwrap();
    read_floats(device, &out)
}

fn close(name: &str, x: f32, y: f32, found: f32, expected: f64, tolerance: f64) {
    let same_kind = expected.is_nan() == found.is_nan() && (expected as f32).is_infinite() == found.is_infinite();
    let error = (f64::from(found) - expected).abs();
    let fine = (expected as f32).is_infinite() && f64::from(found) == f64::from(expected as f32)
        || expected.is_nan() && found.is_nan()
        || same_kind && error <= tolerance * expected.abs().max(1e-3);
    assert!(fine, "{name}({x}, {y}) = {found}, expected {expected}");
}

type Binary = fn(f64, f64) -> f64;

#[test]
fn functions_of_one_real() {
    let Some(device) = device() else { return };
    let table: [(&str, f64, f64, Binary); 21] = [
        ("exp", -87.0, 88.0, |x, _| x.exp()),
        ("ln", 1e-30, 1e30, |x, _| x.ln()),
        ("ln", 0.5, 2.0, |x, _| x.ln()),
        ("sqrt", 0.0, 1e10, |x, _| x.sqrt()),
        ("sin", -100.0, 100.0, |x, _| x.sin()),
        ("cos", -100.0, 100.0, |x, _| x.cos()),
        ("tan", -1.5, 1.5, |x, _| x.tan()),
        ("asin", -1.0, 1.0, |x, _| x.asin()),
        ("acos", -1.0, 1.0, |x, _| x.acos()),
        ("atan", -50.0, 50.0, |x, _| x.atan()),
        ("tanh", -10.0, 10.0, |x, _| x.tanh()),
        ("sinh", -80.0, 80.0, |x, _| x.sinh()),
        ("cosh", -80.0, 80.0, |x, _| x.cosh()),
        ("log1p", -0.99, 10.0, |x, _| x.ln_1p()),
        ("floor", -5.0, 5.0, |x, _| x.floor()),
        ("ceil", -5.0, 5.0, |x, _| x.ceil()),
        ("round", -5.0, 5.0, |x, _| x.round_ties_even()),
        ("abs", -5.0, 5.0, |x, _| x.abs()),
        ("neg", -5.0, 5.0, |x, _| -x),
        ("sign", -5.0, 5.0, |x, _| if x == 0.0 { 0.0 } else { x.signum() }),
        ("detach", -5.0, 5.0, |x, _| x),
    ];
    for (name, lo, hi, exact) in table {
        let n = 401;
        let x: Vec<f32> = (0..n)
            .map(|k| {
                let t = f64::from(k) / f64::from(n - 1);
                let v = if lo > 0.0 { lo * (hi / lo).powf(t) } else { lo + (hi - lo) * t };
                v as f32
            })
            .collect();
        let found = binary(device, &format!("%3 : real = {name} %1"), &x, &x);
        for (&x, found) in x.iter().zip(found) {
            close(name, x, 0.0, found, exact(f64::from(x), 0.0), 1e-5);
        }
    }
}

#[test]
fn erf_has_its_known_values() {
    let Some(device) = device() else { return };
    let table = [(0.0, 0.0), (0.1, 0.1124629160182849), (0.5, 0.5204998778130465), (0.99, 0.8385080695533698)];
    let more = [(1.01, 0.846810496223695), (2.0, 0.9953222650189527), (3.5, 0.9999992569016276), (9.0, 1.0)];
    let all: Vec<(f32, f64)> =
        table.into_iter().chain(more).flat_map(|(x, v)| [(x as f32, v), (-x as f32, -v)]).collect();
    let x: Vec<f32> = all.iter().map(|a| a.0).collect();
    let found = binary(device, "%3 : real = erf %1", &x, &x);
    for (&(x, expected), found) in all.iter().zip(found) {
        close("erf", x, 0.0, found, expected, 1e-6);
    }
}

#[test]
fn functions_of_two_reals() {
    let Some(device) = device() else { return };
    let table: [(&str, Binary); 9] = [
        ("add", |x, y| x + y),
        ("sub", |x, y| x - y),
        ("mul", |x, y| x * y),
        ("div", |x, y| x / y),
        ("min", f64::min),
        ("max", f64::max),
        ("atan2", f64::atan2),
        ("hypot", f64::hypot),
        ("powf", f64::powf),
    ];
    let values = [-30.5f32, -2.0, -1.0, -0.25, 0.0, 0.125, 1.0, 3.0, 7.5, 40.0];
    let pairs: Vec<(f32, f32)> = values.iter().flat_map(|&x| values.map(|y| (x, y))).collect();
    let (x, y): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
    for (name, exact) in table {
        let found = binary(device, &format!("%3 : real = {name} %1 %2"), &x, &y);
        for ((&x, &y), found) in x.iter().zip(&y).zip(found) {
            close(name, x, y, found, exact(f64::from(x), f64::from(y)), 1e-5);
        }
    }
}

#[test]
fn nan_and_infinity_are_kept() {
    let Some(device) = device() else { return };
    let x = [f32::NAN, 1.0, f32::INFINITY, -1.0, f32::NEG_INFINITY];
    let y = [1.0, f32::NAN, 2.0, 0.5, f32::NAN];
    let nan = binary(
        device,
        "%4 : bool = is_nan %1\n%5 : real = const 1\n%6 : real = const 0\n%3 : real = select %4 %5 %6",
        &x,
        &y,
    );
    assert_eq!(nan, [1.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(binary(device, "%3 : real = max %1 %2", &x, &y)[..2], [1.0, 1.0]);
    assert_eq!(binary(device, "%3 : real = min %1 %2", &x, &y)[..2], [1.0, 1.0]);
    for op in ["sin", "exp", "tanh", "sqrt", "ln", "atan", "erf", "sinh", "log1p", "asin"] {
        let found = binary(device, &format!("%3 : real = {op} %1"), &x, &y);
        assert!(found[0].is_nan(), "{op}(NaN) = {}", found[0]);
    }
    assert_eq!(binary(device, "%3 : real = exp %1", &x, &y)[2..], [f32::INFINITY, (-1f32).exp(), 0.0]);
    assert!(binary(device, "%3 : real = ln %1", &x, &y)[3].is_nan());
    for (text, expected) in
        [("inf", f32::INFINITY), ("-inf", f32::NEG_INFINITY), ("-0", -0.0), ("1e-40", 1e-40), ("0.1", 0.1)]
    {
        let found = binary(device, &format!("%3 : real = const {text}"), &x, &y);
        assert_eq!(found[0].to_bits(), expected.to_bits(), "{text}");
    }
    assert!(binary(device, "%3 : real = const nan", &x, &y)[0].is_nan());
    let picked = binary(device, "%4 : bool = lt %2 %2\n%3 : real = select %4 %2 %1", &x, &y);
    assert!(picked[0].is_nan(), "a select loses NaN");
}

#[test]
fn constants_are_folded_as_the_device_would() {
    let Some(device) = device() else { return };
    let body = "%4 : real = const 1\n%5 : real = const 0\n%3 : real = div %4 %5";
    assert_eq!(binary(device, body, &[0.0], &[0.0]), [f32::INFINITY]);
    let body = "%4 : u32 = const 4294967295\n%5 : u32 = const 2\n%6 : u32 = add %4 %5\n%3 : real = cast %6";
    assert_eq!(binary(device, body, &[0.0], &[0.0]), [1.0]);
}

#[test]
fn powers_by_squaring() {
    let Some(device) = device() else { return };
    let x = [1.5f32, -2.0, 0.3, -0.7];
    for n in [-3, 0, 1, 2, 7] {
        let fixed = binary(device, &format!("%4 : i32 = const {n}\n%3 : real = powi %1 %4"), &x, &x);
        let y = [n as f32; 4];
        let varying = binary(device, "%4 : i32 = cast %2\n%3 : real = powi %1 %4", &x, &y);
        for k in 0..4 {
            let exact = f64::from(x[k]).powi(n);
            close("powi", x[k], n as f32, fixed[k], exact, 1e-5);
            close("powi", x[k], n as f32, varying[k], exact, 1e-5);
        }
    }
}

#[test]
fn integers_wrap_and_division_by_zero_is_zero() {
    let Some(device) = device() else { return };
    let values = [0u32, 1, 2, 7, 31, 33, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
    let pairs: Vec<(u32, u32)> = values.iter().flat_map(|&x| values.map(|y| (x, y))).collect();
    let (x, y): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    type U = fn(u32, u32) -> u32;
    type I = fn(i32, i32) -> i32;
    let table: [(&str, U, I); 12] = [
        ("add", u32::wrapping_add, i32::wrapping_add),
        ("sub", u32::wrapping_sub, i32::wrapping_sub),
        ("mul", u32::wrapping_mul, i32::wrapping_mul),
        ("div", |a, b| a.checked_div(b).unwrap_or(0), |a, b| if b == 0 { 0 } else { a.wrapping_div(b) }),
        ("rem", |a, b| a.checked_rem(b).unwrap_or(0), |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) }),
        ("min", u32::min, i32::min),
        ("max", u32::max, i32::max),
        ("bit_and", |a, b| a & b, |a, b| a & b),
        ("bit_or", |a, b| a | b, |a, b| a | b),
        ("bit_xor", |a, b| a ^ b, |a, b| a ^ b),
        ("shl", |a, b| a.wrapping_shl(b), |a, b| a.wrapping_shl(b as u32)),
        ("shr", |a, b| a.wrapping_shr(b), |a, b| a.wrapping_shr(b as u32)),
    ];
    let (a, b) = (words(device, &x), words(device, &y));
    for (name, unsigned, signed) in table {
        for ty in ["u32", "i32"] {
            let text = format!(
                "fn ints\narray 0 read {ty} x\narray 1 read {ty} y\narray 2 store {ty} out\nbody\n%0 : usize = pos\n\
                 %1 : {ty} = load 0 %0 @1\n%2 : {ty} = load 1 %0 @1\n%3 : {ty} = {name} %1 %2\nstore 2 %0 %3 @1\n"
            );
            let out = words(device, &vec![9; x.len()]);
            let elem = if ty == "u32" { ElemTy::U32 } else { ElemTy::I32 };
            run(device, program(&text), x.len(), &[array(&a, elem), array(&b, elem), array(&out, elem)]).unwrap();
            for ((&x, &y), found) in x.iter().zip(&y).zip(read_words(device, &out)) {
                let expected = if ty == "u32" { unsigned(x, y) } else { signed(x as i32, y as i32) as u32 };
                assert_eq!(found, expected, "{name}({x}, {y}) of {ty}");
            }
        }
    }
}

#[test]
fn casts_saturate() {
    let Some(device) = device() else { return };
    let x = [0.0f32, -0.5, 2.9, -2.9, 3e9, 5e9, -5e9, f32::NAN, f32::INFINITY, 2147483520.0, 4294967040.0];
    let a = floats(device, &x);
    for ty in ["u32", "i32"] {
        let text = format!(
            "fn casts\narray 0 read real x\narray 1 store {ty} out\nbody\n%0 : usize = pos\n\
             %1 : real = load 0 %0 @1\n%2 : {ty} = cast %1\nstore 1 %0 %2 @1\n"
        );
        let out = words(device, &[9; 11]);
        let elem = if ty == "u32" { ElemTy::U32 } else { ElemTy::I32 };
        run(device, program(&text), x.len(), &[real(&a), array(&out, elem)]).unwrap();
        for (x, found) in x.into_iter().zip(read_words(device, &out)) {
            let expected = if ty == "u32" { x as u32 } else { x as i32 as u32 };
            assert_eq!(found, expected, "{x} as {ty}");
        }
    }
}

#[test]
fn vectors_and_matrices_are_scalars_in_a_row() {
    let Some(device) = device() else { return };
    let text = "fn linalg\narray 0 read mat3 m\narray 1 read vec3 v\narray 2 store vec3 out\narray 3 store mat3 mo\nbody\n\
                %0 : usize = pos\n%1 : mat3 = load 0 %0 @1\n%2 : vec3 = load 1 %0 @1\n%3 : mat3 = transpose %1\n\
                %4 : mat3 = mat_mul %3 %1\n%5 : vec3 = mat_vec %4 %2\n%6 : vec3 = cross %5 %2\n\
                %7 : real = dot %6 %5\n%8 : real = extract %2 1\n%9 : vec3 = insert %6 2 %8\n\
                %10 : vec3 = mul_elem %9 %2\n%11 : vec3 = scale %10 %8\n%12 : mat3 = outer %2 %5\n\
                %13 : mat3 = sub %12 %4\nstore 2 %0 %11 @1\nstore 3 %0 %13 @1\n";
    let m: Vec<f32> = (0..18).map(|k| ((k * 7 % 11) as f32 - 5.0) * 0.3).collect();
    let v: Vec<f32> = (0..6).map(|k| (k as f32 - 2.5) * 0.4).collect();
    let (a, b) = (floats(device, &m), floats(device, &v));
    let (out, mo) = (floats(device, &[0.0; 6]), floats(device, &[0.0; 18]));
    let args = [array(&a, ElemTy::Mat3), array(&b, ElemTy::Vec3), array(&out, ElemTy::Vec3), array(&mo, ElemTy::Mat3)];
    run(device, program(text), 2, &args).unwrap();
    let (found, found_m) = (read_floats(device, &out), read_floats(device, &mo));
    for i in 0..2 {
        let m = |r: usize, c: usize| f64::from(m[i * 9 + r * 3 + c]);
        let v: Vec<f64> = (0..3).map(|k| f64::from(v[i * 3 + k])).collect();
        let mm = |r: usize, c: usize| (0..3).map(|k| m(k, r) * m(k, c)).sum::<f64>();
        let mv: Vec<f64> = (0..3).map(|r| (0..3).map(|c| mm(r, c) * v[c]).sum()).collect();
        let mut x: Vec<f64> =
            (0..3).map(|k| mv[(k + 1) % 3] * v[(k + 2) % 3] - mv[(k + 2) % 3] * v[(k + 1) % 3]).collect();
        x[2] = v[1];
        for k in 0..3 {
            close("vector", i as f32, k as f32, found[i * 3 + k], x[k] * v[k] * v[1], 1e-5);
            for c in 0..3 {
                close("matrix", k as f32, c as f32, found_m[i * 9 + k * 3 + c], v[k] * mv[c] - mm(k, c), 1e-5);
            }
        }
    }
}
