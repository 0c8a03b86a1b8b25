//! `diffkern devices` lists every device, with the reason where one is not offered.

#![allow(clippy::unwrap_used)] // a helper that fails is a test that fails

mod common;

use common::{diffkern, fresh};

#[test]
fn devices_that_are_not_offered_are_listed_with_the_reason() {
    let output = diffkern(&fresh("devices"), &["devices"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("cpu    ") && lines[0].contains("f64"), "{text}");
    for (line, name) in lines[1..].iter().zip(["wgpu", "cuda"]) {
        assert!(line.starts_with(name), "{text}");
        let built = (name == "wgpu" && cfg!(feature = "wgpu")) || (name == "cuda" && cfg!(feature = "cuda"));
        if !built {
            let reason = format!("not offered: this build has no support for it; build with `--features {name}`");
            assert!(line.ends_with(&reason), "{text}");
        }
    }
}
