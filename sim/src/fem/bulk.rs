//! Bulk viscosity: a pressure that spreads over cells what would be a shock.
//!
//! Where a body hits at a part of the speed of its waves, they steepen until a cell is too wide for them. Nothing in an elastic solid takes the energy that is left at the length of
//! a cell, and what swings there turns cells inside out. A pressure of second order in the cell and in the rate (von Neumann, Richtmyer: A method
//! for the numerical calculation of hydrodynamic shocks, 1950) resists further compression. It begins smoothly where a tenth of the volume is gone: by volume at rest
//! `Q rho h^2 max(1 - J / 0.9, 0)^2 min(J', 0)^2`, where `J` is the part of the volume that is left and `h^3` the volume of a cell. The power that it takes is this times `|J'| / J`.
//! What keeps nine tenths of its volume moves as without it, to the last bit.
//!
//! Its gradient is continuous, also where it begins; its curvature is not.

use diffkern::prelude::*;

/// What `Q` is where it is not told: as explicit programs have it for solids.
pub const QUADRATIC: f64 = 1.5;

/// Of each stress point `Q V rho h^2` \[kg m^2\], eight a cell, `q = (_, _, _, V)`: densities and `Q h^2` are of cells, one element for all or one for each.
#[doc(hidden)]
#[diff_kernel]
pub fn pack_bulk<F: Float>(q: &Array<Vec4<F>>, density: &Array<F>, square: &Array<F>, bulk: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let c = i / 8;
    bulk[i] = q[i].w * density[c.min(density.len() - 1)] * square[c.min(square.len() - 1)];
}

/// Adds the first Piola stress times volume, `-Q V rho h^2 max(1 - J / 0.9, 0)^2 min(J', 0)^2 F^-T`, of the rate `F'` of the deformation gradient: `J' = J tr(F' F^-1)`.
#[doc(hidden)]
#[diff_kernel]
pub fn resist_compression<F: Float>(
    f: &Array<Mat3<F>>,
    rate: &Array<Mat3<F>>,
    bulk: &Array<F>,
    p: &mut Array<Mat3<F>>,
) {
    let i = ABSOLUTE_POS;
    let inverse = f[i].inverse();
    let j = f[i].determinant();
    let closing = (j * (rate[i] * inverse).trace()).min(0.0);
    let flat = (1.0 - j / 0.9).max(0.0);
    p[i] += inverse.transpose() * (-bulk[i] * (flat * closing) * (flat * closing));
}
