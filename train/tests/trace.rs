//! `--trace FILE`: a file that viewers of traces open.
#![cfg(feature = "trace")]
#![allow(clippy::unwrap_used)] // a test that cannot read its output has to stop

mod common;

use common::{assert_refused, copy_sample, diffkern, edit_scene, errors, fresh};

#[test]
fn a_simulation_leaves_a_trace() {
    let folder = fresh("trace");
    let video = copy_sample(&folder);
    // Until the block touches it takes no steps.
    edit_scene(&video, "/num_frames", 8.into());
    edit_scene(&video, "/duration", (8.0 / 32.0).into());
    let job = ["simulate", "video", "--set", "mu=6000,lambda=15000", "--out", "made", "--trace"];
    let refused = diffkern(&folder, &[job.as_slice(), &["no/such/folder.json"]].concat()).output().unwrap();
    assert_refused("trace", &refused, &["trace", "folder.json", "cannot be written"]);
    let done = diffkern(&folder, &[job.as_slice(), &["trace.json"]].concat()).output().unwrap();
    assert!(done.status.success(), "{}", errors(&done));
    let text = std::fs::read_to_string(folder.join("trace.json")).unwrap();
    let spans: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let named = |name: &str| spans.iter().filter(|span| span["name"] == name).count();
    assert!(named("box_forces") > 10, "{:?}", spans.iter().take(30).collect::<Vec<_>>());
    assert!(named("upload") > 0 && named("download") > 0);
    for span in &spans {
        assert!(span["ph"] == "X" && span["ts"].as_f64() >= Some(0.0) && span["dur"].as_f64() >= Some(0.0), "{span}");
    }
}
