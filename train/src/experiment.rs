//! Jobs as a person writes them: on the command line or in a RON file.

use crate::error::{Error, Place, Result};
use crate::input;
use crate::job::{IdentifyOptions, Values};
use crate::limits::{Bytes, Limits, Seconds};
use crate::optimizer::Optimizer;
use crate::scene::{Access, Name, Range, Scale, Scene};
use crate::text;
use crate::video::Depth;
use ron::error::SpannedError;
use ron::extensions::Extensions;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A job, written `Identify(folder: "..", ..)` or `Simulate(folder: "..", ..)` in RON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Experiment {
    /// Find the material that made a video.
    Identify(Identify),
    /// Render what given parameters look like.
    Simulate(Simulate),
}

/// Find the material that made a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identify {
    /// Folder of the video, with `scene.json`, `silhouette` and `shaded`. In a RON file, relative
    /// to the file.
    pub folder: PathBuf,
    /// Folder to write to, `out/<name of the scene>` if not given. Relative to the current folder.
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// Parameters to find: `["mu", "lambda"]`. All that have a range in the scene if empty.
    #[serde(default)]
    pub unknowns: Vec<Name>,
    /// Values of parameters that are not searched for: `{"lambda": 20000.0}` \[SI\].
    #[serde(default)]
    pub fixed: Values,
    /// Values to start from: `{"mu": 5000.0}` \[SI\]. The method chooses the others.
    #[serde(default)]
    pub start: Values,
    /// `cpu`, `wgpu`, `cuda` or `best`.
    #[serde(default = "default_device")]
    pub device: String,
    /// Seed of everything random.
    #[serde(default)]
    pub seed: u64,
    /// Grid cells across the thinnest side on the final grid; as the method chooses if not given.
    #[serde(default)]
    pub cells: Option<usize>,
    /// Most iterations of the optimiser; its own stopping rule if not given.
    #[serde(default)]
    pub max_iterations: Option<usize>,
    /// `auto`, `lm`, `newton-cg` or `adam`.
    #[serde(default)]
    pub optimizer: Optimizer,
    /// Whether to compare the gradient in use with finite differences first.
    #[serde(default, alias = "check_gradient")]
    pub gradcheck: bool,
    /// Whether the scene may name files outside of its folder.
    #[serde(default)]
    pub allow_outside: bool,
    /// Most time that it may take by the estimate before it begins, such as `"2h"`; one hour if not given.
    #[serde(default)]
    pub max_time: Option<Seconds>,
    /// Most memory, such as `"8GiB"`; four fifths of what is free if not given.
    #[serde(default)]
    pub max_memory: Option<Bytes>,
}

/// Render what given parameters look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulate {
    /// Folder with `scene.json`. In a RON file, relative to the file.
    pub folder: PathBuf,
    /// Folder to write frames to, `out/<name of the scene>_simulated` if not given.
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// Value of every parameter: `{"mu": 8000.0, "lambda": 14000.0}` \[SI\].
    pub set: Values,
    /// Grid cells across the thinnest side; as many as `identify` ends with if not given.
    #[serde(default)]
    pub cells: Option<usize>,
    /// `cpu`, `wgpu`, `cuda` or `best`.
    #[serde(default = "default_device")]
    pub device: String,
    /// Bits of a colour in the frames, 8 or 16.
    #[serde(default)]
    pub bits: Depth,
    /// Standard deviation of noise on every value of every pixel, as a part of white.
    #[serde(default)]
    pub noise: f64,
    /// Seed of the noise.
    #[serde(default)]
    pub seed: u64,
    /// Whether to compare the gradient at these values, against the folder's frames, with finite
    /// differences first.
    #[serde(default, alias = "check_gradient")]
    pub gradcheck: bool,
    /// Whether the scene may name files outside of its folder.
    #[serde(default)]
    pub allow_outside: bool,
    /// Most time that it may take by the estimate before it begins, such as `"2h"`; one hour if not given.
    #[serde(default)]
    pub max_time: Option<Seconds>,
    /// Most memory, such as `"8GiB"`; four fifths of what is free if not given.
    #[serde(default)]
    pub max_memory: Option<Bytes>,
}

/// What a job runs on unless told otherwise: the target whose bits never change.
pub fn default_device() -> String {
    "cpu".into()
}

/// The dialect of RON: `Some(..)` may be left out, and variants carry their fields directly.
fn dialect() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

impl Experiment {
    /// Reads a RON file; the folder of the video is taken relative to it.
    ///
    /// # Errors
    /// Names line, column and what was expected.
    pub fn read(file: &Path) -> Result<Self> {
        let mut experiment = Self::parse(file, &input::text(file, input::JOB)?)?;
        let folder = match &mut experiment {
            Self::Identify(job) => &mut job.folder,
            Self::Simulate(job) => &mut job.folder,
        };
        *folder = file.parent().unwrap_or(Path::new("")).join(&folder);
        Ok(experiment)
    }

    /// Parses the text of `file`.
    ///
    /// # Errors
    /// Names line, column and what was expected.
    pub fn parse(file: &Path, text: &str) -> Result<Self> {
        let wrong = |e: SpannedError, field: Option<String>| Error::Input {
            file: file.into(),
            place: Place { line: Some((e.span.start.line, e.span.start.col)), field },
            problem: e.code.to_string().replace('\n', " "),
        };
        let dialect = dialect();
        let mut parser = ron::Deserializer::from_str_with_options(text, &dialect).map_err(|e| wrong(e, None))?;
        let parsed = serde_path_to_error::deserialize(&mut parser).map_err(|e| {
            let field = Some(e.path().to_string()).filter(|field| field != "." && field != "?");
            wrong(parser.span_error(e.into_inner()), field)
        })?;
        parser.end().map_err(|e| wrong(parser.span_error(e), None))?;
        Ok(parsed)
    }

    /// The text of a RON file that [`Experiment::parse`] reads back to the same job.
    ///
    /// # Errors
    /// Names the path that is not UTF-8.
    pub fn to_ron(&self) -> Result<String> {
        let (folder, out) = match self {
            Self::Identify(job) => (&job.folder, &job.out),
            Self::Simulate(job) => (&job.folder, &job.out),
        };
        for (name, path) in [("folder", Some(folder)), ("out", out.as_ref())] {
            if let Some(path) = path.filter(|path| path.to_str().is_none()) {
                let path = text::path(path);
                return Err(Error::argument(
                    name,
                    format!("{path} is not UTF-8, expected a path that a RON file can hold"),
                ));
            }
        }
        let style = ron::ser::PrettyConfig::default();
        let text = dialect().to_string_pretty(self, style);
        text.map(|text| text + "\n").map_err(|e| Error::Compute(format!("the job cannot be written as RON: {e}")))
    }
}

impl Identify {
    /// A job with every default.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            out: None,
            unknowns: Vec::new(),
            fixed: Values::new(),
            start: Values::new(),
            device: default_device(),
            seed: 0,
            cells: None,
            max_iterations: None,
            optimizer: Optimizer::Auto,
            gradcheck: false,
            allow_outside: false,
            max_time: None,
            max_memory: None,
        }
    }

    /// Which files the scene may name.
    pub fn access(&self) -> Access {
        Access::of(self.allow_outside)
    }

    /// What it may take.
    pub fn limits(&self) -> Limits {
        Limits { max_time: self.max_time, max_memory: self.max_memory }
    }

    /// Checks the job against the scene.
    ///
    /// # Errors
    /// Names the option and what was expected.
    pub fn options(&self, scene: &Scene) -> Result<IdentifyOptions> {
        let given = in_scene(scene, "fixed", &self.fixed)?;
        let start = in_scene(scene, "start", &self.start)?;
        let found = self.unknowns.iter().map(|name| resolved(scene, "unknowns", name));
        let mut unknowns = found.collect::<Result<Vec<_>>>()?.concat();
        if unknowns.is_empty() {
            let mut free: Vec<&Range> = scene.unknowns.iter().collect();
            free.sort_by_key(|range| range.target);
            unknowns = free.into_iter().map(|r| r.name.clone()).filter(|name| !given.contains_key(name)).collect();
        }
        check_unknowns(scene, &unknowns)?;
        let mut fixed = known(scene);
        fixed.extend(given.clone());
        fixed.retain(|name, _| !unknowns.contains(name));
        check_values("fixed", &given)?;
        if let Some(name) = given.keys().find(|name| unknowns.contains(name)) {
            let problem = format!("{name} is to be found as well, expected one of the two");
            return Err(Error::argument("fixed", problem));
        }
        if let Some(name) = missing(scene, &unknowns, &fixed) {
            let problem =
                format!("{name} is neither to be found nor known, expected it here or a value (--set {name}=VALUE)");
            return Err(Error::argument("unknowns", problem));
        }
        check_start(scene, &unknowns, &start)?;
        let has_prior = |range: &Range| range.prior.is_some() && unknowns.contains(&range.name);
        if self.optimizer.resolve()? != Optimizer::Lm && scene.unknowns.iter().any(has_prior) {
            let problem =
                format!("{}, but an unknown has a prior, which only lm weighs against the data", self.optimizer);
            return Err(Error::argument("optimizer", problem));
        }
        check_cells(self.cells)?;
        if self.max_iterations == Some(0) {
            return Err(Error::argument("max_iterations", "0, expected at least 1"));
        }
        Ok(IdentifyOptions {
            unknowns,
            fixed,
            start,
            device: self.device.clone(),
            seed: self.seed,
            cells: self.cells,
            max_iterations: self.max_iterations,
            optimizer: self.optimizer.resolve()?,
            limits: self.limits(),
        })
    }
}

impl Simulate {
    /// Which files the scene may name.
    pub fn access(&self) -> Access {
        Access::of(self.allow_outside)
    }

    /// What it may take.
    pub fn limits(&self) -> Limits {
        Limits { max_time: self.max_time, max_memory: self.max_memory }
    }

    /// The values of all parameters: those set and those that the scene knows.
    ///
    /// # Errors
    /// Names the parameter that is missing or wrong.
    pub fn values(&self, scene: &Scene) -> Result<Values> {
        let given = in_scene(scene, "set", &self.set)?;
        check_values("set", &given)?;
        if !(0.0..=1.0).contains(&self.noise) {
            let problem = format!("{}, expected a part of white between 0 and 1", self.noise);
            return Err(Error::argument("noise", problem));
        }
        check_cells(self.cells)?;
        let mut values = known(scene);
        values.extend(given);
        match missing(scene, &[], &values) {
            Some(name) => {
                let problem = format!("{name} has no value, expected --set {name}=VALUE");
                Err(Error::argument("set", problem))
            }
            None => Ok(values),
        }
    }
}

fn check_cells(cells: Option<usize>) -> Result<()> {
    match cells.filter(|cells| !(1..=1000).contains(cells)) {
        Some(cells) => Err(Error::argument("cells", format!("{cells}, expected 1 to 1000 across the thinnest side"))),
        None => Ok(()),
    }
}

/// The names that the scene has for a parameter, for each piece of one that varies.
fn resolved(scene: &Scene, option: &str, name: &Name) -> Result<Vec<Name>> {
    let targets = scene.all(name).map_err(|problem| Error::argument(option, problem))?;
    Ok(targets.into_iter().map(|target| scene.name_of(target)).collect())
}

/// Values by the names that the scene has; that of a piece counts more than that of the whole.
fn in_scene(scene: &Scene, option: &str, values: &Values) -> Result<Values> {
    let (pieces, whole): (Vec<_>, Vec<_>) = values.iter().partition(|(name, _)| name.piece().is_some());
    let mut all = Values::new();
    for (name, value) in whole.into_iter().chain(pieces) {
        all.extend(resolved(scene, option, name)?.into_iter().map(|name| (name, *value)));
    }
    Ok(all)
}

/// The elastic parameters that the scene gives.
fn known(scene: &Scene) -> Values {
    scene.elastic().filter_map(|target| Some((scene.name_of(target), scene.known(target)?))).collect()
}

/// A parameter without which nothing runs, and which neither the scene nor the job gives.
fn missing(scene: &Scene, unknowns: &[Name], values: &Values) -> Option<Name> {
    scene.elastic().map(|t| scene.name_of(t)).find(|name| !unknowns.contains(name) && !values.contains_key(name))
}

fn check_unknowns(scene: &Scene, unknowns: &[Name]) -> Result<()> {
    if unknowns.is_empty() {
        let problem = "none, expected at least one parameter to find";
        return Err(Error::argument("unknowns", problem));
    }
    for (k, name) in unknowns.iter().enumerate() {
        if unknowns[..k].contains(name) {
            return Err(Error::argument("unknowns", format!("{name} is there twice")));
        }
        if !scene.unknowns.iter().any(|range| range.name == *name) {
            let problem = format!("{name} has no range in scene.json, expected unknowns.{name}.range");
            return Err(Error::argument("unknowns", problem));
        }
    }
    Ok(())
}

fn check_values(option: &str, values: &Values) -> Result<()> {
    for (name, &value) in values {
        let (good, expected) = match name.quantity().row().scale {
            Scale::Factors => (value > 0.0, "a positive number"),
            Scale::NotNegative => (value >= 0.0, "zero or a positive number"),
            Scale::Any => (true, "a finite number"),
        };
        if !(good && value.is_finite()) {
            return Err(Error::argument(option, format!("{name} = {value}, expected {expected}")));
        }
    }
    Ok(())
}

fn check_start(scene: &Scene, unknowns: &[Name], start: &Values) -> Result<()> {
    for (name, value) in start {
        let range = scene.unknowns.iter().find(|r| r.name == *name && unknowns.contains(name));
        let Some(range) = range else {
            let problem = format!("{name} is not to be found, expected one of the unknowns");
            return Err(Error::argument("start", problem));
        };
        if !(range.min..=range.max).contains(value) {
            let (min, max) = (range.min, range.max);
            let problem = format!("{name} = {value}, expected inside its range, {min} to {max} {}", name.unit());
            return Err(Error::argument("start", problem));
        }
    }
    Ok(())
}
