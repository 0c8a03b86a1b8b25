//! How many scenes that say something false about their video are told, and how many true ones are accused: by the frames before anything touches, and by what is left once
//! the material is found.
//!
//! Of each lie the frames before anything touches are asked first. What they do not name is searched for the material, as is each true scene; a lie that is not named then either may
//! have moved the answer out of the interval of the true scene, or not. Rows are kept in `lies.json` one by one: a campaign that was stopped goes on.
//!
//! Prints Markdown tables: how often each kind of lie was told and named, and which causes were named of it.

use anyhow::{Context, Result};
use benches::drawn::{Drawn, Kind, doubts, ended_early, fits, median};
use clap::Parser;
use diffkern_sim::scene::BodyShape;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use train::experiment::Identify;
use train::identify::{self, Observer, State};
use train::job::{Flow, Progress, Simulator};
use train::scene::{Contact, Quantity, Scene};
use train::video::Video;

#[derive(Parser)]
#[command(version, about = "How many false scenes are told, and how many true ones accused")]
struct Args {
    /// Folders of videos, of which the frames before anything touches are asked alone [default: videos that are drawn].
    folders: Vec<PathBuf>,
    /// Lies of each kind for each folder, or videos that are drawn of each kind.
    #[arg(long, default_value_t = 3)]
    count: u64,
    /// Seed of the first video that is drawn, and of directions.
    #[arg(long, default_value_t = 101)]
    seed: u64,
    /// Those alone of the videos that are drawn that are fitted by fem or by mpm.
    #[arg(long)]
    by: Option<Simulator>,
    /// Those lies alone whose names hold these words, of videos that are drawn ("none" for true scenes).
    #[arg(long, value_name = "WORDS")]
    lie: Vec<String>,
    /// Fit the videos that an earlier campaign left in `--out`, in place of making them again.
    #[arg(long)]
    filmed: bool,
    /// Folder for videos that are drawn, rows and the table.
    #[arg(long, default_value = "out/lies")]
    out: PathBuf,
}

/// A kind of lie: its name, words of its cause, by how much it is in the units of these words, of what kinds of drawn videos it is told, and how, of what is fitted by what.
struct Lie {
    name: &'static str,
    cause: &'static str,
    amount: f64,
    of: &'static [Kind],
    tell: fn(&mut Scene, Option<Simulator>, [f64; 3], f64) -> bool,
}

const ALL: &[Kind] = &[Kind::Thrown, Kind::Clamped, Kind::Halves];
const THROWN: &[Kind] = &[Kind::Thrown];
const CAMERA: &str = "the position of the camera";
const TRUE: &str = "none";
#[rustfmt::skip]
const LIES: [Lie; 13] = [
    Lie { name: TRUE, cause: "", amount: 0.0, of: ALL, tell: |_, _, _, _| true },
    Lie { name: "camera 1 cm elsewhere", cause: CAMERA, amount: 1.0, of: THROWN, tell: camera },
    Lie { name: "camera 3 cm elsewhere", cause: CAMERA, amount: 3.0, of: THROWN, tell: camera },
    Lie { name: "field of view 2 % wider", cause: "the field of view", amount: 0.0, of: THROWN, tell: wider },
    Lie { name: "starts a quarter of a frame late", cause: "when it starts", amount: 0.25, of: THROWN, tell: late },
    Lie { name: "starts half a frame late", cause: "when it starts", amount: 0.5, of: THROWN, tell: late },
    Lie { name: "body 5 % smaller", cause: "the size of", amount: 5.3, of: THROWN, tell: smaller },
    Lie { name: "frame rate 10 % higher", cause: "the frame rate", amount: 9.1, of: THROWN, tell: |s, _, _, _| faster(s, 1.1) },
    Lie { name: "frame rate 10 % lower", cause: "the frame rate", amount: 11.1, of: THROWN, tell: |s, _, _, _| faster(s, 0.9) },
    Lie { name: "clamp left out", cause: "lack a clamp", amount: 0.0, of: &[Kind::Clamped], tell: |s, _, _, _| s.clamp.take().is_some() },
    Lie { name: "sticky for frictionless", cause: "cannot slide on", amount: 0.0, of: THROWN, tell: sticky },
    Lie { name: "friction 0.4 for none", cause: "the friction of", amount: 0.4, of: THROWN, tell: rough },
    Lie { name: "one material for two", cause: "of one material", amount: 0.0, of: &[Kind::Halves], tell: one_material },
];

/// What may be named, with its words.
const CAUSES: [(&str, &str); 18] = [
    ("camera: place", CAMERA),
    ("its aim", "the point that the camera looks at"),
    ("field of view", "the field of view"),
    ("start: place", "starts, by"),
    ("turn", "is turned"),
    ("velocity", "the velocity of"),
    ("spin", "the angular velocity of"),
    ("time", "when it starts"),
    ("size", "the size of"),
    ("gravity", "gravity, by"),
    ("frame rate", "the frame rate"),
    ("clamp or body", "lack a clamp"),
    ("friction", "the friction of"),
    ("contact", "cannot slide on"),
    ("damping", "the damping of"),
    ("law", "the law of the material"),
    ("one material", "of one material"),
    ("none that was tried", "nothing that was tried"),
];

fn camera(scene: &mut Scene, _: Option<Simulator>, along: [f64; 3], cm: f64) -> bool {
    let camera = &mut scene.cameras[0];
    camera.position = [0, 1, 2].map(|a| camera.position[a] + 0.01 * cm * along[a]);
    true
}

fn wider(scene: &mut Scene, _: Option<Simulator>, _: [f64; 3], _: f64) -> bool {
    scene.cameras[0].vertical_fov *= 1.02;
    true
}

fn faster(scene: &mut Scene, by: f64) -> bool {
    scene.frame_rate *= by;
    // Nothing moves in the only frame of what is clamped.
    scene.clamp.is_none()
}

fn late(scene: &mut Scene, _: Option<Simulator>, _: [f64; 3], frames: f64) -> bool {
    let (t, g) = (frames / scene.frame_rate, scene.gravity);
    let mut moved = scene.clamp.is_none();
    for start in scene.bodies.iter_mut().map(|body| &mut body.starts[0]) {
        let by = [0, 1, 2].map(|a| t * start.velocity[a] + 0.5 * t * t * g[a]);
        start.velocity = [0, 1, 2].map(|a| start.velocity[a] + t * g[a]);
        moved &= start.angular_velocity == [0.0; 3] && placed(&mut start.shape, 1.0, by);
    }
    moved
}

fn smaller(scene: &mut Scene, _: Option<Simulator>, _: [f64; 3], _: f64) -> bool {
    scene.bodies.iter_mut().all(|body| placed(&mut body.starts[0].shape, 0.95, [0.0; 3]))
}

/// Scales a block about its middle and moves it; nothing else.
fn placed(shape: &mut BodyShape, scale: f64, by: [f64; 3]) -> bool {
    let BodyShape::Block { min, max } = shape else { return false };
    let middle = [0, 1, 2].map(|a| 0.5 * (min[a] + max[a]));
    for corner in [min, max] {
        *corner = [0, 1, 2].map(|a| middle[a] + scale * (corner[a] - middle[a]) + by[a]);
    }
    true
}

/// Finite elements know no such contact; what they made is fitted by the other simulator.
fn sticky(scene: &mut Scene, by: Option<Simulator>, _: [f64; 3], _: f64) -> bool {
    scene.colliders[0].contact = Contact::Sticky;
    by == Some(Simulator::Mpm)
}

fn rough(scene: &mut Scene, by: Option<Simulator>, _: [f64; 3], friction: f64) -> bool {
    scene.colliders[0].contact = Contact::Friction(friction);
    by == Some(Simulator::Fem)
}

fn one_material(scene: &mut Scene, _: Option<Simulator>, _: [f64; 3], _: f64) -> bool {
    scene.bodies[0].fields.clear();
    // Names of the scene without the field, and not those that are written for it.
    let mut names = scene.clone();
    names.unknowns.clear();
    scene.unknowns.retain(|range| range.target.piece == 0);
    for range in &mut scene.unknowns {
        range.name = names.name_of(range.target);
    }
    scene.unknowns.iter().any(|range| range.target.quantity == Quantity::Mu)
}

/// What was said of a scene.
#[derive(Serialize, Deserialize)]
struct Row {
    case: String,
    lie: String,
    /// Before any search.
    before: Vec<String>,
    /// After one, where there was one.
    after: Option<Found>,
}

#[derive(Serialize, Deserialize)]
struct Found {
    outlines: Option<f64>,
    warnings: Vec<String>,
    /// Values with their intervals, by name.
    parameters: BTreeMap<String, (f64, (f64, f64))>,
}

impl Found {
    /// Whether a value is in no interval that another answer has of it, or of a piece of it.
    fn is_out_of(&self, other: &Self) -> bool {
        let own = |name: &str| name.split('[').next().unwrap_or(name).to_owned();
        self.parameters.iter().any(|(name, (found, _))| {
            let mut those = other.parameters.iter().filter(|(other, _)| own(other) == own(name));
            !those.any(|(_, (_, (low, high)))| (low..=high).contains(&found))
        })
    }
}

impl Row {
    /// All that was said, with what it says of a cause alone.
    fn said(&self) -> String {
        self.before
            .iter()
            .chain(self.after.iter().flat_map(|found| &found.warnings))
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn is_accused(&self) -> bool {
        doubts(&self.said())
    }

    fn is_named(&self, lie: &Lie) -> bool {
        !lie.cause.is_empty() && self.said().contains(lie.cause)
    }

    /// What fits the video, of those that are drawn.
    fn by(&self) -> Option<Simulator> {
        self.case.rsplit('_').next()?.parse().ok().map(fits)
    }

    /// By how much the scene is said to be off where the cause is named.
    fn amount(&self, lie: &Lie) -> Option<f64> {
        let said = self.said();
        let (_, after) = said.split_once(lie.cause).filter(|_| lie.amount > 0.0)?;
        after.split_once("by ").and_then(|(_, rest)| rest.split([' ', ',', ';']).next()?.parse::<f64>().ok())
    }
}

/// A video with the scene that is true of it.
struct Case {
    name: String,
    kind: Option<Kind>,
    folder: PathBuf,
    scene: Scene,
    videos: Vec<Video>,
    by: Option<Simulator>,
}

impl Case {
    fn new(name: String, kind: Option<Kind>, folder: PathBuf, by: Option<Simulator>) -> Result<Self> {
        let scene = Scene::read(&folder)?;
        let videos = Video::read(&folder, &scene)?;
        Ok(Self { name, kind, folder, scene, videos, by })
    }

    /// What is said of a scene that tells a lie; nothing where it cannot be told.
    fn row(&self, lie: &Lie, direction: [f64; 3]) -> Result<Option<Row>> {
        let mut scene = self.scene.clone();
        if self.kind.is_some_and(|kind| !lie.of.contains(&kind))
            || !(lie.tell)(&mut scene, self.by, direction, lie.amount)
        {
            return Ok(None);
        }
        let before = identify::beginning(&scene, &self.videos, "cpu")?;
        let mut row = Row { case: self.name.clone(), lie: lie.name.to_owned(), before, after: None };
        if self.kind.is_some() && !row.is_named(lie) {
            row.after = Some(self.searched(&scene)?);
        }
        Ok(Some(row))
    }

    fn searched(&self, scene: &Scene) -> Result<Found> {
        let job = Identify { simulator: self.by, ..Identify::new(self.folder.clone()) };
        let outcome = identify::identify(scene, &self.videos, &job.options(scene)?, None, &mut Quiet)?;
        let parameters = outcome.parameters.into_iter().map(|parameter| {
            let interval = parameter.interval.unwrap_or((f64::MIN, f64::MAX));
            (parameter.name.to_string(), (parameter.found, interval))
        });
        Ok(Found { outlines: outcome.outlines, parameters: parameters.collect(), warnings: outcome.warnings })
    }
}

struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _: &Progress) -> Flow {
        Flow::Continue
    }

    fn checkpoint(&mut self, _: &State) -> train::error::Result<()> {
        Ok(())
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let rows = match args.folders.is_empty() {
        true => drawn(&args)?,
        false => given(&args)?,
    };
    print!("{}", tables(&rows)?);
    Ok(())
}

/// What is said of given videos.
fn given(args: &Args) -> Result<Vec<Row>> {
    let mut random = fastrand::Rng::with_seed(args.seed);
    let mut rows = Vec::new();
    for folder in &args.folders {
        let case = Case::new(folder.display().to_string(), None, folder.clone(), None)?;
        for lie in &LIES[..10] {
            let count = if lie.cause == CAMERA { args.count } else { 1 };
            for _ in 0..count {
                rows.extend(case.row(lie, direction(&mut random))?);
            }
        }
    }
    Ok(rows)
}

/// Rows by case and lie; none where a lie cannot be told.
type Campaign = BTreeMap<String, BTreeMap<String, Option<Row>>>;

/// What is said of videos that are drawn, now and before.
fn drawn(args: &Args) -> Result<Vec<Row>> {
    fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let file = args.out.join("lies.json");
    let mut campaign: Campaign = match fs::read_to_string(&file) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("cannot parse {}", file.display()))?,
        Err(_) => Campaign::new(),
    };
    let seeds = (args.seed..).filter(|seed| args.by.is_none_or(|by| by == fits(*seed)));
    let is_asked = |lie: &Lie| args.lie.is_empty() || args.lie.iter().any(|words| lie.name.contains(words.as_str()));
    for seed in seeds.take(usize::try_from(args.count)?) {
        for kind in ALL {
            let name = format!("{kind:?}_{seed}").to_lowercase();
            let folder = args.out.join(&name);
            let mut case = None;
            let mut random = fastrand::Rng::with_seed(seed);
            let directions = [(); LIES.len()].map(|()| direction(&mut random));
            for (lie, along) in LIES.iter().zip(directions).filter(|(lie, _)| lie.of.contains(kind) && is_asked(lie)) {
                if campaign.get(&name).is_some_and(|rows| rows.contains_key(lie.name)) {
                    continue;
                }
                let case = match &mut case {
                    Some(case) => case,
                    None => match drawn_case(&name, *kind, seed, &folder, args.filmed) {
                        Ok(filmed) => case.insert(filmed),
                        // What cannot be simulated has no video.
                        Err(error) if ended_early(&folder) => {
                            eprintln!("{error:#}");
                            break;
                        }
                        Err(error) => return Err(error),
                    },
                };
                let row = case.row(lie, along).with_context(|| format!("{name}, {}", lie.name))?;
                campaign.entry(name.clone()).or_default().insert(lie.name.to_owned(), row);
                fs::write(&file, serde_json::to_string_pretty(&campaign)?)?;
            }
        }
    }
    let rows: Vec<Row> = campaign.into_values().flat_map(BTreeMap::into_values).flatten().collect();
    fs::write(args.out.join("lies.md"), tables(&rows)?)?;
    Ok(rows)
}

fn drawn_case(name: &str, kind: Kind, seed: u64, folder: &Path, filmed: bool) -> Result<Case> {
    let video = Drawn::new(kind, seed)?.video(folder, fits(seed), filmed)?;
    Case::new(name.to_owned(), Some(kind), video, Some(fits(seed)))
}

/// How often each lie was told and named, of all videos and of those that each simulator fits, and what was named of it.
fn tables(rows: &[Row]) -> Result<String> {
    let all: Vec<&Row> = rows.iter().collect();
    let mut text = counts(&all)?;
    for by in [Simulator::Fem, Simulator::Mpm] {
        let own: Vec<&Row> = rows.iter().filter(|row| row.by() == Some(by)).collect();
        if !own.is_empty() && own.len() < all.len() {
            write!(text, "\nFitted by {}:\n\n{}", by.name(), counts(&own)?)?;
        }
    }
    text.push_str("\n| lie | named of it |\n|---|---|\n");
    for lie in &LIES {
        let own = of(lie, &all);
        let count = |words: &str| own.iter().filter(|row| row.said().contains(words)).count();
        let named = CAUSES.iter().map(|(name, words)| (name, count(words))).filter(|(_, count)| *count > 0);
        let named: Vec<String> = named.map(|(name, count)| format!("{name} {count}")).collect();
        writeln!(text, "| {} | {} |", lie.name, named.join(", "))?;
    }
    Ok(text)
}

fn of<'a>(lie: &Lie, rows: &[&'a Row]) -> Vec<&'a Row> {
    rows.iter().filter(|row| row.lie == lie.name).copied().collect()
}

/// How often each lie was told and named.
fn counts(rows: &[&Row]) -> Result<String> {
    let mut text = String::from(
        "| lie | scenes | something said | cause named | off by, median | not named, answer moved | not named, not moved |\n|---|---|---|---|---|---|---|\n",
    );
    for lie in &LIES {
        let own = of(lie, rows);
        if own.is_empty() {
            continue;
        }
        let count = |is: &dyn Fn(&Row) -> bool| own.iter().filter(|row| is(row)).count();
        let amounts: Vec<f64> =
            own.iter().filter_map(|row| row.amount(lie)).map(|by| (by.abs() / lie.amount - 1.0).abs()).collect();
        let off = if amounts.is_empty() { String::new() } else { format!("{:.0} %", 100.0 * median(amounts)) };
        let honest = |row: &Row| rows.iter().find(|other| other.case == row.case && other.lie == TRUE)?.after.as_ref();
        let moved = |row: &Row| Some(row.after.as_ref()?.is_out_of(honest(row)?));
        let [out, within] =
            [true, false].map(|is| count(&|row| lie.name != TRUE && !row.is_named(lie) && moved(row) == Some(is)));
        let (told, named) = (count(&Row::is_accused), count(&|row| row.is_named(lie)));
        writeln!(text, "| {} | {} | {told} | {named} | {off} | {out} | {within} |", lie.name, own.len())?;
    }
    Ok(text)
}

fn direction(random: &mut fastrand::Rng) -> [f64; 3] {
    loop {
        let x = [(); 3].map(|()| 2.0 * random.f64() - 1.0);
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        if (0.1..1.0).contains(&norm) {
            return x.map(|x| x / norm);
        }
    }
}
