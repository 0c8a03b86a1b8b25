//! Three dimensions.

use super::blocks::Active;
use super::dimension::Dimension;
use super::distance::square_distance_3d;
use super::g2p::grid_to_particles_3d;
use super::grid_update::update_grid_3d;
use super::model::Model;
use super::occupied::base_nodes_3d;
use super::p2g::particles_to_grid_3d;
use super::reorder::reorder_3d;
use super::solver::Solver;
use super::state::State;
use crate::material::with_law;
use diffkern::prelude::*;

/// Three dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dim3;

impl Dimension for Dim3 {
    const AXES: usize = 3;
    const BLOCK: usize = 4;
    type Coords = [f64; 3];
    type Counts = [usize; 3];
    type Vector<F: Float> = Vec3<F>;
    type Matrix<F: Float> = Mat3<F>;
    type Node<F: Float> = Vec4<F>;

    fn vector<F: Float>(c: &[f64; 3]) -> Vec3<F> {
        Vec3::new(F::from_f64(c[0]), F::from_f64(c[1]), F::from_f64(c[2]))
    }

    fn coords<F: Float>(v: Vec3<F>) -> [f64; 3] {
        [v.x.to_f64(), v.y.to_f64(), v.z.to_f64()]
    }

    fn identity<F: Float>() -> Mat3<F> {
        Mat3::identity()
    }

    fn determinant<F: Float>(m: Mat3<F>) -> f64 {
        let m = m.to_array().map(F::to_f64);
        m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6])
    }

    fn particles_to_grid<F: Float>(
        solver: &Solver<Self, F>,
        state: &State<Self, F>,
        active: &Active,
        f_next: &Array<Mat3<F>>,
        nodes: &Array<Vec4<F>>,
    ) -> diffkern::Result<()> {
        let model = solver.model();
        let (origin, nodes_of) = (model.grid().origin(), model.grid().counts());
        with_law!(model.law(), M => particles_to_grid_3d::<F, M>(
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
            model.real(origin[2]),
            model.real(1.0 / model.grid().dx()),
            model.real(model.dt()),
            nodes_of[0],
            nodes_of[1],
            nodes_of[2],
            model.touching_count,
        ))
    }

    fn update_grid<F: Float>(
        solver: &Solver<Self, F>,
        active: &Active,
        nodes: &Array<Vec4<F>>,
        velocity: &Array<Vec3<F>>,
    ) -> diffkern::Result<()> {
        let model = solver.model();
        update_grid_3d(
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
        x: &Array<Vec3<F>>,
        velocity: &Array<Vec3<F>>,
        next: &State<Self, F>,
    ) -> diffkern::Result<()> {
        let model = solver.model();
        let (origin, nodes_of) = (model.grid().origin(), model.grid().counts());
        grid_to_particles_3d(
            next.len(),
            x,
            velocity,
            &active.table,
            &next.x,
            &next.v,
            &next.c,
            model.real(origin[0]),
            model.real(origin[1]),
            model.real(origin[2]),
            model.real(1.0 / model.grid().dx()),
            model.real(model.dt()),
            nodes_of[0],
            nodes_of[1],
            nodes_of[2],
        )
    }

    fn base_nodes<F: Float>(model: &Model<Self, F>, x: &Array<Vec3<F>>, nodes: &Array<u32>) -> diffkern::Result<()> {
        let (origin, nodes_of) = (model.grid().origin(), model.grid().counts());
        base_nodes_3d(
            x.len(),
            x,
            nodes,
            model.real(origin[0]),
            model.real(origin[1]),
            model.real(origin[2]),
            model.real(1.0 / model.grid().dx()),
            nodes_of[0],
            nodes_of[1],
            nodes_of[2],
        )
    }

    fn reorder<F: Float>(state: &State<Self, F>, to: &Array<u32>, next: &State<Self, F>) -> diffkern::Result<()> {
        reorder_3d(state.len(), &state.x, &state.v, &state.c, &state.f, to, &next.x, &next.v, &next.c, &next.f)
    }

    fn square_distance<F: Float>(x: &Array<Vec3<F>>, target: &Array<Vec3<F>>, out: &Array<F>) -> diffkern::Result<()> {
        square_distance_3d(x.len(), x, target, out)
    }
}
