//! Branches, loops, stacks, accumulation and calls.

use super::*;
use crate::kernel::FnDef;

const COLLATZ: &str = "fn collatz\narray 0 read u32 x owned\narray 1 store u32 out owned\nscalar 2 %1 u32 turns\nbody\n\
    %0 : usize = pos\n%2 : u32 = load 0 %0 @1\n%3 : u32 = const 0\n%4 : u32 = const 1\n%5 : u32 = const 2\n\
    for %6 : u32 = %3 .. %1 carry %7 : u32 = %2 , %8 : u32 = %3 -> %9 %10 {\n\
    %11 : bool = gt %7 %4\n\
    if %11 -> %12 : u32 , %13 : u32 {\n\
    %14 : u32 = rem %7 %5\n%15 : bool = eq %14 %4\n%16 : u32 = const 3\n\
    if %15 -> %17 : u32 {\n%18 : u32 = mul %7 %16\n%19 : u32 = add %18 %4\nyield %19\n} else {\n\
    %20 : u32 = div %7 %5\n%21 : u32 = load 0 %0 @2\nyield %20\n}\n\
    %22 : u32 = add %8 %4\nyield %17 %22\n} else {\nyield %7 %8\n}\nyield %12 %13\n}\n\
    %23 : u32 = const 1000\n%24 : u32 = mul %9 %23\n%25 : u32 = add %24 %10\nstore 1 %0 %25 @3\n";

#[test]
fn branches_in_a_loop_of_a_length_known_at_launch() {
    let Some(device) = device() else { return };
    let x: Vec<u32> = (1..200).collect();
    let (a, out) = (words(device, &x), words(device, &[0; 199]));
    let args = [array(&a, ElemTy::U32), array(&out, ElemTy::U32), LaunchArg::U32(300)];
    run(device, program(COLLATZ), 199, &args).unwrap();
    for (x, found) in x.into_iter().zip(read_words(device, &out)) {
        let (mut v, mut n) = (x, 0);
        while v > 1 {
            v = if v % 2 == 1 { 3 * v + 1 } else { v / 2 };
            n += 1;
        }
        assert_eq!(found, 1000 * v + n, "of {x}");
    }
}

#[test]
fn carried_values_that_swap_keep_their_old_values() {
    let Some(device) = device() else { return };
    let text = "fn swap\narray 0 store real out\nscalar 1 %1 i32 lo\nscalar 2 %2 i32 hi\nbody\n%0 : usize = pos\n\
                %3 : real = const 1\n%4 : real = const 2\n\
                for %5 : i32 = %1 .. %2 carry %6 : real = %3 , %7 : real = %4 -> %8 %9 {\nyield %7 %6\n}\n\
                %10 : usize = const 1\nstore 0 %0 %8 @1\nstore 0 %10 %9 @1\n";
    for (lo, hi, expected) in [(-2, 1, [2.0, 1.0]), (-2, 2, [1.0, 2.0]), (3, -3, [1.0, 2.0])] {
        let out = floats(device, &[0.0, 0.0]);
        run(device, program(text), 1, &[real(&out), LaunchArg::I32(lo), LaunchArg::I32(hi)]).unwrap();
        assert_eq!(read_floats(device, &out), expected);
    }
}

/// Adjoint of `y = x_n` with `x_{k+1} = sin(x_k) + k x_k`, by a stack of the `x_k` read from the last.
fn adjoint_of_a_loop(bound: &str) -> String {
    format!(
        "fn replay\narray 0 read real x\narray 1 add real bar owned\nscalar 2 %1 u32 n\nbody\n%0 : usize = pos\n\
         %2 : real = load 0 %0 @1\n{bound}%4 : u32 = const 0\n%5 : bool = lt %4 %3\n%6 : u32 = sub %3 %4\n\
         %7 : u32 = select %5 %6 %4\n%8 : usize = cast %7\nstack 0 real %8\nstack 1 i32 %8\nstack 2 bool %8\n\
         for %9 : u32 = %4 .. %3 carry %10 : real = %2 -> %11 {{\npush 0 %9 %10\n%12 : i32 = cast %9\n\
         %13 : i32 = neg %12\npush 1 %9 %13\n%14 : u32 = const 1\n%15 : u32 = bit_and %9 %14\n%16 : bool = eq %15 %14\n\
         push 2 %9 %16\n%17 : real = sin %10\n%18 : real = cast %9\n%19 : real = mul %18 %10\n\
         %20 : real = add %17 %19\n%21 : real = const 0.25\n%22 : real = mul %20 %21\nyield %22\n}}\n\
         %23 : real = const 1\n\
         for %24 : u32 = %4 .. %3 carry %25 : real = %23 -> %26 {{\n%27 : u32 = sub %3 %24\n%28 : u32 = const 1\n\
         %29 : u32 = sub %27 %28\n%30 : real = peek 0 %29\n%31 : i32 = peek 1 %29\n%32 : bool = peek 2 %29\n\
         %33 : real = cos %30\n%34 : real = cast %31\n%35 : real = sub %33 %34\n%36 : real = const 0.25\n\
         %37 : real = mul %35 %36\n%38 : real = mul %25 %37\n%39 : u32 = bit_and %29 %28\n%40 : bool = eq %39 %28\n\
         %41 : bool = eq %32 %40\n%42 : real = const nan\n%43 : real = select %41 %38 %42\nyield %43\n}}\n\
         add 1 %0 %26 @2\n"
    )
}

fn expected_adjoint(x: f32, n: u32) -> f64 {
    let (mut x, mut slope) = (f64::from(x), 1.0);
    for k in 0..n {
        slope *= 0.25 * (x.cos() + f64::from(k));
        x = 0.25 * (x.sin() + f64::from(k) * x);
    }
    slope
}

fn check_adjoint(bound: &str, points: usize, n: u32, turns: impl Fn(usize) -> u32) {
    let Some(device) = device() else { return };
    let x: Vec<f32> = (0..points).map(|k| (k % 97) as f32 * 0.01 - 0.4).collect();
    let (a, bar) = (floats(device, &x), floats(device, &vec![1.0; points]));
    run(device, program(&adjoint_of_a_loop(bound)), points, &[real(&a), real(&bar), LaunchArg::U32(n)]).unwrap();
    for (k, found) in read_floats(device, &bar).into_iter().enumerate() {
        let expected = 1.0 + expected_adjoint(x[k], turns(k));
        let error = (f64::from(found) - expected).abs() / expected.abs();
        assert!(error < 1e-5, "point {k}: {found} instead of {expected}");
    }
}

#[test]
fn a_short_stack_is_local() {
    check_adjoint("%3 : u32 = const 7\n", 500, 0, |_| 7);
}

#[test]
fn a_stack_of_a_length_known_at_launch() {
    check_adjoint("%3 : u32 = cast %1\n", 300, 9, |_| 9);
    check_adjoint("%3 : u32 = cast %1\n", 300, 0, |_| 0);
}

#[test]
fn a_stack_bounded_by_a_position() {
    check_adjoint("%50 : u32 = const 10\n%51 : u32 = cast %0\n%3 : u32 = min %50 %51\n", 300, 0, |k| k.min(10) as u32);
}

#[test]
fn a_stack_bounded_by_a_length() {
    check_adjoint(
        "%50 : usize = len 0\n%51 : usize = const 30\n%52 : usize = div %50 %51\n%3 : u32 = cast %52\n",
        300,
        0,
        |_| 10,
    );
}

#[test]
fn a_domain_that_needs_much_scratch_memory_is_split() {
    let Some(device) = device() else { return };
    // 2000 slots of a real, 200 kB per 25 threads: 20,000 threads are 160 MB.
    let text = "fn deep\narray 0 add real out owned\nscalar 1 %1 u32 n\nbody\n%0 : usize = pos\n%2 : u32 = const 0\n\
                %3 : usize = cast %1\nstack 0 real %3\nfor %4 : u32 = %2 .. %1 carry -> {\n%5 : real = cast %4\n\
                %6 : real = cast %0\n%7 : real = add %5 %6\npush 0 %4 %7\nyield\n}\n%8 : u32 = const 1999\n\
                %9 : real = peek 0 %8\nadd 0 %0 %9 @1\n";
    let out = floats(device, &vec![0.5; 20_000]);
    run(device, program(text), 20_000, &[real(&out), LaunchArg::U32(2000)]).unwrap();
    for (k, found) in read_floats(device, &out).into_iter().enumerate() {
        assert_eq!(found, k as f32 + 1999.5);
    }
}

#[test]
fn a_stack_bounded_by_data_is_refused() {
    let Some(device) = device() else { return };
    let text = "fn data\narray 0 read u32 x\narray 1 store real out\nbody\n%0 : usize = pos\n%1 : u32 = load 0 %0 @1\n\
                stack 0 real %1\n%2 : u32 = const 0\n%3 : real = const 1\npush 0 %2 %3\n%4 : real = peek 0 %2\n\
                store 1 %0 %4 @1\n";
    let (a, out) = (words(device, &[1]), floats(device, &[0.0]));
    let error = run(device, program(text), 1, &[array(&a, ElemTy::U32), real(&out)]).unwrap_err().to_string();
    assert!(error.contains("kernel `data`") && error.contains("array data"), "{error}");
}

const SCATTER: &str = "fn scatter\narray 0 read real x\narray 1 add vec3 y\nbody\n%0 : usize = pos\n\
    %1 : real = load 0 %0 @1\n%2 : usize = const 5\n%3 : usize = rem %0 %2\n%4 : real = neg %1\n%5 : real = const 0.5\n\
    %6 : vec3 = compose %1 %4 %5\nadd 1 %3 %6 @2\n";

#[test]
fn threads_add_to_one_element() {
    let Some(device) = device() else { return };
    let exchange = CubeDevice { atomic_add: false, ..again(device) };
    for device in [device, &exchange] {
        let x: Vec<f32> = (0..4000).map(|k| (k % 10) as f32).collect();
        let (a, y) = (floats(device, &x), floats(device, &[1.0; 12]));
        run(device, program(SCATTER), 4000, &[real(&a), array(&y, ElemTy::Vec3)]).unwrap();
        // The fifth element is out of range: adding to it changes nothing.
        for (k, v) in read_floats(device, &y).into_iter().enumerate() {
            let sum = 400.0 * (2 * (k / 3) + 5) as f32;
            assert_eq!(v, [1.0 + sum, 1.0 - sum, 401.0][k % 3], "component {k}, atomic add {}", device.atomic_add);
        }
    }
}

/// All threads at one scalar, many times over, with sums that f32 holds exactly.
#[test]
fn threads_that_add_without_atomic_addition_lose_nothing() {
    let Some(device) = device() else { return };
    let device = CubeDevice { atomic_add: false, ..again(device) };
    let text = "fn crowd\narray 0 read real x\narray 1 add real y\nbody\n%0 : usize = pos\n%1 : real = load 0 %0 @1\n\
                %2 : usize = const 0\nadd 1 %2 %1 @1\n%3 : real = neg %1\nadd 1 %2 %1 @1\nadd 1 %2 %3 @1\n";
    let program = program(text);
    let x: Vec<f32> = (0..20_000).map(|k| if k % 2 == 0 { (k % 50) as f32 } else { -((k % 7) as f32) }).collect();
    let sum: f64 = x.iter().map(|&v| f64::from(v)).sum();
    let a = floats(&device, &x);
    for start in [0.0, -0.0, 8.0, -sum as f32] {
        let y = floats(&device, &[start]);
        run(&device, program, x.len(), &[real(&a), real(&y)]).unwrap();
        assert_eq!(f64::from(read_floats(&device, &y)[0]), f64::from(start) + sum);
    }
}

/// Software Vulkan has been seen to end the loops of a cube early when some of its threads are outside the domain.
#[test]
fn additions_in_a_loop_reach_their_end_in_a_cube_that_is_not_full() {
    let Some(device) = device() else { return };
    let exchange = CubeDevice { atomic_add: false, ..again(device) };
    let text = "fn looped\narray 0 read real x\narray 1 add real y\nscalar 2 %1 u32 m\nbody\n%0 : usize = pos\n\
                %2 : real = load 0 %0 @1\n%3 : u32 = const 0\nfor %4 : u32 = %3 .. %1 carry -> {\n\
                %5 : usize = cast %4\nadd 1 %5 %2 @2\nyield\n}\n";
    let program = program(text);
    for device in [device, &exchange] {
        for n in [1u32, 7, 9, 65, 1000] {
            let a = floats(device, &(1..=n).map(|k| k as f32).collect::<Vec<_>>());
            let y = floats(device, &[0.0; 20]);
            run(device, program, n as usize, &[real(&a), real(&y), LaunchArg::U32(20)]).unwrap();
            let sum = (n * (n + 1) / 2) as f32;
            assert_eq!(read_floats(device, &y), [sum; 20], "{n} threads, atomic add {}", device.atomic_add);
        }
    }
}

#[test]
fn additions_that_overflow_or_are_not_numbers_end() {
    let Some(device) = device() else { return };
    let device = CubeDevice { atomic_add: false, ..again(device) };
    for (added, holds) in [(f32::INFINITY, f32::is_infinite as fn(f32) -> bool), (f32::NAN, f32::is_nan)] {
        let (a, y) = (floats(&device, &[added; 500]), floats(&device, &[1.0; 12]));
        run(&device, program(SCATTER), 500, &[real(&a), array(&y, ElemTy::Vec3)]).unwrap();
        let y = read_floats(&device, &y);
        assert!(holds(y[0]) && holds(y[1]) && y[2] == 1.0 + 0.5 * 100.0, "{y:?}");
    }
}

#[test]
fn one_array_may_be_two_that_are_added_to() {
    let Some(device) = device() else { return };
    let text = "fn both\narray 0 read real x\narray 1 add real a owned\narray 2 add real b owned\nbody\n%0 : usize = pos\n\
                %1 : real = load 0 %0 @1\n%2 : real = add %1 %1\nadd 1 %0 %1 @1\nadd 2 %0 %2 @1\nadd 1 %0 %1 @1\n";
    let (x, y) = (floats(device, &[1.0, 2.0, 3.0]), floats(device, &[0.5; 3]));
    run(device, program(text), 3, &[real(&x), real(&y), real(&y)]).unwrap();
    assert_eq!(read_floats(device, &y), [4.5, 8.5, 12.5]);
}

#[test]
fn integers_are_added_atomically() {
    let Some(device) = device() else { return };
    let text = "fn count\narray 0 add u32 n\nbody\n%0 : usize = const 0\n%1 : u32 = const 3\nadd 0 %0 %1 @1\n";
    let n = words(device, &[5]);
    run(device, program(text), 1000, &[array(&n, ElemTy::U32)]).unwrap();
    assert_eq!(read_words(device, &n), [3005]);
}

#[test]
fn take_reads_and_clears() {
    let Some(device) = device() else { return };
    let text = "fn take\narray 0 take real t\narray 1 add real y owned\nbody\n%0 : usize = pos\n\
                %1 : real = take 0 %0 @1\nadd 1 %0 %1 @1\n";
    let (t, y) = (floats(device, &[1.0, 2.0]), floats(device, &[10.0, 20.0]));
    run(device, program(text), 2, &[real(&t), real(&y)]).unwrap();
    assert_eq!((read_floats(device, &t), read_floats(device, &y)), (vec![0.0; 2], vec![11.0, 22.0]));
}

#[test]
fn absent_gradients_read_zero_and_drop() {
    let Some(device) = device() else { return };
    let text = "fn absent\narray 0 read real x\narray 1 add real bar\narray 2 store real out\nbody\n%0 : usize = pos\n\
                %1 : real = load 0 %0 @1\n%2 : real = const 3\n%3 : real = add %1 %2\n%4 : usize = len 0\n\
                %5 : real = cast %4\n%6 : real = add %3 %5\nadd 1 %0 %6 @1\nstore 2 %0 %6 @1\n";
    let out = floats(device, &[0.0]);
    run(device, program(text), 1, &[LaunchArg::Absent { len: 40 }, LaunchArg::Absent { len: 1 }, real(&out)]).unwrap();
    assert_eq!(read_floats(device, &out), [43.0]);
}

#[test]
fn indices_out_of_range_are_clamped_and_dropped() {
    let Some(device) = device() else { return };
    let text = "fn range\narray 0 read real x\narray 1 store real out\nscalar 2 %1 u32 by\nbody\n%0 : usize = pos\n\
                %2 : usize = cast %1\n%3 : usize = add %0 %2\n%4 : real = load 0 %3 @1\nstore 1 %3 %4 @1\n";
    let program = program(text);
    let (x, out) = (floats(device, &[1.0, 2.0, 3.0]), floats(device, &[9.0; 4]));
    run(device, program, 6, &[real(&x), real(&out), LaunchArg::U32(1)]).unwrap();
    assert_eq!(read_floats(device, &out), [9.0, 2.0, 3.0, 3.0]);
    run(device, program, 6, &[real(&x), real(&out), LaunchArg::U32(u32::MAX)]).unwrap();
    assert_eq!(read_floats(device, &out), [1.0, 2.0, 3.0, 3.0]);
    // A part of an array; and none of it.
    let part = |buffer, offset, len| LaunchArg::Buffer { buffer, offset, len, elem: ElemTy::Real };
    run(device, program, 6, &[part(&x, 1, 2), part(&out, 1, 2), LaunchArg::U32(0)]).unwrap();
    assert_eq!(read_floats(device, &out), [1.0, 2.0, 3.0, 3.0]);
    run(device, program, 6, &[part(&x, 1, 0), part(&out, 0, 3), LaunchArg::U32(0)]).unwrap();
    assert_eq!(read_floats(device, &out), [0.0, 0.0, 0.0, 3.0]);
}

#[test]
fn positions_in_three_dimensions() {
    let Some(device) = device() else { return };
    let text = "fn places\narray 0 store vec3 out\nbody\n%0 : usize = pos\n%1 : usize = posx\n%2 : usize = posy\n\
                %3 : usize = posz\n%4 : real = cast %1\n%5 : real = cast %2\n%6 : real = cast %3\n\
                %7 : vec3 = compose %4 %5 %6\nstore 0 %0 %7 @1\n";
    let out = floats(device, &[0.0; 3 * 60]);
    device.launch(program(text), ScalarTy::F32, Domain::from((3, 4, 5)), &[array(&out, ElemTy::Vec3)]).unwrap();
    let found = read_floats(device, &out);
    for k in 0..60 {
        assert_eq!(found[3 * k..3 * k + 3], [k % 3, k / 3 % 4, k / 12].map(|v| v as f32));
    }
}

#[test]
fn scalars_of_every_type_and_fixed_ones() {
    let Some(device) = device() else { return };
    let text = "fn scalars\nscalar 0 %1 real a\nscalar 1 %2 bool b\nscalar 2 %3 i32 c\narray 3 store real out\n\
                scalar 4 %4 real d comptime\nscalar 5 %5 u32 e\nscalar 6 %6 bool f comptime\nbody\n%0 : usize = pos\n\
                %7 : real = cast %3\n%8 : real = cast %5\n%9 : real = add %1 %7\n%10 : real = add %9 %8\n\
                %11 : real = select %2 %10 %4\n%12 : real = neg %11\n%13 : real = select %6 %12 %11\nstore 3 %0 %13 @1\n";
    let program = program(text);
    let out = floats(device, &[0.0]);
    for (b, f, expected) in [(true, false, 5.5), (false, false, 0.1f32), (true, true, -5.5), (false, true, -0.1)] {
        let args = [
            LaunchArg::Real(1.5),
            LaunchArg::Bool(b),
            LaunchArg::I32(-3),
            real(&out),
            LaunchArg::Real(0.1),
            LaunchArg::Usize(7),
            LaunchArg::Bool(f),
        ];
        run(device, program, 1, &args).unwrap();
        assert_eq!(read_floats(device, &out), [expected]);
    }
}

const TWICE: Program = Program {
    file: file!(),
    params: &[],
    text: "fn twice\nscalar 0 %0 vec3 v\narray 1 read vec3 a\nscalar 2 %1 usize k\nbody\n%2 : vec3 = load 1 %1 @1\n\
           %3 : vec3 = add %0 %2\n%4 : real = dot %3 %2\nreturn %3 %4\n",
    work: 0,
    callees: &[],
    writes: &[],
};

fn twice() -> &'static FnDef {
    static DEF: FnDef = FnDef { name: "twice", primal: TWICE, replay: TWICE, vjp: TWICE, jvp: TWICE, second: None };
    &DEF
}

fn recursive() -> &'static FnDef {
    static PROGRAM: Program = Program {
        file: file!(),
        params: &[],
        text: "fn again\nbody\ncall 0 primal ( ) ->\nreturn\n",
        work: 0,
        callees: &[recursive],
        writes: &[],
    };
    static DEF: FnDef =
        FnDef { name: "again", primal: PROGRAM, replay: PROGRAM, vjp: PROGRAM, jvp: PROGRAM, second: None };
    &DEF
}

#[test]
fn calls_are_inlined() {
    let Some(device) = device() else { return };
    let text = "fn caller\narray 0 store real out\narray 1 read vec3 a\nbody\n%0 : usize = pos\n%1 : vec3 = load 1 %0 @1\n\
                call 0 primal ( %1 #1 %0 ) -> %2 : vec3 , %3 : real\n\
                call 0 primal ( %2 #1 %0 ) -> %4 : vec3 , %5 : real\n%6 : real = add %3 %5\nstore 0 %0 %6 @1\n";
    let (a, out) = (floats(device, &[1.0, 2.0, 3.0]), floats(device, &[0.0]));
    run(device, program_with(text, &[twice]), 1, &[real(&out), array(&a, ElemTy::Vec3)]).unwrap();
    assert_eq!(read_floats(device, &out), [2.0 * 14.0 + 3.0 * 14.0]);
    let text = "fn caller\narray 0 store real out\nbody\ncall 0 primal ( ) ->\n";
    let error = run(device, program_with(text, &[recursive]), 1, &[real(&out)]).unwrap_err().to_string();
    assert!(error.contains("calls itself"), "{error}");
}
