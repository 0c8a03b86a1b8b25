//! Arrays in the output of `{:?}`: what they are, and what is in small ones.

use std::fmt;

use super::AnyArray;
use crate::kernel::ScalarTy;

/// Scalars up to which an array is shown with its values.
const SMALL: usize = 16;

/// `Array<f32>#7[3] on cpu: [1.0, 2.0, 3.0]`, with the name after the number. No values are shown of an array that is large,
/// or that a launch has in hand.
impl fmt::Debug for AnyArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elem = self.elem().name(self.scalar());
        write!(f, "Array<{elem}>#{}", self.id())?;
        if let Some(name) = self.label().name() {
            write!(f, " `{name}`")?;
        }
        write!(f, "[{}] on {}", self.len(), self.device().name())?;
        match self.values() {
            Some(values) => write!(f, ": [{}]", values.join(", ")),
            None => Ok(()),
        }
    }
}

impl AnyArray {
    /// The elements in words. Looking at them is no read of the program: no step of a rollout depends on it.
    fn values(&self) -> Option<Vec<String>> {
        let parts = self.elem().components();
        if self.len() * parts > SMALL {
            return None;
        }
        let buffer = self.try_buffer()?;
        let (at, size) = self.byte_range();
        let mut bytes = vec![0u8; size];
        self.device().download(&buffer, at, &mut bytes).ok()?;
        let scalars: Vec<String> = match self.scalar() {
            ScalarTy::F32 => bytes.as_chunks::<4>().0.iter().map(|&b| format!("{:?}", f32::from_ne_bytes(b))).collect(),
            ScalarTy::F64 => bytes.as_chunks::<8>().0.iter().map(|&b| format!("{:?}", f64::from_ne_bytes(b))).collect(),
            ScalarTy::U32 => bytes.as_chunks::<4>().0.iter().map(|&b| u32::from_ne_bytes(b).to_string()).collect(),
            ScalarTy::I32 => bytes.as_chunks::<4>().0.iter().map(|&b| i32::from_ne_bytes(b).to_string()).collect(),
        };
        match parts {
            1 => Some(scalars),
            _ => Some(scalars.chunks(parts).map(|element| format!("({})", element.join(", "))).collect()),
        }
    }
}
