//! Values on the host, many at a time: an error where the system has no memory for them.

use std::fmt;

use crate::error::{Error, Result};
use crate::faults;

/// All items in a vector.
///
/// # Errors
/// When the system has no memory for them.
pub fn collect<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut vector = with_room(items.len())?;
    vector.extend(items);
    Ok(vector)
}

/// `n` times the same.
///
/// # Errors
/// When the system has no memory for them.
pub fn filled<T: Clone>(n: usize, value: T) -> Result<Vec<T>> {
    let mut vector = with_room(n)?;
    vector.resize(n, value);
    Ok(vector)
}

/// Room for `n` values.
///
/// # Errors
/// When the system has no memory for them.
pub fn with_room<T>(n: usize) -> Result<Vec<T>> {
    let bytes = n.saturating_mul(size_of::<T>());
    let mut vector = Vec::new();
    if faults::allocation(bytes) || vector.try_reserve_exact(n).is_err() {
        let reason = "the system has none left for it".to_owned();
        return Err(Error::Memory { device: "host".to_owned(), bytes, reason });
    }
    Ok(vector)
}

/// A number of bytes, for people.
pub(crate) struct Bytes(pub(crate) usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            0..1024 => write!(f, "{} B", self.0),
            1024..1_048_576 => write!(f, "{:.1} KiB", bytes / 1024.0),
            1_048_576..1_073_741_824 => write!(f, "{:.1} MiB", bytes / 1_048_576.0),
            _ => write!(f, "{:.2} GiB", bytes / 1_073_741_824.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_is_an_error() {
        assert_eq!(filled(3, 7u8), Ok(vec![7; 3]));
        assert_eq!(collect([1, 2].into_iter()), Ok(vec![1, 2]));
        for n in [usize::MAX, usize::MAX / 8, 1 << 60] {
            assert!(matches!(filled(n, 0.5), Err(Error::Memory { .. })), "{n}");
        }
    }
}
