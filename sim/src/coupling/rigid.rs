//! Surfaces of rigid bodies.

use super::points::{ContactPoints, Spread};
use crate::rigid::{Control, Solver, State, SurfacePoints};
use diffkern::prelude::*;

impl<F: Float> ContactPoints<F> for Solver<F> {
    type Points = SurfacePoints<F>;

    fn areas(points: &SurfacePoints<F>) -> &Array<F> {
        &points.area
    }

    fn spread(&self, state: &State<F>, points: &SurfacePoints<F>) -> diffkern::Result<Spread<F>> {
        let [place, speed] = Solver::spread(self, state, points)?;
        Ok(Spread { place, speed })
    }

    fn yielding(
        &self,
        state: &State<F>,
        points: &SurfacePoints<F>,
        place: &Array<Vec3<F>>,
        normal: &Array<F>,
    ) -> diffkern::Result<Array<F>> {
        Solver::yielding(self, state, points, place, normal)
    }

    fn push(
        &self,
        state: &State<F>,
        points: &SurfacePoints<F>,
        place: &Array<Vec3<F>>,
        force: &Array<Vec3<F>>,
        outer: Control<F>,
    ) -> diffkern::Result<Control<F>> {
        self.pushed(state, points, (place, force), outer)
    }
}
