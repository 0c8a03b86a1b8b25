//! Two dimensions.

use super::blocks::Active;
use super::dimension::Dimension;
use super::distance::square_distance_2d;
use super::g2p::grid_to_particles_2d;
use super::grid_update::update_grid_2d;
use super::model::Model;
use super::occupied::base_nodes_2d;
use super::p2g::particles_to_grid_2d;
use super::reorder::reorder_2d;
use super::solver::Solver;
use super::state::State;
use crate::material::with_law;
use diffkern::prelude::*;

/// Two dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dim2;

impl Dimension for Dim2 {
    const AXES: usize = 2;
    const BLOCK: usize = 8;
    type Coords = [f64; 2];
    type Counts = [usize; 2];
    type Vector<F: Float> = Vec2<F>;
    type Matrix<F: Float> = Mat2<F>;
    type Node<F: Float> = Vec3<F>;

    fn vector<F: Float>(c: &[f64; 2]) -> Vec2<F> {
        Vec2::new(F::from_f64(c[0]), F::from_f64(c[1]))
    }

    fn coords<F: Float>(v: Vec2<F>) -> [f64; 2] {
        [v.x.to_f64(), v.y.to_f64()]
    }

    fn identity<F: Float>() -> Mat2<F> {
        Mat2::identity()
    }

    fn determinant<F: Float>(m: Mat2<F>) -> f64 {
        let m = m.to_array().map(F::to_f64);
        m[0] * m[3] - m[1] * m[2]
    }

    fn particles_to_grid<F: Float>(
        solver: &Solver<Self, F>,
        state: &State<Self, F>,
        active: &Active,
        f_next: &Array<Mat2<F>>,
        nodes: &Array<Vec3<F>>,
    ) -> diffkern::Result<()> {
        let model = solver.model();
        let (origin, nodes_of) = (model.grid().origin(), model.grid().counts());
        with_law!(model.law(), M => particles_to_grid_2d::<F, M>(
            state.len(),
            &state.x,
            &state.v,
            &state.c,
            &state.f,
            &solver.packed,
            &model.planes,
            &solver.friction,
            &model.touching,
            &active.table,
            f_next,
            nodes,
            model.real(origin[0]),
            model.real(origin[1]),
            model.real(1.0 / model.grid().dx()),
            model.real(model.dt()),
            nodes_of[0],
            nodes_of[1],
            model.touching_count,
        ))
    }

    fn update_grid<F: Float>(
        solver: &Solver<Self, F>,
        active: &Active,
        nodes: &Array<Vec3<F>>,
        velocity: &Array<Vec2<F>>,
    ) -> diffkern::Result<()> {
        let model = solver.model();
        update_grid_2d(
            nodes.len(),
            nodes,
            &model.masks,
            &active.list,
            &model.planes,
            &model.kinds,
            &solver.friction,
            &solver.gravity,
            &solver.damping,
            velocity,
            model.real(model.dt()),
            model.real(model.mass_cutoff()),
            model.plane_count,
        )
    }

    fn grid_to_particles<F: Float>(
        solver: &Solver<Self, F>,
        active: &Active,
        x: &Array<Vec2<F>>,
        velocity: &Array<Vec2<F>>,
        next: &State<Self, F>,
    ) -> diffkern::Result<()> {
        let model = solver.model();
        let (origin, nodes_of) = (model.grid().origin(), model.grid().counts());
        grid_to_particles_2d(
            next.len(),
            x,
            velocity,
            &active.table,
            &next.x,
            &next.v,
            &next.c,
            model.real(origin[0]),
            model.real(origin[1]),
            model.real(1.0 / model.grid().dx()),
            model.real(model.dt()),
            nodes_of[0],
            nodes_of[1],
        )
    }

    fn base_nodes<F: Float>(model: &Model<Self, F>, x: &Array<Vec2<F>>, nodes: &Array<u32>) -> diffkern::Result<()> {
        let (origin, nodes_of) = (model.grid().origin(), model.grid().counts());
        base_nodes_2d(
            x.len(),
            x,
            nodes,
            model.real(origin[0]),
            model.real(origin[1]),
            model.real(1.0 / model.grid().dx()),
            nodes_of[0],
            nodes_of[1],
        )
    }

    fn reorder<F: Float>(state: &State<Self, F>, to: &Array<u32>, next: &State<Self, F>) -> diffkern::Result<()> {
        reorder_2d(state.len(), &state.x, &state.v, &state.c, &state.f, to, &next.x, &next.v, &next.c, &next.f)
    }

    fn square_distance<F: Float>(x: &Array<Vec2<F>>, target: &Array<Vec2<F>>, out: &Array<F>) -> diffkern::Result<()> {
        square_distance_2d(x.len(), x, target, out)
    }
}
