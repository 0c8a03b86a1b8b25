//! A checkpoint is as it was written and fits its job, or it is refused with file and field; it never makes the search
//! panic.

#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{assert_refused, diffkern, fresh, json_of, run, small_video};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use train::Error;
use train::error::Result;
use train::experiment::Identify;
use train::identify::{Observer, State, check, identify};
use train::job::{Flow, IdentifyOptions, Progress, Simulator};
use train::optimizer::Optimizer;
use train::run::Checkpoint;
use train::scene::{Name, Scene};
use train::video::Video;

/// Of every version: what a run of the small video wrote.
const SAMPLES: [(&str, Optimizer); 11] = [
    ("1-lm", Optimizer::Lm),
    ("1-adam", Optimizer::Adam),
    ("2-lm", Optimizer::Lm),
    ("2-lm-finished", Optimizer::Lm),
    ("2-adam", Optimizer::Adam),
    ("3-lm", Optimizer::Lm),
    ("3-lm-finished", Optimizer::Lm),
    ("3-adam", Optimizer::Adam),
    ("4-lm", Optimizer::Lm),
    ("4-lm-finished", Optimizer::Lm),
    ("4-adam", Optimizer::Adam),
];

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/checkpoints/{name}.json"))
}

/// The job of the samples.
struct Job {
    scene: Scene,
    videos: Vec<Video>,
}

impl Job {
    fn new(folder: &Path) -> Self {
        small_video(folder);
        let scene = Scene::read(&folder.join("video")).unwrap();
        let videos = Video::read(&folder.join("video"), &scene).unwrap();
        Self { scene, videos }
    }

    fn options(&self, optimizer: Optimizer) -> IdentifyOptions {
        let start = [(Name::MU, 4000.0), (Name::LAMBDA, 9000.0)].into();
        // As jobs did from before there was a choice.
        let simulator = Some(Simulator::Mpm);
        Identify { optimizer, start, simulator, cells: Some(3), ..Identify::new("video".into()) }
            .options(&self.scene)
            .unwrap()
    }

    /// Whether it passes all checks.
    fn takes(&self, file: &Path, optimizer: Optimizer) -> Option<Checkpoint> {
        let checkpoint = match Checkpoint::read(file) {
            Ok(checkpoint) => checkpoint,
            Err(Error::Input { file: named, problem, .. }) => {
                assert!(named == file && !problem.is_empty());
                return None;
            }
            Err(other) => panic!("{other}"),
        };
        match check(&checkpoint.state, &self.scene, &self.options(optimizer)).unwrap() {
            Ok(()) => Some(checkpoint),
            Err(fault) => {
                assert!(!fault.field.is_empty() && !fault.problem.is_empty());
                None
            }
        }
    }
}

/// Ends a search at its first sign of life.
struct Stopper;

impl Observer for Stopper {
    fn progress(&mut self, _: &Progress) -> Flow {
        Flow::Stop
    }

    fn checkpoint(&mut self, _: &State) -> Result<()> {
        Ok(())
    }
}

#[test]
fn those_of_every_version_are_read() {
    let job = Job::new(&fresh("versions"));
    for (name, optimizer) in SAMPLES {
        assert!(job.takes(&sample(name), optimizer).is_some(), "{name}");
        let other = if optimizer == Optimizer::Lm { Optimizer::Adam } else { Optimizer::Lm };
        assert!(job.takes(&sample(name), other).is_none() || name.ends_with("-lm-finished"), "{name} as of {other}");
    }
}

/// A form that has changed needs a new version, a reader and a sample.
#[test]
fn the_form_of_a_version_does_not_change() {
    let folder = fresh("form");
    small_video(&folder);
    let begin = ["identify", "video", "--start", "mu=4000,lambda=9000", "--cells", "3", "--out"];
    for (name, options) in [("4-lm", &["3"][..]), ("4-adam", &["5", "--optimizer", "adam"])] {
        run(&folder, &[&begin[..], &[name, "--max-iterations"], options].concat(), 0);
        let written = json_of(&folder.join(name).join("checkpoint.json"));
        let keys = |value: &Value| leaves(value).into_iter().collect::<BTreeSet<_>>();
        assert_eq!(keys(&written), keys(&json_of(&sample(name))), "{name}");
    }
}

/// Steps are taken in single precision, the answer is not.
#[test]
fn a_search_ends_in_the_precision_of_the_answer() {
    let folder = fresh("precision");
    small_video(&folder);
    run(&folder, &["identify", "video", "--start", "mu=4000,lambda=9000", "--cells", "3", "--out", "out"], 0);
    let state = &json_of(&folder.join("out/checkpoint.json"))["checkpoint"]["state"];
    assert_eq!((&state["stage"], &state["rough"]), (&json!("finished"), &json!(false)));
}

#[test]
fn a_changed_byte_is_noticed() {
    let folder = fresh("changed");
    let file = folder.join("checkpoint.json");
    let whole = Checkpoint::read(&sample("2-lm")).unwrap();
    let text = fs::read(sample("2-lm")).unwrap();
    let mut digits = 0;
    for (k, &byte) in text.iter().enumerate() {
        let mut changed = text.clone();
        let digit = byte.is_ascii_digit();
        changed[k] = if digit { b'0' + (byte - b'0' + 1) % 10 } else { byte ^ (1 << (k % 8)) };
        fs::write(&file, &changed).unwrap();
        digits += usize::from(digit);
        match Checkpoint::read(&file) {
            // Space between the fields of the file.
            Ok(read) => assert!(byte.is_ascii_whitespace() && read == whole, "byte {k}"),
            Err(error) => assert!(error.to_string().contains("checkpoint.json"), "{error}"),
        }
        fs::write(&file, &text[..k]).unwrap();
        assert!(Checkpoint::read(&file).is_err() || k + 1 == text.len(), "cut at byte {k}");
    }
    assert!(digits > 1000);
}

#[test]
fn a_damaged_one_is_refused_by_the_program() {
    let folder = fresh("refused");
    small_video(&folder);
    run(&folder, &["identify", "video", "--cells", "4", "--max-iterations", "2", "--out", "run"], 0);
    let file = folder.join("run/checkpoint.json");
    let written = json_of(&file);
    let sealed = |pointer: &str, value: Value| {
        let mut content = written["checkpoint"].clone();
        *content.pointer_mut(pointer).unwrap() = value;
        seal(&content)
    };
    let text = fs::read_to_string(&file).unwrap();
    let cases = [
        (text.replacen("\"iou\": 0.", "\"iou\": 1.", 1), "checkpoint: its checksum is"),
        (text.replacen("\"version\": 4", "\"version\": 5", 1), "version: 5, expected 1 to 4"),
        (text.replacen("\"version\": 4", "\"version\": 1", 1), "version"),
        (text[..text.len() / 2].into(), "malformed JSON"),
        (sealed("/state/weights", json!([1.0])), "state.weights: 1, expected 3"),
        (sealed("/state/weights", json!([1.0, -1.0, 1.0])), "state.weights: -1e0, expected"),
        (sealed("/state/at", json!([9.0])), "state.at: 1 numbers, expected 3"),
        (sealed("/state/at/1", json!(0.9)), "state.at[1]: 9e-1, expected"),
        (sealed("/state/level", json!(7)), "state.level: 7, expected less than 2"),
        (sealed("/state/normals/1/hessian", json!([])), "state.normals[1].hessian: 0 numbers, expected 9"),
        (sealed("/state/lm/damping", json!(-1.0)), "state.lm.damping: -1e0, expected"),
        (sealed("/state/iteration", json!(40)), "state.iteration: 40, expected 2"),
        (sealed("/state/runs/0/forward", json!(u64::MAX)), "state.runs[0].forward"),
        (sealed("/seconds", json!(-1.0)), "seconds: -1"),
    ];
    for (text, problem) in cases {
        fs::write(&file, text).unwrap();
        let output = diffkern(&folder, &["resume", "run"]).output().unwrap();
        assert_refused(problem, &output, &["run/checkpoint.json", problem]);
    }
}

/// Each field of each sample takes values that it must not have, and some that it may: what passes the checks is searched.
#[test]
fn no_value_of_any_field_makes_the_search_panic() {
    let folder = fresh("values");
    let job = Job::new(&folder);
    let file = folder.join("checkpoint.json");
    let (mut refused, mut searched) = (0, 0);
    for (name, optimizer) in SAMPLES {
        let whole = json_of(&sample(name));
        let content = whole.get("checkpoint").unwrap_or(&whole);
        for pointer in pointers(content) {
            for value in others(content.pointer(&pointer).unwrap()) {
                let mut changed = content.clone();
                *changed.pointer_mut(&pointer).unwrap() = value;
                let text = if name.starts_with('1') { changed.to_string() } else { seal(&changed) };
                fs::write(&file, text).unwrap();
                let Some(checkpoint) = job.takes(&file, optimizer) else {
                    refused += 1;
                    continue;
                };
                searched += 1;
                // Those that differ in a number of the log or of a sum alone are many, and take the same path; so do those of older
                // versions, once they are read. Of the others, every second.
                let alike = pointer.contains("between") || !name.starts_with('3');
                if pointer.contains("history") || searched % (if alike { 7 } else { 2 }) > 0 {
                    continue;
                }
                let options = job.options(optimizer);
                let outcome = identify(&job.scene, &job.videos, &options, Some(checkpoint.state), &mut Stopper);
                outcome.unwrap_or_else(|error| panic!("{name}, {pointer}: {error}"));
            }
        }
    }
    println!("{refused} refused, {searched} searched");
    assert!(refused > 1000 && searched > 100, "{refused} refused, {searched} searched");
}

fn seal(content: &Value) -> String {
    let text = content.to_string();
    let version = match ["/state/weights", "/state/rough"].map(|field| content.pointer(field).is_some()) {
        [true, _] => 4,
        [false, true] => 3,
        [false, false] => 2,
    };
    format!(
        "{{\"version\": {version}, \"crc32\": \"{:08x}\", \"checkpoint\": {text}}}",
        crc32fast::hash(text.as_bytes())
    )
}

/// Values to put in the place of one.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(_) => {
            vec![json!(-1), json!(0), json!(1), json!(3), json!(1e300), json!(u64::MAX), json!(0.5), Value::Null]
        }
        Value::Array(items) => {
            let more = items.iter().chain(items.first()).cloned().collect();
            vec![json!([]), Value::Array(items.iter().skip(1).cloned().collect()), Value::Array(more)]
        }
        Value::Object(_) => vec![json!({}), Value::Null],
        Value::String(_) => vec![json!(""), json!("fine"), json!("finished"), json!("\u{1b}[31m")],
        Value::Null => vec![json!({}), json!(1)],
        Value::Bool(_) => vec![],
    }
}

/// Every value below this one; of long arrays of numbers the first and the last.
fn pointers(value: &Value) -> Vec<String> {
    let below = |key: String, value: &Value| {
        let deeper = pointers(value).into_iter().map(move |pointer| format!("/{key}{pointer}"));
        deeper.collect::<Vec<_>>()
    };
    let inner: Vec<String> = match value {
        Value::Array(items) => {
            let ends = |k: &usize| *k == 0 || k + 1 == items.len();
            (0..items.len()).filter(ends).flat_map(|k| below(k.to_string(), &items[k])).collect()
        }
        Value::Object(fields) => fields.iter().flat_map(|(key, value)| below(key.clone(), value)).collect(),
        _ => Vec::new(),
    };
    std::iter::once(String::new()).chain(inner).collect()
}

/// The paths of all fields, whatever the index in an array.
fn leaves(value: &Value) -> Vec<String> {
    let plain = |pointer: String| {
        pointer.split('/').filter(|part| part.parse::<usize>().is_err()).collect::<Vec<_>>().join("/")
    };
    pointers(value).into_iter().map(plain).collect()
}
