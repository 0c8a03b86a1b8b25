//! One input: files, some of them changed, and what is to be done with them. All of it follows from one number.

use std::fs;
use std::io;
use std::path::Path;

use diffkern_fuzz::documents::{CLOSED, DEPTHS, TABLES};
use diffkern_fuzz::random::Random;
use diffkern_fuzz::sample::{Files, Sample};

use crate::command;
use crate::node::Node;
use crate::picture;
use crate::record;
use crate::words;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Kind {
    /// `scene.json` without a version.
    Scene,
    /// A scene of the documented schema, in JSON or RON, or a table that it names.
    Document,
    /// A frame.
    Frame,
    /// A mesh that the scene names.
    Mesh,
    /// A job in RON.
    Job,
    /// The files of a run that is resumed.
    Run,
    /// The command line.
    Command,
}

impl Kind {
    /// How often each, in percent.
    const SHARES: [(Kind, usize); 7] = [
        (Kind::Scene, 15),
        (Kind::Document, 30),
        (Kind::Frame, 20),
        (Kind::Mesh, 8),
        (Kind::Job, 9),
        (Kind::Run, 12),
        (Kind::Command, 6),
    ];

    fn draw(random: &mut Random) -> Kind {
        let mut left = random.below(100);
        for (kind, share) in Kind::SHARES {
            if left < share {
                return kind;
            }
            left -= share;
        }
        Kind::Scene
    }
}

/// What stands where a file should.
#[derive(Clone)]
pub enum Content {
    Bytes(Vec<u8>),
    Folder,
    Missing,
    /// A link to this.
    Link(&'static str),
    Pipe,
}

/// An input.
pub struct Case {
    pub kind: Kind,
    pub files: Vec<(String, Content)>,
    /// Names of the files that are not as they were.
    pub changed: Vec<String>,
    /// The command line for the program.
    pub arguments: Vec<std::ffi::OsString>,
}

impl Case {
    /// Input `number`.
    pub fn new(number: u64, only: Option<Kind>, sample: &Sample) -> Case {
        let mut random = Random::new(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1217);
        let drawn = Kind::draw(&mut random);
        let kind = only.unwrap_or(drawn);
        let mut files = match kind {
            Kind::Run => sample.run.clone(),
            Kind::Scene | Kind::Frame | Kind::Mesh | Kind::Job | Kind::Command => sample.video.clone(),
            Kind::Document => of_document(sample, &mut random),
        };
        let arguments = match kind {
            Kind::Scene | Kind::Document | Kind::Frame | Kind::Mesh => command::of_video(&mut random),
            Kind::Run => command::words("resume run --max-iterations 2"),
            Kind::Job => command::words("run job.ron"),
            Kind::Command => command::random(&mut random),
        };
        if kind == Kind::Job || kind == Kind::Command {
            files.insert("job.ron".into(), random.pick(&sample.jobs).clone());
        }
        let changed = changes(kind, &files, &mut random);
        let mut case = Case { kind, files: Vec::new(), changed, arguments };
        case.files = contents(kind, files, &case.changed, &mut random);
        case
    }

    /// Writes the files below `folder`.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        for (name, content) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            match content {
                Content::Bytes(bytes) => fs::write(path, bytes)?,
                Content::Folder => fs::create_dir(path)?,
                Content::Missing => {}
                Content::Link(to) => std::os::unix::fs::symlink(to, path)?,
                Content::Pipe => drop(std::process::Command::new("mkfifo").arg(path).status()?),
            }
        }
        Ok(())
    }
}

/// The video with a document in place of its scene.
fn of_document(sample: &Sample, random: &mut Random) -> Files {
    let mut files = sample.video.clone();
    files.remove("video/scene.json");
    files.insert("video/closed.obj".into(), CLOSED.into());
    files.extend(TABLES.map(|(name, text)| (format!("video/{name}"), text.into())));
    files.extend([0, 1].map(|k| (format!("video/depth/frame_000{k}.png"), DEPTHS.into())));
    // The second film and the masks of some scenes.
    for (part, copy) in [("silhouette", "videos/b/silhouette"), ("shaded", "videos/b/shaded"), ("silhouette", "masks")]
    {
        let frames = files.iter().filter_map(|(name, bytes)| {
            let frame = name.strip_prefix("video/")?.strip_prefix(part)?;
            Some((format!("video/{copy}{frame}"), bytes.clone()))
        });
        let frames: Vec<_> = frames.collect();
        files.extend(frames);
    }
    files.extend([random.pick(&sample.documents).clone()]);
    files
}

/// The files to change: of the kind, sometimes two.
fn changes(kind: Kind, files: &Files, random: &mut Random) -> Vec<String> {
    let fits = |name: &&String| match kind {
        Kind::Scene => name.ends_with("scene.json"),
        Kind::Document => name.starts_with("video/scene.") || name.ends_with(".csv"),
        Kind::Frame => name.ends_with(".png"),
        Kind::Mesh => name.ends_with(".obj"),
        Kind::Job => name.ends_with(".ron"),
        Kind::Run => ["checkpoint.json", "config.ron", "meta.json", "metrics.jsonl", "best.json", "result.json"]
            .iter()
            .any(|record| name.ends_with(record)),
        Kind::Command => false,
    };
    let names: Vec<&String> = files.keys().filter(fits).collect();
    let mut changed = Vec::new();
    for _ in 0..1 + usize::from(random.chance(10)) {
        // Everything else of a run is only a record of it.
        let main = names.iter().find(|name| name.ends_with("checkpoint.json") && random.chance(60));
        changed.extend(main.copied().or_else(|| (!names.is_empty()).then(|| *random.pick(&names))).cloned());
    }
    changed.sort();
    changed.dedup();
    changed
}

fn contents(kind: Kind, files: Files, changed: &[String], random: &mut Random) -> Vec<(String, Content)> {
    let all: Vec<Vec<u8>> = files.values().cloned().collect();
    let mut written = Vec::new();
    for (name, mut bytes) in files {
        let mut content = None;
        if changed.contains(&name) {
            match random.below(100) {
                0..=1 => content = Some(special(random)),
                2..=4 => bytes = random.pick(&all).clone(),
                5..=24 => words::mutate_bytes(&mut bytes, random),
                _ => by_structure(kind, &name, &mut bytes, random),
            }
        }
        written.push((name, content.unwrap_or(Content::Bytes(bytes))));
    }
    written
}

fn special(random: &mut Random) -> Content {
    random
        .pick(&[Content::Folder, Content::Missing, Content::Link("/dev/zero"), Content::Link("."), Content::Pipe])
        .clone()
}

fn by_structure(kind: Kind, name: &str, bytes: &mut Vec<u8>, random: &mut Random) {
    match (kind, serde_json::from_slice::<serde_json::Value>(bytes)) {
        (Kind::Frame, _) => picture::mutate(bytes, random),
        (Kind::Scene | Kind::Run | Kind::Document, Ok(value)) if kind == Kind::Document || name.ends_with(".json") => {
            if random.chance(80) && record::mutate(bytes, &value, random) {
                return;
            }
            let mut node = Node::from(&value);
            (0..1 + random.below(3)).for_each(|_| node.mutate(random));
            bytes.clear();
            node.print(bytes);
        }
        (Kind::Scene | Kind::Document | Kind::Mesh | Kind::Job | Kind::Run | Kind::Command, _) => {
            words::mutate_text(bytes, random)
        }
    }
}
