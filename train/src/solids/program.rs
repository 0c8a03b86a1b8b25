//! The differentiable program of an instance: from what is sought to what is observed.

use super::field::columns;
use super::instance::{Instance, Numbers, middles};
use super::load::Load;
use super::observation::{Sought, Supervision};
use super::protocol::Protocol;
use crate::error::Result;
use crate::experiments::camera;
use diffkern::memory::collect;
use diffkern::prelude::*;
use diffkern::{arith, jvp};
use diffkern_render::{CameraParams, Mesh, Renderer};
use diffkern_sim::fem::lattice::{Control, Model, Params, Skin, State};
use diffkern_sim::material::Law;
use diffkern_sim::{Model as _, Observe as _, Span, Step as _};
use std::f64::consts::{LN_2, PI};

/// Arrays, each with its derivative along a direction.
type Direction<F> = Vec<(Array<F>, Array<F>)>;

/// Edges of the triangles of the surface, in parts of the thinnest side.
const EDGE: f64 = 0.3;
/// Steps of a frame are rounded up to powers of this, so that neighbours in a search have the same.
const COARSE: f64 = 1.1;

/// What is observed at each frame.
pub(super) type Seen = Vec<Vec<f64>>;

/// What is observed, with its derivative by each coordinate of the search.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    pub(super) seen: Seen,
    pub(super) derivatives: Vec<Seen>,
}

/// The numbers of a run, as the solver takes them.
#[derive(Debug, Clone)]
pub(super) struct Inputs<F: Float> {
    pub(super) mu: Array<F>,
    pub(super) lambda: Array<F>,
    /// One element, or one a cell.
    pub(super) density: Array<F>,
}

/// Everything of an instance that depends on nothing sought.
pub(super) struct Program<F: Float> {
    device: Device,
    model: Model<F>,
    start: State<F>,
    load: Array<Vec3<F>>,
    acting: f64,
    frame: f64,
    frames: usize,
    pace: f64,
    /// How many times as many steps as are stable.
    finer: usize,
    gravity: [f64; 3],
    surface: Skin<F>,
    points: Skin<F>,
    renderer: Renderer<F>,
    camera: CameraParams<F>,
    supervision: Supervision,
    /// Volume of the free part \[m^3\].
    volume: f64,
    centres: Vec<[f64; 3]>,
}

impl<F: Float> Program<F> {
    /// With `finer` times as many cells along each axis as the search has, and the steps that these ask for.
    pub(super) fn new(
        protocol: &Protocol,
        instance: &Instance,
        supervision: Supervision,
        finer: usize,
    ) -> Result<Self> {
        let device = Device::cpu();
        let cut = instance.body(finer).build()?;
        let load = Load::of(protocol, instance);
        let forces: Vec<Vec3<F>> = load.forces.iter().map(|f| Vec3::from_array(f.map(F::from_f64))).collect();
        let spread = Skin::of_points(&device, &cut, &load.points)?.spread(&device.array(&forces)?)?;
        let mesh = instance.primitive().surface(EDGE * instance.thinnest())?;
        let vertices: Vec<[f64; 3]> = mesh.vertices().iter().map(|&x| instance.pose.apply(x)).collect();
        let model =
            Model::new(&device, &cut, Law::NeoHookean, 1.0, &[])?.with_mass_corrections(protocol.corrections)?;
        let start = cut.state(&device, instance.velocity, instance.spin)?;
        let (x, y, z) = protocol.gravity;
        let view = crate::experiments::View {
            distance: protocol.camera.distance * instance.longest(),
            ..protocol.camera.clone()
        };
        Ok(Self {
            surface: Skin::of_points(&device, &cut, &vertices)?,
            // The vertices of the surface and of a grid inside of it.
            points: Skin::of_points(&device, &cut, &[vertices, every(&load.points, GRID)].concat())?,
            renderer: Renderer::new(&device, &Mesh::smooth(mesh.triangles().to_vec(), mesh.vertices().len())?)?,
            camera: camera(&view).params(&device)?,
            load: spread,
            acting: protocol.acting * instance.kind.duration,
            frame: instance.kind.duration / protocol.frames as f64,
            frames: protocol.frames,
            pace: protocol.pace,
            finer,
            gravity: [x, y, z],
            supervision,
            volume: cut.volume(),
            centres: cut.cell_centres().to_vec(),
            device,
            model,
            start,
        })
    }

    /// Centres of the elements at rest \[m\].
    pub(super) fn centres(&self) -> &[[f64; 3]] {
        &self.centres
    }

    /// Volume of what is free \[m^3\].
    pub(super) fn volume(&self) -> f64 {
        self.volume
    }

    /// Arrays of these numbers, of one density for all.
    pub(super) fn numbers(&self, numbers: Numbers) -> Result<Inputs<F>> {
        let one = |x: f64| self.device.array(&[F::from_f64(x)]);
        Ok(Inputs { mu: one(numbers.mu)?, lambda: one(numbers.lambda)?, density: one(numbers.density)? })
    }

    /// The same with a density for each element.
    pub(super) fn with_densities(&self, numbers: Numbers, densities: &[f64]) -> Result<Inputs<F>> {
        Ok(Inputs { density: self.array(densities)?, ..self.numbers(numbers)? })
    }

    fn array(&self, numbers: &[f64]) -> Result<Array<F>> {
        Ok(self.device.array(&numbers.iter().copied().map(F::from_f64).collect::<Vec<_>>())?)
    }

    fn params(&self, inputs: &Inputs<F>) -> Result<Params<F>> {
        let uniform = Params::uniform(&self.device, 1.0, 1.0, 1.0, self.gravity)?;
        let Inputs { mu, lambda, density } = inputs.clone();
        Ok(Params { mu, lambda, density, ..uniform })
    }

    /// Steps from frame to frame that these numbers need. Reads them to the host.
    pub(super) fn steps(&self, inputs: &Inputs<F>) -> Result<usize> {
        // A quarter of what is stable.
        let longest = 4.0 * self.pace * self.model.max_dt(&self.params(inputs)?, &self.start)?;
        let least = (self.frame / longest).max(1.0).log(COARSE).ceil();
        Ok(COARSE.powf(least).ceil() as usize * self.finer.div_ceil(2))
    }

    /// What is observed at each frame, in so many steps each: launches alone, so that tangents go along and a tape may record them.
    pub(super) fn observe(&self, inputs: &Inputs<F>, steps: usize) -> Result<Vec<Array<F>>> {
        let params = self.params(inputs)?;
        let solver = self.model.clone().with_dt(self.frame / steps as f64)?.solver(&params, &self.start)?;
        let mut state = self.start.clone();
        let mut seen = Vec::with_capacity(self.frames);
        for frame in 0..self.frames {
            let span = Span::steps(frame * steps, steps, solver.dt());
            let (load, acting, none) = (self.load.clone(), self.acting, self.device.zeros(self.load.len())?);
            let control = move |_: &State<F>, tick: diffkern_sim::Tick| {
                let time = tick.time + 0.5 * tick.dt;
                let part = if time < acting { (PI * time / acting).sin().powi(2) } else { 0.0 };
                let force = arith::scaled_sum(&[(F::from_f64(part), &load), (F::one(), &none)])?;
                Ok(Control { force: Some(force), ..Control::default() })
            };
            state = solver.advance_with(&state, span, control, Schedule::Auto)?;
            seen.push(match self.supervision {
                Supervision::Image => self.renderer.silhouette(&self.surface.vertices(&state)?, &self.camera)?.coverage,
                Supervision::State => arith::components(&self.points.vertices(&state)?)?,
            });
        }
        Ok(seen)
    }

    /// What is observed with these numbers.
    pub(super) fn seen(&self, inputs: &Inputs<F>) -> Result<Seen> {
        self.observe(inputs, self.steps(inputs)?)?.iter().map(host).collect()
    }

    /// The same with its derivatives along these directions.
    pub(super) fn linearise(&self, inputs: &Inputs<F>, directions: &[Direction<F>], steps: usize) -> Result<Linear> {
        let pairs: Vec<Vec<_>> =
            directions.iter().map(|d| d.iter().map(|(at, seed)| (at.as_any(), seed.as_any())).collect()).collect();
        let along: Vec<diffkern::Direction<'_>> = pairs.iter().map(Vec::as_slice).collect();
        let (arrays, tangents) = jvp(&along, || self.observe(inputs, steps))?;
        let along = |k: usize| arrays.iter().map(|array| host(&tangents.get(k, array)?)).collect::<Result<Seen>>();
        let derivatives = (0..directions.len()).map(along).collect::<Result<_>>()?;
        Ok(Linear { seen: arrays.iter().map(host).collect::<Result<_>>()?, derivatives })
    }
}

/// One of so many points with forces is observed.
const GRID: usize = 293;

fn every(points: &[[f64; 3]], nth: usize) -> Vec<[f64; 3]> {
    points.iter().copied().step_by(nth).collect()
}

fn host<F: Float>(array: &Array<F>) -> Result<Vec<f64>> {
    Ok(collect(array.to_vec()?.into_iter().map(F::to_f64))?)
}

/// What a search moves in, and how it comes to the numbers of a run.
pub(super) struct Coordinates {
    sought: Sought,
    /// Known, where they are not sought; of the density where the coordinates begin.
    known: Numbers,
    middles: Numbers,
    /// Of a field: its columns by element.
    columns: Vec<Vec<f64>>,
}

impl Coordinates {
    pub(super) fn new<F: Float>(
        protocol: &Protocol,
        instance: &Instance,
        program: &Program<F>,
        sought: Sought,
    ) -> Self {
        let middles = middles(protocol);
        let (known, columns) = match sought {
            Sought::Numbers => (instance.start, Vec::new()),
            Sought::Field => (
                Numbers { density: middles.density, ..instance.truth },
                columns(protocol.field, instance.longest(), program.centres()),
            ),
        };
        Self { sought, known, middles, columns }
    }

    /// Where a search begins.
    pub(super) fn start(&self) -> Vec<f64> {
        match self.sought {
            Sought::Numbers => [self.known.density, self.known.mu, self.known.lambda].map(f64::ln).to_vec(),
            Sought::Field => vec![0.0; 1 + self.columns.len()],
        }
    }

    /// Where it may begin instead: in the middles of the ranges, and there twice as stiff against one of shear and compression as against the other.
    pub(super) fn others(&self) -> Vec<Vec<f64>> {
        let Numbers { density, mu, lambda } = self.middles;
        let at = |shift: f64| [density.ln(), mu.ln() + shift, lambda.ln() - shift].to_vec();
        match self.sought {
            Sought::Numbers => [0.0, 0.5 * LN_2, -0.5 * LN_2].map(at).to_vec(),
            Sought::Field => Vec::new(),
        }
    }

    /// The numbers at a place.
    pub(super) fn numbers(&self, at: &[f64]) -> Numbers {
        match self.sought {
            Sought::Numbers => Numbers { density: at[0].exp(), mu: at[1].exp(), lambda: at[2].exp() },
            Sought::Field => Numbers { density: self.known.density * at[0].exp(), ..self.known },
        }
    }

    /// The density of each element at a place.
    pub(super) fn densities(&self, at: &[f64], elements: usize) -> Vec<f64> {
        let mean = self.numbers(at).density;
        (0..elements)
            .map(|e| mean * at.iter().skip(1).zip(&self.columns).map(|(z, c)| z * c[e]).sum::<f64>().exp())
            .collect()
    }

    /// The arrays of a run at a place.
    pub(super) fn inputs<F: Float>(&self, program: &Program<F>, at: &[f64]) -> Result<Inputs<F>> {
        match self.sought {
            Sought::Numbers => program.numbers(self.numbers(at)),
            Sought::Field => {
                let densities = self.densities(at, program.centres().len());
                program.with_densities(self.numbers(at), &densities)
            }
        }
    }

    /// The derivative of the arrays by each coordinate: that of a number by its logarithm is the number.
    pub(super) fn directions<F: Float>(&self, program: &Program<F>, inputs: &Inputs<F>) -> Result<Vec<Direction<F>>> {
        let Inputs { mu, lambda, density } = inputs;
        match self.sought {
            Sought::Numbers => {
                [density, mu, lambda].map(|x| Ok(vec![(x.clone(), x.detached()?)])).into_iter().collect()
            }
            Sought::Field => {
                let numbers = density.to_vec()?;
                let mut all = vec![vec![(density.clone(), density.detached()?)]];
                for column in &self.columns {
                    let seed: Vec<f64> = numbers.iter().zip(column).map(|(x, c)| x.to_f64() * c).collect();
                    all.push(vec![(density.clone(), program.array(&seed)?)]);
                }
                Ok(all)
            }
        }
    }
}
