//! The CUDA text of a kernel, which needs no device: what NVRTC is given.

use cubecl::CubeTask;
use cubecl::cuda::CudaRuntime;
use cubecl::prelude::{ExecutionMode, KernelMetadata, KernelTask, Runtime};

use super::super::build::{Special, Target};
use super::super::kernel::Kernel;
use super::{device, floats, program, read_floats, real, run};
use crate::linked::Linked;

type Compiler = <CudaRuntime as Runtime>::Compiler;
type Options = <Compiler as cubecl::Compiler>::CompilationOptions;

/// Compute capabilities, times ten, at which CubeCL's options change, and the two that matter most.
const CAPABILITIES: [u32; 5] = [60, 70, 75, 80, 90];

/// What CubeCL compiles with on a device of this compute capability; it decides when it opens the device.
fn options(capability: u32) -> Options {
    let mut options = Options { warp_size: 32, ..Options::default() };
    let has = &mut options.supports_features;
    has.fast_math = true;
    has.grid_constants = capability >= 70;
    has.fast_tanh = capability >= 75;
    has.clusters = capability >= 90;
    has.elect_sync = capability >= 90;
    options
}

fn text_of(source: &str, double: bool, bound: usize, capability: u32) -> String {
    let special = Special {
        target: Target { double, atomic_add: true, exact_math: true },
        bound: (0..bound).map(Some).collect(),
        copied: vec![],
        comptime: vec![None; bound],
    };
    let (kernel, _) = Kernel::new(Linked::of(program(source)).unwrap(), special, 128).unwrap();
    let address = kernel.address_type();
    let task = KernelTask::<Compiler, _>::new(kernel);
    let compiled = task.compile(&mut Compiler::default(), &options(capability), ExecutionMode::Unchecked, address);
    compiled.map(|c| c.source).map_err(|e| format!("{e:?}")).unwrap()
}

const SOURCE: &str = "fn sample\narray 0 read real x\narray 1 add real y\nbody\n%0 : usize = pos\n%1 : real = load 0 %0 @1\n\
    %2 : real = const 0.1234567890123456789\n%3 : real = mul %1 %2\n%4 : real = atan2 %3 %1\n%5 : usize = const 0\n\
    %6 : u32 = const 40\n%7 : u32 = const 0\nstack 0 real %6\nfor %8 : u32 = %7 .. %6 carry %9 : real = %4 -> %10 {\n\
    push 0 %8 %9\n%11 : real = sin %9\n%14 : real = tanh %11\n%15 : real = sqrt %14\n%16 : real = exp %15\n\
    %17 : real = ln %16\n%18 : real = div %17 %16\nyield %18\n}\n%12 : real = peek 0 %7\n\
    %13 : real = add %10 %12\nadd 1 %5 %13 @2\n";

/// What CubeCL may write instead of an exact function where its options and a kernel allow it.
const APPROXIMATE: [&str; 9] =
    ["__sinf", "__cosf", "__expf", "__logf", "__powf", "__fdividef", "__frsqrt", "__fsqrt", "__tanhf"];

#[test]
fn the_text_has_full_literals_atomics_and_the_guard() {
    for capability in CAPABILITIES {
        for (double, ty, literal) in [(true, "double", "0.12345678901234568"), (false, "float", "0.123456791")] {
            let text = text_of(SOURCE, double, 2, capability);
            for part in ["kernel_sample", "atomicAdd(", "atan2", ty, literal, "if (", "for ("] {
                assert!(text.contains(part), "sm_{capability}: no `{part}` in\n{text}");
            }
            for part in APPROXIMATE {
                assert!(!text.contains(part), "sm_{capability}: the approximate function `{part}` in\n{text}");
            }
            assert!(!text.contains("approx"), "sm_{capability}: an approximate function in\n{text}");
        }
    }
}

#[test]
fn the_text_is_the_same_each_time() {
    assert_eq!(plain(&text_of(SOURCE, false, 2, 90)), plain(&text_of(SOURCE, false, 2, 90)));
}

/// The text that a device was given is the one that these tests look at. Only the emulated device tells
/// (`tools/cuda-emulation`): it keeps every text in the folder `texts`.
#[test]
fn an_emulated_device_is_given_this_text() {
    let Some(folder) = std::env::var_os("CUDA_EMULATION_DIR") else { return };
    let device = device().filter(|device| device.name == "cuda").unwrap();
    let (x, y) = (floats(device, &[0.5; 3]), floats(device, &[0.0]));
    run(device, program(SOURCE), 3, &[real(&x), real(&y)]).unwrap();
    assert!(read_floats(device, &y)[0].is_finite());

    let files = std::fs::read_dir(std::path::Path::new(&folder).join("texts")).unwrap();
    let sample = |path: &std::path::Path| path.file_name().unwrap().to_string_lossy().starts_with("kernel_sample-f32-");
    let texts: Vec<_> = files.map(|file| file.unwrap().path()).filter(|path| sample(path)).collect();
    let mut given = texts.iter().map(|path| plain(&std::fs::read_to_string(path).unwrap()));
    let expected = plain(&text_of(SOURCE, false, 2, 90));
    assert!(given.any(|text| text == expected), "none of {texts:?} is\n{expected}");
}

/// With temporaries numbered as they appear: CubeCL counts them over the whole process.
fn plain(text: &str) -> String {
    let mut seen = Vec::new();
    let mut parts = text.split("tmp_");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.chars().take_while(char::is_ascii_digit).count();
        let (number, rest) = part.split_at(digits);
        let k = seen.iter().position(|s| *s == number).unwrap_or_else(|| {
            seen.push(number);
            seen.len() - 1
        });
        out += &format!("tmp_{k}{rest}");
    }
    out
}
