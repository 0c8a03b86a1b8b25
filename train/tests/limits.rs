//! Jobs beyond their limits are refused before any work, and end soon when asked to; files without end are not read.

#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{assert_refused, copy_sample, diffkern, edit_scene, errors, fresh};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// Longer than any refusal takes on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(60);

/// Waits for a program, and ends it where it does not end by itself.
fn soon(case: &str, child: Child) -> Output {
    let (begun, mut child) = (Instant::now(), child);
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > AT_ONCE {
            child.kill().unwrap();
            panic!("{case}: still running after {AT_ONCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

fn begin(folder: &Path, arguments: &[&str]) -> Child {
    diffkern(folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

const SET: [&str; 2] = ["--set", "mu=5e3,lambda=1e4"];

#[test]
fn jobs_that_would_run_for_hours_are_refused_with_the_field() {
    /// What breaks the scene, and what the error has to name.
    type Case = (fn(&Path), &'static [&'static str]);
    let cases: &[Case] = &[
        // So far beyond the limit that no number of frames would do, however fast the machine is.
        (
            |v| edit_scene(v, "/unknowns/mu/range", json!([1500.0, 2e12])),
            &["unknowns.mu.range: ", "--max-time", "would do"],
        ),
        (|v| edit_scene(v, "/gravity", json!([0.0, 0.0, -1e11])), &["gravity: ", "would do"]),
        (
            |v| edit_scene(v, "/object/initial_velocity", json!([1e6, 0.0, 0.0])),
            &["object.initial_velocity: ", "would do"],
        ),
        (
            |v| {
                edit_scene(v, "/object/block_max/1", json!(3000.0));
                edit_scene(v, "/camera/far", json!(1e4));
            },
            &["object.block_max: ", "would do"],
        ),
    ];
    for (k, (change, parts)) in cases.iter().enumerate() {
        let folder = fresh(&format!("too_long_{k}"));
        let video = copy_sample(&folder);
        change(&video);
        let arguments = ["identify", "video", "--out", "out", "--max-memory", "2GiB", "--simulator", "mpm"];
        let output = soon(parts[0], begin(&folder, &arguments));
        assert_refused(parts[0], &output, &[&["video/scene.json: "], *parts].concat());
        assert!(!folder.join("out").exists());
    }
}

#[test]
fn a_given_value_counts_and_so_does_the_range_beside_it() {
    let folder = fresh("given");
    let video = copy_sample(&folder);
    let refused = |case: &str, mu: &str, part: &str| {
        let set = format!("mu={mu},lambda=1e4");
        let output = soon(case, begin(&folder, &["simulate", "video", "--set", &set, "--out", "out"]));
        assert_refused(case, &output, &[part, "--max-time", "would do"]);
    };
    refused("stiff", "1e13", "set: 1e13 Pa for mu");
    // A search would try it, and a simulation is the run of a search.
    edit_scene(&video, "/unknowns/mu/range", json!([1500.0, 1e13]));
    refused("wide", "8e3", "unknowns.mu.range: 1e13 Pa (the greatest value)");
}

#[test]
fn limits_are_options() {
    let folder = fresh("options");
    copy_sample(&folder);
    let run = |extra: [&str; 2]| {
        let arguments = [&["simulate", "video"][..], &SET, &extra, &["--out", "out"]].concat();
        soon(extra[1], begin(&folder, &arguments))
    };
    assert_refused(
        "time",
        &run(["--max-time", "0.1s"]),
        &["scene.json: ", "the limit is less than a second (--max-time)"],
    );
    assert_refused("memory", &run(["--max-memory", "1MiB"]), &["scene.json: ", "the limit is 1.0 MiB (--max-memory)"]);
    assert_refused("no time", &run(["--max-time", "soon"]), &["--max-time", "2h or a number of seconds"]);
    fs::write(folder.join("job.ron"), "Identify(folder: \"video\", max_memory: \"3MB\")").unwrap();
    let output = soon("ron", begin(&folder, &["run", "job.ron"]));
    assert_refused("ron", &output, &["scene.json: ", "(--max-memory)"]);
    assert!(!folder.join("out").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_is_heard_inside_a_frame() {
    let folder = fresh("inside");
    let video = copy_sample(&folder);
    // The frame in which the block touches takes minutes; those before it, in which it falls, take no steps.
    edit_scene(&video, "/num_frames", json!(8));
    let job = ["simulate", "video", "--set", "mu=1e10,lambda=1e10", "--max-time", "100d", "--out", "out"];
    let child = begin(&folder, &job);
    std::thread::sleep(Duration::from_secs(3));
    let asked = Instant::now();
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = soon("interrupt", child);
    // A second, and what a busy machine adds.
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(output.status.code(), Some(130), "{}", errors(&output));
    assert!(errors(&output).contains("stopped, nothing was written"), "{}", errors(&output));
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_unread() {
    let frame = "video/silhouette/frame_0003.png";
    let places = [("video/scene.json", "scene.json"), (frame, "frame_0003.png"), ("job.ron", "job.ron")];
    type Maker = (&'static str, fn(&Path));
    let kinds: [Maker; 3] = [
        ("a named pipe", |file| assert!(std::process::Command::new("mkfifo").arg(file).status().unwrap().success())),
        ("a device", |file| std::os::unix::fs::symlink("/dev/zero", file).unwrap()),
        ("a folder", |file| fs::create_dir(file).unwrap()),
    ];
    for (kind, make) in kinds {
        for (place, name) in places {
            let folder = fresh("irregular");
            copy_sample(&folder);
            let file = folder.join(place);
            drop(fs::remove_file(&file));
            make(&file);
            let job: &[&str] =
                if name == "job.ron" { &["run", "job.ron"] } else { &["identify", "video", "--out", "out"] };
            let case = format!("{kind} as {name}");
            assert_refused(&case, &soon(&case, begin(&folder, job)), &[name, kind, "no regular file"]);
        }
    }
}

#[test]
fn large_files_are_refused_unread() {
    let cases: [(&str, u64, &str); 3] = [
        ("video/scene.json", 100 << 20, "4.0 MiB"),
        ("job.ron", 2 << 20, "1.0 MiB"),
        ("video/shaded/frame_0001.png", 1 << 30, "MiB"),
    ];
    for (place, length, limit) in cases {
        let folder = fresh("large");
        copy_sample(&folder);
        fs::OpenOptions::new().create(true).append(true).open(folder.join(place)).unwrap().set_len(length).unwrap();
        let job: &[&str] =
            if place == "job.ron" { &["run", "job.ron"] } else { &["identify", "video", "--out", "out"] };
        let output = soon(place, begin(&folder, job));
        assert_refused(place, &output, &[place, "is too large", "the limit is", limit]);
    }
}

#[test]
fn what_others_wrote_is_escaped_and_cut() {
    let folder = fresh("terminal");
    let video = copy_sample(&folder);
    edit_scene(&video, "/kind", json!(format!("\u{1b}]0;owned\u{7}{}", "x".repeat(2_000_000))));
    let refused = |arguments: &[&str]| {
        let output = soon("terminal", begin(&folder, arguments));
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(!text.trim_end().contains(|c: char| c.is_control()), "{text:?}");
        assert!(text.len() < 1500, "{} bytes", text.len());
        text
    };
    assert!(refused(&["identify", "video"]).contains("\\u{1b}]0;owned"));
    edit_scene(&video, "/kind", json!("soft_body"));
    let text = fs::read_to_string(video.join("scene.json")).unwrap();
    for broken in [
        text.replacen("\"mu\":", "\"m\\u001bu\":", 1),
        text.replacen("\"frame_rate\": 32", &format!("\"frame_rate\": \"{}\"", "\u{9b}y".repeat(900_000)), 1),
        text.replacen("\"frame_rate\":32", &format!("\"frame_rate\": \"{}\"", "\u{9b}y".repeat(900_000)), 1),
    ] {
        if broken != text {
            fs::write(video.join("scene.json"), broken).unwrap();
            refused(&["identify", "video"]);
        }
    }
    refused(&["identify", "\u{1b}[31mred"]);
    refused(&["identify", "video", "--unknown", &format!("\u{1b}{}", "z".repeat(100_000))]);
    fs::write(folder.join("job.ron"), format!("Identify(folder: \"video\", device: 3, \u{7}{})", "k".repeat(500_000)))
        .unwrap();
    refused(&["run", "job.ron"]);
}

#[test]
fn a_scene_that_fails_late_names_file_and_field() {
    let folder = fresh("late");
    let video = copy_sample(&folder);
    edit_scene(&video, "/camera/far", json!(1.6));
    edit_scene(&video, "/object/initial_velocity", json!([-2.0, 3.0, 0.0]));
    let output = soon("far", begin(&folder, &["simulate", "video", SET[0], SET[1], "--out", "out"]));
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    let last = text.lines().last().unwrap();
    assert!(
        last.contains("video/scene.json: camera: vertex ") && last.contains("before the far plane at 1.6 m"),
        "{text}"
    );
}
