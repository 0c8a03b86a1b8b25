//! How much time and memory a job may take. What it will take is in [`crate::identify::Cost`].

mod machine;
mod quantity;

pub use machine::available_memory;
pub(crate) use quantity::size;
pub use quantity::{Bytes, Seconds};

use serde::{Deserialize, Serialize};

/// Time that a job may take unless told otherwise.
pub const DEFAULT_TIME: Seconds = Seconds(3600.0);
/// Part of the memory that is free when the job begins which it may take unless told otherwise.
const SHARE: f64 = 0.8;
/// Where the system does not tell what is free \[bytes\].
const UNKNOWN: u64 = 8 << 30;

/// What a job may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Most time, by an estimate; [`DEFAULT_TIME`] if not given.
    pub max_time: Option<Seconds>,
    /// Most memory, by an estimate, and while it runs that of the simulator's grid; four fifths of what the machine and the
    /// control group of the process have free if not given.
    pub max_memory: Option<Bytes>,
}

impl Limits {
    /// Most time \[s\].
    pub fn seconds(&self) -> f64 {
        self.max_time.unwrap_or(DEFAULT_TIME).0
    }

    /// Most memory \[bytes\].
    pub fn bytes(&self) -> f64 {
        match self.max_memory {
            Some(Bytes(bytes)) => bytes as f64,
            None => (SHARE * available_memory().unwrap_or(UNKNOWN) as f64).floor(),
        }
    }

    /// These, where `other` says nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { max_time: self.max_time.or(other.max_time), max_memory: self.max_memory.or(other.max_memory) }
    }
}
