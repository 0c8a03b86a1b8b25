//! Parameters by path: what a report names, a gradient check varies and a fit looks for.

use crate::error::{Error, Result};
use diffkern::AnyArray;
use std::borrow::Cow;

/// Which values a parameter may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Any finite number.
    Finite,
    /// Zero or a positive number.
    NonNegative,
    /// A positive number.
    Positive,
}

impl Bounds {
    /// Whether `value` is within them.
    pub fn contain(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Bounds::Finite => true,
                Bounds::NonNegative => value >= 0.0,
                Bounds::Positive => value > 0.0,
            }
    }
}

/// One parameter of a model: an array of one element for all that it applies to, or of one for each.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Its name, such as `material.mu`.
    pub path: Cow<'static, str>,
    /// SI unit, empty for a pure number.
    pub unit: &'static str,
    /// Values that it may take.
    pub bounds: Bounds,
    /// The values.
    pub array: &'a AnyArray,
}

/// The parameters of a model, as fields of a type and as a list.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern_sim::Params as _;
/// use diffkern_sim::mpm::{Dim3, Params};
///
/// let device = Device::cpu();
/// let mut params = Params::<Dim3, f64>::uniform(&device, 5e3, 1e4, 1e3, 1e-6, [0.0, 0.0, -9.81])?;
/// let stiffer = device.array(&[8e3])?;
/// params.replace("material.mu", stiffer.as_any().clone())?;
/// assert_eq!(params.mu.to_vec()?, [8e3]);
///
/// let error = params.replace("material.nu", stiffer.as_any().clone()).unwrap_err();
/// assert!(error.to_string().contains("material.mu"), "{error}"); // the paths that there are
/// # Ok::<(), Error>(())
/// ```
pub trait Params: Clone {
    /// All of them, in the order of the documentation.
    fn groups(&self) -> Vec<Group<'_>>;

    /// Puts `array` where the parameter `path` is. Its length is checked where the parameters are used.
    ///
    /// # Errors
    /// When there is no such path, or the elements are of another type.
    fn replace(&mut self, path: &str, array: AnyArray) -> Result<()>;

    /// The parameter `path`.
    ///
    /// # Errors
    /// When there is none.
    fn group(&self, path: &str) -> Result<Group<'_>> {
        let mut groups = self.groups();
        match groups.iter().position(|g| g.path == path) {
            Some(k) => Ok(groups.swap_remove(k)),
            None => Err(unknown(path, &groups)),
        }
    }
}

pub(crate) fn unknown(path: &str, groups: &[Group<'_>]) -> Error {
    let paths: Vec<&str> = groups.iter().map(|g| g.path.as_ref()).collect();
    Error::invalid("path of a parameter", format!("`{path}`"), format!("one of {}", paths.join(", ")))
}

/// Implements [`Params`] by rows `field: path, unit, bounds;`. A row in brackets is of a field that is an option; `and part`
/// adds those of a field that is an option of parameters.
macro_rules! parameters {
    (impl [$($generics:tt)*] for $type:ty {
        $($($field:ident).+: $path:literal, $unit:literal, $bounds:ident;)+
        $([$option:ident: $option_path:literal, $option_unit:literal, $option_bounds:ident;])*
    } $(and $($part:ident),+)?) => {
        impl<$($generics)*> $crate::params::Params for $type {
            fn groups(&self) -> Vec<$crate::params::Group<'_>> {
                use $crate::params::{Bounds, Group};
                fn row<'a>(path: &'static str, unit: &'static str, bounds: Bounds, array: &'a diffkern::AnyArray) -> Group<'a> {
                    Group { path: path.into(), unit, bounds, array }
                }
                let always = [$(row($path, $unit, Bounds::$bounds, self.$($field).+.as_any())),+];
                #[allow(unused_mut, reason = "only where there is an option or a part")]
                let mut groups = always.to_vec();
                $(groups.extend(
                    self.$option.iter().map(|a| row($option_path, $option_unit, Bounds::$option_bounds, a.as_any())),
                );)*
                $($(groups.extend(self.$part.iter().flat_map($crate::params::Params::groups));)+)?
                groups
            }

            fn replace(&mut self, path: &str, array: diffkern::AnyArray) -> $crate::error::Result<()> {
                $($(if let Some(part) = self.$part.as_mut().filter(|part| part.group(path).is_ok()) {
                    return part.replace(path, array);
                })+)?
                match path {
                    $($path => self.$($field).+ = diffkern::Array::try_from(array)?,)+
                    $($option_path => self.$option = Some(diffkern::Array::try_from(array)?),)*
                    _ => return Err($crate::params::unknown(path, &self.groups())),
                }
                Ok(())
            }
        }
    };
}
pub(crate) use parameters;
