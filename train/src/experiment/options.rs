//! What jobs ask for, checked against their scene.

use crate::error::{Error, Result};
use crate::job::{IdentifyOptions, Simulator, Values};
use crate::limits::Limits;
use crate::optimizer::Optimizer;
use crate::program;
use crate::scene::{Name, Quantity, Range, Scale, Scene, Target};

/// What a job that searches along tangents asks for.
pub(super) struct Asked<'a> {
    pub(super) unknowns: &'a [Name],
    pub(super) fixed: &'a [(Name, f64)],
    pub(super) start: &'a [(Name, f64)],
    pub(super) device: &'a str,
    pub(super) simulator: Option<Simulator>,
    pub(super) cells: Option<usize>,
    pub(super) limits: Limits,
}

impl Asked<'_> {
    /// Checked against the scene.
    ///
    /// # Errors
    /// Names the option and what was expected.
    pub(super) fn of(self, scene: &Scene) -> Result<IdentifyOptions> {
        let (unknowns, fixed, start) = split(scene, self.unknowns, self.fixed, self.start)?;
        counts(self.cells, None)?;
        check_device(self.device)?;
        Ok(IdentifyOptions {
            unknowns,
            fixed,
            start,
            device: self.device.to_owned(),
            seed: 0,
            simulator: program::choose_to_search(scene, self.simulator)?,
            cells: self.cells,
            max_iterations: None,
            optimizer: Optimizer::Lm,
            limits: self.limits,
        })
    }
}

/// What a job runs on unless told otherwise: the target whose bits never change.
pub fn default_device() -> String {
    "cpu".into()
}

/// Parameters to find, values of those that are not searched for, and values to start from.
pub(super) type Split = (Vec<Name>, Values, Values);

/// What is to be found - all that have a range and no value, if nothing is asked for -, what is known, and where to start.
pub(super) fn split(scene: &Scene, asked: &[Name], fixed: &[(Name, f64)], start: &[(Name, f64)]) -> Result<Split> {
    let given = in_scene(scene, "fixed", fixed)?;
    let start = in_scene(scene, "start", start)?;
    let found = asked.iter().map(|name| resolved(scene, "unknowns", name));
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
    scene.begins_outside(|name| given.get(name).copied()).map_err(|problem| Error::argument("fixed", problem))?;
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
    shows(scene, &unknowns)?;
    Ok((unknowns, fixed, start))
}

/// The values of all parameters: those set and those that the scene knows.
pub(super) fn all(scene: &Scene, set: &[(Name, f64)]) -> Result<Values> {
    let given = in_scene(scene, "set", set)?;
    check_values("set", &given)?;
    scene.begins_outside(|name| given.get(name).copied()).map_err(|problem| Error::argument("set", problem))?;
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

/// Checks grid cells and a limit of iterations.
pub(super) fn counts(cells: Option<usize>, max_iterations: Option<usize>) -> Result<()> {
    if let Some(cells) = cells.filter(|cells| !(1..=1000).contains(cells)) {
        return Err(Error::argument("cells", format!("{cells}, expected 1 to 1000 across the thinnest side")));
    }
    if max_iterations == Some(0) {
        return Err(Error::argument("max_iterations", "0, expected at least 1"));
    }
    Ok(())
}

/// The names that the scene has for a parameter, for each piece of one that varies.
fn resolved(scene: &Scene, option: &str, name: &Name) -> Result<Vec<Name>> {
    let targets = scene.all(name).map_err(|problem| Error::argument(option, problem))?;
    Ok(targets.into_iter().map(|target| scene.name_of(target)).collect())
}

/// Values by the names that the scene has; that of a piece counts more than that of the whole.
fn in_scene(scene: &Scene, option: &str, values: &[(Name, f64)]) -> Result<Values> {
    let (pieces, whole): (Vec<_>, Vec<_>) = values.iter().partition(|(name, _)| name.piece().is_some());
    let once = |given: Vec<&(Name, f64)>| -> Result<Values> {
        let mut all = Values::new();
        for (name, value) in given {
            for own in resolved(scene, option, name)? {
                if all.insert(own, *value).is_some() {
                    return Err(Error::argument(option, format!("{name} is there twice, expected one value of it")));
                }
            }
        }
        Ok(all)
    };
    Ok(once(whole)?.into_iter().chain(once(pieces)?).collect())
}

/// What a run cannot do without: elastic parameters, or masses.
fn needed(scene: &Scene) -> impl Iterator<Item = Target> {
    let rigid = scene.is_rigid();
    let weight = move |quantity: Quantity| rigid && matches!(quantity, Quantity::Mass | Quantity::Density);
    scene.targets().filter(move |target| target.quantity.is_elastic() || weight(target.quantity))
}

/// Those of them that the scene gives.
fn known(scene: &Scene) -> Values {
    needed(scene).filter_map(|target| Some((scene.name_of(target), scene.known(target)?))).collect()
}

/// A parameter without which nothing runs, and which neither the scene nor the job gives.
fn missing(scene: &Scene, unknowns: &[Name], values: &Values) -> Option<Name> {
    needed(scene).map(|t| scene.name_of(t)).find(|name| !unknowns.contains(name) && !values.contains_key(name))
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

/// Refuses masses that nothing shows: weight and what holds a body grow with its mass, so that it moves as any other mass does where nothing
/// else pushes it. Of bodies that meet, the ratios of the masses show, and all of them where one is known or pushed.
fn shows(scene: &Scene, unknowns: &[Name]) -> Result<()> {
    if !scene.is_rigid() {
        return Ok(());
    }
    let is_weight = |target: &Target| matches!(target.quantity, Quantity::Mass | Quantity::Density);
    let sought: Vec<Target> =
        scene.targets().filter(|t| is_weight(t) && unknowns.contains(&scene.name_of(*t))).collect();
    let pushed = scene.pushes.iter().any(|push| push.vector != [0.0; 3]);
    let known = sought.len() < scene.bodies.len() && scene.bodies.len() > 1;
    match sought.first() {
        Some(&target) if !(pushed || known) => {
            let name = scene.name_of(target);
            let alone = match scene.bodies.len() {
                1 => "a rigid body that nothing pushes moves in the same way whatever its mass",
                _ => "rigid bodies that nothing pushes show the ratios of their masses alone",
            };
            let expected = format!("expected a push in the scene, or its value (--set {name}=VALUE)");
            Err(Error::Compute(format!("{name} is not identifiable: {alone}, {expected}")))
        }
        Some(_) | None => Ok(()),
    }
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
        if let Some(expected) = name.quantity().too_large(value) {
            return Err(Error::argument(option, format!("{name} = {value}, {expected}")));
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

/// Shows that this build can run on the device named.
pub(super) fn check_device(name: &str) -> Result<()> {
    diffkern::Device::by_name(name).map(drop).map_err(|e| Error::argument("device", format!("{name:?}: {e}")))
}
