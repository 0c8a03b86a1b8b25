//! Names of parameters: paths into a scene.

use crate::text::quoted;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// Shear modulus, first Lamé parameter of the energy.
    Mu,
    /// Second Lamé parameter.
    Lambda,
    /// Density at rest.
    Density,
    /// Newtonian viscosity.
    Viscosity,
    /// Component of the velocity of the centre of mass at t = 0.
    Velocity(usize),
    /// Component of the angular velocity about the centre of mass at t = 0.
    AngularVelocity(usize),
    /// Coulomb's coefficient of the floor.
    Friction,
    /// Component of gravity.
    Gravity(usize),
    /// Component of the camera's position.
    Camera(usize),
}

const AXES: [&str; 3] = ["x", "y", "z"];
/// Words of a path that stand for no name.
const WORDS: [&str; 6] = ["bodies", "material", "colliders", "contact", "cameras", "camera"];

impl Quantity {
    /// Every quantity.
    pub const ALL: [Self; 17] = {
        use Quantity::*;
        [
            Mu,
            Lambda,
            Density,
            Viscosity,
            Velocity(0),
            Velocity(1),
            Velocity(2),
            AngularVelocity(0),
            AngularVelocity(1),
            AngularVelocity(2),
            Friction,
            Gravity(0),
            Gravity(1),
            Gravity(2),
            Camera(0),
            Camera(1),
            Camera(2),
        ]
    };

    /// Last words of its path.
    pub fn key(self) -> String {
        match self {
            Self::Mu => "mu".into(),
            Self::Lambda => "lambda".into(),
            Self::Density => "density".into(),
            Self::Viscosity => "viscosity".into(),
            Self::Friction => "friction".into(),
            Self::Velocity(a) => format!("velocity.{}", AXES[a]),
            Self::AngularVelocity(a) => format!("angular_velocity.{}", AXES[a]),
            Self::Gravity(a) => format!("gravity.{}", AXES[a]),
            Self::Camera(a) => format!("position.{}", AXES[a]),
        }
    }

    /// SI unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Mu | Self::Lambda => "Pa",
            Self::Density => "kg/m^3",
            Self::Viscosity => "Pa s",
            Self::Velocity(_) => "m/s",
            Self::AngularVelocity(_) => "rad/s",
            Self::Friction => "1",
            Self::Gravity(_) => "m/s^2",
            Self::Camera(_) => "m",
        }
    }

    /// Whether each body has its own.
    pub fn of_a_body(self) -> bool {
        match self {
            Self::Mu
            | Self::Lambda
            | Self::Density
            | Self::Viscosity
            | Self::Velocity(_)
            | Self::AngularVelocity(_) => true,
            Self::Friction | Self::Gravity(_) | Self::Camera(_) => false,
        }
    }

    /// Whether it is an elastic parameter, without which nothing runs.
    pub fn is_elastic(self) -> bool {
        matches!(self, Self::Mu | Self::Lambda)
    }

    /// Whether its values are positive, and differ by factors.
    pub fn is_positive(self) -> bool {
        matches!(self, Self::Mu | Self::Lambda | Self::Density)
    }
}

/// A parameter that can be asked for: a path such as `bodies.jelly.material.mu`, or `jelly.mu`, or where there is one body
/// `mu`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name {
    text: Cow<'static, str>,
    quantity: Quantity,
}

impl Name {
    /// Of the only body.
    pub const MU: Name = Name { text: Cow::Borrowed("mu"), quantity: Quantity::Mu };
    /// Of the only body.
    pub const LAMBDA: Name = Name { text: Cow::Borrowed("lambda"), quantity: Quantity::Lambda };

    /// The name of a quantity of the body, collider or camera that is called `of`, or of the only one.
    pub fn new(of: Option<&str>, quantity: Quantity) -> Name {
        let text = match of {
            Some(of) => format!("{of}.{}", quantity.key()).into(),
            None => quantity.key().into(),
        };
        Name { text, quantity }
    }

    /// As it is written.
    pub fn key(&self) -> &str {
        &self.text
    }

    /// The body, collider or camera that it is a quantity of, if the path says so.
    pub fn of(&self) -> Option<&str> {
        let key = self.quantity.key();
        names(self.text.strip_suffix(&key).unwrap_or_default()).next()
    }

    /// Which quantity.
    pub fn quantity(&self) -> Quantity {
        self.quantity
    }

    /// SI unit.
    pub fn unit(&self) -> &'static str {
        self.quantity.unit()
    }
}

/// The names in what stands before the last words of a path.
fn names(before: &str) -> impl Iterator<Item = &str> {
    before.split('.').filter(|word| !WORDS.contains(word) && !word.is_empty())
}

/// What a text is a path to, if it is one.
fn quantity(text: &str) -> Option<Quantity> {
    let ends = |quantity: Quantity| text.strip_suffix(&quantity.key()).map(|before| (before, quantity));
    let whole = |before: &&str| before.is_empty() || before.ends_with('.');
    let (before, quantity) = Quantity::ALL.into_iter().filter_map(ends).find(|(before, _)| whole(before))?;
    let mut names = names(before);
    let of = names.next();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let good = names.next().is_none() && of.is_none_or(|of| of.len() <= 64 && of.chars().all(plain));
    (good && !before.starts_with('.') && !before.contains("..")).then_some(quantity)
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.text.into_owned()
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Quantity::ALL.map(Quantity::key).join(", ");
        match quantity(text) {
            Some(quantity) => Ok(Self { text: text.to_owned().into(), quantity }),
            None => Err(format!("unknown parameter {}, expected one of {}, or a path to one", quoted(text), known())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart() {
        let cases = [
            ("mu", None, Quantity::Mu),
            ("left.mu", Some("left"), Quantity::Mu),
            ("bodies.left.material.lambda", Some("left"), Quantity::Lambda),
            ("bodies.mu.material.viscosity", Some("mu"), Quantity::Viscosity),
            ("velocity.x", None, Quantity::Velocity(0)),
            ("left.angular_velocity.z", Some("left"), Quantity::AngularVelocity(2)),
            ("colliders.floor.contact.friction", Some("floor"), Quantity::Friction),
            ("cameras.main.position.y", Some("main"), Quantity::Camera(1)),
            ("gravity.z", None, Quantity::Gravity(2)),
        ];
        for (text, of, quantity) in cases {
            let name: Name = text.parse().unwrap();
            assert_eq!((name.of(), name.quantity()), (of, quantity), "{text}");
        }
        for text in ["", "softness", "softmu", ".mu", "a..mu", "a.b.mu", "velocity", "velocity.w", "a b.mu"] {
            assert!(text.parse::<Name>().unwrap_err().contains("mu, lambda, density"), "{text}");
        }
    }

    #[test]
    fn every_quantity_has_a_name() {
        for quantity in Quantity::ALL {
            let name = Name::new(Some("left"), quantity);
            let read: Name = name.key().parse().unwrap();
            assert_eq!((read.of(), read.quantity()), (Some("left"), quantity));
        }
    }
}
