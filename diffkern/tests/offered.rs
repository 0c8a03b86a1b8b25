//! A device is offered where kernels run on it, and else the reason says what is missing. Every case is a process of its
//! own: what a process has loaded stays loaded. Without the emulated driver (`tools/cuda-emulation`) a machine can only be
//! what it is.
#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

use std::path::PathBuf;
use std::process::Command;

use diffkern::Device;

const CHILD: &str = "DIFFKERN_TEST_OFFERED";

/// What a process finds in which `change` was made to the environment: whether there is CUDA or why not, and which device
/// is best.
fn found(change: impl FnOnce(&mut Command) -> &mut Command) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]).env(CHILD, "1");
    let output = change(&mut command).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let known = Device::known();
    assert_eq!(known.len(), 3);
    for (name, what) in &known {
        assert_eq!(what.is_ok(), Device::by_name(name).is_ok(), "{name}");
        match what {
            Ok(description) => println!("<{name} {description}>"),
            Err(reason) => println!("<no {name}: {reason}>"),
        }
    }
    println!("<best {}>", Device::best().name());
    assert_eq!(Device::best().array(&[1.0f32, 2.0]).unwrap().to_vec().unwrap(), [1.0, 2.0]);
}

/// Checks that CUDA is not offered, that the reason has all of `parts`, and that another device is best.
fn refused(text: &str, parts: &[&str]) {
    for part in ["<no cuda: device `cuda`: "].iter().chain(parts) {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(text.contains("<best ") && !text.contains("<best cuda>"), "{text}");
    assert!(!text.contains("panicked"), "{text}");
}

/// The folder of the emulated driver's libraries, where tests run on it.
fn emulated() -> Option<PathBuf> {
    std::env::var_os("CUDA_EMULATION_DIR").map(PathBuf::from)
}

#[test]
fn a_device_is_offered_where_kernels_run() {
    if emulated().is_some() {
        let text = found(|c| c);
        assert!(text.contains("<cuda emulated H200 (CUDA), f32 and f64>") && text.contains("<best cuda>"), "{text}");
    }
}

#[test]
fn a_machine_without_a_driver_says_so() {
    let here = || Device::cuda().is_err_and(|error| error.to_string().contains("no CUDA driver"));
    if emulated().is_some() || here() {
        refused(&found(|c| c.env_remove("LD_LIBRARY_PATH")), &["no CUDA driver", "install the driver"]);
    }
}

#[test]
fn a_driver_without_its_compiler_is_no_device() {
    let Some(dir) = emulated() else { return };
    let text = found(|c| c.env("LD_LIBRARY_PATH", dir.join("driver-only")));
    refused(&text, &["libnvrtc cannot be loaded", "install the CUDA toolkit", "LD_LIBRARY_PATH"]);
}

#[test]
fn a_compiler_without_headers_is_no_device() {
    if emulated().is_some() {
        let text = found(|c| c.env("CUDA_PATH", "/nowhere"));
        refused(&text, &["no include/cuda_runtime.h in /nowhere", "set CUDA_PATH"]);
        refused(&found(|c| c.env_remove("CUDA_PATH")), &["no include/cuda_runtime.h in", "set CUDA_PATH"]);
    }
}

#[test]
fn a_kernel_that_does_not_compile_or_run_is_no_device() {
    if emulated().is_some() {
        for (fault, part) in [("compile", "told to fail"), ("launch", "LAUNCH_FAILED"), ("values", "word 0")] {
            let text = found(|c| c.env("CUDA_EMULATION_FAULT", fault));
            refused(&text, &["a kernel run on it for a trial fails", part]);
        }
    }
}
