//! What a GPU would answer with a wrong number, a panic or silence, and here is an error.

use super::*;

#[test]
fn too_many_arrays_are_an_error_that_says_so() {
    let Some(device) = device() else { return };
    let n = device.max_bindings() + 1;
    if n > 200 {
        return;
    }
    let arrays: String = (0..n).map(|k| format!("array {k} store real a{k}\n")).collect();
    let stores: String = (0..n).map(|k| format!("store {k} %0 %1 @1\n")).collect();
    let text = format!("fn many\n{arrays}body\n%0 : usize = pos\n%1 : real = const 2\n{stores}");
    let buffers: Vec<_> = (0..n).map(|_| floats(device, &[0.0])).collect();
    let args: Vec<_> = buffers.iter().map(real).collect();
    let error = run(device, program(&text), 1, &args).unwrap_err().to_string();
    assert!(error.contains("kernel `many`") && error.contains(&format!("{n} arrays")), "{error}");
    // One fewer fits, and the device is none the worse.
    let mut fewer = args;
    fewer[0] = LaunchArg::Absent { len: 1 };
    run(device, program(&text), 1, &fewer).unwrap();
    assert_eq!(read_floats(device, &buffers[n - 1]), [2.0]);
}

#[test]
fn f64_is_refused_where_it_would_be_wrong() {
    let Some(device) = device() else { return };
    if device.supports_f64() {
        return;
    }
    let text = "fn double\narray 0 store real a\nbody\n%0 : usize = pos\n%1 : real = const 2\nstore 0 %0 %1 @1\n";
    let a = floats(device, &[0.0; 2]);
    let error = device.launch(program(text), ScalarTy::F64, Domain::from(1), &[real(&a)]).unwrap_err().to_string();
    assert!(error.contains("f64") && error.contains("cpu"), "{error}");
}

/// No device is needed: the kernel is refused when it is built.
#[test]
fn f64_is_not_added_by_halves_where_there_is_no_atomic_addition() {
    use super::build::{Special, Target};
    let text = "fn add\narray 0 add real y\nbody\n%0 : usize = const 0\n%1 : real = const 2\nadd 0 %0 %1 @1\n";
    let kernel = |double, atomic_add| {
        let target = Target { double, atomic_add, exact_math: true };
        let special = Special { target, bound: vec![Some(0)], copied: vec![], comptime: vec![None] };
        kernel::Kernel::new(crate::linked::Linked::of(program(text)).unwrap(), special, 64).map(|_| ())
    };
    assert!(kernel(true, false).unwrap_err().contains("f64"));
    assert_eq!([kernel(true, true), kernel(false, false), kernel(false, true)], [Ok(()), Ok(()), Ok(())]);
}

#[test]
fn arrays_over_the_limit_are_refused() {
    let Some(device) = device() else { return };
    let error = device.alloc(device.max_bytes() + 4, true).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("cannot allocate") && error.contains(&device.max_bytes().to_string()), "{error}");
}

#[test]
fn more_cubes_than_one_dimension_holds() {
    let Some(device) = device() else { return };
    let text = "fn wide\narray 0 add u32 n\nbody\n%0 : usize = pos\n%1 : usize = const 4194303\n%2 : usize = const 2\n\
                %3 : bool = ge %0 %1\nif %3 -> {\n%4 : usize = sub %0 %1\n%5 : u32 = const 1\nadd 0 %4 %5 @1\nyield\n\
                } else {\nyield\n}\n";
    let n = words(device, &[0; 4]);
    run(device, program(text), 65_537 * 64, &[array(&n, ElemTy::U32)]).unwrap();
    assert_eq!(read_words(device, &n), [1; 4]);
}

#[test]
fn kernels_with_very_many_branches_are_refused() {
    let Some(device) = device() else { return };
    let block =
        |k: u32| format!("if %2 -> {{\n%{k} : real = load 0 %0 @1\nstore 1 %0 %{k} @1\nyield\n}} else {{\nyield\n}}\n");
    let text = |n: u32| {
        let body: String = (0..n).map(|k| block(10 + k)).collect();
        format!(
            "fn forest{n}\narray 0 read real x\narray 1 store real y\nbody\n%0 : usize = pos\n%1 : usize = const 1\n\
             %2 : bool = lt %0 %1\n{body}"
        )
    };
    let (x, y) = (floats(device, &[3.0]), floats(device, &[0.0]));
    let error = run(device, program(&text(400)), 1, &[real(&x), real(&y)]).unwrap_err().to_string();
    assert!(error.contains("forest400") && error.contains("branches"), "{error}");
    run(device, program(&text(170)), 1, &[real(&x), real(&y)]).unwrap();
    assert_eq!(read_floats(device, &y), [3.0]);
}

#[test]
fn threads_that_launch_on_the_same_arrays_lose_nothing() {
    let Some(device) = device() else { return };
    let text = "fn increment\narray 0 add u32 n owned\nbody\n%0 : usize = pos\n%1 : u32 = const 1\nadd 0 %0 %1 @1\n";
    let program = program(text);
    let n = words(device, &[0; 1000]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    run(device, program, 1000, &[array(&n, ElemTy::U32)]).unwrap();
                }
            });
        }
    });
    assert_eq!(read_words(device, &n), [200; 1000]);
}

#[test]
fn wrong_arguments_are_named() {
    let Some(device) = device() else { return };
    let text = "fn one\narray 0 store vec3 a\nbody\n";
    let a = floats(device, &[0.0; 3]);
    let error = run(device, program(text), 1, &[real(&a)]).unwrap_err().to_string();
    assert!(error.contains("parameter `a`"), "{error}");
    assert!(run(device, program(text), 1, &[]).unwrap_err().to_string().contains("0 arguments where 1"));
}

#[test]
fn what_a_failed_launch_should_have_written_is_not_read() {
    let Some(device) = device() else { return };
    let a = floats(device, &[1.0, 2.0]);
    let text = "fn broken\narray 0 store real a\nbody\n";
    launch::poison(program(text), &[real(&a)], "kernel `broken`: does not compile");
    let mut data = [0; 8];
    let error = device.download(&a, 0, &mut data).unwrap_err().to_string();
    assert!(error.contains("`broken`"), "{error}");
    assert!(run(device, program(text), 1, &[real(&a)]).is_err());
    // New contents make it good again.
    device.upload(&a, 0, &[0; 8]).unwrap();
    assert_eq!(read_floats(device, &a), [0.0; 2]);
}

#[test]
fn a_kernel_that_the_driver_refuses_is_an_error_and_poisons_what_it_writes() {
    let Some(device) = device() else { return };
    let n = device.max_bindings() + 8;
    if n > 200 {
        return;
    }
    // The check before the launch is switched off: what it prevents must be noticed all the same.
    let mut properties = (*device.properties).clone();
    properties.hardware.max_bindings = 1000;
    let blind = CubeDevice { properties: Arc::new(properties), ..again(device) };
    let arrays: String = (0..n).map(|k| format!("array {k} store real a{k}\n")).collect();
    let stores: String = (0..n).map(|k| format!("store {k} %0 %1 @1\n")).collect();
    let text = format!("fn refused\n{arrays}body\n%0 : usize = pos\n%1 : real = const 2\n{stores}");
    let buffers: Vec<_> = (0..n).map(|_| floats(device, &[0.0])).collect();
    let args: Vec<_> = buffers.iter().map(real).collect();
    let error = run(&blind, program(&text), 1, &args).unwrap_err().to_string();
    assert!(error.contains("kernel `refused`"), "{error}");
    let error = blind.download(&buffers[0], 0, &mut [0; 4]).unwrap_err().to_string();
    assert!(error.contains("kernel `refused`"), "{error}");
    // The device goes on with other kernels.
    let fine = floats(device, &[1.0]);
    assert_eq!(read_floats(device, &fine), [1.0]);
}

#[test]
fn a_panic_inside_cubecl_is_an_error() {
    let panicked = client::guarded(|| -> u32 { panic!("no such device") });
    assert!(panicked.unwrap_err().contains("no such device"));
}

#[test]
fn parts_are_uploaded_copied_filled_and_read() {
    let Some(device) = device() else { return };
    let a = words(device, &[1, 2, 3, 4, 5]);
    device.upload(&a, 4, &bytes(&[20u32, 30], u32::to_ne_bytes)).unwrap();
    device.fill(&a, 12, 4, &7u32.to_ne_bytes()).unwrap();
    device.clear(&a, 16, 4).unwrap();
    let b = device.alloc(20, true).unwrap();
    device.copy(&a, 4, &b, 8, 12).unwrap();
    assert_eq!(read_words(device, &a), [1, 20, 30, 7, 0]);
    assert_eq!(read_words(device, &b), [0, 0, 20, 30, 7]);
    let mut part = [0; 8];
    device.download(&b, 8, &mut part).unwrap();
    assert_eq!(part, *bytes(&[20u32, 30], u32::to_ne_bytes));
}
