//! Checks of cameras and lights.

use super::numbers::{at_most, colour, dot, rounded, share, sub, unit, within, wrong};
use super::shape::called;
use crate::scene::bounds;
use crate::scene::document::{self, Distortion, Document, Shutter};
use crate::scene::tree::Fault;
use crate::scene::{Body, Camera, Collider, Light, Shading, Surface};
use crate::text::quoted;
use diffkern_render::Lens;

/// Most lights.
const LIGHTS: usize = 4;
/// Depths that are drawn where the scene does not say \[m\].
const DEPTHS: [f64; 2] = [0.01, 100.0];

/// The cameras.
pub(super) fn cameras(document: &Document) -> Result<Vec<Camera>, Fault> {
    if document.cameras.is_empty() {
        return wrong("cameras", "there is none, expected at least one");
    }
    document.cameras.iter().map(|(name, camera)| self::camera(name, camera)).collect()
}

fn camera(name: &str, camera: &document::Camera) -> Result<Camera, Fault> {
    let at = |field: &str| format!("cameras.{name}.{field}");
    for (field, pixels) in [("width", camera.width), ("height", camera.height)] {
        if !(1..=8192).contains(&pixels) {
            return wrong(&at(field), format!("{pixels}, expected 1 to 8192 pixels"));
        }
    }
    let degrees = rounded(camera.vertical_fov.to_degrees());
    if !(bounds::FIELD_OF_VIEW.least..=bounds::FIELD_OF_VIEW.most).contains(&degrees) {
        let seen = rounded(camera.vertical_fov);
        let problem =
            format!("{seen:?} rad or {degrees:?} degrees, {} (see units.angle)", bounds::FIELD_OF_VIEW.expected());
        return wrong(&at("vertical_fov"), problem);
    }
    at_most(&at("position"), camera.position, &bounds::DISTANCE)?;
    at_most(&at("look_at"), camera.look_at, &bounds::DISTANCE)?;
    let (near, far) = (camera.near.unwrap_or(DEPTHS[0]), camera.far.unwrap_or(DEPTHS[1]));
    within(&at("near"), near, &bounds::DISTANCE)?;
    within(&at("far"), far, &bounds::DISTANCE)?;
    if far <= near {
        return wrong(&at("far"), format!("{}, expected more than near, {}", rounded(far), rounded(near)));
    }
    let forward = unit(&at("look_at"), sub(camera.look_at, camera.position)).map_err(|_| {
        let problem = format!("{:?} is the position of the camera as well, expected another point", camera.look_at);
        Fault::new(at("look_at"), problem)
    })?;
    let up = camera.up.unwrap_or([0.0, 0.0, 1.0]);
    if dot(forward, unit(&at("up"), up)?).abs() > 1.0 - 1e-9 {
        return wrong(&at("up"), format!("{up:?} is along the view, expected another direction"));
    }
    let up = unit(&at("up"), up)?;
    optics(&at, camera)?;
    let lens = lens(&at, camera)?;
    let camera = Camera {
        name: name.into(),
        position: camera.position,
        look_at: camera.look_at,
        up: camera.up.unwrap_or(up),
        vertical_fov: camera.vertical_fov,
        width: camera.width as usize,
        height: camera.height as usize,
        near,
        far,
        lens,
        exposure: camera.exposure,
    };
    match lens.is_one_to_one(camera.corner()) {
        true => Ok(camera),
        false => wrong(
            &at("distortion"),
            "shows two places at one inside of the image, expected coefficients with which it does not (of lengths at distance one)",
        ),
    }
}

/// What is not drawn is refused. Frames at instants in the middle of the exposure, and without noise, are compared with what
/// is filmed: both are right on average, and said by [`super::videos`].
fn optics(at: &dyn Fn(&str) -> String, camera: &document::Camera) -> Result<(), Fault> {
    within(&at("exposure"), camera.exposure, &bounds::EXPOSURE)?;
    let Shutter { open, close } = camera.shutter;
    if open > close || open < -1.0 || close > 1.0 {
        let problem = format!("open from {open} to {close}, expected -1 to 1, the greater one last");
        return wrong(&at("shutter"), problem);
    }
    if (open + close).abs() > 1e-9 {
        let problem = format!(
            "open from {open} to {close}, expected as long before as after the time of the frame in this version"
        );
        return wrong(&at("shutter"), problem);
    }
    share(&at("noise"), camera.noise, &bounds::NOISE)
}

/// The lens.
fn lens(at: &dyn Fn(&str) -> String, camera: &document::Camera) -> Result<Lens, Fault> {
    let Distortion { k1, k2, k3, p1, p2 } = camera.distortion;
    for (field, value) in [("k1", k1), ("k2", k2), ("k3", k3), ("p1", p1), ("p2", p2)] {
        at_most(&at(&format!("distortion.{field}")), [value; 3], &bounds::DISTORTION)?;
    }
    Ok(Lens { radial: [k1, k2, k3], tangential: [p1, p2] })
}

/// The camera is outside of half-spaces and bodies, and has all of them between its planes when the video of a take begins.
pub(super) fn sees(camera: &Camera, take: usize, colliders: &[Collider], bodies: &[Body]) -> Result<(), Fault> {
    let at = |field: &str| format!("cameras.{}.{field}", camera.name);
    let from = camera.position;
    for collider in colliders {
        let Surface::HalfSpace { point, normal } = collider.surface else { continue };
        let height = dot(normal, sub(from, point));
        if height < 0.0 {
            let name = quoted(&collider.name);
            let problem = format!("{from:?} is {} m inside the half-space {name}, expected outside of it", -height);
            return wrong(&at("position"), problem);
        }
    }
    let forward = unit(&at("look_at"), sub(camera.look_at, from))?;
    for shape in bodies.iter().map(|body| &body.starts[take].shape) {
        let ([min, max], what) = (shape.bounds(), called(shape));
        if (0..3).all(|a| (min[a]..=max[a]).contains(&from[a])) {
            return wrong(&at("position"), format!("{from:?} is inside {what} or its box, expected outside of it"));
        }
        let [nearest, farthest] = shape.span(forward).map(|depth| depth - dot(forward, from));
        if farthest < 0.0 {
            let problem = format!("{what} is behind the camera when the video begins, expected a point before it");
            return wrong(&at("look_at"), problem);
        }
        let range =
            format!("{what} is at depths of {} to {} m when the video begins", rounded(nearest), rounded(farthest));
        if nearest < camera.near {
            let problem = format!("{}, but {range}, expected less (or a camera further away)", rounded(camera.near));
            return wrong(&at("near"), problem);
        }
        if farthest > camera.far {
            return wrong(&at("far"), format!("{}, but {range}, expected more", rounded(camera.far)));
        }
    }
    Ok(())
}

/// The lights, and the colours.
pub(super) fn shading(document: &Document) -> Result<Shading, Fault> {
    if document.lights.is_empty() {
        return wrong("lights", "there is none, expected at least one");
    }
    if let Some(more) = document.lights.keys().nth(LIGHTS) {
        let problem = format!("there are {}, expected at most {LIGHTS}", document.lights.len());
        return wrong(&format!("lights.{more}"), problem);
    }
    let lights = document.lights.iter().map(|(name, light)| {
        let direction = unit(&format!("lights.{name}.direction"), light.direction)?;
        share(&format!("lights.{name}.intensity"), light.intensity, &bounds::LIGHT)?;
        Ok(Light { direction, intensity: light.intensity })
    });
    let lights = lights.collect::<Result<_, Fault>>()?;
    share("ambient", document.ambient, &bounds::LIGHT)?;
    colour("background", document.background)?;
    Ok(Shading { lights, ambient: document.ambient, background: document.background })
}
