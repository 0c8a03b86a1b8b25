//! The mesh, and its steps.

use super::implicit::Implicit;
use super::kernels::{elastic_forces, lump_mass, mean_velocity, midpoint_end, rest_shape};
use super::params::Params;
use crate::contact::{Collider, Obstacles};
use crate::error::{Error, Result, positive};
use crate::material::{Law, with_law};
use crate::step::{Step, Tick};
use crate::vertices::{Motion, VertexState, held, one_or};
use diffkern::memory::collect;
use diffkern::prelude::*;

/// Part of the time that the fastest wave needs through the thinnest element which a step may take.
const CAUTION: f64 = 0.3;

/// How a step is made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// Semi-implicit Euler: stable up to [`Model::max_dt`](crate::Model::max_dt).
    #[default]
    Explicit,
    /// Backward Euler: stable for long steps, of first order, and loses energy with them. Contacts are [barriers](crate::contact::Barrier), which no
    /// free vertex passes; friction is Coulomb's from 1 mm/s on, with the normal force at the beginning of the step. A step has to begin somewhere: where
    /// vertices that keep their velocity move farther in it than an element is high, it may find no place of finite energy, which is an error.
    BackwardEuler,
    /// The implicit midpoint rule: of second order, keeps momentum and nearly the energy, and damps nothing that a step cannot resolve. Without
    /// contacts: its end lies as far beyond the midpoint as that is from the start, and may be beyond a barrier.
    Midpoint,
}

/// The constant part of a solid: its mesh at rest.
#[derive(Clone, Debug)]
pub struct Model<F: Float> {
    device: Device,
    rest: Array<Vec3<F>>,
    pub(super) tets: Array<u32>,
    pub(super) law: Law,
    dt: f64,
    held: Array<u32>,
    method: Method,
    obstacles: Option<Obstacles<F>>,
    /// Smallest height of an element \[m\].
    height: f64,
}

/// A solid with its parameters: takes a state to the next.
#[derive(Clone, Debug)]
pub struct Solver<F: Float> {
    pub(super) model: Model<F>,
    pub(super) inverse: Array<Mat3<F>>,
    pub(super) q: Array<Vec4<F>>,
    pub(super) motion: Motion<F>,
}

impl<F: Float> Model<F> {
    /// A mesh of `tets` over vertices at `rest` \[m\], with explicit steps of `dt` \[s\]. The vertices in `keep` keep the velocity with
    /// which they start.
    ///
    /// # Errors
    /// When an index is out of range, an element is flat or turned inside out, or a value of a collider is out of its range.
    pub fn new(
        device: &Device,
        rest: &[[f64; 3]],
        tets: &[[u32; 4]],
        law: Law,
        dt: f64,
        keep: &[u32],
        colliders: &[Collider],
    ) -> Result<Model<F>> {
        positive("time step", dt)?;
        if tets.is_empty() {
            return Err(Error::invalid("number of tetrahedra", 0, "at least 1"));
        }
        let mut height = f64::INFINITY;
        for (k, tet) in tets.iter().enumerate() {
            height = height.min(least_height(rest, k, tet)?);
        }
        let positions: Vec<_> = collect(rest.iter().map(|r| Vec3::from_array(r.map(F::from_f64))))?;
        Ok(Model {
            device: device.clone(),
            rest: device.array(&positions)?,
            tets: device.array(tets.as_flattened())?,
            law,
            dt,
            held: held(device, rest.len(), keep)?,
            method: Method::Explicit,
            obstacles: (!colliders.is_empty()).then(|| Obstacles::new(device, colliders)).transpose()?,
            height,
        })
    }

    /// The same with steps made in another way.
    #[must_use]
    pub fn with_method(self, method: Method) -> Model<F> {
        Model { method, ..self }
    }

    /// The colliders on the device: from them come the default parameters of their contacts.
    pub fn obstacles(&self) -> Option<&Obstacles<F>> {
        self.obstacles.as_ref()
    }

    /// A solver with these parameters for states like `state`. Call it where the tape records, so that gradients reach them.
    ///
    /// # Errors
    /// When a parameter has the wrong length, or implicit steps have contacts other than barriers.
    pub fn solver(&self, params: &Params<F>, state: &VertexState<F>) -> Result<Solver<F>> {
        let (vertices, elements) = (self.rest.len(), self.tets.len() / 4);
        if state.len() != vertices {
            return Err(Error::invalid("number of vertices", state.len(), format!("{vertices}, as in the model")));
        }
        for (what, array) in [("mu", &params.mu), ("lambda", &params.lambda), ("density", &params.density)] {
            one_or(what, array.len(), elements, "element")?;
        }
        if self.method == Method::Midpoint && self.obstacles.is_some() {
            let what = "number of colliders of the implicit midpoint rule";
            return Err(Error::invalid(
                what,
                "at least one",
                "none: choose backward Euler or explicit steps for contact",
            ));
        }
        let (inverse, q) = (self.device.uninit(elements)?, self.device.uninit(elements)?);
        rest_shape(elements, &self.rest, &self.tets, &params.mu, &params.lambda, &params.density, &inverse, &q)?;
        let mass = self.device.zeros(vertices)?;
        lump_mass(elements, &self.tets, &q, &mass)?;
        let motion = Motion {
            mass,
            held: self.held.clone(),
            gravity: params.gravity.clone(),
            damping: params.damping.clone(),
            obstacles: Obstacles::bind(self.obstacles.as_ref(), params.contact.as_ref(), &self.device)?,
        };
        if let (Method::BackwardEuler, Some(obstacles)) = (self.method, &motion.obstacles) {
            obstacles.check_implicit()?;
        }
        Ok(Solver { model: self.clone(), inverse, q, motion: motion.checked(vertices)? })
    }
}

/// Six volumes over the largest product of two edges: no more than the smallest height.
pub(crate) fn least_height(x: &[[f64; 3]], index: usize, tet: &[u32; 4]) -> Result<f64> {
    let Some(corner) = tet.iter().find(|&&i| i as usize >= x.len()) else {
        let [a, b, c, d] = tet.map(|i| Vec3::from_array(x[i as usize]));
        let volume = (b - a).cross(c - a).dot(d - a);
        if volume.is_nan() || volume <= 0.0 {
            let what = format!("volume of tetrahedron {index}");
            return Err(Error::invalid(
                what,
                volume / 6.0,
                "a positive one: its vertices in the order of a right hand",
            ));
        }
        let area = |p: Vec3<f64>, q: Vec3<f64>, r: Vec3<f64>| (q - p).cross(r - p).norm();
        return Ok(volume / area(a, b, c).max(area(a, b, d)).max(area(a, c, d)).max(area(b, c, d)));
    };
    Err(Error::invalid(format!("vertex of tetrahedron {index}"), corner, format!("an index below {}", x.len())))
}

impl<F: Float> crate::step::Model for Model<F> {
    type State = VertexState<F>;
    type Params = Params<F>;
    type Control = ();
    type Step = Solver<F>;

    fn bind(&self, params: &Params<F>, state: &VertexState<F>) -> Result<Solver<F>> {
        self.solver(params, state)
    }

    /// Three tenths of the time in which the fastest wave passes the smallest height of an element, and of contacts half of what linear theory
    /// allows; the length given for implicit steps.
    fn max_dt(&self, params: &Params<F>, state: &VertexState<F>) -> Result<f64> {
        if self.method != Method::Explicit {
            return Ok(self.dt);
        }
        let solver = self.solver(params, state)?;
        let wave = |q: &Vec4<F>| ((2.0 * q.x.to_f64() + q.y.to_f64()) / q.z.to_f64()).sqrt();
        let fastest = solver.q.to_vec()?.iter().map(wave).fold(0.0, f64::max);
        let lightest = solver.motion.mass.to_vec()?.into_iter().map(F::to_f64).fold(f64::INFINITY, f64::min);
        let contact = match &solver.motion.obstacles {
            Some(obstacles) => (lightest / obstacles.stiffness()?).sqrt(),
            None => f64::INFINITY,
        };
        positive("stable time step", (CAUTION * self.height / fastest).min(contact))
    }
}

impl<F: Float> Solver<F> {
    pub(super) fn forces(&self, x: &Array<Vec3<F>>) -> diffkern::Result<Array<Vec3<F>>> {
        let (model, force) = (&self.model, self.model.device.zeros(x.len())?);
        let (n, tets, inverse, q) = (self.q.len(), &model.tets, &self.inverse, &self.q);
        with_law!(model.law, M => elastic_forces::<F, M>(n, x, tets, inverse, q, &force))?;
        Ok(force)
    }

    /// A length \[m\] beside which displacements are small: of the smallest height of an element and the smallest width of a barrier the less.
    pub(super) fn length_scale(&self) -> diffkern::Result<f64> {
        let width = self.motion.obstacles.as_ref().map_or(Ok(f64::INFINITY), |obstacles| obstacles.least_width())?;
        Ok(self.model.height.min(width))
    }

    fn backward_euler(&self, state: &VertexState<F>, tick: Tick) -> diffkern::Result<VertexState<F>> {
        let x = Implicit::new(self, state, tick)?.end()?;
        let v = x.device().uninit(x.len())?;
        mean_velocity(x.len(), &x, &state.x, &v, F::from_f64(tick.dt))?;
        Ok(VertexState { x, v })
    }

    fn midpoint(&self, state: &VertexState<F>, tick: Tick) -> diffkern::Result<VertexState<F>> {
        let half = Tick { dt: 0.5 * tick.dt, ..tick };
        let y = Implicit::new(self, state, half)?.end()?;
        let (n, device, h) = (y.len(), y.device(), F::from_f64(half.dt));
        let (x, v) = (device.uninit(n)?, device.uninit(n)?);
        let Motion { held, damping, .. } = &self.motion;
        midpoint_end(n, &y, &state.x, &state.v, held, damping, &x, &v, h)?;
        Ok(VertexState { x, v })
    }
}

impl<F: Float> Step for Solver<F> {
    type State = VertexState<F>;
    type Control = ();

    fn dt(&self) -> f64 {
        self.model.dt
    }

    fn step(&self, state: &VertexState<F>, (): &(), tick: Tick) -> diffkern::Result<VertexState<F>> {
        match self.model.method {
            Method::Explicit => self.motion.step(state, &self.forces(&state.x)?, tick),
            Method::BackwardEuler => self.backward_euler(state, tick),
            Method::Midpoint => self.midpoint(state, tick),
        }
    }

    /// Whether all numbers are finite and no element is turned inside out.
    fn check(&self, state: &VertexState<F>, step: usize) -> Result<()> {
        state.check(step)?;
        check_orientation(&state.x, &self.model.tets, &self.inverse, step)
    }
}

/// Whether no element is turned inside out at `x`. Reads the positions to the host.
pub(crate) fn check_orientation<F: Float>(
    x: &Array<Vec3<F>>,
    tets: &Array<u32>,
    inverse: &Array<Mat3<F>>,
    step: usize,
) -> Result<()> {
    let (x, tets, inverse) = (x.to_vec()?, tets.to_vec()?, inverse.to_vec()?);
    for (index, (tet, rest)) in tets.chunks(4).zip(inverse).enumerate() {
        let edge = |k: usize| x[tet[k] as usize] - x[tet[0] as usize];
        let det = (Mat3::from_cols(edge(1), edge(2), edge(3)) * rest).determinant().to_f64();
        if det.is_nan() || det <= 0.0 {
            return Err(Error::Inverted { what: "tetrahedron", index, step, det });
        }
    }
    Ok(())
}
