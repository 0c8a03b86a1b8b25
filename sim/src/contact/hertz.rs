//! Two round, elastic bodies.

use super::ContactModel;
use diffkern::prelude::*;

/// `N = k d^(3/2) (1 + c d')`, `d = max(0, -gap)`, never negative: the stiffness is in N/m^(3/2), `4/3 E* sqrt(R)` of a ball of
/// radius `R` with `1 / E* = (1 - nu_1^2) / E_1 + (1 - nu_2^2) / E_2`. Without damping a mass `m` of speed `v` gets
/// `(5 m v^2 / (4 k))^(2/5)` deep. The force has a continuous slope at touch, where its second derivative grows without bound; it
/// has a kink where a fast separation would pull, zero by the damping beyond. [`max_dt`](crate::Model::max_dt) reads `k` as a force
/// per depth, which the slope `3/2 k sqrt(d)` stays below up to a depth of 4/9 m.
///
/// Source: Johnson: Contact mechanics, 1985, section 4.2; Hunt, Crossley: Coefficient of restitution interpreted as damping in
/// vibroimpact, 1975, with exponent 3/2.
#[derive(Clone, Copy, Debug)]
pub struct Hertz;

#[diff_impl]
impl ContactModel for Hertz {
    fn force<F: Float>(gap: F, rate: F, q: Vec4<F>) -> F {
        let mut force = F::new(0.0);
        if gap < 0.0 {
            force = q.x * -gap * (-gap).sqrt() * (1.0 - q.y * rate).max(0.0);
        }
        force
    }
}
