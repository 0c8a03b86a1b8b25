//! Two and three dimensions: the types of a state and the launches of its kernels.

use super::blocks::Active;
use super::model::Model;
use super::solver::Solver;
use super::state::State;
use diffkern::prelude::*;
use std::fmt::Debug;

/// Number of axes of a simulation, [`Dim2`](super::Dim2) or [`Dim3`](super::Dim3).
pub trait Dimension: Copy + Debug + Default + PartialEq + Send + Sync + Sized + 'static {
    /// How many axes.
    const AXES: usize;
    /// Nodes of a block along each axis.
    const BLOCK: usize;
    /// A point on the host, `[f64; AXES]`.
    type Coords: Copy + Debug + PartialEq + Send + Sync + AsRef<[f64]> + AsMut<[f64]> + Default;
    /// Node counts, `[usize; AXES]`.
    type Counts: Copy + Debug + PartialEq + Send + Sync + AsRef<[usize]> + AsMut<[usize]> + Default;
    /// Position or velocity of a particle.
    type Vector<F: Float>: Element<Scalar = F>;
    /// Deformation gradient or velocity gradient.
    type Matrix<F: Float>: Element<Scalar = F>;
    /// Momentum and mass of a node.
    type Node<F: Float>: Element<Scalar = F>;

    /// A point as a device vector.
    fn vector<F: Float>(coords: &Self::Coords) -> Self::Vector<F>;
    /// A device vector as a point.
    fn coords<F: Float>(vector: Self::Vector<F>) -> Self::Coords;
    /// The identity.
    fn identity<F: Float>() -> Self::Matrix<F>;
    /// Determinant, in f64.
    fn determinant<F: Float>(matrix: Self::Matrix<F>) -> f64;

    /// Adds the particles to the cleared `nodes` and writes the new deformation gradients `f_next`.
    fn particles_to_grid<F: Float>(
        solver: &Solver<Self, F>,
        state: &State<Self, F>,
        active: &Active,
        f_next: &Array<Self::Matrix<F>>,
        nodes: &Array<Self::Node<F>>,
    ) -> diffkern::Result<()>;

    /// Writes the nodes' velocities.
    fn update_grid<F: Float>(
        solver: &Solver<Self, F>,
        active: &Active,
        nodes: &Array<Self::Node<F>>,
        velocity: &Array<Self::Vector<F>>,
    ) -> diffkern::Result<()>;

    /// Writes position, velocity and velocity gradient of `next`.
    fn grid_to_particles<F: Float>(
        solver: &Solver<Self, F>,
        active: &Active,
        x: &Array<Self::Vector<F>>,
        velocity: &Array<Self::Vector<F>>,
        next: &State<Self, F>,
    ) -> diffkern::Result<()>;

    /// Writes the first node of each particle, see [`occupied`](super::occupied).
    fn base_nodes<F: Float>(
        model: &Model<Self, F>,
        x: &Array<Self::Vector<F>>,
        nodes: &Array<u32>,
    ) -> diffkern::Result<()>;

    /// Writes particle `i` of `state` to place `to_i` of `next`.
    fn reorder<F: Float>(state: &State<Self, F>, to: &Array<u32>, next: &State<Self, F>) -> diffkern::Result<()>;

    /// Writes `|x - target|^2` of each particle.
    fn square_distance<F: Float>(
        x: &Array<Self::Vector<F>>,
        target: &Array<Self::Vector<F>>,
        out: &Array<F>,
    ) -> diffkern::Result<()>;
}
