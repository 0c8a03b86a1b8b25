//! The parameters of a scene.

use super::{Contact, Name, Quantity, Range, Scene};

/// A parameter: a quantity, and which body's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The body, by its place in the scene; 0 for quantities that are of none.
    pub body: usize,
    /// What it is.
    pub quantity: Quantity,
}

impl Scene {
    /// Every parameter that the scene has.
    pub fn targets(&self) -> impl Iterator<Item = Target> {
        let of_bodies = Quantity::ALL.into_iter().filter(|q| q.of_a_body());
        let bodies = self.bodies.len();
        let friction = self.slides();
        let others =
            Quantity::ALL.into_iter().filter(move |q| !q.of_a_body() && (friction || *q != Quantity::Friction));
        (0..bodies)
            .flat_map(move |body| of_bodies.clone().map(move |quantity| Target { body, quantity }))
            .chain(others.map(|quantity| Target { body: 0, quantity }))
    }

    /// The elastic parameters of all bodies.
    pub fn elastic(&self) -> impl Iterator<Item = Target> {
        self.targets().filter(|target| target.quantity.is_elastic())
    }

    /// What a name means here.
    ///
    /// # Errors
    /// Says which names there are.
    pub fn target(&self, name: &Name) -> Result<Target, String> {
        let (of, quantity) = (name.of(), name.quantity());
        let fits = |target: &Target| {
            let called = match quantity {
                Quantity::Friction => self.floor.as_ref().map_or("", |floor| &floor.name),
                Quantity::Camera(_) => &self.camera.name,
                Quantity::Gravity(_) => "",
                _ => &self.bodies[target.body].name,
            };
            target.quantity == quantity && of.is_none_or(|of| of == called)
        };
        let found: Vec<Target> = self.targets().filter(fits).collect();
        match found.as_slice() {
            [target] => Ok(*target),
            found => {
                let same = self.targets().filter(|t| t.quantity == quantity);
                let names: Vec<String> = same.map(|t| self.short(t).to_string()).collect();
                let expected = match names.len() {
                    0 => "it has no such parameter".to_owned(),
                    _ => format!("expected {}", names.join(" or ")),
                };
                let what = if found.is_empty() { "is not in the scene" } else { "is of several bodies" };
                Err(format!("{name} {what}, {expected}"))
            }
        }
    }

    /// The name of a parameter: as the scene writes it where it is unknown, else a short one.
    pub fn name_of(&self, target: Target) -> Name {
        let written = self.unknowns.iter().find(|range| range.target == target);
        written.map_or_else(|| self.short(target), |range| range.name.clone())
    }

    fn short(&self, target: Target) -> Name {
        let several = self.bodies.len() > 1 && target.quantity.of_a_body();
        Name::new(several.then(|| self.bodies[target.body].name.as_str()), target.quantity)
    }

    /// The range of a parameter that may be searched for.
    pub fn range(&self, target: Target) -> Option<&Range> {
        self.unknowns.iter().find(|range| range.target == target)
    }

    /// The value that the scene gives.
    pub fn known(&self, target: Target) -> Option<f64> {
        let body = &self.bodies[target.body];
        match target.quantity {
            Quantity::Mu => body.material.mu,
            Quantity::Lambda => body.material.lambda,
            Quantity::Density => Some(body.density),
            Quantity::Viscosity => Some(body.material.viscosity),
            Quantity::Velocity(a) => Some(body.velocity[a]),
            Quantity::AngularVelocity(a) => Some(body.angular_velocity[a]),
            Quantity::Gravity(a) => Some(self.gravity[a]),
            Quantity::Camera(a) => Some(self.camera.position[a]),
            Quantity::Friction => match self.floor.as_ref()?.contact {
                Contact::Friction(friction) => Some(friction),
                Contact::Sticky | Contact::Slip => None,
            },
        }
    }

    /// Whether there is a floor on which bodies slide with a coefficient of friction.
    pub fn slides(&self) -> bool {
        matches!(self.floor.as_ref().map(|floor| floor.contact), Some(Contact::Friction(_)))
    }

    /// What the file calls the field at `path`.
    pub fn field<'a>(&'a self, path: &'a str) -> &'a str {
        self.fields.get(path).map_or(path, String::as_str)
    }

    /// The path of a quantity of a body.
    pub fn path(&self, body: usize, quantity: &str) -> String {
        format!("bodies.{}.{quantity}", self.bodies[body].name)
    }
}
