//! The commands that meet failures, and what each leaves when nothing fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use diffkern_fuzz::program::{Done, Program};
use diffkern_fuzz::sample::{self, Files, Sample};
use serde_json::Value;

/// More than any of these jobs takes, under a tracer on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Some five steps of the simulator from the first frame to the second.
const FRAME_RATE: f64 = 1000.0;

const JOB: &str = "Identify(folder: \"video\", out: \"out\", start: {\"mu\": 4000.0}, max_iterations: 1)\n";

/// A command, in a folder that it finds in the same state each time.
pub struct Job {
    pub name: &'static str,
    /// Whether it is killed, because it takes long; nothing else happens to it then.
    pub killed: bool,
    arguments: &'static str,
    /// How it may be given again after a failure, best first.
    retries: &'static [&'static str],
    before: Files,
    /// Those of a former job in the same folder.
    former: Files,
    folder: PathBuf,
    /// What it leaves when nothing fails.
    expected: BTreeMap<String, Vec<u8>>,
}

/// Whose results are there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Former {
    Nothing,
    Run,
    Video,
}

struct Row {
    name: &'static str,
    killed: bool,
    arguments: &'static str,
    former: Former,
    retries: &'static [&'static str],
}

const SIMULATE: &str = "simulate video --set mu=6000,lambda=15000 --out out";
const SIMULATE_AGAIN: &str = "simulate video --set mu=6000,lambda=15000 --out out --overwrite";
const SIMULATE_OVER: &str = "simulate video --set mu=7000,lambda=15000 --out out --overwrite";
const IDENTIFY: &str = "identify video --start mu=4000,lambda=9000 --max-iterations 1 --out out";
const IDENTIFY_LONG: &str = "identify video --start mu=4000,lambda=9000 --max-iterations 4 --out out";
const IDENTIFY_OVER: &str = "identify video --start mu=5000,lambda=9000 --max-iterations 1 --out out --overwrite";
const RESUME: &str = "resume out --max-iterations 1";
const RESUME_2: &str = "resume out --max-iterations 2";
const RESUME_4: &str = "resume out --max-iterations 4";

const ROWS: [Row; 9] = [
    Row::new("devices", "devices", Former::Nothing, &["devices"]),
    Row::new("simulate", SIMULATE, Former::Nothing, &[SIMULATE, SIMULATE_AGAIN]),
    Row::new("simulate --overwrite", SIMULATE_OVER, Former::Video, &[SIMULATE_OVER]),
    Row::new("identify", IDENTIFY, Former::Nothing, &[RESUME, IDENTIFY]),
    Row::new("resume", RESUME_2, Former::Run, &[RESUME_2]),
    Row::new("identify --overwrite", IDENTIFY_OVER, Former::Run, &[IDENTIFY_OVER]),
    Row::new("run", "run job.ron", Former::Nothing, &[RESUME, "run job.ron"]),
    Row {
        killed: true,
        ..Row::new("identify, 4 iterations", IDENTIFY_LONG, Former::Nothing, &[RESUME_4, IDENTIFY_LONG])
    },
    Row { killed: true, ..Row::new("simulate, killed", SIMULATE_OVER, Former::Video, &[SIMULATE_OVER]) },
];

impl Row {
    const fn new(name: &'static str, arguments: &'static str, former: Former, retries: &'static [&'static str]) -> Row {
        Row { name, killed: false, arguments, former, retries }
    }
}

impl Job {
    /// All commands, each run once.
    pub fn all(program: &Program, root: &Path, only: Option<&str>) -> Result<Vec<Job>> {
        let sample = Sample::make(program, &root.join("sample"), FRAME_RATE)?;
        let rows = ROWS.into_iter().filter(|row| only.is_none_or(|only| row.name == only));
        rows.map(|row| Job::new(row, &sample, program, root)).collect()
    }

    fn new(row: Row, sample: &Sample, program: &Program, root: &Path) -> Result<Job> {
        let Row { name, killed, arguments, former, retries } = row;
        let (from, files) = match former {
            Former::Nothing => ("", &Files::new()),
            Former::Run => ("run", &sample.run),
            Former::Video => ("video", &sample.video),
        };
        let moved = |(name, bytes): (&String, &Vec<u8>)| (name.replacen(from, "out", 1), bytes.clone());
        let former: Files = files.iter().map(moved).collect();
        let mut before = sample.video.clone();
        before.insert("job.ron".into(), JOB.into());
        before.extend(former.clone());
        // A run that goes on writes over what it has written.
        let former = if arguments.ends_with("--overwrite") { former } else { Files::new() };
        let folder = root.join("job");
        let mut job = Job { name, killed, arguments, retries, before, former, folder, expected: BTreeMap::new() };
        let found = [job.undisturbed(program)?, job.undisturbed(program)?];
        if let Some(name) = differs(&found[0], &found[1]) {
            bail!("{name} of `{arguments}` is not the same each time");
        }
        job.expected = found[0].clone();
        Ok(job)
    }

    /// A file of the former job that is gone, though the new one has nothing to show yet; none if nothing is lost.
    pub fn lost(&self) -> Result<Option<String>> {
        let there = if self.former.is_empty() { Files::new() } else { sample::files(&self.folder, "out")? };
        let is_new = |name: &str| there.get(name).is_some_and(|bytes| Some(bytes) != self.former.get(name));
        let video = is_new("out/simulated.json") && there.contains_key("out/scene.json");
        if video || is_new("out/checkpoint.json") {
            return Ok(None);
        }
        let kept = |bytes: &Vec<u8>| there.values().any(|other| other == bytes);
        Ok(self.former.iter().find(|(_, bytes)| !kept(bytes)).map(|(name, _)| name.clone()))
    }

    fn undisturbed(&self, program: &Program) -> Result<BTreeMap<String, Vec<u8>>> {
        let done = self.run(program)?;
        if done.code != Some(0) {
            bail!("`{}` ends with {:?}: {}", self.arguments, done.code, done.errors);
        }
        results(&self.folder)
    }

    /// Makes the folder as it was before the command.
    pub fn fresh(&self) -> Result<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        for (name, bytes) in &self.before {
            let path = self.folder.join(name);
            fs::create_dir_all(path.parent().context("a file has a folder")?)?;
            fs::write(path, bytes)?;
        }
        Ok(())
    }

    /// Runs the command in a fresh folder.
    pub fn run(&self, program: &Program) -> Result<Done> {
        self.fresh()?;
        program.run(&self.folder, &self.words(), LIMIT)
    }

    pub fn words(&self) -> Vec<&'static str> {
        self.arguments.split(' ').collect()
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The result that is not what it should be; none if all are.
    pub fn wrong(&self) -> Result<Option<String>> {
        Ok(differs(&results(&self.folder)?, &self.expected))
    }

    /// Gives the command again, where nothing fails any more, and demands what it would have left at once.
    pub fn again(&self, program: &Program) -> Result<Result<(), String>> {
        let mut refusals = String::new();
        for arguments in self.retries {
            let done = program.run(&self.folder, &arguments.split(' ').collect::<Vec<_>>(), LIMIT)?;
            if done.code == Some(0) {
                let wrong = self.wrong()?.map(|name| format!("{name} differs after `{arguments}`"));
                return Ok(wrong.map_or(Ok(()), Err));
            }
            refusals += &format!(" `{arguments}`: {}", done.errors.trim());
        }
        Ok(Err(format!("cannot be given again:{refusals}")))
    }
}

/// A file that is in one of the two only, or that differs.
fn differs(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    a.keys().chain(b.keys()).find(|name| a.get(*name) != b.get(*name)).cloned()
}

/// What is in the folder `out`, without the times in it.
fn results(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    if !folder.join("out").exists() {
        return Ok(BTreeMap::new());
    }
    let timeless = |(name, bytes): (String, Vec<u8>)| {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        let text = match name.rsplit('.').next() {
            Some("json") => without_times(&bytes),
            Some("jsonl") => lines.flat_map(without_times).collect(),
            _ => bytes,
        };
        (name, text)
    };
    Ok(sample::files(folder, "out")?.into_iter().map(timeless).collect())
}

/// JSON without the fields that hold times, and the checksum of what holds one.
fn without_times(text: &[u8]) -> Vec<u8> {
    fn strip(value: &mut Value) {
        if let Value::Object(fields) = value {
            fields.retain(|key, _| key != "seconds" && key != "crc32");
            fields.values_mut().for_each(strip);
        }
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(text) else {
        return text.to_vec();
    };
    strip(&mut value);
    value.to_string().into_bytes()
}
