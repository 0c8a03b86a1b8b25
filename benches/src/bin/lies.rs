//! How many scenes that say something false about their video are told, and how many true ones are accused, by the frames before anything touches.
//!
//! Prints a Markdown table: a row for each kind of lie, with how often something was said, how often the true cause was named, and how far off the amount was in the median.

use anyhow::Result;
use clap::Parser;
use diffkern_sim::scene::BodyShape;
use std::path::PathBuf;
use train::identify::beginning;
use train::scene::Scene;
use train::video::Video;

#[derive(Parser)]
#[command(version, about = "How many false scenes are told by how their videos begin")]
struct Args {
    /// Folders of videos.
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// Lies of each kind for each video.
    #[arg(long, default_value_t = 3)]
    count: usize,
    /// Seed of their directions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A kind of lie: its name, words of its cause, by how much it is in the units of these words, and how it is told.
struct Lie {
    name: &'static str,
    cause: &'static str,
    amount: f64,
    tell: fn(&mut Scene, [f64; 3], f64) -> bool,
}

const CAMERA: &str = "the position of the camera";
const LIES: [Lie; 10] = [
    Lie { name: "none", cause: "", amount: 0.0, tell: |_, _, _| true },
    Lie { name: "camera 1 cm elsewhere", cause: CAMERA, amount: 1.0, tell: camera },
    Lie { name: "camera 3 cm elsewhere", cause: CAMERA, amount: 3.0, tell: camera },
    Lie { name: "field of view 2 % wider", cause: "the field of view", amount: 0.0, tell: wider },
    Lie { name: "starts a quarter of a frame late", cause: "when it starts", amount: 0.25, tell: late },
    Lie { name: "starts half a frame late", cause: "when it starts", amount: 0.5, tell: late },
    Lie { name: "body 5 % smaller", cause: "the size of", amount: 5.3, tell: smaller },
    Lie { name: "frame rate 10 % higher", cause: "the frame rate", amount: 9.1, tell: |s, _, _| faster(s, 1.1) },
    Lie { name: "frame rate 10 % lower", cause: "the frame rate", amount: 11.1, tell: |s, _, _| faster(s, 0.9) },
    Lie { name: "clamp left out", cause: "lack a clamp", amount: 0.0, tell: |s, _, _| s.clamp.take().is_some() },
];

fn camera(scene: &mut Scene, along: [f64; 3], cm: f64) -> bool {
    let camera = &mut scene.cameras[0];
    camera.position = [0, 1, 2].map(|a| camera.position[a] + 0.01 * cm * along[a]);
    true
}

fn wider(scene: &mut Scene, _: [f64; 3], _: f64) -> bool {
    scene.cameras[0].vertical_fov *= 1.02;
    true
}

fn faster(scene: &mut Scene, by: f64) -> bool {
    scene.frame_rate *= by;
    // Nothing moves in the only frame of what is clamped.
    scene.clamp.is_none()
}

fn late(scene: &mut Scene, _: [f64; 3], frames: f64) -> bool {
    let (t, g) = (frames / scene.frame_rate, scene.gravity);
    let mut moved = scene.clamp.is_none();
    for start in scene.bodies.iter_mut().map(|body| &mut body.starts[0]) {
        let by = [0, 1, 2].map(|a| t * start.velocity[a] + 0.5 * t * t * g[a]);
        start.velocity = [0, 1, 2].map(|a| start.velocity[a] + t * g[a]);
        moved &= start.angular_velocity == [0.0; 3] && corners(&mut start.shape, |x, a| x + by[a]);
    }
    moved
}

fn smaller(scene: &mut Scene, _: [f64; 3], _: f64) -> bool {
    scene.bodies.iter_mut().all(|body| {
        let BodyShape::Block { min, max } = &body.starts[0].shape else { return false };
        let middle = [0, 1, 2].map(|a| 0.5 * (min[a] + max[a]));
        corners(&mut body.starts[0].shape, |x, a| middle[a] + 0.95 * (x - middle[a]))
    })
}

/// Moves the corners of a block; of nothing else.
fn corners(shape: &mut BodyShape, to: impl Fn(f64, usize) -> f64) -> bool {
    let BodyShape::Block { min, max } = shape else { return false };
    for corner in [min, max] {
        *corner = [0, 1, 2].map(|a| to(corner[a], a));
    }
    true
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut random = fastrand::Rng::with_seed(args.seed);
    let mut jobs = Vec::new();
    for folder in &args.folders {
        let scene = Scene::read(folder)?;
        let videos = Video::read(folder, &scene)?;
        jobs.push((scene, videos));
    }
    println!("| lie | scenes | something said | cause named | off by, median |\n|---|---|---|---|---|");
    for lie in &LIES {
        let (mut scenes, mut told, mut named, mut off) = (0, 0, 0, Vec::new());
        for (scene, videos) in &jobs {
            let count = if lie.cause == CAMERA { args.count } else { 1 };
            for _ in 0..count {
                let mut false_scene = scene.clone();
                if !(lie.tell)(&mut false_scene, direction(&mut random), lie.amount) {
                    continue;
                }
                scenes += 1;
                let said = beginning(&false_scene, videos, "cpu")?.join(" ");
                told += usize::from(!said.is_empty());
                if let Some((_, after)) = said.split_once(lie.cause).filter(|_| !lie.cause.is_empty()) {
                    named += 1;
                    let number =
                        after.split_once("by ").and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
                    off.extend(number.filter(|_| lie.amount > 0.0).map(|x| (x / lie.amount - 1.0).abs()));
                }
            }
        }
        off.sort_by(f64::total_cmp);
        let median = off.get(off.len() / 2).map_or_else(String::new, |x| format!("{:.0} %", 100.0 * x));
        println!("| {} | {scenes} | {told} | {named} | {median} |", lie.name);
    }
    Ok(())
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
