//! Checks of the camera and the light.

use super::super::{Camera, Shading, raw};
use super::{Checker, dot};
use crate::error::Result;
use std::f64::consts::PI;

impl Checker<'_> {
    pub(super) fn camera(&mut self, raw: raw::Camera) -> Result<Camera> {
        if raw.model != "pinhole" {
            return self.wrong("camera.model", format!("{:?}, expected \"pinhole\"", raw.model));
        }
        for (field, pixels) in [("camera.width", raw.width), ("camera.height", raw.height)] {
            if !(1..=8192).contains(&pixels) {
                return self.wrong(field, format!("{pixels}, expected 1 to 8192 pixels"));
            }
        }
        let fov = raw.vertical_fov_deg;
        if !(fov > 0.0 && fov < 180.0) {
            let problem = format!("{fov}, expected degrees between 0 and 180");
            return self.wrong("camera.vertical_fov_deg", problem);
        }
        self.positive("camera.near", raw.near)?;
        if raw.far <= raw.near {
            let problem = format!("{}, expected more than camera.near, {}", raw.far, raw.near);
            return self.wrong("camera.far", problem);
        }
        let forward = self.unit("camera.look_at", sub(raw.look_at, raw.position))?;
        let up = self.unit("camera.up", raw.up)?;
        if dot(forward, up).abs() > 1.0 - 1e-9 {
            let problem = format!("{:?} is along the view, expected another direction", raw.up);
            return self.wrong("camera.up", problem);
        }
        self.rest("camera.", &raw.rest);
        Ok(Camera {
            position: raw.position,
            look_at: raw.look_at,
            up: raw.up,
            vertical_fov: fov * PI / 180.0,
            width: raw.width as usize,
            height: raw.height as usize,
            near: raw.near,
            far: raw.far,
        })
    }

    pub(super) fn shading(&mut self, raw: raw::Shading) -> Result<Shading> {
        let to_light = self.unit("shading.light_direction_to_light", raw.light_direction_to_light)?;
        self.not_negative("shading.light_intensity", raw.light_intensity)?;
        self.not_negative("shading.ambient", raw.ambient)?;
        self.colour("shading.albedo_rgb", raw.albedo_rgb)?;
        self.colour("shading.background_rgb", raw.background_rgb)?;
        self.rest("shading.", &raw.rest);
        Ok(Shading {
            to_light,
            intensity: raw.light_intensity,
            ambient: raw.ambient,
            albedo: raw.albedo_rgb,
            background: raw.background_rgb,
        })
    }
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
