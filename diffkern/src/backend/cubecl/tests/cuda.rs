//! The CUDA text of a kernel, which needs no device: what NVRTC would be given.

use cubecl::CubeTask;
use cubecl::cuda::CudaRuntime;
use cubecl::prelude::{ExecutionMode, KernelMetadata, KernelTask, Runtime};

use super::super::build::{Special, Target};
use super::super::kernel::Kernel;
use super::super::link::Linked;
use super::program;

fn text_of(source: &str, double: bool, bound: usize) -> String {
    let special = Special {
        target: Target { double, atomic_add: true, exact_math: true },
        bound: (0..bound).map(Some).collect(),
        copied: vec![],
        comptime: vec![None; bound],
    };
    let (kernel, _) = Kernel::new(Linked::of(program(source)).unwrap(), special, 128).unwrap();
    let address = kernel.address_type();
    type Compiler = <CudaRuntime as Runtime>::Compiler;
    let task = KernelTask::<Compiler, _>::new(kernel);
    let mut compiler = Compiler::default();
    let compiled = task.compile(&mut compiler, &Default::default(), ExecutionMode::Unchecked, address);
    compiled.map(|c| c.source).map_err(|e| format!("{e:?}")).unwrap()
}

const SOURCE: &str = "fn sample\narray 0 read real x\narray 1 add real y\nbody\n%0 : usize = pos\n%1 : real = load 0 %0 @1\n\
    %2 : real = const 0.1234567890123456789\n%3 : real = mul %1 %2\n%4 : real = atan2 %3 %1\n%5 : usize = const 0\n\
    %6 : u32 = const 40\n%7 : u32 = const 0\nstack 0 real %6\nfor %8 : u32 = %7 .. %6 carry %9 : real = %4 -> %10 {\n\
    push 0 %8 %9\n%11 : real = sin %9\nyield %11\n}\n%12 : real = peek 0 %7\n%13 : real = add %10 %12\nadd 1 %5 %13 @2\n";

#[test]
fn the_text_has_full_literals_atomics_and_the_guard() {
    for (double, ty, literal) in [(true, "double", "0.12345678901234568"), (false, "float", "0.123456791")] {
        let text = text_of(SOURCE, double, 2);
        eprintln!("{text}");
        for part in ["kernel_sample", "atomicAdd(", "atan2", ty, literal, "if (", "for ("] {
            assert!(text.contains(part), "no `{part}` in\n{text}");
        }
        assert!(!text.contains("__sinf"), "an approximate function in\n{text}");
    }
}

#[test]
fn the_text_is_the_same_each_time() {
    assert_eq!(text_of(SOURCE, false, 2).len(), text_of(SOURCE, false, 2).len());
}
