//! A run that was stopped or killed goes on to the bits of one that was not, and tells the truth in between.

#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{contents, edit_scene, fresh, json_of, run, small_video};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The fewest cells on which an answer is refined: few, for the sake of time.
const BEGIN: [&str; 7] = ["identify", "video", "--start", "mu=4000,lambda=9000", "--cells", "4", "--max-iterations"];
/// The same with fewer cells, where nothing has to happen while it runs.
const BEGIN_COARSE: [&str; 7] =
    ["identify", "video", "--start", "mu=4000,lambda=9000", "--cells", "3", "--max-iterations"];

/// A JSON file without the times in it and what follows from them.
fn read(file: &Path) -> Value {
    let mut value = json_of(file);
    value.as_object_mut().unwrap().retain(|key, _| key != "seconds" && key != "crc32");
    if let Some(checkpoint) = value.get_mut("checkpoint") {
        checkpoint.as_object_mut().unwrap().remove("seconds");
    }
    value
}

/// The lines of the log, without the times.
fn metrics(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let line = |line| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        value.as_object_mut().unwrap().remove("seconds");
        value
    };
    text.lines().map(line).collect()
}

fn assert_same(folder: &Path, one: &str, other: &str) {
    for name in ["result.json", "checkpoint.json", "best.json"] {
        let (one, other) = (folder.join(one).join(name), folder.join(other).join(name));
        assert_eq!(read(&one), read(&other), "{name}");
    }
    assert_eq!(metrics(&folder.join(one)), metrics(&folder.join(other)));
    for name in ["loss.png", "parameters.png", "events.out.tfevents.diffkern"] {
        let bytes = |run: &str| fs::read(folder.join(run).join(name)).unwrap();
        assert_eq!(bytes(one), bytes(other), "{name}");
    }
    let frames = |run: &str| contents(&folder.join(run).join("frames")).into_values().collect::<Vec<_>>();
    assert_eq!(frames(one), frames(other));
}

#[test]
fn a_limited_run_goes_on_to_the_same_bits() {
    let folder = fresh("resume");
    small_video(&folder);
    run(&folder, &[&BEGIN_COARSE[..], &["3", "--out", "whole"]].concat(), 0);
    run(&folder, &[&BEGIN_COARSE[..], &["1", "--out", "parts"]].concat(), 0);
    assert_ne!(read(&folder.join("whole/result.json")), read(&folder.join("parts/result.json")));
    // What a run that was killed while it wrote its log leaves, and what is no log at all.
    let log = folder.join("parts/metrics.jsonl");
    let whole = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{whole}{}", &whole[..whole.len() / 2])).unwrap();
    let told = run(&folder, &["resume", "parts", "--max-iterations", "3"], 0);
    assert!(told.contains("metrics.jsonl: 1 damaged lines were dropped, the first was line 2"), "{told}");
    assert_same(&folder, "whole", "parts");

    // Nothing is left to do: the best stays.
    run(&folder, &["resume", "parts", "--max-iterations", "3"], 0);
    assert_same(&folder, "whole", "parts");

    edit_scene(&folder.join("video"), "/object/density", json!(900.0));
    run(&folder, &["resume", "parts"], 2);
}

/// Version 1 had neither version nor checksum, and did not know the best.
#[test]
fn a_checkpoint_of_version_1_goes_on() {
    let folder = fresh("version_1");
    small_video(&folder);
    run(&folder, &[&BEGIN_COARSE[..], &["3", "--out", "whole"]].concat(), 0);
    run(&folder, &[&BEGIN_COARSE[..], &["2", "--out", "parts"]].concat(), 0);
    let file = folder.join("parts/checkpoint.json");
    let mut old = json_of(&file)["checkpoint"].take();
    old["iteration"] = 1.into();
    assert!(old["state"].as_object_mut().unwrap().remove("best").is_some());
    fs::write(&file, old.to_string()).unwrap();
    run(&folder, &["resume", "parts", "--max-iterations", "3"], 0);
    assert_same(&folder, "whole", "parts");
}

#[cfg(unix)]
mod signals {
    use super::*;
    use common::{diffkern, send, wait_until};
    use std::process::{Child, Command, Stdio};

    fn spawn(command: &mut Command) -> Child {
        command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn ctrl_c_saves_the_best_so_far() {
        let folder = fresh("interrupt");
        small_video(&folder);
        let begin = [&BEGIN[..], &["4", "--out"]].concat();
        let mut child = spawn(&mut diffkern(&folder, &[&begin[..], &["stopped"]].concat()));
        wait_until(|| folder.join("stopped/checkpoint.json").exists());
        send("-INT", child.id());
        let code = child.wait().unwrap().code();
        let result = read(&folder.join("stopped/result.json"));
        // It may have been at its end already.
        match code {
            Some(130) => {
                assert_eq!(result["ending"], "interrupted");
                let best = read(&folder.join("stopped/best.json"));
                assert_eq!((&result["loss"], &result["parameters"]), (&best["loss"], &best["values"]));
            }
            code => assert_eq!(code, Some(0)),
        }
        assert!(result["parameters"]["mu"].as_f64().is_some_and(|mu| mu > 0.0));
        run(&folder, &["resume", "stopped"], 0);
        run(&folder, &[&begin[..], &["whole"]].concat(), 0);
        assert_same(&folder, "whole", "stopped");
    }

    /// As under `nohup`, and as in the background of a script.
    #[test]
    fn signals_that_were_ignored_stay_ignored() {
        let folder = fresh("ignored");
        small_video(&folder);
        let program = env!("CARGO_BIN_EXE_diffkern");
        let job = format!("trap '' INT TERM HUP; exec {program} identify video --max-iterations 1 --out run");
        let mut child = spawn(Command::new("sh").current_dir(&folder).args(["-c", &job]));
        wait_until(|| folder.join("run/config.ron").exists());
        for _ in 0..2 {
            ["-INT", "-TERM", "-HUP"].into_iter().for_each(|signal| send(signal, child.id()));
        }
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert_eq!(read(&folder.join("run/result.json"))["ending"], "max_iterations");
        // And one of them alone leaves the others.
        let job = format!("trap '' HUP; exec {program} identify video --out other");
        let mut child = spawn(Command::new("sh").current_dir(&folder).args(["-c", &job]));
        wait_until(|| folder.join("other/config.ron").exists());
        send("-HUP", child.id());
        send("-TERM", child.id());
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }

    /// Nothing of a former part stands beside a newer checkpoint, and the lock of a dead process blocks no later one.
    #[test]
    fn a_killed_run_goes_on_to_the_same_bits() {
        let folder = fresh("killed");
        small_video(&folder);
        run(&folder, &[&BEGIN[..], &["6", "--out", "whole"]].concat(), 0);
        run(&folder, &[&BEGIN[..], &["1", "--out", "killed"]].concat(), 0);
        let killed = folder.join("killed");
        let iterations = || read(&killed.join("checkpoint.json"))["checkpoint"]["state"]["iteration"].as_u64();
        for reached in 2..5 {
            let resume = ["resume", "killed", "--max-iterations", "6"];
            let mut child = spawn(&mut diffkern(&folder, &resume));
            wait_until(|| iterations() >= Some(reached));
            let told = run(&folder, &resume, 2);
            assert!(told.contains(&format!("killed: process {} writes to it", child.id())), "{told}");
            send("-KILL", child.id());
            assert_eq!(child.wait().unwrap().code(), None);
            assert!(!killed.join("result.json").exists() && killed.join(".lock").exists());
        }
        run(&folder, &["resume", "killed", "--max-iterations", "6"], 0);
        assert_same(&folder, "whole", "killed");
        assert!(!killed.join(".lock").exists());
    }
}
