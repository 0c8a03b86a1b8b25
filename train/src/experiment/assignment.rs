//! Values as a person writes them.

use crate::scene::Name;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// `NAME=VALUE`, in SI units.
pub(super) fn assignment(text: &str) -> Result<(Name, f64), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?} is no assignment, expected NAME=VALUE such as mu=8000"))?;
    let value = value.trim();
    let number = value.parse().map_err(|_| format!("{value:?} is not a number, expected one in SI units"))?;
    Ok((name.trim().parse()?, number))
}

/// For fields of assignments: in RON they are maps. Of a name that is there twice the last counts.
pub(super) mod map {
    use crate::job::Values;
    use crate::scene::Name;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(all: &[(Name, f64)], to: S) -> Result<S::Ok, S::Error> {
        all.iter().cloned().collect::<Values>().serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(Name, f64)>, D::Error> {
        Ok(Values::deserialize(from)?.into_iter().collect())
    }
}

/// A point \[m\]: `X,Y,Z` on the command line, `(X, Y, Z)` in RON.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point(pub f64, pub f64, pub f64);

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Vec<Option<f64>> = text.split(',').map(|x| x.trim().parse().ok()).collect();
        match numbers[..] {
            [Some(x), Some(y), Some(z)] => Ok(Self(x, y, z)),
            _ => Err(format!("{text:?} is no point, expected X,Y,Z such as 0.5,0,0.1")),
        }
    }
}
