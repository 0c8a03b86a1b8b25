//! Is a gradient right? For any function of some numbers ([`function()`]), and for kernels (the generated `gradcheck`). And
//! does a device give what the CPU gives (the generated `devicecheck`)?

mod device_check;
mod differences;
mod function;
mod kernel_check;
mod point;
mod random;

pub use device_check::devices;
#[doc(hidden)]
pub use device_check::{OnPacks, on_device, on_lanes, on_packs};
pub use differences::{Along, along};
pub use function::{Options, function};
#[doc(hidden)]
pub use kernel_check::kernel;

/// What a gradient check found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GradcheckReport {
    /// Largest relative error of a directional derivative against finite differences.
    pub difference_error: f64,
    /// Largest relative violation of `<u, J v> = <J^T u, v>`; of kernels only, else 0.
    pub dot_product_error: f64,
    /// Rates at which the Taylor remainder shrinks, with the gradient (about 2) and without (about 1), the least over all
    /// directions; of functions only, else 0. Infinite for a remainder that is rounding alone.
    pub taylor_rate: f64,
    /// The rate without the gradient: that it is 1 shows that the test can fail.
    pub taylor_rate_without: f64,
    /// Directions tried.
    pub directions: usize,
    /// Directions drawn again because the two one-sided differences disagree: a kink or a branch within the step.
    pub redrawn: usize,
}

impl std::fmt::Display for GradcheckReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} directions, {} redrawn: finite differences {:.1e}",
            self.directions, self.redrawn, self.difference_error
        )?;
        if self.dot_product_error > 0.0 {
            write!(f, ", dot-product identity {:.1e}", self.dot_product_error)?;
        }
        if self.taylor_rate > 0.0 {
            write!(f, ", Taylor rate {:.3} ({:.3} without)", self.taylor_rate, self.taylor_rate_without)?;
        }
        Ok(())
    }
}
