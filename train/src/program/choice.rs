//! Which simulator moves the bodies of a scene.

use crate::error::{Error, Result};
use crate::job::Simulator;
use crate::scene::{Contact, Quantity, Scene, Target};
use diffkern_sim::scene::BodyShape;

/// What of a scene finite elements cannot do, if there is anything: the field, and what it is.
fn obstacle(scene: &Scene) -> Option<(String, String)> {
    if scene.bodies.len() > 1 {
        if scene.between == Some(Contact::Sticky) {
            return Some(("contact_between_bodies".into(), "bodies that stick to each other".into()));
        }
        if scene.clamp.is_some() {
            return Some(("clamp".into(), "a clamp beside several bodies".into()));
        }
    }
    if let Some(held) = holding(scene) {
        return Some(held);
    }
    let turned = |shape: &BodyShape| match shape {
        BodyShape::Block { .. } => false,
        BodyShape::Solid(solid) => solid.pose().rotation != [0.0; 3],
    };
    if scene.clamp.is_some() && scene.bodies.iter().flat_map(|body| &body.starts).any(|start| turned(&start.shape)) {
        return Some(("clamp".into(), "a clamp on a body that is turned".into()));
    }
    None
}

/// What total Lagrangian MPM cannot do beside [`elements_only`]: bodies meet by transfers alone, and what is held does not come off nodes that move with the body.
fn lagrangian_obstacle(scene: &Scene) -> Option<(String, String)> {
    if scene.bodies.len() > 1 {
        return Some(("bodies".into(), "several bodies".into()));
    }
    holding(scene)
}

/// The first collider whose contact holds what touches it.
fn holding(scene: &Scene) -> Option<(String, String)> {
    scene.colliders.iter().find_map(|collider| {
        let holds = match collider.contact {
            Contact::Friction(_) => return None,
            Contact::Sticky => "sticky",
            Contact::Slip => "slip",
        };
        Some((format!("colliders.{}.contact", collider.name), format!("a contact that holds, \"{holds}\"")))
    })
}

/// What MPM cannot do of a scene, with the field.
fn elements_only(scene: &Scene) -> Option<(String, String)> {
    scene.bodies.iter().enumerate().find_map(|(of, body)| {
        let path = |field: &str| format!("bodies.{}.{field}", body.name);
        let damped = body.material.damping > 0.0 || scene.range(Target::new(of, Quantity::Damping)).is_some();
        let all = [
            (body.load.is_some(), "load", "a load"),
            (body.material.relaxation.is_some(), "material.relaxation", "a material that relaxes"),
            (damped, "material.damping", "damping by mass"),
        ];
        let first = all.into_iter().find(|(there, ..)| *there);
        first.map(|(_, field, what)| (path(field), what.into()))
    })
}

/// The simulator for a job that searches.
///
/// # Errors
/// As those of [`choose`], and when total Lagrangian MPM is asked for.
pub(crate) fn choose_to_search(scene: &Scene, asked: Option<Simulator>) -> Result<Simulator> {
    if asked == Some(Simulator::Tlmpm) {
        let problem = "tlmpm moves bodies for simulate alone, as how far its grid moves an answer is not known, expected fem or mpm, or no such option";
        return Err(Error::argument("simulator", problem));
    }
    Ok(choose(scene, asked)?.0)
}

/// The simulator of a scene, that which is asked for if any is, and why.
///
/// # Errors
/// When a simulator is asked for and cannot do something of the scene; names the field.
pub(crate) fn choose(scene: &Scene, asked: Option<Simulator>) -> Result<(Simulator, String)> {
    match (scene.is_rigid(), asked) {
        (true, None | Some(Simulator::Rigid)) => {
            let why = match scene.bodies.len() {
                1 => "as a rigid body, as the scene says",
                _ => {
                    "as rigid bodies, as the scene says; how much of what meets comes back is not known, and no interval counts it"
                }
            };
            return Ok((Simulator::Rigid, why.into()));
        }
        (true, Some(Simulator::Fem | Simulator::Mpm | Simulator::Tlmpm)) => {
            let problem = "the bodies of the scene are rigid, expected rigid, or no such option";
            return Err(Error::argument("simulator", problem));
        }
        (false, Some(Simulator::Rigid)) => {
            let problem = "the bodies of the scene are elastic, expected fem, mpm or tlmpm, or no such option";
            return Err(Error::argument("simulator", problem));
        }
        (false, None | Some(Simulator::Fem | Simulator::Mpm | Simulator::Tlmpm)) => {}
    }
    let simplified = match scene.between {
        Some(Contact::Friction(_)) => {
            "; bodies that touch move as one and part freely, they do not slide on each other"
        }
        Some(Contact::Sticky | Contact::Slip) | None => "",
    };
    let held = if scene.clamp.is_some() { "; a clamp also holds what swings into it later" } else { "" };
    if let Some((field, what)) = elements_only(scene)
        && (matches!(asked, Some(Simulator::Mpm | Simulator::Tlmpm)) || asked.is_none() && obstacle(scene).is_some())
    {
        let problem = format!("{what}, which MPM cannot do yet, expected a scene for --simulator fem");
        return Err(Error::scene(field, problem));
    }
    if let Some((field, what)) = lagrangian_obstacle(scene)
        && asked == Some(Simulator::Tlmpm)
    {
        let problem = format!("{what}, which total Lagrangian MPM cannot do, expected another --simulator, or none");
        return Err(Error::scene(field, problem));
    }
    match (asked, obstacle(scene)) {
        (Some(Simulator::Tlmpm), _) => Ok((Simulator::Tlmpm, "by total Lagrangian MPM, as asked for".into())),
        (Some(Simulator::Mpm | Simulator::Rigid), _) => {
            Ok((Simulator::Mpm, format!("by MPM, as asked for{simplified}{held}")))
        }
        (Some(Simulator::Fem), Some((field, what))) => {
            let problem = format!("{what}, which finite elements cannot do yet, expected --simulator mpm");
            Err(Error::scene(field, problem))
        }
        (Some(Simulator::Fem), None) => Ok((Simulator::Fem, "by finite elements, as asked for".into())),
        (None, Some((_, what))) => Ok((
            Simulator::Mpm,
            format!("by MPM, as finite elements cannot do {what} yet (--simulator){simplified}{held}"),
        )),
        (None, None) => {
            let why = "by finite elements, which keep the energy of an elastic body (--simulator mpm for the material point method)";
            Ok((Simulator::Fem, why.into()))
        }
    }
}
