//! Vertices of springs.

use super::points::{ContactPoints, Spread};
use crate::springs::{Control, Solver, VertexPoints};
use crate::vertices::VertexState;
use diffkern::prelude::*;

impl<F: Float> ContactPoints<F> for Solver<F> {
    type Points = VertexPoints<F>;

    fn areas(points: &VertexPoints<F>) -> &Array<F> {
        &points.area
    }

    fn spread(&self, state: &VertexState<F>, points: &VertexPoints<F>) -> diffkern::Result<Spread<F>> {
        let [place, speed] = Solver::spread(self, state, points)?;
        Ok(Spread { place, speed })
    }

    fn yielding(
        &self,
        _state: &VertexState<F>,
        points: &VertexPoints<F>,
        _place: &Array<Vec3<F>>,
        normal: &Array<F>,
    ) -> diffkern::Result<Array<F>> {
        Solver::yielding(self, points, normal)
    }

    fn push(
        &self,
        state: &VertexState<F>,
        points: &VertexPoints<F>,
        _place: &Array<Vec3<F>>,
        force: &Array<Vec3<F>>,
        outer: Control<F>,
    ) -> diffkern::Result<Control<F>> {
        self.pushed(state, points, force, outer)
    }
}
