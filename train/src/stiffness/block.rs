//! The differentiable program: from the logarithms of moduli to the places of all vertices.

use super::kernels::{misfits, moduli};
use super::protocol::Protocol;
use crate::error::Result;
use diffkern::jvp;
use diffkern::prelude::*;
use diffkern_optim::dense::NormalEquations;
use diffkern_sim::diffsim::TetMesh;
use diffkern_sim::fem::{Model, Params};
use diffkern_sim::material::Law;
use diffkern_sim::vertices::VertexState;
use diffkern_sim::{Model as _, Span, Step as _};

/// Elements by which derivatives are taken at once.
const AT_ONCE: usize = 64;

/// Places of the vertices, of each frame of each loading.
pub(super) type Frames = Vec<Vec<Array<Vec3<f64>>>>;

/// What depends on no modulus.
pub(super) struct Block {
    device: Device,
    model: Model<f64>,
    params: Params<f64>,
    start: VertexState<f64>,
    /// Of the vertices at rest \[m\].
    pub(super) rest: Vec<[f64; 3]>,
    /// The vertices that are held.
    pub(super) held: Vec<u32>,
    pub(super) elements: usize,
    frames: usize,
    steps: usize,
    /// From Young's modulus to the two parameters of Lamé.
    lame: [f64; 2],
    acceleration: f64,
}

impl Block {
    /// Steps are stable for the stiffest element that can be drawn.
    pub(super) fn new(protocol: &Protocol) -> Result<Self> {
        let device = Device::cpu();
        let mesh = TetMesh::block(protocol.cells, [0.0; 3], protocol.sides)?;
        let (rest, elements) = (mesh.vertices().to_vec(), mesh.tets().len());
        let held = mesh.vertices_where(|[x, _, _]| x < 1e-9);
        let start = VertexState::new(&device, &rest, &vec![[0.0; 3]; rest.len()])?;
        let nu = protocol.poisson;
        let lame = [0.5 / (1.0 + nu), nu / ((1.0 + nu) * (1.0 - 2.0 * nu))];
        let stiffest = protocol.young.1;
        let model = Model::new(&device, &rest, mesh.tets(), Law::NeoHookean, 1.0, &held, &[])?;
        let params = Params::uniform(&device, lame[0] * stiffest, lame[1] * stiffest, protocol.density, [0.0; 3])?;
        let frame = protocol.duration / protocol.frames as f64;
        let steps = (frame / model.max_dt(&params, &start)?).ceil().max(1.0) as usize;
        // The same mesh with these steps.
        let model = Model::new(&device, &rest, mesh.tets(), Law::NeoHookean, frame / steps as f64, &held, &[])?;
        Ok(Self {
            device,
            model,
            params,
            start,
            rest,
            held,
            elements,
            frames: protocol.frames,
            steps,
            lame,
            acceleration: protocol.acceleration,
        })
    }

    /// Logarithms as the program takes them.
    pub(super) fn array(&self, logarithms: &[f64]) -> Result<Array<f64>> {
        Ok(self.device.array(logarithms)?)
    }

    /// Places as the program gives them.
    pub(super) fn places(&self, places: &[Vec3<f64>]) -> Result<Array<Vec3<f64>>> {
        Ok(self.device.array(places)?)
    }

    /// Steps of a motion.
    pub(super) fn steps(&self) -> usize {
        self.frames * self.steps
    }

    /// The places of all vertices at the frames of the three loadings: in the frame of the held side, which is accelerated, a weight along one axis.
    pub(super) fn observe(&self, logarithms: &Array<f64>) -> diffkern::Result<Frames> {
        let (mu, lambda) = (self.device.uninit(self.elements)?, self.device.uninit(self.elements)?);
        moduli(self.elements, logarithms, &mu, &lambda, self.lame[0], self.lame[1])?;
        let mut all = Vec::with_capacity(3);
        for axis in 0..3 {
            let mut weight = [0.0; 3];
            weight[axis] = -self.acceleration;
            let gravity = self.device.array(&[Vec3::from_array(weight)])?;
            let params = Params { mu: mu.clone(), lambda: lambda.clone(), gravity, ..self.params.clone() };
            let invalid = |error: diffkern_sim::Error| diffkern::Error::Invalid(error.to_string());
            let solver = self.model.solver(&params, &self.start).map_err(invalid)?;
            let mut state = self.start.clone();
            let mut own = Vec::with_capacity(self.frames);
            for frame in 0..self.frames {
                let span = Span::steps(frame * self.steps, self.steps, solver.dt());
                state = solver.clone().roll(&state, span, |_, _| Ok(()), Schedule::Auto)?;
                own.push(state.x.clone());
            }
            all.push(own);
        }
        Ok(all)
    }

    /// Half the squares of all residuals, with gradient and matrix of Gauss and Newton: those of the places, `noise` for each loading \[m\], and those of
    /// the prior, each in units of its standard deviation.
    pub(super) fn normal(
        &self,
        logarithms: &[f64],
        seen: &Frames,
        noise: [f64; 3],
        [middle, spread]: [f64; 2],
    ) -> Result<NormalEquations> {
        let n = self.elements;
        let mut rows: Vec<Vec<Vec<f64>>> = Vec::new();
        let mut residuals: Vec<Vec<f64>> = Vec::new();
        for first in (0..n).step_by(AT_ONCE) {
            let x = self.array(logarithms)?;
            let unit = |k: usize| self.array(&(0..n).map(|e| f64::from(u8::from(e == k))).collect::<Vec<_>>());
            let seeds = (first..n.min(first + AT_ONCE)).map(unit).collect::<Result<Vec<_>>>()?;
            let pairs: Vec<_> = seeds.iter().map(|seed| [(x.as_any(), seed.as_any())]).collect();
            let along: Vec<diffkern::Direction<'_>> = pairs.iter().map(|pair| pair.as_slice()).collect();
            let (all, tangents) = jvp(&along, || self.residuals(&x, seen, noise))?;
            residuals = all.iter().map(|frame| Ok(frame.to_vec()?)).collect::<Result<_>>()?;
            rows.resize(all.len(), Vec::new());
            for (frame, rows) in all.iter().zip(&mut rows) {
                for k in 0..seeds.len() {
                    rows.push(tangents.get(k, frame)?.to_vec()?);
                }
            }
        }
        let mut normal = NormalEquations::new(n);
        for (residual, rows) in residuals.iter().zip(&rows) {
            normal.add(residual, rows)?;
        }
        for (e, x) in logarithms.iter().enumerate() {
            let mut slope = vec![0.0; n];
            slope[e] = 1.0 / spread;
            normal.add_prior((x - middle) / spread, &slope, 1.0)?;
        }
        Ok(normal)
    }

    /// Residuals of the places at each frame of each loading in units of their noise.
    pub(super) fn residuals(
        &self,
        logarithms: &Array<f64>,
        seen: &Frames,
        noise: [f64; 3],
    ) -> diffkern::Result<Vec<Array<f64>>> {
        let n = self.rest.len();
        let mut all = Vec::with_capacity(3 * self.frames);
        for ((own, seen), noise) in self.observe(logarithms)?.iter().zip(seen).zip(noise) {
            for (place, seen) in own.iter().zip(seen) {
                let residual = self.device.uninit(3 * n)?;
                misfits(n, place, seen, &residual, 1.0 / noise)?;
                all.push(residual);
            }
        }
        Ok(all)
    }
}
