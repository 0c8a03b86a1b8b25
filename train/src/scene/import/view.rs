//! Camera, light, and what is said of the pictures.

use super::object::Object;
use super::{CAMERA, Notes, texts};
use crate::scene::document::{Camera, Colour, Distortion, Light, Shutter};
use crate::scene::tree::Fault;
use crate::text::quoted;
use std::f64::consts::PI;

pub(super) fn camera(root: &mut Object<'_>, notes: &mut Notes) -> Result<Camera, Fault> {
    let mut object = root.required_child("camera", "a pinhole camera")?;
    let pairs = [("", "camera"), (".vertical_fov", "camera.vertical_fov_deg"), (".noise", "sensor_noise.sigma")];
    pairs.iter().for_each(|(document, file)| notes.fields.add(format!("cameras.{CAMERA}{document}"), *file));
    notes.fields.add(format!("cameras.{CAMERA}.shutter"), "shutter");
    let model: String = object.required("model")?;
    if model != "pinhole" {
        return Err(object.fault("model", format!("{}, expected \"pinhole\"", quoted(&model))));
    }
    let degrees: f64 = object.required("vertical_fov_deg")?;
    let camera = Camera {
        position: object.required("position")?,
        look_at: object.required("look_at")?,
        up: Some(object.required("up")?),
        vertical_fov: degrees * PI / 180.0,
        width: object.required("width")?,
        height: object.required("height")?,
        near: Some(object.required("near")?),
        far: Some(object.required("far")?),
        distortion: Distortion::default(),
        exposure: 1.0,
        shutter: shutter(root, notes)?,
        noise: noise(root, notes)?,
    };
    notes.ignored.extend(object.left());
    Ok(camera)
}

fn shutter(root: &mut Object<'_>, notes: &mut Notes) -> Result<Shutter, Fault> {
    let Some(mut object) = root.child("shutter")? else {
        return Ok(Shutter::default());
    };
    object.exact("unit", texts::SHUTTER)?;
    let shutter = Shutter { open: object.required("open")?, close: object.required("close")? };
    notes.ignored.extend(object.left());
    Ok(shutter)
}

fn noise(root: &mut Object<'_>, notes: &mut Notes) -> Result<f64, Fault> {
    let Some(mut object) = root.child("sensor_noise")? else {
        return Ok(0.0);
    };
    object.exact("of", texts::NOISE)?;
    let sigma = object.required("sigma")?;
    notes.ignored.extend(object.left());
    Ok(sigma)
}

/// What the file calls shading, but for the albedo.
pub(super) struct Shading {
    pub(super) light: Light,
    pub(super) ambient: f64,
    pub(super) background: Colour,
}

pub(super) fn shading(root: &mut Object<'_>, normals: &[&'static str], notes: &mut Notes) -> Result<Shading, Fault> {
    let mut object = root.required_child("shading", "light and colours")?;
    let pairs = [
        ("lights.light", "shading"),
        ("lights.light.direction", "shading.light_direction_to_light"),
        ("lights.light.intensity", "shading.light_intensity"),
        ("ambient", "shading.ambient"),
        ("background", "shading.background_rgb"),
    ];
    pairs.iter().for_each(|(document, file)| notes.fields.add(*document, *file));
    object.exact("normals", normals)?;
    // Objects may have colours of their own.
    object.node("albedo_rgb");
    let light = Light {
        direction: object.required("light_direction_to_light")?,
        intensity: object.required("light_intensity")?,
    };
    let (ambient, background) = (object.required("ambient")?, object.required("background_rgb")?);
    notes.ignored.extend(object.left());
    Ok(Shading { light, ambient, background })
}

/// The conventions are those that this version knows, and say of the exposure what the other fields say.
pub(super) fn conventions(root: &mut Object<'_>, camera: &Camera, notes: &mut Notes) -> Result<(), Fault> {
    let Some(mut object) = root.child("conventions")? else {
        return Ok(());
    };
    let known = [
        ("units", texts::UNITS),
        ("axes", texts::AXES),
        ("pixel_convention", texts::PIXELS),
        ("antialiasing", texts::ANTIALIASING),
        ("silhouette", texts::SILHOUETTE),
        ("shaded", texts::SHADED),
    ];
    known.iter().try_for_each(|(key, texts)| object.exact(key, texts).map(drop))?;
    let times = object.exact("frame_times", texts::FRAME_TIMES)?;
    let exposed = times.is_some() && times == texts::FRAME_TIMES.last().copied();
    if exposed && camera.shutter != (Shutter { open: -0.25, close: 0.25 }) {
        let problem =
            "says that frames are exposed from -0.25 to 0.25 intervals, expected a shutter that opens and closes then";
        return Err(object.fault("frame_times", problem));
    }
    notes.ignored.extend(object.left());
    Ok(())
}
