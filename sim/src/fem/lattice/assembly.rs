//! Several cut bodies in one model: their cells, control points and places of the surface, one body after the other.

use super::body::CutBody;
use super::state::State;
use super::surface::Carried;
use crate::error::{Error, Result};
use crate::mesh::Point;
use diffkern::prelude::*;
use std::ops::Range;

/// Bodies, each cut from a lattice of its own. A [`Model`](super::Model) of them has one state, with the control points of the first body, then those of the
/// second, and so on; parameters by cell are in the same order.
///
/// ```
/// use diffkern_sim::fem::lattice::{Assembly, Body};
/// use diffkern_sim::mesh::Pose;
/// use diffkern_sim::shape::{Cuboid, Primitive, Sphere};
///
/// let block = Body::new(Primitive::Cuboid(Cuboid { sides: [0.1; 3] }), 0.025).build()?;
/// let ball = Body { pose: Pose::at([0.2, 0.0, 0.0]), ..Body::new(Primitive::Sphere(Sphere { radius: 0.05 }), 0.02) }.build()?;
/// let both = Assembly::new(vec![block, ball])?;
/// assert_eq!(both.cells(1).start, 4 * 4 * 4);
/// # Ok::<(), diffkern_sim::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    bodies: Vec<CutBody>,
}

impl From<CutBody> for Assembly {
    fn from(body: CutBody) -> Assembly {
        Assembly { bodies: vec![body] }
    }
}

impl Assembly {
    /// Of these bodies, at least one.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(bodies: Vec<CutBody>) -> Result<Assembly> {
        match bodies.is_empty() {
            true => Err(Error::invalid("number of bodies", 0, "at least 1")),
            false => Ok(Assembly { bodies }),
        }
    }

    /// The bodies.
    pub fn bodies(&self) -> &[CutBody] {
        &self.bodies
    }

    /// The cells of a body among those of all; empty where there is no such body.
    pub fn cells(&self, body: usize) -> Range<usize> {
        self.range(body, CutBody::cells)
    }

    /// The control points of a body among those of all.
    pub fn nodes(&self, body: usize) -> Range<usize> {
        self.range(body, |b| b.rest().len())
    }

    /// The vertices of the surface of a body among those of all.
    pub fn vertices(&self, body: usize) -> Range<usize> {
        self.range(body, |b| b.vertices.cells.len())
    }

    /// The places of contact of a body among those of all.
    pub(super) fn contacts(&self, body: usize) -> Range<usize> {
        self.range(body, |b| b.contacts.areas.len())
    }

    fn range(&self, body: usize, size: impl Fn(&CutBody) -> usize) -> Range<usize> {
        let before = |k: usize| self.bodies.iter().take(k).map(&size).sum::<usize>();
        before(body)..before(body + 1)
    }

    /// Cells, control points and places of contact of all bodies.
    pub(super) fn totals(&self) -> [usize; 3] {
        let n = self.bodies.len();
        [self.cells(n).end, self.nodes(n).end, self.contacts(n).end]
    }

    /// Of each body and its number what `of` gives, one after the other.
    pub(super) fn each<'a, T, I: Iterator<Item = T>>(
        &'a self,
        of: impl Fn(usize, &'a CutBody) -> I,
    ) -> impl Iterator<Item = T> {
        self.bodies.iter().enumerate().flat_map(move |(k, body)| of(k, body))
    }

    /// First control points of the rows of all cells, and after these of the held ones of the bodies that have some.
    pub(super) fn rows(&self) -> Vec<u32> {
        let shifted = |k: usize, rows: &[u32]| rows.iter().map(|r| r + self.nodes(k).start as u32).collect::<Vec<_>>();
        let free = self.each(|k, b| shifted(k, &b.numbering.rows[..9 * b.cells()]).into_iter());
        free.chain(self.each(|k, b| shifted(k, &b.numbering.rows[9 * b.cells()..]).into_iter())).collect()
    }

    /// The control points that each is tied to, see [`numbering`](super::numbering).
    pub(super) fn ties(&self) -> Vec<u32> {
        let shift = |k: usize, tie: u32| if tie == super::HELD { tie } else { tie + self.nodes(k).start as u32 };
        self.each(|k, b| b.numbering.ties.iter().map(move |&t| shift(k, t))).collect()
    }

    /// Points carried by the cells of a body, by cells of all.
    pub(super) fn carried(&self, body: usize, carried: &Carried) -> Carried {
        let (cells, own) = (self.cells(body), self.cells(body).len());
        let held_before = self.bodies[..body].iter().filter(|b| b.has_held()).count();
        let held = self.totals()[0] + held_before;
        let of = |&c: &u32| if (c as usize) < own { c as usize + cells.start } else { held };
        Carried { cells: carried.cells.iter().map(|c| of(c) as u32).collect(), at: carried.at.clone() }
    }

    /// The same of all bodies, one after the other.
    pub(super) fn all_carried(&self, points: impl Fn(&CutBody) -> &Carried) -> Carried {
        let mut all = Carried::default();
        for (k, body) in self.bodies.iter().enumerate() {
            let Carried { cells, at } = self.carried(k, points(body));
            all.cells.extend(cells);
            all.at.extend(at);
        }
        all
    }

    /// Control points at rest \[m\].
    pub fn rest(&self) -> impl Iterator<Item = &[f64; 3]> {
        self.each(|_, body| body.rest().iter())
    }

    /// Triangles of the surfaces, by the numbers of the vertices of all.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.each(|k, body| {
            let first = self.vertices(k).start as u32;
            body.mesh().triangles().iter().map(move |t| t.map(|i| i + first))
        })
    }

    /// Vertices of the surfaces at rest \[m\].
    pub fn surface(&self) -> impl Iterator<Item = &Point> {
        self.each(|_, body| body.mesh().vertices().iter())
    }

    /// At rest but for a rigid motion of each body, see [`CutBody::state`]: its velocity \[m/s\] and its angular velocity \[rad/s\].
    ///
    /// # Errors
    /// When there is not one motion for each body, or memory is short.
    pub fn state<F: Float>(&self, device: &Device, motions: &[[[f64; 3]; 2]]) -> Result<State<F>> {
        if motions.len() != self.bodies.len() {
            return Err(Error::invalid(
                "number of motions",
                motions.len(),
                format!("{}, one a body", self.bodies.len()),
            ));
        }
        let speeds: Vec<_> = self.each(|k, b| b.speeds(motions[k][0], motions[k][1]).into_iter()).collect();
        State::new(device, &self.rest().copied().collect::<Vec<_>>(), &speeds)
    }
}
