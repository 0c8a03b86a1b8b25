//! Checks of bodies and what they are made of.

use super::numbers::{at_most, colour, rounded, share, within, wrong};
use super::shape::{corners, numbers, placed};
use super::takes;
use crate::scene::bounds;
use crate::scene::document::{self, Axis, Document, LawName, Side};
use crate::scene::folder::Files;
use crate::scene::tree::Fault;
use crate::scene::{Body, Clamp, Material, Start};
use diffkern_sim::mpm::Law;
use std::collections::BTreeMap;

pub(super) fn bodies(document: &Document, files: &Files<'_>) -> Result<Vec<Body>, Fault> {
    let mut bodies: Vec<Body> = Vec::new();
    for (name, body) in &document.bodies {
        let at = format!("bodies.{name}");
        within(&format!("{at}.density"), body.density, &bounds::DENSITY)?;
        colour(&format!("{at}.albedo"), body.albedo)?;
        let material = material(&format!("{at}.material"), &body.material)?;
        if let Some(first) = bodies.first().filter(|first| first.material.law != material.law) {
            let problem = format!(
                "is another one than that of {}, expected the same: this version simulates one law at a time",
                first.name
            );
            return wrong(&format!("{at}.material.law"), problem);
        }
        let starts = takes::of(document, name, body).into_iter().enumerate();
        let starts = starts.map(|(take, body)| start(document, take, name, &body, files)).collect::<Result<_, _>>()?;
        bodies.push(Body {
            name: name.clone(),
            starts,
            material,
            albedo: body.albedo,
            density: body.density,
            fields: BTreeMap::new(),
        });
    }
    Ok(bodies)
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

fn material(at: &str, material: &document::Material) -> Result<Material, Fault> {
    let law = match material.law {
        LawName::NeoHookean => Law::NeoHookean,
        LawName::FixedCorotated => Law::FixedCorotated,
        LawName::StableNeoHookean => Law::StableNeoHookean,
    };
    share(&format!("{at}.viscosity"), material.viscosity, &bounds::VISCOSITY)?;
    let (mu, lambda) = constants(at, material)?;
    for (name, value) in [("mu", mu), ("lambda", lambda)] {
        value.map_or(Ok(()), |value| within(&format!("{at}.{name}"), value, &bounds::MODULUS))?;
    }
    Ok(Material { law, viscosity: material.viscosity, mu, lambda })
}

/// First and second Lame parameter, as far as they are given.
fn constants(at: &str, material: &document::Material) -> Result<(Option<f64>, Option<f64>), Fault> {
    let (young, poisson) = match (material.young, material.poisson) {
        (None, None) => return Ok((material.mu, material.lambda)),
        (Some(young), Some(poisson)) => (young, poisson),
        (Some(_), None) => return wrong(&format!("{at}.young"), "poisson is missing, expected both"),
        (None, Some(_)) => return wrong(&format!("{at}.poisson"), "young is missing, expected both"),
    };
    if material.mu.is_some() || material.lambda.is_some() {
        return wrong(
            &format!("{at}.young"),
            "mu or lambda is given as well, expected mu and lambda, or young and poisson",
        );
    }
    within(&format!("{at}.young"), young, &bounds::MODULUS)?;
    if !(1e-6..0.5).contains(&poisson) {
        let problem = format!("{poisson:?}, expected more than 0 and less than 0.5, where a body cannot be compressed");
        return wrong(&format!("{at}.poisson"), problem);
    }
    let mu = young / (2.0 * (1.0 + poisson));
    Ok((Some(mu), Some(young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)))))
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
