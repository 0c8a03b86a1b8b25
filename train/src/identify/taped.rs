//! The misfit of one level on a tape, as a function of the search's coordinates: its gradient and products with its Hessian.

use super::misfit::Level;
use crate::error::Result;
use crate::job::Runs;
use crate::program::{Coverage, Inputs, Outcome, Program, TakeProgram, TakeTick, host};
use crate::scene::Part;
use crate::search::{Evaluation, Map, Parametrisation, Recorded, Row};
use diffkern::prelude::*;
use diffkern::{AnyArray, Direction};
use diffkern_render::loss::l2_into;
use std::cell::OnceCell;

/// Shear modulus and second Lamé parameter of a body from the coordinates `[ln E, nu]` at `k`.
#[diff_kernel]
fn of_elastic<F: Float>(
    at: &Array<F>,
    mu: &mut Array<F>,
    lambda: &mut Array<F>,
    k: usize,
    to_mu: usize,
    to_lambda: usize,
) {
    let young = at[k].exp();
    let nu = at[k + 1];
    mu[to_mu] = young / (2.0 * (1.0 + nu));
    lambda[to_lambda] = young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
}

/// A number from the coordinate at `k`, its logarithm.
#[diff_kernel]
fn of_log<F: Float>(at: &Array<F>, out: &mut Array<F>, k: usize, to: usize) {
    out[to] = at[k].exp();
}

/// A number from the coordinate at `k`, its share of a range.
#[diff_kernel]
fn of_share<F: Float>(at: &Array<F>, out: &mut Array<F>, k: usize, to: usize, low: F, width: F) {
    out[to] = low + width * at[k];
}

/// A number from the coordinate at `k`, the logit of its share of a range.
#[diff_kernel]
fn of_logit<F: Float>(at: &Array<F>, out: &mut Array<F>, k: usize, to: usize, low: F, width: F) {
    out[to] = low + width / (1.0 + (-at[k]).exp());
}

/// A picture whose pixels count in different ways.
#[diff_kernel]
fn weighted<F: Float>(image: &Array<F>, factors: &Array<F>, out: &mut Array<F>) {
    out[ABSOLUTE_POS] = image[ABSOLUTE_POS] * factors[ABSOLUTE_POS];
}

/// The sum of every two numbers.
#[diff_kernel]
fn sum_pairs<F: Float>(pairs: &Array<F>, out: &mut Array<F>) {
    out[ABSOLUTE_POS] = pairs[2 * ABSOLUTE_POS] + pairs[2 * ABSOLUTE_POS + 1];
}

/// The viscosity of each piece, with a share of the room beside it.
#[diff_kernel]
fn of_viscosity<F: Float>(at: &Array<F>, known: &Array<F>, out: &mut Array<F>, k: usize, room: F) {
    out[ABSOLUTE_POS] = known[ABSOLUTE_POS] + room * at[k];
}

/// A blur along one axis of an image: `length` pixels `stride` apart, in lines `apart` apart. What lies outside is a
/// continuation of the border. Lines and pixels are rows and columns, so no two threads have one pixel.
#[diff_kernel(injective)]
fn blur_along<F: Float>(
    image: &Array<F>,
    weights: &Array<F>,
    out: &mut Array<F>,
    length: usize,
    stride: usize,
    apart: usize,
) {
    let k = ABSOLUTE_POS_X;
    let line = ABSOLUTE_POS_Y * apart;
    let reach = weights.len() / 2;
    let mut sum = F::new(0.0);
    for j in 0..weights.len() {
        let from = if k + j < reach { 0usize } else { (k + j - reach).min(length - 1) };
        sum += weights[j] * image[line + from * stride];
    }
    out[line + k * stride] = sum;
}

/// A recorded run, with the misfit of one level at its end.
pub(super) struct Taped<F: Float> {
    tape: Tape,
    at: Array<F>,
    loss: Array<F>,
    gradient: OnceCell<Vec<f64>>,
    /// Per picture.
    pub(super) coverage: Coverage,
}

impl<F: Float> Taped<F> {
    /// Runs a program on a tape, from the coordinates to the misfit of `level`. All `frames` are drawn.
    pub(super) fn record(
        program: &Program<F>,
        coordinates: &Parametrisation,
        at: &[f64],
        level: &Level,
        frames: usize,
        tick: &mut TakeTick<'_>,
    ) -> Outcome<Self> {
        program.count(Runs { forward: 1, ..Runs::default() });
        let at = program.upload(at)?.requires_grad();
        let (tape, (loss, images)) = Tape::record_value(|| -> Outcome<_> {
            let inputs = program.takes().map(|(place, take)| numbers_on_tape(take, place, coordinates, &at));
            let inputs = inputs.collect::<diffkern::Result<Vec<_>>>()?;
            let images = program.images(&inputs, frames, tick)?;
            let loss = program.upload(&[0.0])?;
            for (place, target) in level.targets() {
                let mut seen = images[place].clone();
                if let Some(factors) = target.factors() {
                    let out = seen.device().uninit(seen.len())?;
                    weighted(seen.len(), &seen, &program.upload(factors)?, &out)?;
                    seen = out;
                }
                if target.pairs() {
                    let out = seen.device().uninit(seen.len() / 2)?;
                    sum_pairs(out.len(), &seen, &out)?;
                    seen = out;
                }
                let seen = blurred(&seen, &program.upload(target.weights())?, target.width())?;
                // The sum, not the mean.
                l2_into(&seen, &program.upload(target.seen())?, seen.len() as f64, &loss)?;
            }
            Ok((loss, images))
        })?;
        let coverage = images.iter().map(host).collect::<Result<_>>()?;
        Ok(Taped { tape, at, loss, gradient: OnceCell::new(), coverage })
    }

    /// The misfit by the coordinates.
    pub(super) fn gradient(&self, program: &Program<F>) -> Outcome<&[f64]> {
        if let Some(known) = self.gradient.get() {
            return Ok(known);
        }
        program.count(Runs { reverse: 1, ..Runs::default() });
        self.tape.backward(&self.loss)?;
        let gradient = host(&self.at.grad()?)?;
        Ok(self.gradient.get_or_init(|| gradient))
    }

    /// The misfit's Hessian times `direction`.
    pub(super) fn product(&self, program: &Program<F>, direction: &[f64]) -> Outcome<Vec<f64>> {
        program.count(Runs { products: 1, ..Runs::default() });
        let by = program.upload(direction)?;
        let pair: [(&AnyArray, &AnyArray); 1] = [(self.at.as_any(), by.as_any())];
        let direction: Direction<'_> = &pair;
        Ok(host(&self.tape.hvp(&self.loss, &[direction])?.get(0, &self.at)?)?)
    }
}

/// The numbers of a take, the place of which in the scene is given, as they follow from the coordinates.
fn numbers_on_tape<F: Float>(
    program: &TakeProgram<F>,
    take: usize,
    coordinates: &Parametrisation,
    at: &Array<F>,
) -> diffkern::Result<Inputs<F>> {
    let base = coordinates.base();
    let mut inputs = Inputs::new(|part| program.upload(base.own(part, take)))?;
    for (k, row) in coordinates.rows() {
        match *row {
            Row::Elastic([of_mu, of_lambda], _) => {
                if let (Some((_, mu)), Some((_, lambda))) = (base.slot(of_mu, take), base.slot(of_lambda, take)) {
                    of_elastic(1, at, &inputs[Part::Mu], &inputs[Part::Lambda], k, mu, lambda)?;
                }
            }
            Row::One(target, [low, high], map) => {
                if let Some((part, to)) = base.slot(target, take) {
                    let (out, low, width) = (&inputs[part], F::from_f64(low), F::from_f64(high - low));
                    match map {
                        Map::Value => of_share(1, at, out, k, to, F::from_f64(0.0), F::from_f64(1.0))?,
                        Map::Log => of_log(1, at, out, k, to)?,
                        Map::Share => of_share(1, at, out, k, to, low, width)?,
                        Map::Logit => of_logit(1, at, out, k, to, low, width)?,
                    }
                }
            }
        }
    }
    if let Some(room) = coordinates.room() {
        let known = inputs[Part::Viscosity].clone();
        let all = at.device().uninit(known.len())?;
        of_viscosity(known.len(), at, &known, &all, at.len() - 1, F::from_f64(room))?;
        inputs.put(Part::Viscosity, all);
    }
    Ok(inputs)
}

/// The image as a level sees it.
fn blurred<F: Float>(image: &Array<F>, weights: &Array<F>, width: usize) -> diffkern::Result<Array<F>> {
    if weights.len() == 1 {
        return Ok(image.clone());
    }
    let height = image.len() / width.max(1);
    let (across, out) = (image.device().zeros(image.len())?, image.device().zeros(image.len())?);
    blur_along((width, height), image, weights, &across, width, 1, width)?;
    blur_along((height, width), &across, weights, &out, height, width, 1)?;
    Ok(out)
}

/// A tape with the program that made it.
pub(super) struct OnTape<'p, F: Float> {
    pub(super) program: &'p Program<F>,
    pub(super) taped: Taped<F>,
    pub(super) evaluation: Evaluation,
}

impl<F: Float> Recorded for OnTape<'_, F> {
    fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    fn gradient(&self) -> Outcome<&[f64]> {
        self.taped.gradient(self.program)
    }

    fn product(&self, direction: &[f64]) -> Outcome<Vec<f64>> {
        self.taped.product(self.program, direction)
    }
}

#[cfg(test)]
mod tests {
    use super::super::misfit::{LevelOptions, Misfit};
    use super::*;
    use crate::experiment::Identify;
    use crate::job::{Flow, Simulator};
    use crate::program::{GridOptions, viscous_room};
    use crate::scene::document::Transform;
    use crate::scene::{
        Collider, Contact, DepthFrames, Followed, Measured, Name, Quantity, Range, Scene, Surface, Target, Track,
    };
    use crate::video::Video;
    use diffkern_sim::collision::Solid;
    use std::path::Path;

    const FRAMES: usize = 8;

    /// What is searched for.
    const SETS: [&[&str]; 4] = [
        &["mu", "lambda"],
        &["lambda"],
        &["lambda", "density", "velocity.x", "viscosity"],
        &["mu", "lambda", "floor.friction", "bat.friction"],
    ];

    /// The first frames of the sample on a coarse grid, searched for some parameters.
    fn with_program(
        names: &[&str],
        simulator: Simulator,
        check: impl Fn(&Program<f64>, &Parametrisation, &Misfit, Vec<f64>),
    ) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a");
        let mut scene = Scene::read(&folder).unwrap();
        let mut videos = Video::read(&folder, &scene).unwrap();
        if let [_] = names {
            // Some pixels count less, and the video less than it did.
            let mask = |k: usize| [1.0, 0.5, 0.0, 0.25][k % 4];
            let pixels = videos[0].width * videos[0].height;
            videos[0].masks = Some(vec![(0..pixels).map(mask).collect(); scene.num_frames]);
            scene.films[0].weights = [0.7, 0.2, 0.3];
            scene.films[0].depth = Some(DepthFrames { folder: String::new(), scale: 1e-3, deviation: 0.02 });
            for frame in &mut videos[0].frames {
                // About as far as the block is from the camera.
                frame.depth = (0..pixels).map(|k| 1.1 + 0.01 * (k % 7) as f32).collect();
            }
        }
        scene.bodies[0].material.viscosity = 1.5;
        // Two points, of which one was not seen in every frame.
        let points = vec![[-0.2, 0.01, 0.2], [-0.12, 0.1, 0.25]];
        let rows = (0..FRAMES).flat_map(|frame| (0..2).map(move |point| (frame, point)));
        let row = |(frame, point): (usize, usize)| {
            let at = points[point].map(|x: f64| x + 0.004 * frame as f64);
            Measured { frame, point, at }
        };
        let measured = rows.filter(|(frame, point)| (frame + point) % 3 > 0).map(row).collect();
        scene.tracks.push(Track {
            name: "dots".into(),
            body: 0,
            take: 0,
            of: Followed::Points(points.clone()),
            file: "dots.csv".into(),
            deviation: 0.003,
            measured: Some(measured),
            units: Default::default(),
        });
        for (quantity, [min, max]) in [
            (Quantity::Density, [500.0, 2000.0]),
            (Quantity::Velocity(0), [0.1, 0.6]),
            (Quantity::Viscosity, [1.0, 4.0]),
        ] {
            let name = Name::new(None, None, quantity, None);
            let (target, transform) = (Target::new(0, quantity), Transform::Auto);
            scene.unknowns.push(Range { name, target, min, max, transform, prior: None });
        }
        if names.contains(&"bat.friction") {
            for (of, name) in ["floor", "bat"].into_iter().enumerate() {
                let (target, name) = (Target::new(of, Quantity::Friction), format!("{name}.friction"));
                let (name, transform) = (name.parse().unwrap(), Transform::Auto);
                scene.unknowns.push(Range { name, target, min: 0.0, max: 1.0, transform, prior: None });
            }
            scene.colliders[0].contact = Contact::Friction(0.3);
            scene.colliders.push(Collider {
                name: "bat".into(),
                surface: Surface::Solid {
                    solid: Solid::Sphere { radius: 0.1 },
                    position: [-0.44, 0.05, 0.2],
                    rotation: [0.0; 3],
                },
                velocity: [0.9, 0.1, 0.3],
                angular_velocity: [0.0, 1.0, 0.0],
                driven: false,
                contact: Contact::Friction(0.4),
                restitution: 0.0,
            });
        }
        if names.contains(&"viscosity") {
            for range in &mut scene.unknowns {
                range.transform = match range.target.quantity {
                    Quantity::Lambda => Transform::Linear,
                    Quantity::Density | Quantity::Viscosity => Transform::Logit,
                    _ => Transform::Auto,
                };
            }
        }
        let mut job = Identify { simulator: Some(simulator), ..Identify::new(folder) };
        job.unknowns = names.iter().map(|name| name.parse().unwrap()).collect();
        if !names.contains(&"mu") {
            job.fixed = [(Name::MU, 9098.2)].into();
        }
        let options = job.options(&scene).unwrap();
        let room = viscous_room(&scene, &options.fixed, 3);
        let grid = GridOptions { simulator, cells: 3, room, fixed_steps: false, nodes: usize::MAX };
        let program = Program::<f64>::new(&scene, &options.fixed, grid, &Device::cpu()).unwrap();
        let coordinates = Parametrisation::new(&scene, &options, room).unwrap();
        let misfit = Misfit::new(
            &scene,
            &videos,
            &(0..FRAMES).map(|frame| 1.0 - 0.05 * frame as f64).collect::<Vec<_>>(),
            &[LevelOptions { blur: 2.0, frames: 0.8 }, LevelOptions { blur: 0.0, frames: 1.0 }],
        )
        .unwrap();
        let mut values = coordinates.base().clone();
        for (quantity, value) in [(Quantity::Mu, 9098.2), (Quantity::Lambda, 11_377.2)] {
            values[Target::new(0, quantity)] = value;
        }
        values.extra = 2.0;
        let at = coordinates.at(&values);
        check(&program, &coordinates, &misfit, at);
    }

    /// Numbers between 0 and 1 without a pattern.
    fn numbers(n: usize, seed: usize) -> Vec<f64> {
        (0..n).map(|k| ((k + 1) as f64 * 0.754_877_666 + seed as f64 * 0.381_966).fract()).collect()
    }

    #[test]
    fn kernels_have_right_gradients() -> diffkern::Result<()> {
        let device = Device::cpu();
        for seed in 1..4 {
            let at = numbers(3, seed);
            sum_pairs::gradcheck(3, &device.array(&numbers(6, seed))?, &device.zeros(3)?)?;
            let all = device.array(&[0.3, 2.0 + at[0], 0.1 + 0.3 * at[1], at[2]])?;
            let [a, b] = [device.array(&numbers(2, seed))?, device.array(&numbers(2, seed + 1))?];
            of_elastic::gradcheck(1, &all, &a, &b, 1, 1, 0)?;
            weighted::gradcheck(2, &a, &b, &device.zeros(2)?)?;
            of_log::gradcheck(1, &all, &a, 1, 1)?;
            of_share::gradcheck(1, &all, &a, 3, 0, 0.7, 1.4)?;
            of_logit::gradcheck(1, &all, &a, 3, 0, 0.7, 1.4)?;
            of_viscosity::gradcheck(2, &all, &a, &b, 3, 0.7)?;
            // The blur reaches over both borders.
            let (width, height) = (7, 4);
            let image = device.array(&numbers(width * height, seed))?;
            let weights = device.array(&numbers(9, seed + 3))?;
            let out = device.zeros(width * height)?;
            blur_along::gradcheck((width, height), &image, &weights, &out, width, 1, width)?;
            blur_along::gradcheck((height, width), &image, &weights, &out, height, width, 1)?;
        }
        Ok(())
    }

    #[test]
    fn cost_and_gradient_are_those_of_least_squares() {
        let by = |simulator| SETS.map(|names| (names, simulator));
        for (names, simulator) in [Simulator::Mpm, Simulator::Fem].into_iter().flat_map(by) {
            with_program(names, simulator, |program, coordinates, misfit, at| {
                let mut tick = || Flow::Continue;
                let values = coordinates.values(&at);
                let directions = coordinates.tangents(&values);
                let linear = program.linearise(&values, &directions, FRAMES, &mut tick).unwrap();
                let normals = misfit.normals(&linear).unwrap();
                for (level, normal) in normals.iter().enumerate() {
                    let taped =
                        Taped::record(program, coordinates, &at, misfit.level(level), FRAMES, &mut tick).unwrap();
                    let cost = taped.loss.to_vec().unwrap()[0];
                    assert!((cost / normal.cost - 1.0).abs() < 1e-10, "{cost} {}", normal.cost);
                    let costs = misfit.costs(&taped.coverage).unwrap();
                    assert!((costs[level].cost / normal.cost - 1.0).abs() < 1e-10);
                    assert_eq!(costs[level].residuals, normal.residuals);
                    for (g, half) in taped.gradient(program).unwrap().iter().zip(&normal.gradient) {
                        assert!((g - 2.0 * half).abs() < 1e-8 * normal.cost, "level {level}: {g} {}", 2.0 * half);
                    }
                }
                let runs = program.runs();
                assert_eq!((runs.forward, runs.reverse, runs.tangents), (3, 2, directions.len()));
            });
        }
    }

    #[cfg(feature = "second-order")]
    #[test]
    fn products_are_differences_of_the_gradient() {
        products_are_differences(Simulator::Mpm);
        products_are_differences(Simulator::Fem);
    }

    #[cfg(feature = "second-order")]
    fn products_are_differences(simulator: Simulator) {
        with_program(SETS[0], simulator, |program, coordinates, misfit, at| {
            let mut tick = || Flow::Continue;
            let level = misfit.level(0);
            let direction = [0.7, -0.4, 0.5];
            let taped = Taped::record(program, coordinates, &at, level, FRAMES, &mut tick).unwrap();
            let product = taped.product(program, &direction).unwrap();
            // Small enough that no particle changes sides at the floor.
            let h = 1e-6;
            let mut gradient = |by: f64| {
                let at: Vec<f64> = at.iter().zip(&direction).map(|(x, d)| x + by * d).collect();
                Taped::record(program, coordinates, &at, level, FRAMES, &mut tick)
                    .unwrap()
                    .gradient(program)
                    .unwrap()
                    .to_vec()
            };
            let (up, down) = (gradient(h), gradient(-h));
            let size = product.iter().fold(0.0f64, |m, p| m.max(p.abs()));
            for ((p, up), down) in product.iter().zip(&up).zip(&down) {
                let slope = (up - down) / (2.0 * h);
                assert!((p - slope).abs() < 1e-5 * size, "{p} {slope} of {size}");
            }
        });
    }
}
