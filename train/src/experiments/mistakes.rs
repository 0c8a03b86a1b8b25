//! Mistakes in a protocol, by their fields.

use super::protocol::{Floor, Frames, Protocol, Push, View};
use super::quantity::Quantity;
use super::shape::{self, Shape};
use super::sight;

/// Most points of a star.
const STAR: usize = 1000;

/// Nothing, or a field and what is wrong with it.
type Checked = Result<(), (String, String)>;

fn wrong(field: impl Into<String>, problem: impl Into<String>) -> Checked {
    Err((field.into(), problem.into()))
}

fn is_positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

impl Protocol {
    /// The first mistake, by its field.
    pub(super) fn check(&self) -> Checked {
        self.check_shapes()?;
        self.check_unknowns()?;
        self.check_frames()?;
        self.check_motion()?;
        if self.instances == 0 {
            return wrong("instances", "0, expected at least 1");
        }
        self.camera.check()
    }

    fn check_shapes(&self) -> Checked {
        if self.shapes.is_empty() {
            return wrong("shapes", "none, expected at least one");
        }
        for (k, named) in self.shapes.iter().enumerate() {
            let of_shape = named.shape.lengths().into_iter().map(|(name, x)| (format!("shapes[{k}].shape.{name}"), x));
            let mut lengths = of_shape.chain([(format!("shapes[{k}].edge"), named.edge)]);
            if let Some((field, x)) = lengths.find(|(_, x)| !is_positive(*x)) {
                return wrong(field, format!("{x}, expected a positive number"));
            }
            // Its outline is cut into triangles in the square of their number.
            if let Shape::Star { points, .. } = named.shape
                && !(2..=STAR).contains(&points)
            {
                return wrong(format!("shapes[{k}].shape.points"), format!("{points}, expected 2 to {STAR}"));
            }
        }
        match is_positive(self.reach) {
            true => Ok(()),
            false => wrong("reach", format!("{} m, expected a positive length", self.reach)),
        }
    }

    /// Shapes of which no body can be made, such as of an outline that crosses itself.
    pub(super) fn check_bodies(&self) -> Checked {
        self.shapes.iter().enumerate().try_for_each(|(k, named)| {
            let made = shape::body(named, self.reach).map(drop);
            made.map_err(|error| (format!("shapes[{k}]"), format!("{}: {error}", named.name)))
        })
    }

    fn check_unknowns(&self) -> Checked {
        if self.unknowns.is_empty() {
            return wrong("unknowns", "none, expected at least one");
        }
        for (k, unknown) in self.unknowns.iter().enumerate() {
            let (low, high) = unknown.range;
            let name = unknown.quantity.name();
            if !(low > 0.0 && low < high && high.is_finite()) {
                let problem = format!("range of {name}: {low} to {high}, expected positive numbers in order");
                return wrong("unknowns", problem);
            }
            if self.unknowns[..k].iter().any(|other| other.quantity == unknown.quantity) {
                return wrong("unknowns", format!("{name} is there twice"));
            }
            if unknown.quantity.is_of_contact() && self.floor.is_none() {
                let problem =
                    format!("{name} is without influence: there is nothing to touch; expected a floor, or no {name}");
                return wrong("unknowns", problem);
            }
        }
        match self.mass {
            None if !self.is_unknown(Quantity::Mass) => {
                wrong("mass", "is neither known nor to be found, expected one of the two")
            }
            Some(mass) if !is_positive(mass) => wrong("mass", format!("{mass} kg, expected a positive number")),
            Some(_) | None => Ok(()),
        }
    }

    fn check_frames(&self) -> Checked {
        let Frames { count, rate, steps } = self.frames;
        for (field, n, most) in [("frames.count", count, 10_000), ("frames.steps", steps, 100_000)] {
            if !(1..=most).contains(&n) {
                return wrong(field, format!("{n}, expected 1 to {most}"));
            }
        }
        if !is_positive(rate) {
            return wrong("frames.rate", format!("{rate} a second, expected a positive number"));
        }
        match self.horizons.last() != Some(&count) || self.horizons.iter().any(|&h| h == 0 || h > count) {
            true => wrong(
                "horizons",
                format!("{:?}, expected numbers of frames of which the last is {count}", self.horizons),
            ),
            false => Ok(()),
        }
    }

    /// How bodies begin, and what acts on them.
    fn check_motion(&self) -> Checked {
        let begin = &self.start;
        let drawn =
            [("start.position", begin.position), ("start.velocity", begin.velocity), ("start.spin", begin.spin)];
        let ends = drawn.into_iter().flat_map(|(field, (low, high))| [(field, low), (field, high)]);
        for (field, (x, y, z)) in ends.chain([("gravity", self.gravity)]) {
            if ![x, y, z].iter().all(|c| c.is_finite()) {
                return wrong(field, format!("({x}, {y}, {z}), expected finite numbers"));
            }
        }
        self.push.as_ref().map_or(Ok(()), Push::check)?;
        self.floor.as_ref().map_or(Ok(()), Floor::check)
    }
}

impl Push {
    fn check(&self) -> Checked {
        let (begin, end) = self.interval;
        if !self.force.is_finite() {
            return wrong("push.force", format!("{} N, expected a finite number", self.force));
        }
        match begin.is_finite() && end.is_finite() && begin <= end {
            true => Ok(()),
            false => {
                wrong("push.interval", format!("{begin} to {end} s, expected an end that is not before the beginning"))
            }
        }
    }
}

impl Floor {
    fn check(&self) -> Checked {
        let (x, y, z) = self.normal;
        if !is_positive(x.hypot(y).hypot(z)) {
            return wrong("floor.normal", format!("({x}, {y}, {z}), expected a direction"));
        }
        let numbers = [("ke", self.ke), ("kd", self.kd), ("kf", self.kf), ("mu", self.mu)];
        match numbers.into_iter().find(|(_, x)| !(*x >= 0.0 && x.is_finite())) {
            Some((field, x)) => wrong(format!("floor.{field}"), format!("{x}, expected a number, zero or more")),
            None => Ok(()),
        }
    }
}

impl View {
    /// The first mistake, by its field.
    pub(crate) fn check(&self) -> Checked {
        let (x, y, z) = self.look_at;
        if ![x, y, z].iter().all(|c| c.is_finite()) {
            return wrong("camera.look_at", format!("({x}, {y}, {z}), expected finite numbers"));
        }
        if !self.azimuth.is_finite() {
            return wrong("camera.azimuth", format!("{} degrees, expected a finite number", self.azimuth));
        }
        if !is_positive(self.distance) {
            return wrong("camera.distance", format!("{} m, expected a positive length", self.distance));
        }
        if !(self.elevation > -90.0 && self.elevation < 90.0) {
            let problem = format!("{} degrees, expected an angle above -90, below 90", self.elevation);
            return wrong("camera.elevation", problem);
        }
        if !(self.field_of_view > 0.0 && self.field_of_view < 180.0) {
            let problem = format!("{} degrees, expected an angle above 0, below 180", self.field_of_view);
            return wrong("camera.field_of_view", problem);
        }
        sight::camera(self).check().map_err(|error| match error {
            diffkern_render::Error::Camera { field, value, expected } => {
                (format!("camera.{field}"), format!("{value}, expected {expected}"))
            }
            other => ("camera".into(), other.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn mistakes_are_told_with_file_and_field() {
        let texts = [include_str!("../../experiments/contact.ron"), include_str!("../../experiments/rigid.ron")];
        let [contact, rigid] = texts;
        for (text, from, to, expected) in [
            (contact, "radius: 1.0", "radius: -1.0", "shapes[0].shape.radius: -1, expected a positive number"),
            (contact, "edge: 0.5", "edge: 0", "shapes[0].edge: 0, expected a positive number"),
            (contact, "edge: 0.5", "edge: 1e-4", "shapes[0]: ball: longest edge of the surface is 0.000035"),
            (contact, "width: 256", "width: 0", "camera.width: 0, expected 1 to 16384 pixels"),
            (contact, "elevation: 20.0", "elevation: 90.0", "camera.elevation: 90 degrees"),
            (contact, "(0.3, 0.0, 1.0)", "(0.0, 0.0, 0.0)", "floor.normal: (0, 0, 0), expected a direction"),
            (contact, "steps: 200", "steps: 1000000000", "frames.steps: 1000000000, expected 1 to 100000"),
            (contact, "rate: 30.0", "rate: NaN", "frames.rate: NaN a second"),
            (contact, "-9.81", "-inf", "gravity: (0, 0, -inf), expected finite numbers"),
            (rigid, "(0.0, 0.1)", "(0.1, 0.0)", "push.interval: 0.1 to 0 s"),
            (rigid, "legs: (0.9, 0.7), wall: 0.25", "legs: (0.9, 0.7), wall: 2.5", "shapes[10]: bracket: outline"),
            (rigid, "instances: 112", "instances: 0", "instances: 0, expected at least 1"),
        ] {
            let changed = text.replacen(from, to, 1);
            let said = Protocol::parse(Path::new("wrong.ron"), &changed).map_err(|e| (e.exit_code(), e.to_string()));
            let told = |(code, s): &(u8, String)| *code == 2 && s.starts_with("wrong.ron") && s.contains(expected);
            assert!(said.as_ref().is_err_and(told), "{said:?}\n{expected}");
        }
    }
}
