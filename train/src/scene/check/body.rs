//! Checks of bodies and what they are made of.

use super::numbers::{at_most, colour, rounded, share, within, wrong};
use super::shape::{corners, numbers, placed};
use super::{rigid, takes};
use crate::scene::bounds;
use crate::scene::document::{self, Axis, Document, LawName, Side};
use crate::scene::folder::Files;
use crate::scene::tree::Fault;
use crate::scene::{Body, Clamp, Load, Material, Pair, Relaxation, Start, Weight};
use diffkern_sim::mpm::Law;
use std::collections::BTreeMap;

pub(super) fn bodies(document: &Document, files: &Files<'_>) -> Result<Vec<Body>, Fault> {
    let mut bodies: Vec<Body> = Vec::new();
    for (name, body) in &document.bodies {
        let at = format!("bodies.{name}");
        let rigid = rigid::weight(document, name, body)?;
        let density = match (rigid, body.density) {
            (Some(_), _) => 0.0,
            (None, Some(density)) => density,
            (None, None) => return wrong(&at, "the field density is missing"),
        };
        if rigid.is_none() {
            within(&format!("{at}.density"), density, &bounds::DENSITY)?;
        }
        colour(&format!("{at}.albedo"), body.albedo)?;
        let material = material(&format!("{at}.material"), &body.material, pair(document, name)?, &document.unknowns)?;
        let other = |first: &&Body| first.material.law != material.law || first.rigid.is_some() != rigid.is_some();
        if let Some(first) = bodies.first().filter(other) {
            let problem = format!(
                "is another one than that of {}, expected the same: this version simulates one law at a time",
                first.name
            );
            return wrong(&format!("{at}.material.law"), problem);
        }
        let starts = takes::of(document, name, body).into_iter().enumerate();
        let starts =
            starts.map(|(take, body)| start(document, take, name, &body, files)).collect::<Result<Vec<_>, _>>()?;
        if let (Some(Weight::Mass(Some(mass))), Some(start)) = (rigid, starts.first()) {
            rigid::fills(&format!("{at}.mass"), mass, &start.shape)?;
        }
        bodies.push(Body {
            name: name.clone(),
            starts,
            material,
            albedo: body.albedo,
            density,
            load: load(&at, document, body)?,
            rigid,
            fields: BTreeMap::new(),
        });
    }
    Ok(bodies)
}

/// What hangs on a body: whether its point is on the body is seen when that is cut.
fn load(at: &str, document: &Document, body: &document::Body) -> Result<Option<Load>, Fault> {
    let Some(load) = &body.load else { return Ok(None) };
    at_most(&format!("{at}.load.at"), load.at, &bounds::PLACE)?;
    let path = format!("{at}.load.mass");
    match load.mass {
        Some(mass) => share(&path, mass, &bounds::LOAD)?,
        None if !document.unknowns.contains_key(&path) => {
            return wrong(&path, "missing, expected a mass [kg], or it among the unknowns");
        }
        None => {}
    }
    Ok(Some(Load { at: load.at, mass: load.mass }))
}

fn start(
    document: &Document,
    take: usize,
    name: &str,
    body: &document::Body,
    files: &Files<'_>,
) -> Result<Start, Fault> {
    let path = |field: &str| takes::path(document, take, name, field);
    at_most(&path("velocity"), body.velocity, &bounds::SPEED)?;
    at_most(&path("angular_velocity"), body.angular_velocity, &bounds::SPIN)?;
    at_most(&path("pose.position"), body.pose.position, &bounds::PLACE)?;
    at_most(&path("pose.rotation"), body.pose.rotation, &bounds::TURN)?;
    let at = format!("bodies.{name}");
    numbers(&at, body)?;
    let shape = placed(&at, body, files)?;
    Ok(Start { shape, velocity: body.velocity, angular_velocity: body.angular_velocity })
}

/// Numbers of a document by their paths that are to be found.
type Unknowns = BTreeMap<String, document::Unknown>;

fn material(at: &str, material: &document::Material, pair: Pair, unknowns: &Unknowns) -> Result<Material, Fault> {
    let law = match material.law {
        LawName::NeoHookean => Law::NeoHookean,
        LawName::FixedCorotated => Law::FixedCorotated,
        LawName::StableNeoHookean => Law::StableNeoHookean,
        // Nothing reads it.
        LawName::Rigid => Law::NeoHookean,
    };
    share(&format!("{at}.viscosity"), material.viscosity, &bounds::VISCOSITY)?;
    share(&format!("{at}.damping"), material.damping, &bounds::DAMPING)?;
    let relaxation = material.relaxation.as_ref().map(|own| relaxation(at, own, unknowns)).transpose()?;
    let elastic = match pair {
        Pair::Lame => lame(at, material)?,
        Pair::Engineering => engineering(at, material)?,
    };
    let [first, second] = elastic;
    let none = Material {
        law,
        viscosity: material.viscosity,
        damping: material.damping,
        relaxation,
        mu: None,
        lambda: None,
        pair,
        young: None,
        poisson: None,
    };
    Ok(match pair {
        Pair::Lame => Material { mu: first, lambda: second, ..none },
        Pair::Engineering => Material { young: first, poisson: second, ..none },
    })
}

/// A Maxwell branch, of which the scene has both numbers or looks for them.
fn relaxation(at: &str, relaxation: &document::Relaxation, unknowns: &Unknowns) -> Result<Relaxation, Fault> {
    let document::Relaxation { modulus, time } = *relaxation;
    let path = |field: &str| format!("{at}.relaxation.{field}");
    modulus.map_or(Ok(()), |modulus| share(&path("modulus"), modulus, &bounds::BRANCH))?;
    time.map_or(Ok(()), |time| within(&path("time"), time, &bounds::RELAXATION_TIME))?;
    for (field, given, unit) in [("modulus", modulus.is_some(), "[pressure]"), ("time", time.is_some(), "[time]")] {
        let path = path(field);
        if !given && !unknowns.contains_key(&path) {
            return wrong(&path, format!("missing, expected a number {unit}, or it among the unknowns"));
        }
    }
    Ok(Relaxation { modulus, time })
}

/// First and second Lame parameter, as far as they are given.
fn lame(at: &str, material: &document::Material) -> Result<[Option<f64>; 2], Fault> {
    let [young, poisson] = match engineering(at, &document::Material { mu: None, lambda: None, ..material.clone() })? {
        [None, None] => {
            for (name, value) in [("mu", material.mu), ("lambda", material.lambda)] {
                value.map_or(Ok(()), |value| within(&format!("{at}.{name}"), value, &bounds::MODULUS))?;
            }
            return Ok([material.mu, material.lambda]);
        }
        [Some(young), Some(poisson)] => [young, poisson],
        [Some(_), None] => return wrong(&format!("{at}.young"), "poisson is missing, expected both"),
        [None, Some(_)] => return wrong(&format!("{at}.poisson"), "young is missing, expected both"),
    };
    if material.mu.is_some() || material.lambda.is_some() {
        return wrong(
            &format!("{at}.young"),
            "mu or lambda is given as well, expected mu and lambda, or young and poisson",
        );
    }
    Ok(Pair::Engineering.lame([young, poisson]).map(Some))
}

/// Young's modulus and Poisson's ratio, as far as they are given.
fn engineering(at: &str, material: &document::Material) -> Result<[Option<f64>; 2], Fault> {
    for (name, value) in [("mu", material.mu), ("lambda", material.lambda)] {
        if value.is_some() {
            let problem = "is given, and young or poisson is an unknown, expected young and poisson of this body";
            return wrong(&format!("{at}.{name}"), problem);
        }
    }
    material.young.map_or(Ok(()), |young| within(&format!("{at}.young"), young, &bounds::MODULUS))?;
    if let Some(poisson) = material.poisson.filter(|poisson| !(1e-6..0.5).contains(poisson)) {
        let problem = format!("{poisson:?}, expected more than 0 and less than 0.5, where a body cannot be compressed");
        return wrong(&format!("{at}.poisson"), problem);
    }
    Ok([material.young, material.poisson])
}

/// Which elastic parameters a body has, by what is to be found of it.
fn pair(document: &Document, name: &str) -> Result<Pair, Fault> {
    let path = |quantity: &str| format!("bodies.{name}.material.{quantity}");
    let unknown = |pair: [&'static str; 2]| pair.into_iter().find(|of| document.unknowns.contains_key(&path(of)));
    match (unknown(["young", "poisson"]), unknown(["mu", "lambda"])) {
        (None, _) => Ok(Pair::Lame),
        (Some(_), None) => Ok(Pair::Engineering),
        (Some(other), Some(lame)) => wrong(
            &format!("unknowns.{}", path(lame)),
            format!(
                "{other} of this body is unknown as well, but mu and lambda follow from young and poisson, expected unknowns of one pair \
                 alone"
            ),
        ),
    }
}

/// The only clamp.
pub(super) fn clamp(document: &Document) -> Result<Option<Clamp>, Fault> {
    let mut found = None;
    for (name, body) in &document.bodies {
        for (number, clamp) in body.clamps.iter().enumerate() {
            let at = format!("bodies.{name}.clamps[{number}]");
            if found.is_some() || document.bodies.len() > 1 || document.takes.len() > 1 {
                return wrong(
                    &at,
                    "this version simulates a single clamp of a single body in a single take, expected no other",
                );
            }
            let own = takes::of(document, name, body);
            let Some([min, max]) = own.first().and_then(corners) else {
                return wrong(
                    &at,
                    "this version simulates clamps of boxes along the axes, expected such a shape, or none",
                );
            };
            let axis = match clamp.axis {
                Axis::X => 0,
                Axis::Y => 1,
                Axis::Z => 2,
            };
            if !(clamp.plane > min[axis] && clamp.plane < max[axis]) {
                let (low, high) = (rounded(min[axis]), rounded(max[axis]));
                let problem = format!("{} m, expected inside the block, {low} to {high} m", rounded(clamp.plane));
                return wrong(&format!("{at}.plane"), problem);
            }
            found = Some(Clamp { axis, plane: clamp.plane, above: clamp.side == Side::Above });
        }
    }
    Ok(found)
}
