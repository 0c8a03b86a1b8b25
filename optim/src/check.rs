//! Checks of numbers that come from a file.

use std::fmt;

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Path of the field, such as `normals[1].cost`.
    pub field: String,
    /// Value seen and value expected.
    pub problem: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem)
    }
}

/// Result of a check.
pub type Checked = Result<(), Fault>;

/// Passes if `good`; else a fault of `field`, with what is wrong with it by `problem`.
///
/// # Errors
/// The fault.
pub fn require(good: bool, field: &str, problem: impl FnOnce() -> String) -> Checked {
    if good { Ok(()) } else { Err(Fault { field: field.into(), problem: problem() }) }
}

/// A number in `low..=high`.
///
/// # Errors
/// The fault.
pub fn within(field: &str, value: f64, low: f64, high: f64) -> Checked {
    require((low..=high).contains(&value), field, || format!("{value:e}, expected {low:e} to {high:e}"))
}

/// A count of at most `most`.
///
/// # Errors
/// The fault.
pub fn at_most(field: &str, value: usize, most: usize) -> Checked {
    require(value <= most, field, || format!("{value}, expected at most {most}"))
}

/// A count that has to be `expected`.
///
/// # Errors
/// The fault.
pub fn equal(field: &str, value: usize, expected: usize) -> Checked {
    require(value == expected, field, || format!("{value}, expected {expected}"))
}

/// `length` finite numbers.
///
/// # Errors
/// The fault.
pub fn finite(field: &str, values: &[f64], length: usize) -> Checked {
    let count = values.len();
    require(count == length, field, || format!("{count} numbers, expected {length}"))?;
    let odd = values.iter().find(|value| !value.is_finite());
    require(odd.is_none(), field, || format!("{odd:?}, expected finite numbers"))
}

/// The fault of a field that is part of `whole`.
///
/// # Errors
/// The fault, with the longer path.
pub fn of(whole: &str, checked: Checked) -> Checked {
    checked.map_err(|fault| Fault { field: format!("{whole}.{}", fault.field), ..fault })
}
