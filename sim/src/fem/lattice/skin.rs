//! The surface of bodies, carried by their cells.

use super::assembly::Assembly;
use super::body::CutBody;
use super::grid::Carriers;
use super::kernels::{carry, surface_forces};
use super::state::State;
use crate::error::{Error, Result};
use crate::observe::Observe;
use diffkern::prelude::*;

/// Triangles whose vertices follow the control points: linear in them, so that their gradient is exact.
#[derive(Clone, Debug)]
pub struct Skin<F: Float> {
    triangles: Vec<[u32; 3]>,
    rows: Array<u32>,
    carriers: Carriers<F>,
    nodes: usize,
}

impl<F: Float> Skin<F> {
    /// On a device.
    ///
    /// # Errors
    /// When memory is short.
    pub fn new(device: &Device, body: &CutBody) -> Result<Skin<F>> {
        Skin::of_all(device, &Assembly::from(body.clone()))
    }

    /// Of all bodies of a model, one after the other.
    ///
    /// # Errors
    /// When memory is short.
    pub fn of_all(device: &Device, bodies: &Assembly) -> Result<Skin<F>> {
        Ok(Skin {
            triangles: bodies.triangles().collect(),
            rows: device.array(&bodies.rows())?,
            carriers: Carriers::new(device, &bodies.all_carried(|body| &body.vertices))?,
            nodes: bodies.totals()[1],
        })
    }

    /// Points in or on the body at rest \[m\], without triangles.
    ///
    /// # Errors
    /// When a point is not on the body, or memory is short.
    pub fn of_points(device: &Device, body: &CutBody, points: &[[f64; 3]]) -> Result<Skin<F>> {
        Skin::of_points_on(device, &Assembly::from(body.clone()), 0, points)
    }

    /// The same of one body of several, by its number.
    ///
    /// # Errors
    /// When there is no such body, a point is not on it, or memory is short.
    pub fn of_points_on(device: &Device, bodies: &Assembly, body: usize, points: &[[f64; 3]]) -> Result<Skin<F>> {
        let Some(own) = bodies.bodies().get(body) else {
            let expected = format!("one below {}", bodies.bodies().len());
            return Err(Error::invalid("number of a body", body, expected));
        };
        Ok(Skin {
            triangles: Vec::new(),
            rows: device.array(&bodies.rows())?,
            carriers: Carriers::new(device, &bodies.carried(body, &own.carriers(points)?))?,
            nodes: bodies.totals()[1],
        })
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.carriers.len()
    }

    /// What the vertices have of values at the control points: positions of positions, velocities of velocities.
    ///
    /// # Errors
    /// When the values are of another body, or the launch fails.
    pub fn carried(&self, values: &Array<Vec3<F>>) -> Result<Array<Vec3<F>>> {
        if values.len() != self.nodes {
            return Err(Error::invalid(
                "number of control points",
                values.len(),
                format!("{}, as in the body", self.nodes),
            ));
        }
        let out = values.device().uninit(self.carriers.len())?;
        carry(out.len(), values, &self.rows, &self.carriers.cells, &self.carriers.at, &out)?;
        Ok(out)
    }

    /// The forces on the control points \[N\] that do the work of these on the vertices \[N\]: the transpose of [`Skin::carried`], for a
    /// [`Control`](super::Control). The gradient is exact.
    ///
    /// # Errors
    /// When there is not a force for each vertex, or the launch fails.
    pub fn spread(&self, forces: &Array<Vec3<F>>) -> Result<Array<Vec3<F>>> {
        let n = self.carriers.len();
        if forces.len() != n {
            return Err(Error::invalid("number of forces", forces.len(), format!("{n}, one a vertex")));
        }
        let device = forces.device();
        let (ones, out) = (device.full(n, F::one())?, device.zeros(self.nodes)?);
        surface_forces(n, forces, &ones, &self.rows, &self.carriers.cells, &self.carriers.at, &out)?;
        Ok(out)
    }
}

impl<F: Float> Observe<State<F>, F> for Skin<F> {
    fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn vertices(&self, state: &State<F>) -> Result<Array<Vec3<F>>> {
        self.carried(&state.x)
    }
}
