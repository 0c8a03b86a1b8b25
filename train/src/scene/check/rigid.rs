//! Checks of rigid bodies and of what only they have.

use super::numbers::{at_most, rounded, share, within, wrong};
use super::videos::place;
use crate::scene::bounds;
use crate::scene::document::{self, At, Body, Document, LawName, Push as Written};
use crate::scene::tree::Fault;
use crate::scene::{Contact, Push, Scene, Weight};
use diffkern_sim::scene::BodyShape;

/// How heavy a body is, if it is rigid.
pub(super) fn weight(document: &Document, name: &str, body: &Body) -> Result<Option<Weight>, Fault> {
    let at = |field: &str| format!("bodies.{name}.{field}");
    if body.material.law != LawName::Rigid {
        return match body.mass {
            None => Ok(None),
            Some(_) => wrong(&at("mass"), "the body is elastic, expected its density, or the law \"rigid\""),
        };
    }
    let document::Material { law: _, mu, lambda, young, poisson, viscosity, damping, relaxation } = &body.material;
    let constants = [
        ("mu", mu.is_some()),
        ("lambda", lambda.is_some()),
        ("young", young.is_some()),
        ("poisson", poisson.is_some()),
        ("viscosity", *viscosity != 0.0),
        ("damping", *damping != 0.0),
        ("relaxation", relaxation.is_some()),
    ];
    if let Some((field, _)) = constants.into_iter().find(|(_, given)| *given) {
        return wrong(&at(&format!("material.{field}")), "a rigid body has no constants, expected no such field");
    }
    if body.load.is_some() {
        return wrong(
            &at("load"),
            "a rigid body carries no load, expected its mass and inertia in its shape, or no such field",
        );
    }
    if !body.clamps.is_empty() {
        return wrong(&at("clamps[0]"), "a rigid body that is held does not move, expected no clamp");
    }
    body.density.map_or(Ok(()), |density| within(&at("density"), density, &bounds::DENSITY))?;
    body.mass.map_or(Ok(()), |mass| within(&at("mass"), mass, &bounds::MASS))?;
    let unknown = |field: &str| document.unknowns.contains_key(&at(field));
    let [by_mass, by_density] = [body.mass.is_some() || unknown("mass"), body.density.is_some() || unknown("density")];
    match (by_mass, by_density) {
        (true, false) => Ok(Some(Weight::Mass(body.mass))),
        (false, true) => Ok(Some(Weight::Density(body.density))),
        (true, true) => wrong(&at("mass"), "there is a density as well, given or unknown, expected one of both"),
        (false, false) => wrong(&at("density"), "missing, expected a density or a mass, given or unknown"),
    }
}

/// Refuses a mass with which no material fills a body.
pub(super) fn fills(at: &str, mass: f64, shape: &BodyShape) -> Result<(), Fault> {
    let (volume, bounds) = (shape.volume(), &bounds::DENSITY);
    let density = mass / volume;
    match (bounds.least..=bounds.most).contains(&rounded(density)) {
        true => Ok(()),
        false => {
            let mass = rounded(mass);
            let problem = format!("{mass:?} kg in {volume:.3e} m^3 is {density:.3e} kg/m^3, {}", bounds.expected());
            wrong(at, problem)
        }
    }
}

/// The pushes, each on a body that there is.
pub(super) fn pushes(document: &Document) -> Result<Vec<Push>, Fault> {
    let mut pushes = Vec::new();
    for (name, push) in &document.pushes {
        let (kind, body, vector, point, interval) = match push {
            Written::Force(force) => ("force", &force.body, force.vector, force.at, force.interval),
            Written::Impulse(impulse) => ("impulse", &impulse.body, impulse.vector, impulse.at, [impulse.time; 2]),
        };
        let at = |field: &str| format!("pushes.{name}.{kind}.{field}");
        at_most(&at("vector"), vector, &bounds::PUSH)?;
        let (At::Body(place_of) | At::Centre(place_of)) = point;
        at_most(&at("at"), place_of, &bounds::PLACE)?;
        let [begin, end] = interval;
        let good = begin.is_finite() && end.is_finite() && begin >= 0.0;
        match push {
            Written::Force(_) if !(good && begin < end) => {
                return wrong(&at("interval"), format!("[{begin}, {end}], expected begin and end, from 0 on"));
            }
            Written::Impulse(_) if !good => {
                return wrong(&at("time"), format!("{begin}, expected zero or a positive number"));
            }
            Written::Force(_) | Written::Impulse(_) => {}
        }
        let body = place(&at("body"), "body", body.as_ref(), &document.bodies)?;
        pushes.push(Push { name: name.clone(), body, vector, at: point, interval });
    }
    Ok(pushes)
}

/// What rigid bodies do not do, and what only they do.
pub(super) fn fits(scene: &Scene) -> Result<(), Fault> {
    if !scene.is_rigid() {
        if let Some(push) = scene.pushes.first() {
            return wrong(&format!("pushes.{}", push.name), "this version pushes rigid bodies alone, expected no push");
        }
        let bouncing = scene.colliders.iter().find(|collider| collider.restitution != 0.0);
        return bouncing.map_or(Ok(()), |collider| {
            let problem =
                "is of rigid bodies, expected no such field: how an elastic body bounces follows from its material";
            wrong(&format!("colliders.{}.restitution", collider.name), problem)
        });
    }
    if matches!(scene.between, Some(Contact::Sticky | Contact::Slip)) {
        let problem = "rigid bodies are not held, expected \"frictionless\" or {\"friction\": 0.4}";
        return wrong("contact_between_bodies", problem);
    }
    for (k, collider) in scene.colliders.iter().enumerate() {
        let at = |field: &str| format!("colliders.{}.{field}", collider.name);
        if !matches!(collider.contact, Contact::Friction(_)) {
            return wrong(
                &at("contact"),
                "rigid bodies are not held, expected \"frictionless\" or {\"friction\": 0.4}",
            );
        }
        share(&at("restitution"), collider.restitution, &bounds::RESTITUTION)?;
        if collider.restitution != 0.0 && !scene.bounces(k) {
            let problem = "only half-spaces that stand still have one in this version, expected no such field";
            return wrong(&at("restitution"), problem);
        }
    }
    Ok(())
}
