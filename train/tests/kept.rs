//! What is in a folder is not lost to a job that is to write there.

#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{assert_refused, contents, diffkern, edit_scene, fresh, json_of, run, small_video};
use serde_json::json;
use std::fs;

const IDENTIFY: [&str; 8] = ["identify", "video", "--max-iterations", "1", "--cells", "3", "--out", "run"];

#[test]
fn a_run_is_replaced_only_when_that_is_asked_for() {
    let folder = fresh("replaced");
    small_video(&folder);
    run(&folder, &IDENTIFY, 0);
    let before = contents(&folder.join("run"));
    fs::write(folder.join("job.ron"), "Identify(folder: \"video\", out: \"run\")").unwrap();
    for again in [&IDENTIFY[..], &["run", "job.ron"], &["run", "run/config.ron"]] {
        let output = diffkern(&folder, again).output().unwrap();
        let ways_out = ["run: holds a run already (config.ron)", "another folder", "resume ", "--overwrite"];
        assert_refused(&again.join(" "), &output, &ways_out);
    }
    // Jobs that are wrong, with the option to replace it.
    for wrong in [&["--start", "mu=1"][..], &["--set", "softness=1"], &["--device", "abacus"], &["--resume", "run"]] {
        run(&folder, &[&IDENTIFY[..], &["--overwrite"], wrong].concat(), 2);
    }
    fs::rename(folder.join("video/shaded/frame_0002.png"), folder.join("frame")).unwrap();
    run(&folder, &[&IDENTIFY[..], &["--overwrite"]].concat(), 2);
    fs::rename(folder.join("frame"), folder.join("video/shaded/frame_0002.png")).unwrap();
    assert_eq!(contents(&folder.join("run")), before);

    fs::write(folder.join("run/notes.txt"), "mine").unwrap();
    fs::write(folder.join("run/frames/old.png"), "old").unwrap();
    run(&folder, &["run", "run/config.ron", "--overwrite"], 0);
    run(
        &folder,
        &[
            "identify",
            "video",
            "--start",
            "mu=3000",
            "--max-iterations",
            "2",
            "--cells",
            "3",
            "--out",
            "run",
            "--overwrite",
        ],
        0,
    );
    assert_eq!(json_of(&folder.join("run/result.json"))["iterations"], 2);
    let after = contents(&folder.join("run"));
    let added: Vec<_> = after.keys().filter(|file| !before.contains_key(*file)).collect();
    assert_eq!(added, [&folder.join("run/notes.txt")]);
}

#[test]
fn a_video_is_replaced_only_when_that_is_asked_for() {
    let folder = fresh("video_replaced");
    small_video(&folder);
    fs::create_dir(folder.join("other")).unwrap();
    fs::copy(folder.join("sample/scene.json"), folder.join("other/scene.json")).unwrap();
    edit_scene(&folder.join("other"), "/num_frames", json!(2));
    let simulate = |scene: &'static str, mu: &'static str, out: &'static str| {
        ["simulate", scene, "--set", mu, "--set", "lambda=15000", "--cells", "6", "--out", out]
    };
    let before = contents(&folder.join("video"));
    for (what, job) in [
        ("other values", simulate("sample", "mu=7000", "video")),
        ("another scene", simulate("other", "mu=6000", "video")),
        ("a video of another program", simulate("other", "mu=6000", "sample")),
    ] {
        let output = diffkern(&folder, &job).output().unwrap();
        assert_refused(what, &output, &["holds another video already (s", "another folder", "--overwrite"]);
    }
    assert_eq!(contents(&folder.join("video")), before);
    // The same job, also where it was killed before.
    run(&folder, &simulate("sample", "mu=6000", "video"), 0);
    assert_eq!(contents(&folder.join("video")), before);
    fs::remove_file(folder.join("video/scene.json")).unwrap();
    fs::write(folder.join("video/shaded/frame_0000.png.77.part"), "half").unwrap();
    run(&folder, &simulate("sample", "mu=6000", "video"), 0);
    assert_eq!(contents(&folder.join("video")), before);

    run(&folder, &[&simulate("other", "mu=6000", "video")[..], &["--overwrite"]].concat(), 0);
    let names: Vec<_> = contents(&folder.join("video")).into_keys().collect();
    let count = |name: &str| names.iter().filter(|file| file.to_string_lossy().contains(name)).count();
    assert_eq!((count("frame_"), count("frame_0002"), names.len()), (4, 0, 7), "{names:?}");
}

/// A job that is stopped or killed before it has anything leaves the former one; so does one that cannot write.
#[cfg(unix)]
#[test]
fn a_run_outlives_one_that_comes_to_nothing() {
    use common::{send, wait_until};
    use std::process::{Command, Stdio};

    let folder = fresh("outlives");
    small_video(&folder);
    run(&folder, &IDENTIFY, 0);
    let (out, aside) = (folder.join("run"), folder.join("run/former-run"));
    let before = contents(&out);
    let again = ["identify", "video", "--out", "run", "--overwrite", "--simulator", "mpm"];
    let begin = || {
        let child = diffkern(&folder, &again).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until(|| aside.is_dir() && out.join("config.ron").exists());
        child
    };
    let child = begin();
    send("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(common::errors(&output).contains("stopped before its first iteration: the former run is back"));
    assert_eq!(contents(&out), before);

    let child = begin();
    send("-KILL", child.id());
    child.wait_with_output().unwrap();
    assert!(aside.is_dir());
    let told = run(&folder, &IDENTIFY, 2);
    assert!(told.contains("holds a run already"), "{told}");
    assert_eq!(contents(&out), before);

    // The file that proves that there is room fits, a checkpoint does not.
    let limited = format!("ulimit -f 2; exec {} {}", env!("CARGO_BIN_EXE_diffkern"), again.join(" "));
    let status = Command::new("sh").current_dir(&folder).args(["-c", &limited]).output().unwrap().status;
    assert_eq!(status.code(), Some(2));
    assert_eq!(contents(&out), before);
}

/// A link in the folder of a job is replaced, not followed.
#[cfg(unix)]
#[test]
fn what_links_point_to_is_left_alone() {
    use std::os::unix::fs::symlink;

    let folder = fresh("links");
    small_video(&folder);
    let (out, precious) = (folder.join("run"), folder.join("precious"));
    fs::create_dir_all(precious.join("shaded")).unwrap();
    fs::write(precious.join("file"), "precious").unwrap();
    fs::write(precious.join("shaded/frame_0000.png"), "precious").unwrap();
    let before = contents(&precious);
    let files = [
        "result.json",
        "metrics.jsonl",
        "loss.png",
        "parameters.png",
        "comparison.gif",
        "residual.png",
        "events.out.tfevents.diffkern",
        "report.html",
        "best.json",
        ".lock",
    ];
    let link = |names: &[&str]| {
        for name in names {
            let _ = fs::remove_file(out.join(name));
            symlink(precious.join("file"), out.join(name)).unwrap();
        }
        let _ = fs::remove_dir_all(out.join("frames"));
        symlink(&precious, out.join("frames")).unwrap();
    };
    fs::create_dir(&out).unwrap();
    link(&files);
    run(&folder, &[&IDENTIFY[..], &["--overwrite"]].concat(), 0);
    link(&files);
    run(&folder, &["resume", "run", "--max-iterations", "2"], 0);
    assert_eq!(contents(&precious), before);
    assert!(contents(&out).into_keys().all(|file| !fs::symlink_metadata(file).unwrap().is_symlink()));

    // A log that points nowhere would be made there.
    fs::remove_file(out.join("metrics.jsonl")).unwrap();
    symlink(precious.join("new"), out.join("metrics.jsonl")).unwrap();
    run(&folder, &["resume", "run", "--max-iterations", "3"], 0);
    let video = folder.join("linked");
    fs::create_dir(&video).unwrap();
    for name in ["scene.json", "simulated.json", "simulated.gif", "shaded"] {
        let to = if name == "shaded" { precious.join(name) } else { precious.join("file") };
        symlink(to, video.join(name)).unwrap();
    }
    let simulate = ["simulate", "sample", "--set", "mu=7000,lambda=15000", "--cells", "6", "--out", "linked"];
    run(&folder, &simulate, 2);
    run(&folder, &[&simulate[..], &["--overwrite", "--trace", "trace.json"]].concat(), 0);
    symlink(precious.join("file"), folder.join("link.json")).unwrap();
    run(&folder, &[&simulate[..], &["--overwrite", "--trace", "link.json"]].concat(), 0);
    assert_eq!(contents(&precious), before);
}

#[test]
fn half_written_files_of_killed_jobs_go_and_others_stay() {
    let folder = fresh("half_written");
    small_video(&folder);
    run(&folder, &IDENTIFY, 0);
    let before = contents(&folder.join("run"));
    let half = ["result.json.77.part", ".probe.4000000.part", "frames/shaded/frame_0001.png.7.part"];
    let others = ["film.77.part", "result.json.part", "frames/result.part"];
    for name in half.iter().chain(&others) {
        fs::write(folder.join("run").join(name), "half").unwrap();
    }
    run(&folder, &IDENTIFY, 2);
    // As much as a job leaves that is killed while it begins is no run to keep.
    let begun = folder.join("begun");
    fs::create_dir(&begun).unwrap();
    for name in ["meta.json", ".lock", "config.ron.77.part"] {
        fs::write(begun.join(name), "half").unwrap();
    }
    run(&folder, &[&IDENTIFY[..7], &["begun"]].concat(), 0);
    assert!(contents(&begun).into_keys().all(|file| fs::read(file).unwrap() != b"half"));
    let after = contents(&folder.join("run"));
    let added: Vec<_> = after.keys().filter(|file| !before.contains_key(*file)).collect();
    assert_eq!(added.len(), others.len(), "{added:?}");
    assert!(others.iter().all(|name| after.contains_key(&folder.join("run").join(name))));
}
