//! Scenes drawn at random, and videos of them by the simulator that will not fit them.

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use train::experiment::{Simulate, Simulation};
use train::identify;
use train::job::{Flow, Simulator, Stop, Values};
use train::scene::{Name, Scene};

/// The unknowns of a scene.
pub const MU: &str = "bodies.jelly.material.mu";
/// The other.
pub const LAMBDA: &str = "bodies.jelly.material.lambda";

/// What a scene shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A block or a ball, thrown on a floor without friction.
    Thrown,
    /// A bar that is clamped at one end and swings.
    Clamped,
    /// As thrown; mu of one half along x is another than that of the other, and both are unknown.
    Halves,
}

/// A scene with the material that its video shows.
pub struct Drawn {
    /// As a file.
    pub scene: Value,
    /// Name of the shape.
    pub shape: String,
    /// What is unknown.
    pub truth: Values,
    /// Of every value of every pixel, as a part of white.
    pub noise: f64,
    /// What it was drawn from.
    pub seed: u64,
}

/// What fits the video of a seed.
pub fn fits(seed: u64) -> Simulator {
    if seed % 2 == 1 { Simulator::Fem } else { Simulator::Mpm }
}

/// What makes the videos that a simulator fits.
pub fn maker(by: Simulator) -> Simulator {
    match by {
        Simulator::Mpm | Simulator::Tlmpm => Simulator::Fem,
        Simulator::Fem | Simulator::Rigid => Simulator::Tlmpm,
    }
}

impl Drawn {
    /// The scene of a seed.
    ///
    /// # Errors
    /// When a parameter has no name.
    pub fn new(kind: Kind, seed: u64) -> Result<Self> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut drawn = thrown(&mut random, seed)?;
        match kind {
            Kind::Thrown => {}
            Kind::Clamped => drawn.clamp(&mut random),
            Kind::Halves => drawn.halve(&mut random)?,
        }
        Ok(drawn)
    }

    /// The video in a folder, made anew unless it was `filmed` before, to its end: its scene has the unknowns of this one then.
    ///
    /// # Errors
    /// As [`Drawn::film`].
    pub fn video(&self, folder: &Path, by: Simulator, filmed: bool) -> Result<PathBuf> {
        let video = folder.join("video");
        let scene = fs::read_to_string(video.join("scene.json")).ok();
        let scene = scene.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        match filmed && scene.is_some_and(|scene| scene["unknowns"] == self.scene["unknowns"]) {
            true => Ok(video),
            false => self.film(folder, by),
        }
    }

    /// Writes the scene and its video into a folder: by the [`maker`] of what `by` fits, with twice as many cells across the thinnest side as `by` ends with.
    ///
    /// # Errors
    /// When a file cannot be written, or the scene cannot be simulated.
    pub fn film(&self, folder: &Path, by: Simulator) -> Result<PathBuf> {
        let [source, known] = ["scene", "known"].map(|name| folder.join(name));
        for (folder, scene) in [(&source, &self.scene), (&known, &self.known()?)] {
            fs::create_dir_all(folder)?;
            fs::write(folder.join("scene.json"), format!("{scene:#}"))?;
        }
        let video = folder.join("video");
        let simulate = Simulate {
            simulator: Some(maker(by)),
            out: Some(video.clone()),
            set: self.truth.clone().into_iter().collect(),
            cells: Some(2 * identify::cells(&Scene::read(&source)?, by)),
            noise: self.noise,
            seed: self.seed,
            ..Simulate::new(known)
        };
        Simulation::replacing(&simulate)?.run(&mut |_| Flow::Continue, &Stop::default())?;
        let file = video.join("scene.json");
        let mut filmed: Value = serde_json::from_str(&fs::read_to_string(&file)?)?;
        filmed["unknowns"] = self.scene["unknowns"].clone();
        fs::write(&file, format!("{filmed:#}"))?;
        Ok(video)
    }

    /// The scene with ranges that hardly leave its truth: steps, and with them what a video shows, follow from ranges.
    fn known(&self) -> Result<Value> {
        let mut scene = self.scene.clone();
        for (of, unknown) in scene["unknowns"].as_object_mut().context("a scene has unknowns")? {
            let own = |(name, _): &(&Name, &f64)| name.to_string().split('[').next() == Some(of);
            let [low, high] =
                [f64::min, f64::max].map(|least| self.truth.iter().filter(own).map(|(_, v)| *v).reduce(least));
            unknown["range"] = json!([low.context("it has a truth")? / 1.01, high.context("it has a truth")? * 1.01]);
        }
        Ok(scene)
    }

    /// Makes a bar of it that is held at one end.
    fn clamp(&mut self, random: &mut fastrand::Rng) {
        let mut between = |low: f64, high: f64| low + (high - low) * random.f64();
        let (length, side) = (between(0.16, 0.24), between(0.045, 0.06));
        let body = &mut self.scene["bodies"]["jelly"];
        body["shape"] = json!({"box": {"size": [length, side, side]}});
        body["pose"]["position"] = json!([0.5 * length, 0.0, 0.1]);
        body["velocity"] = json!([0.0, 0.0, 0.0]);
        body["clamps"] = json!([{"axis": "x", "plane": 0.02, "side": "below"}]);
        self.scene["colliders"] = json!({});
        self.scene["cameras"]["main"]["look_at"] = json!([0.1, 0.0, 0.06]);
        self.shape = "bar".to_owned();
    }

    /// Makes two unknowns of mu, of which one is up to half as large again as what was drawn, the other as much smaller.
    fn halve(&mut self, random: &mut fastrand::Rng) -> Result<()> {
        let name = name(MU)?;
        let mu = self.truth.remove(&name).context("mu is drawn")?;
        let by = 1.2 + 0.3 * random.f64();
        let by = if random.bool() { by } else { 1.0 / by };
        for (piece, value) in [mu / by, mu * by].into_iter().enumerate() {
            self.truth.insert(self::name(&format!("{MU}[{piece}]"))?, value);
        }
        self.scene["unknowns"][MU]["field"] = json!([2, 1, 1]);
        Ok(())
    }
}

fn name(path: &str) -> Result<Name> {
    path.parse().map_err(|problem| anyhow!("{path}: {problem}"))
}

fn thrown(random: &mut fastrand::Rng, seed: u64) -> Result<Drawn> {
    let mut between = |low: f64, high: f64| low + (high - low) * random.f64();
    let ball = between(0.0, 1.0) < 0.3;
    let (shape, half_height) = match ball {
        true => {
            let radius = between(0.06, 0.09);
            (json!({"sphere": {"radius": radius}}), radius)
        }
        false => {
            let sides = [between(0.14, 0.22), between(0.14, 0.2), between(0.11, 0.15)];
            (json!({"box": {"size": sides}}), 0.5 * sides[2])
        }
    };
    let (young, poisson) = (between(6e3f64.ln(), 4e4f64.ln()).exp(), between(0.2, 0.42));
    let mu = young / (2.0 * (1.0 + poisson));
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let turn = between(-0.6, 0.6);
    let far = between(0.95, 1.15);
    let scene = json!({
        "version": 1,
        "name": "coverage",
        "frame_rate": 40.0,
        "frames": 18,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"jelly": {
            "shape": shape,
            "pose": {"position": [between(-0.06, -0.02), between(-0.03, 0.03), half_height + between(0.02, 0.04)]},
            "velocity": [between(0.1, 0.4), between(-0.2, 0.2), between(-1.4, -0.8)],
            "density": between(700.0, 1400.0),
            "material": {"law": "neo_hookean"},
            "albedo": [0.6, 0.6, 0.8],
        }},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0, 0, 1]}}, "contact": {"friction": 0.0}}},
        "cameras": {"main": {
            "position": [far * f64::sin(turn), -far * f64::cos(turn), between(0.2, 0.5)],
            "look_at": [0.02, 0.0, 0.08], "vertical_fov": 0.45, "width": 112, "height": 96,
        }},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {
            MU: {"range": [mu / between(2.5, 5.0), mu * between(2.0, 4.0)]},
            LAMBDA: {"range": [lambda / between(2.5, 5.0), lambda * between(2.0, 4.0)]},
        },
    });
    let noise = [0.0, 0.01, 0.02][(3.0 * between(0.0, 1.0)) as usize % 3];
    let shape = if ball { "ball" } else { "block" }.to_owned();

    Ok(Drawn { scene, shape, truth: Values::from([(name(MU)?, mu), (name(LAMBDA)?, lambda)]), noise, seed })
}

/// Whether the motion in a folder that [`Drawn::film`] wrote to did not come to its end: its last frame is kept.
pub fn ended_early(folder: &Path) -> bool {
    folder.join("video/last_frame.obj").is_file()
}

/// Whether a warning says that a scene is wrong.
pub fn doubts(warning: &str) -> bool {
    ["the video is not as the scene says", "the scene may be wrong", "does not explain"]
        .iter()
        .any(|words| warning.contains(words))
}

/// The median.
///
/// # Panics
/// Of none.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
