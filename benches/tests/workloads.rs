//! The command line of `workloads`: what it prints, and what it refuses in one line.

use std::process::{Command, Output};

fn workloads(words: &[&str]) -> std::io::Result<Output> {
    // A folder that is not the repository: nothing may depend on where it is called.
    Command::new(env!("CARGO_BIN_EXE_workloads")).args(words).current_dir(std::env::temp_dir()).output()
}

#[test]
fn senseless_arguments_are_refused_in_one_line() -> std::io::Result<()> {
    for (words, expected) in [
        (vec!["w9"], "[possible values: w1, w2, w3, w4, w5, w6, w7]"),
        (vec![], "<WORKLOAD>"),
        (vec!["w1", "--particles", "0"], "--particles 0: expected at least 1"),
        (vec!["w4", "--particles", "0"], "--particles 0: expected at least 1"),
        (vec!["w4", "--particles", "99999999999"], "expected at most"),
        (vec!["w2", "--particles", "many"], "invalid digit"),
        (vec!["w1", "--grid", "0"], "--grid 0: expected at least 8"),
        (vec!["w3", "--grid", "1"], "--grid 1: expected at least 3"),
        (vec!["w3", "--particles", "17"], "4 points per side are 16"),
        (vec!["w5", "--particles", "40"], "the sphere has 20, 80, 320"),
        (vec!["w5", "--steps", "2"], "--steps 2: expected 1"),
        (vec!["w6", "--particles", "41"], "with --grid 3 135"),
        (vec!["w6", "--grid", "0"], "--grid 0: expected at least 1"),
        (vec!["w1", "--steps", "0"], "--steps 0: expected at least 1"),
        (vec!["w1", "--reps", "0"], "--reps 0: expected at least 1"),
        (vec!["w1", "--device", "abacus"], "device `abacus`: known are cpu"),
        (vec!["w1", "--speed", "9"], "--speed"),
    ] {
        let output = workloads(&words)?;
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert!(output.stdout.is_empty(), "{words:?}");
        assert_eq!(message.lines().count(), 1, "{words:?}: {message}");
        assert!(message.starts_with("error: ") && message.contains(expected), "{words:?}: {message}");
    }
    Ok(())
}

#[test]
fn every_workload_agrees_with_its_reference() -> Result<(), Box<dyn std::error::Error>> {
    // The sheet's rest lengths, rounded to f32 as inputs, alone make 1.1e-4 of its stiffness gradient, in any framework.
    for (id, grid, particles, steps, bound) in [
        ("w1", "32", "512", "64", 2e-5),
        ("w2", "16", "512", "32", 2e-5),
        ("w3", "16", "256", "64", 2e-4),
        ("w4", "0", "4096", "20", 2e-6),
        ("w5", "24", "80", "1", 5e-6),
        // Of the gradient by the moduli, small differences of large stresses; f32 in JAX, Warp, Taichi and C++ leaves 2.4e-5 to 4.1e-5.
        ("w6", "3", "135", "200", 5e-5),
        ("w7", "0", "20", "200", 2e-4),
    ] {
        let words = [id, "--grid", grid, "--particles", particles, "--steps", steps, "--reps", "1"];
        let output = workloads(&words)?;
        assert!(output.status.success(), "{id}: {}", String::from_utf8_lossy(&output.stderr));
        let line: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        assert_eq!(line["id"], id);
        for error in ["golden_loss_rel", "golden_a_rel", "golden_b_rel"] {
            if (id, error) == ("w5", "golden_b_rel") {
                assert!(line["check"][error].is_null(), "{id} has one group of inputs: {line}");
                continue;
            }
            let error = line["check"][error].as_f64().ok_or(error)?;
            assert!(error < bound, "{id}: {line}");
        }
    }
    Ok(())
}
