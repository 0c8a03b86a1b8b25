//! Vertices that press on bodies of other models.

use super::model::{Control, Model, Solver};
use crate::error::{Error, Result, positive};
use crate::vertices::VertexState;
use diffkern::prelude::*;

/// Where chosen vertices are, and how they move.
#[diff_kernel]
pub fn chosen<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    vertex: &Array<u32>,
    place: &mut Array<Vec3<F>>,
    speed: &mut Array<Vec3<F>>,
) {
    let i = ABSOLUTE_POS;
    let k = vertex[i] as usize;
    place[i] = x[k];
    speed[i] = v[k];
}

/// What forces as large as the normal ones accelerate chosen vertices by \[m/s^2\].
#[diff_kernel]
pub fn yield_to_force<F: Float>(normal: &Array<F>, mass: &Array<F>, vertex: &Array<u32>, yielding: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    yielding[i] = normal[i] / mass[(vertex[i] as usize).min(mass.len() - 1)];
}

/// Adds the forces on chosen vertices to those on all.
#[diff_kernel]
pub fn push_chosen<F: Float>(force: &Array<Vec3<F>>, vertex: &Array<u32>, sum: &mut Array<Vec3<F>>) {
    sum[vertex[ABSOLUTE_POS] as usize] += force[ABSOLUTE_POS];
}

/// Vertices that touch bodies of other models, each with the area for which it stands.
#[derive(Clone, Debug)]
pub struct VertexPoints<F: Float> {
    vertex: Array<u32>,
    /// What each stands for \[m^2\].
    pub(crate) area: Array<F>,
}

impl<F: Float> Model<F> {
    /// These vertices, each of which stands for an area \[m^2\].
    ///
    /// # Errors
    /// When there is none, there is no such vertex, an area is not positive, or memory is short.
    pub fn vertex_points(&self, chosen: &[(u32, f64)]) -> Result<VertexPoints<F>> {
        if chosen.is_empty() {
            return Err(Error::invalid("number of vertices that touch", 0, "at least 1"));
        }
        for &(vertex, area) in chosen {
            if vertex as usize >= self.vertices {
                let expected = format!("an index below {}", self.vertices);
                return Err(Error::invalid("vertex that touches", vertex, expected));
            }
            positive(&format!("area of vertex {vertex}"), area)?;
        }
        Ok(VertexPoints {
            vertex: self.device.array(&chosen.iter().map(|c| c.0).collect::<Vec<_>>())?,
            area: self.device.array(&chosen.iter().map(|c| F::from_f64(c.1)).collect::<Vec<_>>())?,
        })
    }
}

impl<F: Float> Solver<F> {
    /// Where points are, and how they move.
    pub(crate) fn spread(
        &self,
        state: &VertexState<F>,
        points: &VertexPoints<F>,
    ) -> diffkern::Result<[Array<Vec3<F>>; 2]> {
        let (VertexPoints { vertex, area }, n) = (points, points.area.len());
        let (place, speed) = (area.device().uninit(n)?, area.device().uninit(n)?);
        chosen(n, &state.x, &state.v, vertex, &place, &speed)?;
        Ok([place, speed])
    }

    /// What friction as large as the normal forces \[N\] on points would accelerate each by \[m/s^2\].
    pub(crate) fn yielding(&self, points: &VertexPoints<F>, normal: &Array<F>) -> diffkern::Result<Array<F>> {
        let yielding = normal.device().uninit(normal.len())?;
        yield_to_force(normal.len(), normal, &self.motion.mass, &points.vertex, &yielding)?;
        Ok(yielding)
    }

    /// What acts from outside, and forces \[N\] on points.
    pub(crate) fn pushed(
        &self,
        state: &VertexState<F>,
        points: &VertexPoints<F>,
        force: &Array<Vec3<F>>,
        outer: Control<F>,
    ) -> diffkern::Result<Control<F>> {
        let sum = self.model.device.zeros(state.len())?;
        if let Some(outer) = &outer.force {
            sum.copy_from(outer)?;
        }
        push_chosen(force.len(), force, &points.vertex, &sum)?;
        Ok(Control { force: Some(sum), ..outer })
    }
}
