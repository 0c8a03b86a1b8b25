//! Checks of the block, its material and what it touches.

use super::super::{Clamp, Contact, Floor, Material, Name, Quantity, Range, Scene, raw};
use super::{Block, Checker, FLOOR, bounds};
use crate::error::Result;
use crate::text::{quoted, shown};
use diffkern_sim::mpm::Law;

impl Checker<'_> {
    pub(super) fn block(&mut self, raw: raw::Block) -> Result<Block> {
        if raw.kind != "block" {
            return self.wrong("object.type", format!("{}, expected \"block\"", quoted(&raw.kind)));
        }
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let (low, high) = (raw.block_min[axis], raw.block_max[axis]);
            if high <= low {
                let problem = format!(
                    "the block is empty along {name} ({low} to {high} m), expected more than \
                     object.block_min"
                );
                return self.wrong("object.block_max", problem);
            }
        }
        self.sides(&raw)?;
        self.within("object.density", raw.density, &bounds::DENSITY)?;
        self.at_most("object.initial_velocity", raw.initial_velocity, &bounds::SPEED)?;
        self.at_most("object.initial_angular_velocity", raw.initial_angular_velocity, &bounds::SPIN)?;
        if let Some(text) = raw.initial_deformation.filter(|t| !t.starts_with("none")) {
            let problem = format!("{} is not supported, expected \"none\"", quoted(&text));
            return self.wrong("object.initial_deformation", problem);
        }
        self.rest("object.", &raw.rest);
        Ok(Block {
            min: raw.block_min,
            max: raw.block_max,
            density: raw.density,
            velocity: raw.initial_velocity,
            angular_velocity: raw.initial_angular_velocity,
        })
    }

    fn sides(&self, raw: &raw::Block) -> Result<()> {
        self.at_most("object.block_min", raw.block_min, &bounds::PLACE)?;
        self.at_most("object.block_max", raw.block_max, &bounds::PLACE)?;
        let sides = [0, 1, 2].map(|a| raw.block_max[a] - raw.block_min[a]);
        sides.iter().try_for_each(|&side| self.within("object.block_max", side, &bounds::SIDE))
    }

    pub(super) fn material(&mut self, raw: raw::Material) -> Result<Material> {
        let Some(law) = Law::described(&raw.model) else {
            let known = Law::ALL.map(|law| quoted(law.name())).join(" or ");
            return self.wrong("material.model", format!("{}, expected {known}", quoted(&raw.model)));
        };
        let viscosity = match raw.damping {
            None => 0.0,
            Some(raw::Damping::Text(text)) if text == "none" => 0.0,
            Some(raw::Damping::Text(text)) => {
                let problem = format!("{}, expected \"none\" or an object with eta", quoted(&text));
                return self.wrong("material.damping", problem);
            }
            Some(raw::Damping::Viscous { known: Some(false), .. }) => {
                let problem = "false, expected true: the viscosity cannot be searched for".into();
                return self.wrong("material.damping.known", problem);
            }
            Some(raw::Damping::Viscous { eta, .. }) => eta,
        };
        self.not_negative("material.damping.eta", viscosity)?;
        self.at_most("material.damping.eta", [viscosity; 3], &bounds::VISCOSITY)?;
        for (name, value) in [("mu", raw.mu), ("lambda", raw.lambda)] {
            value.map_or(Ok(()), |value| self.within(&format!("material.{name}"), value, &bounds::MODULUS))?;
        }
        self.rest("material.", &raw.rest);
        Ok(Material { law, viscosity, mu: raw.mu, lambda: raw.lambda })
    }

    pub(super) fn floor(&mut self, raw: raw::Floor) -> Result<Floor> {
        let normal = self.unit("floor.normal", raw.normal)?;
        let friction = match raw.friction {
            Some(friction) => friction,
            None if raw.contact.contains("frictionless") => 0.0,
            None => {
                let problem = format!("{}, expected \"frictionless\" or floor.friction", quoted(&raw.contact));
                return self.wrong("floor.contact", problem);
            }
        };
        self.not_negative("floor.friction", friction)?;
        self.at_most("floor.friction", [friction; 3], &bounds::FRICTION)?;
        self.at_most("floor.point", raw.point, &bounds::PLACE)?;
        self.rest("floor.", &raw.rest);
        Ok(Floor { name: FLOOR.into(), point: raw.point, normal, contact: Contact::Friction(friction) })
    }

    pub(super) fn above(&self, floor: &Floor, block: &Block) -> Result<()> {
        let lowest = lowest_corner(floor, block);
        let size = (0..3).map(|k| block.max[k] - block.min[k]).fold(f64::MAX, f64::min);
        if lowest >= -0.01 * size {
            return Ok(());
        }
        let problem = format!("the block starts {} m inside the floor, expected above it", -lowest);
        self.wrong("object.block_min", problem)
    }

    pub(super) fn clamp(&self, raw: raw::Clamp, block: &Block) -> Result<Clamp> {
        let Some(axis) = ["x", "y", "z"].iter().position(|a| *a == raw.axis) else {
            return self.wrong("clamp.axis", format!("{}, expected x, y or z", quoted(&raw.axis)));
        };
        let (low, high) = (block.min[axis], block.max[axis]);
        if !(raw.plane > low && raw.plane < high) {
            let problem = format!("{} m, expected inside the block, {low} to {high} m", raw.plane);
            return self.wrong("clamp.plane", problem);
        }
        let above = raw.description.contains(">=") || raw.description.contains("> ");
        Ok(Clamp { axis, plane: raw.plane, above })
    }

    pub(super) fn unknown(&self, scene: &Scene, name: &str, raw: &raw::Unknown) -> Result<Range> {
        let field = format!("unknowns.{}", shown(name));
        let name: Name = match name.parse() {
            Ok(name) => name,
            Err(problem) => return self.wrong(&field, problem),
        };
        let target = match scene.target(&name) {
            Ok(target) => target,
            Err(problem) => return self.wrong(&field, problem),
        };
        let field = format!("{field}.range");
        let ends = match raw.range.as_array().map(Vec::as_slice) {
            Some([min, max]) => min.as_f64().zip(max.as_f64()),
            _ => None,
        };
        let Some((min, max)) = ends else {
            return self.wrong(&field, format!("{}, expected [least, greatest]", shown(&raw.range.to_string())));
        };
        for end in [min, max] {
            match target.quantity {
                Quantity::Mu | Quantity::Lambda => self.within(&field, end, &bounds::MODULUS)?,
                Quantity::Density => self.within(&field, end, &bounds::DENSITY)?,
                Quantity::Viscosity => self.share(&field, end, &bounds::VISCOSITY)?,
                Quantity::Friction => self.share(&field, end, &bounds::FRICTION)?,
                Quantity::Velocity(_) => self.at_most(&field, [end; 3], &bounds::SPEED)?,
                Quantity::AngularVelocity(_) => self.at_most(&field, [end; 3], &bounds::SPIN)?,
                Quantity::Gravity(_) => self.at_most(&field, [end; 3], &bounds::GRAVITY)?,
                Quantity::Camera(_) => self.at_most(&field, [end; 3], &bounds::DISTANCE)?,
            }
        }
        if max <= min {
            let problem = format!("[{min}, {max}], expected the greater value last");
            return self.wrong(&field, problem);
        }
        Ok(Range { name, target, min, max })
    }

    /// Refuses a value that is negative or beyond a bound.
    fn share(&self, field: &str, value: f64, bounds: &bounds::Bounds) -> Result<()> {
        self.not_negative(field, value)?;
        self.at_most(field, [value; 3], bounds)
    }
}

/// Height of the lowest corner of the block over the floor \[m\].
fn lowest_corner(floor: &Floor, block: &Block) -> f64 {
    let lowest = |k: usize| {
        let n = floor.normal[k];
        n * (if n > 0.0 { block.min[k] } else { block.max[k] } - floor.point[k])
    };
    (0..3).map(lowest).sum()
}
