//! Checks of the camera and the light.

use super::super::{Camera, Floor, Shading, raw};
use super::{Block, CAMERA, Checker, bounds, dot};
use crate::error::Result;
use crate::text::quoted;
use std::f64::consts::PI;

impl Checker<'_> {
    pub(super) fn camera(&mut self, raw: raw::Camera) -> Result<Camera> {
        if raw.model != "pinhole" {
            return self.wrong("camera.model", format!("{}, expected \"pinhole\"", quoted(&raw.model)));
        }
        for (field, pixels) in [("camera.width", raw.width), ("camera.height", raw.height)] {
            if !(1..=8192).contains(&pixels) {
                return self.wrong(field, format!("{pixels}, expected 1 to 8192 pixels"));
            }
        }
        let fov = raw.vertical_fov_deg;
        self.within("camera.vertical_fov_deg", fov, &bounds::FIELD_OF_VIEW)?;
        self.at_most("camera.position", raw.position, &bounds::DISTANCE)?;
        self.at_most("camera.look_at", raw.look_at, &bounds::DISTANCE)?;
        self.within("camera.near", raw.near, &bounds::DISTANCE)?;
        self.within("camera.far", raw.far, &bounds::DISTANCE)?;
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
            name: CAMERA.into(),
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

    /// The camera is above the floor, outside of the block, and has all of it between its planes when the video begins.
    pub(super) fn sees(&self, camera: &Camera, floor: Option<&Floor>, block: &Block) -> Result<()> {
        let from = camera.position;
        if let Some(floor) = floor {
            let height = dot(floor.normal, sub(from, floor.point));
            if height < 0.0 {
                let problem = format!("{from:?} is {} m below the floor, expected above it", -height);
                return self.wrong("camera.position", problem);
            }
        }
        if (0..3).all(|a| (block.min[a]..=block.max[a]).contains(&from[a])) {
            return self.wrong("camera.position", format!("{from:?} is inside the block, expected outside of it"));
        }
        let forward = self.unit("camera.look_at", sub(camera.look_at, from))?;
        let corner = |k: usize| [0, 1, 2].map(|a| if k >> a & 1 == 0 { block.min[a] } else { block.max[a] });
        let depths = (0..8).map(|k| dot(forward, sub(corner(k), from)));
        let (nearest, farthest) = depths.fold((f64::MAX, f64::MIN), |(low, high), d| (low.min(d), high.max(d)));
        let range = format!("the block is at depths of {nearest} to {farthest} m when the video begins");
        if nearest < camera.near {
            let problem = format!("{}, but {range}, expected less (or a camera further away)", camera.near);
            return self.wrong("camera.near", problem);
        }
        if farthest > camera.far {
            return self.wrong("camera.far", format!("{}, but {range}, expected more", camera.far));
        }
        Ok(())
    }

    pub(super) fn shading(&mut self, raw: raw::Shading) -> Result<Shading> {
        let to_light = self.unit("shading.light_direction_to_light", raw.light_direction_to_light)?;
        for (field, light) in [("shading.light_intensity", raw.light_intensity), ("shading.ambient", raw.ambient)] {
            self.not_negative(field, light)?;
            self.at_most(field, [light; 3], &bounds::LIGHT)?;
        }
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
