//! Names of parameters: paths into a scene.

use super::quantity::Quantity;
use crate::text::quoted;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Words of a path that stand for no name.
pub(super) const WORDS: [&str; 10] =
    ["bodies", "material", "pose", "colliders", "motion", "contact", "cameras", "camera", "distortion", "takes"];
/// What the path of a value in a take begins with.
const TAKES: &str = "takes.";
/// Longest name of a part of a scene.
const LONGEST: usize = 64;

/// A parameter that can be asked for: a path such as `bodies.jelly.material.mu`, or `jelly.mu`, or where there is one body
/// `mu`. One of several pieces has its number behind it, `mu[2]`; one of several takes the take before it,
/// `takes.second.jelly.velocity.x`.
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

    /// The name of a quantity of the body, collider or camera that is called `of`, or of the only one, in a take where there are
    /// several, and of a piece where there are several.
    pub fn new(take: Option<&str>, of: Option<&str>, quantity: Quantity, piece: Option<usize>) -> Name {
        let take = take.map(|take| format!("{TAKES}{take}.")).unwrap_or_default();
        let of = of.map(|of| format!("{of}.")).unwrap_or_default();
        let piece = piece.map(|piece| format!("[{piece}]")).unwrap_or_default();
        Name { text: format!("{take}{of}{}{piece}", quantity.key()).into(), quantity }
    }

    /// As it is written.
    pub fn key(&self) -> &str {
        &self.text
    }

    /// The body, collider or camera that it is a quantity of, if the path says so.
    pub fn of(&self) -> Option<&str> {
        Path::of(&self.text).and_then(|path| path.of)
    }

    /// The take, if the path says so.
    pub fn take(&self) -> Option<&str> {
        Path::of(&self.text).and_then(|path| path.take)
    }

    /// The piece, if the path says so.
    pub fn piece(&self) -> Option<usize> {
        Path::of(&self.text).and_then(|path| path.piece)
    }

    /// The same of a piece.
    pub(super) fn with_piece(&self, piece: usize) -> Name {
        Name { text: format!("{}[{piece}]", self.text).into(), quantity: self.quantity }
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

/// The parts of a name.
struct Path<'a> {
    take: Option<&'a str>,
    of: Option<&'a str>,
    quantity: Quantity,
    piece: Option<usize>,
}

impl<'a> Path<'a> {
    /// What a text is a path to, if it is one.
    fn of(text: &'a str) -> Option<Self> {
        let (text, piece) = match text.strip_suffix(']') {
            Some(text) => {
                let (text, piece) = text.rsplit_once('[')?;
                // One way to write a number.
                let number = piece.parse::<usize>().ok().filter(|number| number.to_string() == piece)?;
                (text, Some(number))
            }
            None => (text, None),
        };
        let (take, text) = match text.strip_prefix(TAKES) {
            Some(rest) => rest.split_once('.').map(|(take, rest)| (Some(take), rest))?,
            None => (None, text),
        };
        let ends = |quantity: Quantity| text.strip_suffix(&quantity.key()).map(|before| (before, quantity));
        let whole = |before: &&str| before.is_empty() || before.ends_with('.');
        let group = text.split('.').next().unwrap_or(text);
        let of_group = |quantity: &Quantity| quantity.row().owner.may_be_in(group);
        // The longest key: `pose.position.x` is no position of a camera.
        let fitting = Quantity::ALL.into_iter().filter(of_group).filter_map(ends).filter(|(before, _)| whole(before));
        let (before, quantity) = fitting.min_by_key(|(before, _)| before.len())?;
        let mut names = before.split('.').filter(|word| !WORDS.contains(word) && !word.is_empty());
        let of = names.next();
        let good = names.next().is_none() && of.is_none_or(plain) && take.is_none_or(plain);
        (good && !before.starts_with('.') && !before.contains("..")).then_some(Self { take, of, quantity, piece })
    }
}

fn plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(plain)
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
        match Path::of(text).map(|path| path.quantity) {
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
            ("mu", None, None, Quantity::Mu, None),
            ("left.mu", None, Some("left"), Quantity::Mu, None),
            ("bodies.left.material.lambda", None, Some("left"), Quantity::Lambda, None),
            ("bodies.mu.material.viscosity", None, Some("mu"), Quantity::Viscosity, None),
            ("velocity.x", None, None, Quantity::Velocity(0), None),
            ("left.angular_velocity.z", None, Some("left"), Quantity::AngularVelocity(2), None),
            ("bodies.jelly.pose.position.y", None, Some("jelly"), Quantity::StartPosition(1), None),
            ("pose.position.z", None, None, Quantity::StartPosition(2), None),
            ("position.z", None, None, Quantity::Position(2), None),
            ("takes.high.left.pose.position.x", Some("high"), Some("left"), Quantity::StartPosition(0), None),
            ("colliders.bat.motion.velocity.x", None, Some("bat"), Quantity::ColliderVelocity(0), None),
            ("motion.angular_velocity.z", None, None, Quantity::ColliderAngularVelocity(2), None),
            ("colliders.floor.contact.friction", None, Some("floor"), Quantity::Friction, None),
            ("cameras.main.position.y", None, Some("main"), Quantity::Position(1), None),
            ("cameras.main.vertical_fov", None, Some("main"), Quantity::FieldOfView, None),
            ("cameras.main.distortion.k2", None, Some("main"), Quantity::Distortion(1), None),
            ("main.p1", None, Some("main"), Quantity::Distortion(3), None),
            ("gravity.z", None, None, Quantity::Gravity(2), None),
            ("mu[3]", None, None, Quantity::Mu, Some(3)),
            ("bodies.bar.material.mu[12]", None, Some("bar"), Quantity::Mu, Some(12)),
            ("takes.high.velocity.x", Some("high"), None, Quantity::Velocity(0), None),
            ("takes.high.bodies.left.velocity.x", Some("high"), Some("left"), Quantity::Velocity(0), None),
        ];
        for (text, take, of, quantity, piece) in cases {
            let name: Name = text.parse().unwrap();
            assert_eq!((name.take(), name.of(), name.quantity(), name.piece()), (take, of, quantity, piece), "{text}");
        }
        let wrong = ["", "softness", "softmu", ".mu", "a..mu", "a.b.mu", "velocity", "velocity.w", "a b.mu"];
        let groups = ["bodies.a.position.x", "colliders.a.velocity.x", "bodies.a.friction"];
        let pieces = ["mu[", "mu[]", "mu[-1]", "mu[01]", "[1]", "mu[1][2]", "takes.mu", "takes..mu", "takes.a b.mu"];
        for text in wrong.into_iter().chain(groups).chain(pieces) {
            assert!(text.parse::<Name>().unwrap_err().contains("mu, lambda, young"), "{text}");
        }
    }

    #[test]
    fn every_quantity_has_a_name() {
        for quantity in Quantity::ALL {
            let name = Name::new(Some("first"), Some("left"), quantity, Some(2));
            let read: Name = name.key().parse().unwrap();
            let parts = (read.take(), read.of(), read.quantity(), read.piece());
            assert_eq!(parts, (Some("first"), Some("left"), quantity, Some(2)));
        }
    }
}
