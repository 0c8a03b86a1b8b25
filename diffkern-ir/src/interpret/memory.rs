//! The arrays of a function.

use super::Val;

/// Arrays by number.
pub trait Memory {
    /// How many elements an array has.
    fn len(&self, array: usize) -> usize;

    /// An element, if there is one.
    fn get(&self, array: usize, index: usize) -> Option<Val>;

    /// Changes an element; nothing if there is none.
    fn set(&mut self, array: usize, index: usize, value: Val) -> Option<()>;
}

/// The elements of an array.
pub type Array = Vec<Val>;

impl Memory for &mut [Array] {
    fn len(&self, array: usize) -> usize {
        self[array].len()
    }

    fn get(&self, array: usize, index: usize) -> Option<Val> {
        self[array].get(index).cloned()
    }

    fn set(&mut self, array: usize, index: usize, value: Val) -> Option<()> {
        *self[array].get_mut(index)? = value;
        Some(())
    }
}
