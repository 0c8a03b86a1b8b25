//! The differentiable program of a scene: from the numbers that may be searched for to pictures of all its films.

mod physics;
mod inputs;
mod resolution;
mod setup;
mod choice;
mod colliders;
mod failure;
mod motion;
pub(crate) mod overlap;
mod shot;
mod follower;
mod material;
mod bodies;
mod film;
mod tear;
mod take;
mod transfer;

pub(crate) use bodies::Plan;
pub(crate) use choice::{choose, choose_to_search};
pub(crate) use failure::{Failure, Outcome, simulable};
pub(crate) use follower::Follower;
pub(crate) use inputs::Inputs;
pub(crate) use physics::{Physics, middle};
pub(crate) use resolution::{FINER, Resolution, thinnest};
pub(crate) use setup::{GridOptions, norm, shapes, viscous_room};
pub(crate) use shot::{Seen, Shot, observed, shots};
pub(crate) use take::{Coverage, Linear, TakeProgram, Tick as TakeTick, host, host_places};
pub(crate) use transfer::Carried;

use crate::error::Result;
use crate::job::{Discretisation, Flow, Runs, Shown, Simulator, Surface, Values};
use crate::scene::Scene;
use bodies::Bodies;
use diffkern::prelude::*;
use std::cell::Cell;

/// The takes of which anything was observed, at one resolution.
pub(crate) struct Program<F: Float> {
    device: Device,
    simulator: Simulator,
    /// Each with its place in the scene.
    takes: Vec<(usize, TakeProgram<F>)>,
    films: usize,
    tracks: usize,
    /// What was run so far.
    runs: Cell<Runs>,
}

impl<F: Float> Program<F> {
    /// Of all takes of a scene of which anything was observed.
    pub(crate) fn new(scene: &Scene, known: &Values, options: GridOptions, device: &Device) -> Result<Self> {
        let one = |take: usize| Ok((take, TakeProgram::new(scene, take, known, &options, device)?));
        Ok(Self {
            device: device.clone(),
            simulator: options.simulator,
            takes: observed(scene).map(one).collect::<Result<_>>()?,
            films: scene.films.len(),
            tracks: scene.tracks.len(),
            runs: Cell::default(),
        })
    }

    /// Where it runs.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// What moves the bodies.
    pub(crate) fn simulator(&self) -> Simulator {
        self.simulator
    }

    /// The takes, each with its place in the scene.
    pub(crate) fn takes(&self) -> impl Iterator<Item = (usize, &TakeProgram<F>)> {
        self.takes.iter().map(|(take, program)| (*take, program))
    }

    /// What the models were cut into: of several takes the particles or cells of all, and the shortest step.
    pub(crate) fn discretisation(&self) -> Discretisation {
        let models = || self.takes.iter().map(|(_, take)| take.bodies());
        Discretisation {
            simulator: self.simulator,
            dx: models().next().map_or(0.0, Bodies::spacing),
            dt: models().map(Bodies::dt).fold(f64::INFINITY, f64::min),
            elements: models().map(Bodies::count).sum(),
        }
    }

    /// What was run so far, and before if the job was resumed.
    pub(crate) fn runs(&self) -> Runs {
        self.runs.get()
    }

    /// Counts on from `runs`.
    pub(crate) fn count_from(&self, runs: Runs) {
        self.runs.set(runs);
    }

    pub(crate) fn count(&self, more: Runs) {
        self.runs.set(self.runs.get() + more);
    }

    pub(crate) fn upload(&self, numbers: &[f64]) -> diffkern::Result<Array<F>> {
        take::upload(&self.device, numbers)
    }

    /// Steps of the simulator from the first frame to the last, of all takes.
    pub(crate) fn steps(&self) -> usize {
        self.takes.iter().map(|(_, take)| take.steps()).sum()
    }

    /// What is seen in the first `frames` frames with these numbers, as [`shots`] lists it.
    pub(crate) fn coverage(&self, values: &Physics, frames: usize, tick: &mut TakeTick<'_>) -> Outcome<Coverage> {
        self.count(Runs { forward: 1, ..Runs::default() });
        let mut all = Coverage::new();
        for (_, take) in &self.takes {
            all.append(&mut take.coverage(values, frames, tick)?);
        }
        Ok(all)
    }

    /// Hands each of these to `look` as soon as it is there, until that says that it is enough; gives what it said last.
    pub(crate) fn show_each(
        &self,
        values: &Physics,
        frames: usize,
        tick: &mut TakeTick<'_>,
        look: &mut dyn FnMut(&[f64]) -> diffkern::Result<Flow>,
    ) -> Outcome<Flow> {
        self.count(Runs { forward: 1, ..Runs::default() });
        for (_, take) in &self.takes {
            if take.show_each(values, frames, tick, look)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }

    /// What is seen with its derivatives along `directions` of the numbers, exact, by forward mode.
    pub(crate) fn linearise(
        &self,
        values: &Physics,
        directions: &[Physics],
        frames: usize,
        tick: &mut TakeTick<'_>,
    ) -> Outcome<Linear> {
        self.count(Runs { forward: 1, tangents: directions.len(), ..Runs::default() });
        let mut all = Linear { coverage: Coverage::new(), derivatives: vec![Coverage::new(); directions.len()] };
        for (_, take) in &self.takes {
            all.append(take.linearise(values, directions, frames, tick)?);
        }
        Ok(all)
    }

    /// What the takes of this grid carry of what those of `drawn` draw; none where the simulator cannot.
    pub(crate) fn carried<G: Float>(&self, drawn: &Program<G>) -> Result<Option<Vec<Carried<F>>>> {
        self.takes.iter().zip(&drawn.takes).map(|((_, take), (_, drawn))| take.carried(drawn)).collect()
    }

    /// Where that is in the first `frames` frames with these numbers, of all takes one after the other.
    pub(crate) fn places(
        &self,
        carried: &[Carried<F>],
        values: &Physics,
        frames: usize,
        tick: &mut TakeTick<'_>,
    ) -> Outcome<Coverage> {
        self.count(Runs { forward: 1, ..Runs::default() });
        let mut all = Coverage::new();
        for ((_, take), carried) in self.takes.iter().zip(carried) {
            all.append(&mut take.places(carried, values, frames, tick)?);
        }
        Ok(all)
    }

    /// What is seen, with derivatives along `directions` where places of a coarser grid move by `motions`, one for each.
    pub(crate) fn along<G: Float>(
        &self,
        carried: &[Carried<G>],
        motions: &[Coverage],
        values: &Physics,
        directions: &[Physics],
        frames: usize,
        tick: &mut TakeTick<'_>,
    ) -> Outcome<Linear> {
        self.count(Runs { forward: 1, ..Runs::default() });
        let mut all = Linear { coverage: Coverage::new(), derivatives: vec![Coverage::new(); directions.len()] };
        let mut from = 0;
        for ((_, take), carried) in self.takes.iter().zip(carried) {
            let to = from + take.numbers_carried(carried, frames);
            let own: Vec<&[Vec<f64>]> = motions.iter().map(|motion| &motion[from..to]).collect();
            all.append(take.along(carried, &own, values, directions, frames, tick)?);
            from = to;
        }
        Ok(all)
    }

    /// The numbers on the device, for each take.
    pub(crate) fn inputs(&self, values: &Physics) -> diffkern::Result<Vec<Inputs<F>>> {
        self.takes.iter().map(|(_, take)| take.inputs(values)).collect()
    }

    /// What is seen in the first `frames` frames, as [`shots`] lists it, by launches only.
    pub(crate) fn images(
        &self,
        inputs: &[Inputs<F>],
        frames: usize,
        tick: &mut TakeTick<'_>,
    ) -> Outcome<Vec<Array<F>>> {
        let mut all = Vec::new();
        for ((_, take), inputs) in self.takes.iter().zip(inputs) {
            all.append(&mut take.images(inputs, frames, tick)?);
        }
        Ok(all)
    }

    /// All that these numbers show in every frame; of a take that does not come to its end, `last` is what was drawn last.
    pub(crate) fn shown(
        &self,
        values: &Physics,
        mut tick: impl FnMut(f64) -> Flow,
        last: &mut Option<Surface>,
    ) -> Outcome<Shown> {
        let mut all = Shown { films: vec![Vec::new(); self.films], tracks: vec![Vec::new(); self.tracks], torn: None };
        let count = self.takes.len() as f64;
        for (done, (_, take)) in self.takes.iter().enumerate() {
            take.show(values, &mut all, |part| tick((done as f64 + part) / count), last)?;
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{
        Collider, Contact, DepthFrames, Film, Followed, Pair, Quantity, Range, Relaxation, Surface, Target, Track,
    };
    use diffkern_render::Lens;
    use diffkern_sim::collision::Solid;
    use std::path::Path;

    /// Every quantity of the sample as an unknown, its values away from symmetry: two bodies where the simulator takes them, of which the
    /// last has pieces of stiffness, two takes, two cameras, a floor and a moving box with friction.
    fn every_quantity(simulator: Simulator) -> (Scene, Physics) {
        let mut scene = Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")).unwrap();
        scene.colliders[0].contact = Contact::Friction(0.3);
        // It comes from behind and lifts what it pushes.
        scene.colliders.push(Collider {
            name: "bat".into(),
            surface: Surface::Solid {
                solid: Solid::Cuboid { half_x: 0.03, half_y: 0.15, half_z: 0.15 },
                position: [-0.36, 0.05, 0.2],
                rotation: [0.1, 0.05, -0.2],
            },
            velocity: [0.9, 0.1, 0.3],
            angular_velocity: [0.2, 0.5, -0.3],
            driven: false,
            contact: Contact::Friction(0.4),
            restitution: 0.0,
        });
        scene.bodies[0].starts[0].angular_velocity = [1.0, -2.0, 0.5];
        scene.bodies[0].material.viscosity = 3.0;
        if simulator == Simulator::Fem {
            scene.bodies[0].material.relaxation = Some(Relaxation { modulus: Some(4_000.0), time: Some(0.3) });
        }
        (scene.bodies[0].material.mu, scene.bodies[0].material.lambda) = (Some(9098.2), Some(11_377.2));
        let mut second = scene.bodies[0].clone();
        second.name = "second".into();
        if let diffkern_sim::scene::BodyShape::Block { min, max } = &mut second.starts[0].shape {
            (min[0], max[0]) = (min[0] + 0.3, max[0] + 0.25);
        }
        (second.material.pair, second.material.young, second.material.poisson) =
            (Pair::Engineering, Some(13_000.0), Some(0.28));
        second.fields.insert(Quantity::Young, [2, 1, 2]);
        match simulator {
            Simulator::Mpm => scene.bodies.push(second),
            Simulator::Fem | Simulator::Tlmpm | Simulator::Rigid => {
                second.starts[0] = scene.bodies[0].starts[0].clone();
                scene.bodies = vec![second];
            }
        }
        let last = scene.bodies.len() - 1;
        scene.takes = vec!["low".into(), "fast".into()];
        for body in &mut scene.bodies {
            let mut other = body.starts[0].clone();
            other.velocity = [other.velocity[0] - 0.4, 0.2, other.velocity[2] - 0.3];
            body.starts.push(other);
        }
        (scene.cameras[0].width, scene.cameras[0].height) = (64, 48);
        let mut side = scene.cameras[0].clone();
        side.name = "side".into();
        side.position = [side.position[0] + 0.4, side.position[1] + 0.2, side.position[2] + 0.1];
        (side.width, side.height) = (60, 48);
        side.lens = Lens { radial: [-0.2, 0.1, 0.05], tangential: [0.02, -0.01] };
        side.exposure = 1.2;
        scene.cameras.push(side);
        scene.shading.lights.push(crate::scene::Light { direction: [0.0, -0.8, 0.6], intensity: 0.2 });
        let main = scene.films[0].clone();
        scene.films = vec![
            Film { name: "a".into(), weights: [1.0, 0.3, 0.0], ..main.clone() },
            Film {
                name: "b".into(),
                camera: 1,
                take: 1,
                weights: [1.0, 0.0, 0.5],
                depth: Some(DepthFrames { folder: String::new(), scale: 1e-3, deviation: 0.01 }),
                ..main.clone()
            },
            Film { name: "c".into(), camera: 1, take: 0, weights: [0.0, 0.5, 0.0], ..main },
        ];
        let track = |body: usize, take: usize, of: Followed| Track {
            name: format!("{body}{take}"),
            body,
            take,
            of,
            file: String::new(),
            deviation: 0.01,
            measured: None,
            units: Default::default(),
        };
        let corner = scene.bodies[last].starts[1].shape.bounds()[0];
        scene.tracks = vec![
            track(last, 1, Followed::Points(vec![corner, corner.map(|x| x + 0.03)])),
            track(0, 0, Followed::Centre),
        ];
        for target in taken(&scene, simulator) {
            let value = scene.known(target).unwrap();
            let (name, width) = (scene.name_of(target), 0.2 * value.abs() + 0.1);
            scene.unknowns.push(Range {
                name,
                target,
                min: value - 0.4 * width,
                max: value + 0.6 * width,
                transform: Default::default(),
                prior: None,
            });
        }
        let mut values = Physics::of(&scene, &Values::new());
        for (k, target) in scene.targets().enumerate().collect::<Vec<_>>() {
            values[target] = scene.known(target).unwrap();
            if target.piece > 0 {
                values[target] *= 1.0 + 0.05 * (k % 3) as f64;
            }
        }
        values.extra = 2.0;
        (scene, values)
    }

    #[test]
    fn tangents_by_mpm_are_derivatives_of_all_that_is_seen() {
        tangents_are_derivatives(Simulator::Mpm, 2);
        tangents_are_derivatives(Simulator::Tlmpm, 2);
    }

    #[test]
    fn tangents_by_finite_elements_are_derivatives_of_all_that_is_seen() {
        tangents_are_derivatives(Simulator::Fem, 2);
    }

    #[test]
    fn motions_of_the_same_grid_give_its_own_derivatives() {
        let (scene, at) = every_quantity(Simulator::Fem);
        let known = Values::new();
        let room = viscous_room(&scene, &known, 3);
        let grid = |cells| GridOptions { simulator: Simulator::Fem, cells, room, fixed_steps: true, nodes: usize::MAX };
        let program = |cells| Program::<f64>::new(&scene, &known, grid(cells), &Device::cpu()).unwrap();
        let (own, finer) = (program(3), program(4));
        let one = |target: Target| {
            let mut direction = Physics::zero(&scene);
            direction[target] = at[target].abs().max(0.3);
            direction
        };
        let moved = [Quantity::Young, Quantity::Friction, Quantity::Velocity(0), Quantity::Position(1)];
        let directions: Vec<Physics> = moved.iter().map(|&quantity| one(Target::new(0, quantity))).collect();
        let (frames, mut tick) = (6, || Flow::Continue);
        // Central differences of runs: exact to the square of the step, where bulk viscosity begins to the step, and to rounding errors over it, times how fast an impact
        // bends, hence 1e-6 below where tangents agree to 1e-10.
        let by = 2e-6;
        let motions = |carried: &[Carried<f64>]| -> Vec<Coverage> {
            let places = |by: f64, direction: &Physics| {
                own.places(carried, &at.plus(by, direction), frames, &mut || Flow::Continue).unwrap()
            };
            let mut along = |direction: &Physics| {
                let (mut motion, down) = (places(by, direction), places(-by, direction));
                let apart = motion.iter_mut().flatten().zip(down.iter().flatten());
                apart.for_each(|(up, down)| *up = (*up - down) / (2.0 * by));
                motion
            };
            directions.iter().map(&mut along).collect()
        };
        let carried = own.carried(&own).unwrap().unwrap();
        let motions_of_own = motions(&carried);
        let through = own.along(&carried, &motions_of_own, &at, &directions, frames, &mut tick).unwrap();
        let plain = own.linearise(&at, &directions, frames, &mut tick).unwrap();
        let norm = |images: &Coverage| images.concat().iter().map(|x| x * x).sum::<f64>().sqrt();
        let apart = |a: &Coverage, b: &Coverage| {
            a.concat().iter().zip(b.concat()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        assert_eq!(through.coverage, plain.coverage);
        for (a, b) in through.derivatives.iter().zip(&plain.derivatives) {
            assert!(norm(b) > 1e-2 && apart(a, b) < 1e-6 * norm(b), "{} of {}", apart(a, b), norm(b));
        }
        // Another grid shows itself. Steps need only go downhill, and so few cells as these move much as they like once they are hit.
        let carried = own.carried(&finer).unwrap().unwrap();
        let across = finer.along(&carried, &motions(&carried), &at, &directions, frames, &mut tick).unwrap();
        let exact = finer.linearise(&at, &directions, frames, &mut tick).unwrap();
        assert_eq!(across.coverage, exact.coverage);
        for (a, b) in across.derivatives.iter().zip(&exact.derivatives) {
            let along = a.concat().iter().zip(b.concat()).map(|(a, b)| a * b).sum::<f64>();
            assert!(along > 0.5 * norm(a) * norm(b), "{along} of {}", norm(a) * norm(b));
        }
    }

    #[test]
    fn pictures_are_handed_over_until_it_is_enough() {
        let (scene, at) = every_quantity(Simulator::Fem);
        let (known, simulator) = (Values::new(), Simulator::Fem);
        let room = viscous_room(&scene, &known, 3);
        let options = GridOptions { simulator, cells: 3, room, fixed_steps: false, nodes: usize::MAX };
        let program = Program::<f64>::new(&scene, &known, options, &Device::cpu()).unwrap();
        let (frames, mut tick) = (3, || Flow::Continue);
        let all = program.coverage(&at, frames, &mut tick).unwrap();
        let mut handed = Coverage::new();
        let mut until = |last: usize, tick: &mut TakeTick<'_>| {
            handed.clear();
            let ended = program.show_each(&at, frames, tick, &mut |image| {
                handed.push(image.to_vec());
                Ok(if handed.len() == last { Flow::Stop } else { Flow::Continue })
            });
            (ended, handed.clone())
        };
        let (ended, handed) = until(usize::MAX, &mut tick);
        assert_eq!((ended.unwrap(), &handed), (Flow::Continue, &all));
        let (ended, handed) = until(5, &mut tick);
        assert_eq!((ended.unwrap(), handed), (Flow::Stop, all[..5].to_vec()));
        // A stop from outside is an interruption.
        let mut calls = 0;
        let (ended, _) = until(usize::MAX, &mut || {
            calls += 1;
            if calls == 2 { Flow::Stop } else { Flow::Continue }
        });
        assert!(matches!(ended, Err(Failure::Stopped)));
    }

    /// The parameters that a simulator takes: MPM refuses damping by mass.
    fn taken(scene: &Scene, simulator: Simulator) -> Vec<Target> {
        scene.targets().filter(|target| simulator == Simulator::Fem || target.quantity != Quantity::Damping).collect()
    }

    fn tangents_are_derivatives(simulator: Simulator, cells: usize) {
        let (scene, at) = every_quantity(simulator);
        let known = Values::new();
        let room = viscous_room(&scene, &known, cells);
        let options = GridOptions { simulator, cells, room, fixed_steps: false, nodes: usize::MAX };
        let program = Program::<f64>::new(&scene, &known, options, &Device::cpu()).unwrap();
        let frames = 6;
        let mut along: Vec<(String, Physics)> = Vec::new();
        for target in taken(&scene, simulator) {
            let mut direction = Physics::zero(&scene);
            direction[target] = match target.quantity {
                // The rim of a picture moves with the seventh power of its distance from the middle.
                Quantity::Distortion(2) => 30.0,
                Quantity::Position(_) | Quantity::LookAt(_) | Quantity::FieldOfView => 0.1,
                Quantity::StartPosition(_) => 0.1,
                _ => at[target].abs().max(0.3),
            };
            along.push((scene.name_of(target).to_string(), direction));
        }
        along.push(("viscosity beside".into(), Physics::zero(&scene).with_extra(20.0)));
        let mut tick = || Flow::Continue;
        let directions: Vec<Physics> = along.iter().map(|(_, direction)| direction.clone()).collect();
        let linear = program.linearise(&at, &directions, frames, &mut tick).unwrap();
        let shots = shots(&scene, frames);
        // Two silhouettes, depths, twice three channels, two tracks.
        assert_eq!(shots.len(), 11 * frames);
        assert!(shots.iter().zip(&linear.coverage).all(|(shot, image)| image.len() == shot.size(&scene).0));
        let of = |seen: Seen| {
            let place = shots.iter().position(|shot| *shot == Shot { seen, frame: 0 }).unwrap();
            &linear.coverage[place]
        };
        let Followed::Points(points) = &scene.tracks[0].of else { panic!("expected points") };
        let away = of(Seen::Track(0)).iter().zip(points.as_flattened()).map(|(a, b)| (a - b).abs());
        assert!(away.fold(0.0, f64::max) < 1e-12);
        let silhouette = of(Seen::Silhouette(0)).iter().sum::<f64>();
        assert!(silhouette > 10.0 && of(Seen::Colour(2, 0)).iter().sum::<f64>() > 10.0);
        for ((name, direction), derivative) in along.iter().zip(&linear.derivatives) {
            // Small enough that no particle changes sides at the floor.
            let h = 1e-6;
            let mut moved = |by: f64| program.coverage(&at.plus(by, direction), frames, &mut tick).unwrap().concat();
            let (up, down) = (moved(h), moved(-h));
            let numeric: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * h)).collect();
            let apart = derivative.concat().iter().zip(&numeric).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
            let norm = numeric.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(norm > 1e-2 && apart < 2e-6 * norm.max(1.0), "{name}: {apart} of {norm}");
        }
    }
}
