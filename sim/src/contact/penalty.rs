//! A linear spring.

use super::ContactModel;
use diffkern::prelude::*;

/// `N = k max(0, -gap)`. The gradient is one-sided at touch.
#[derive(Clone, Copy, Debug)]
pub struct Penalty;

#[diff_impl]
impl ContactModel for Penalty {
    fn force<F: Float>(gap: F, _rate: F, q: Vec4<F>) -> F {
        q.x * (-gap).max(0.0)
    }
}
