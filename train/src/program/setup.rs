//! What the simulator and the renderer are told of a scene.

use super::resolution::thinnest;
use crate::error::{Error, Result};
use crate::job::{Simulator, Values};
use crate::scene::{Collider, Contact, Pair, Quantity, Scene, Surface, Target};
use crate::text::rounded;
use diffkern::prelude::*;
use diffkern_render::{Camera, Light, Lighting};
use diffkern_sim::contact::Collider as Rigid;
use diffkern_sim::fem::bulk::QUADRATIC;
use diffkern_sim::mpm::{self, HalfSpace, Transfer};
use diffkern_sim::scene::{BodiesSpec, BodyShape, BodySpec, RelaxationSpec};

/// Cells that the fastest wave may cross in a step, without and with colliders.
const CFL: [f64; 2] = [0.4, 0.2];
/// Stiffness of a floor and of all other colliders, in units of the stiffest P-wave modulus over the particle spacing: as stiff as the time step
/// allows. A soft floor delays the impact, which is then taken for viscosity and a stiffer block.
const FLOOR: f64 = 1.2;
/// The same by total Lagrangian MPM, of the material that is tried: what it gives way is what the layer outside of the particles' contacts would, that is not
/// compressed. Stiffer ones leave less of an impact to the bounce, as layers that stop at once swing.
const LAGRANGIAN_FLOOR: f64 = 1.5;
/// Viscosity that there is room for beside the scene's, in units of density, grid spacing and fastest P-wave: what the
/// time step of the elastic waves stands.
const ROOM: f64 = 0.25;

/// A smaller ratio of Poisson is planned for as this one, at which the second Lamé parameter is positive.
const LEAST_POISSON: f64 = 1e-6;

/// How finely a program cuts, and for what it must be stable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GridOptions {
    /// What moves the bodies.
    pub(crate) simulator: Simulator,
    /// Cells across the thinnest side.
    pub(crate) cells: usize,
    /// Most viscosity beside the scene's \[Pa s\].
    pub(crate) room: f64,
    /// Whether steps are those of the hardest material, whatever is tried: what is compared with differences has no jump then.
    pub(crate) fixed_steps: bool,
    /// Most nodes of the grid that steps may work on.
    pub(crate) nodes: usize,
}

/// Range of a parameter over all that a job on the scene may try. What has a range counts with all of it, even where the value is known:
/// time step, floor and grid follow from the ranges, and a simulation is to be the run that a search would make of the same values.
pub(super) fn range(scene: &Scene, known: &Values, target: Target) -> [f64; 2] {
    let given = known.get(&scene.name_of(target)).copied();
    let searched = scene.range(target).map(|range| [range.min, range.max]);
    match (given, searched) {
        (Some(value), Some([low, high])) => [low.min(value), high.max(value)],
        (None, Some(range)) => range,
        (Some(value), None) => [value; 2],
        (None, None) => [scene.known(target).unwrap_or(1.0); 2],
    }
}

/// The bodies as they lie in the first take: the others are cut as finely.
pub(crate) fn shapes(scene: &Scene) -> Vec<&BodyShape> {
    scene.bodies.iter().map(|body| &body.starts[0].shape).collect()
}

/// Range over all pieces of a body.
fn over_pieces(scene: &Scene, known: &Values, body: usize, quantity: Quantity) -> [f64; 2] {
    let pieces = (0..scene.pieces(body, quantity)).map(|piece| Target { piece, ..Target::new(body, quantity) });
    let ranges = pieces.map(|target| range(scene, known, target));
    ranges.reduce(|[a, b], [c, d]| [a.min(c), b.max(d)]).unwrap_or([1.0; 2])
}

/// Grid spacing \[m\] with `cells` cells across the thinnest side.
pub(super) fn spacing(scene: &Scene, cells: usize) -> f64 {
    thinnest(&shapes(scene)) / cells as f64
}

/// Ranges of both Lamé parameters of a body \[Pa\].
pub(super) fn lame(scene: &Scene, known: &Values, body: usize) -> [[f64; 2]; 2] {
    let pair = scene.bodies[body].material.pair;
    let [first, second] = pair.quantities().map(|quantity| over_pieces(scene, known, body, quantity));
    match pair {
        Pair::Lame => [first, second],
        // The shear modulus falls with Poisson's ratio, the other one rises.
        Pair::Engineering => {
            let of = |young: f64, poisson: f64| pair.lame([young, poisson.max(LEAST_POISSON)]);
            let ([soft, stiff], [low, high]) = (first, second);
            [[of(soft, high)[0], of(stiff, low)[0]], [of(soft, low)[1], of(stiff, high)[1]]]
        }
    }
}

/// Largest P-wave modulus of a body \[Pa\].
fn p_modulus(scene: &Scene, known: &Values, body: usize) -> f64 {
    let [mu, lambda] = lame(scene, known, body);
    lambda[1] + 2.0 * mu[1]
}

fn most(scene: &Scene, of: impl Fn(usize) -> f64) -> f64 {
    (0..scene.bodies.len()).map(of).fold(0.0, f64::max)
}

/// Viscosity that there is room for beside the scene's on a grid of `cells` cells across the thinnest side \[Pa s\].
pub(crate) fn viscous_room(scene: &Scene, known: &Values, cells: usize) -> f64 {
    if scene.is_rigid() {
        return 0.0;
    }
    let density = |body| over_pieces(scene, known, body, Quantity::Density)[0];
    let impedance = most(scene, |body| (p_modulus(scene, known, body) * density(body)).sqrt());
    let stands = ROOM * spacing(scene, cells) * impedance;
    // A scene that is viscous itself may need smaller steps anyway.
    (stands - most(scene, |body| scene.bodies[body].material.viscosity)).max(0.25 * stands)
}

/// Gravity in the middle of its ranges \[m/s^2\].
pub(super) fn gravity(scene: &Scene, known: &Values) -> [f64; 3] {
    [0, 1, 2].map(|a| middle(range(scene, known, Target::new(0, Quantity::Gravity(a)))))
}

/// A take by MPM.
pub(super) fn spec(scene: &Scene, take: usize, known: &Values, options: &GridOptions) -> BodiesSpec {
    // Two particles to a cell.
    let spacing = 0.5 * spacing(scene, options.cells);
    let floor = floor_by_modulus(options, spacing).unwrap_or(FLOOR / spacing);
    let stiffness = floor * most(scene, |body| p_modulus(scene, known, body));
    let contact = |collider: &Collider| match collider.contact {
        Contact::Friction(_) => mpm::Contact::Penalty { stiffness },
        Contact::Sticky => mpm::Contact::Sticky,
        Contact::Slip => mpm::Contact::Slip,
    };
    let half_spaces = half_spaces(scene).map(|(of, point, normal)| {
        let contact = contact(&scene.colliders[of]);
        HalfSpace::through(point, normal, contact)
    });
    let clamp = scene.clamp.as_ref().map(|clamp| match clamp.above {
        false => HalfSpace::clamp(clamp.axis, clamp.plane),
        true => {
            let mut normal = [0.0; 3];
            normal[clamp.axis] = -1.0;
            HalfSpace { normal, offset: -clamp.plane, contact: mpm::Contact::Sticky, friction: 0.0 }
        }
    });
    let duration = scene.num_frames as f64 / scene.frame_rate;
    let lasting = options.simulator == Simulator::Tlmpm;
    BodiesSpec {
        bodies: (0..scene.bodies.len()).map(|body| body_spec(scene, take, known, body, options.room)).collect(),
        law: scene.bodies[0].material.law,
        damping: [0.0; 2],
        gravity: gravity(scene, known),
        half_spaces: half_spaces.chain(clamp).collect(),
        colliders: others(scene)
            .map(|of| fastest(scene, known, of, scene.colliders[of].rigid(contact(&scene.colliders[of]))))
            .collect(),
        duration,
        frame_rate: scene.frame_rate,
        spacing,
        cfl: CFL[usize::from(!scene.colliders.is_empty())],
        transfer: if lasting { Transfer::LAGRANGIAN } else { Transfer::Apic },
        bulk_viscosity: if lasting && !scene.colliders.is_empty() { QUADRATIC } else { 0.0 },
        // Of a contact that holds what comes to it there is none beside (`choice`).
        material_clamps: lasting,
        reach: reach(scene, take, known, duration),
    }
}

/// Stiffness of the contacts of a scene by the P-wave modulus of its body \[1/m\], where that is tried; nothing where it is that of the hardest material.
pub(super) fn floor_by_modulus(options: &GridOptions, spacing: f64) -> Option<f64> {
    (options.simulator == Simulator::Tlmpm).then(|| LAGRANGIAN_FLOOR / spacing)
}

/// The half-spaces that stand still, each by its place among the colliders, its point and its normal.
pub(super) fn half_spaces(scene: &Scene) -> impl Iterator<Item = (usize, [f64; 3], [f64; 3])> {
    scene.colliders.iter().enumerate().filter_map(|(of, collider)| match collider.surface {
        Surface::HalfSpace { point, normal } if collider.is_still() => Some((of, point, normal)),
        Surface::HalfSpace { .. } | Surface::Solid { .. } => None,
    })
}

/// All other colliders, by their places.
pub(super) fn others(scene: &Scene) -> impl Iterator<Item = usize> {
    let still = |of: &usize| half_spaces(scene).any(|(still, ..)| still == *of);
    (0..scene.colliders.len()).filter(move |of| !still(of))
}

/// Refuses colliders that bodies would pass through on a grid with cells of `dx` \[m\]: contacts that hold nodes need one inside, others push a
/// particle out of the side that it is nearer to.
pub(super) fn thick_enough(scene: &Scene, dx: f64) -> Result<()> {
    for collider in &scene.colliders {
        let (least, cells) = match collider.contact {
            Contact::Friction(_) => (0.5 * dx, "half a cell"),
            Contact::Sticky | Contact::Slip => (dx, "a cell"),
        };
        let thickness = collider.thickness();
        if thickness < least {
            let [thickness, least] = [thickness, least].map(rounded);
            let problem = format!(
                "{thickness} m at its thinnest, less than {cells} of the grid, {least} m: bodies would pass through it, expected more (or \
                 more cells, --cells)"
            );
            return Err(Error::scene(format!("colliders.{}.shape", collider.name), problem));
        }
    }
    Ok(())
}

/// A collider with the greatest motion that may be tried, for which steps and room are to be.
pub(super) fn fastest(scene: &Scene, known: &Values, of: usize, collider: Rigid) -> Rigid {
    if scene.colliders[of].is_still() {
        return collider;
    }
    let end = |quantity| {
        let [low, high] = range(scene, known, Target::new(of, quantity));
        if low.abs() > high.abs() { low } else { high }
    };
    let velocity = [0, 1, 2].map(|a| end(Quantity::ColliderVelocity(a)));
    collider.moving(velocity, [0, 1, 2].map(|a| end(Quantity::ColliderAngularVelocity(a))))
}

pub(super) fn body_spec(scene: &Scene, take: usize, known: &Values, body: usize, room: f64) -> BodySpec {
    let of = |quantity| over_pieces(scene, known, body, quantity);
    let [mu, lambda] = lame(scene, known, body);
    let begins = |quantity| range(scene, known, Target { take, ..Target::new(body, quantity) });
    let [low, high] = of(Quantity::Viscosity);
    let velocity = [0, 1, 2].map(|a| begins(Quantity::Velocity(a)));
    let spin = [0, 1, 2].map(|a| begins(Quantity::AngularVelocity(a)));
    let shape = scene.bodies[body].starts[take].shape.clone();
    let top = |v: [[f64; 2]; 3]| norm(v.map(|[low, high]| low.abs().max(high.abs())));
    let top_speed = top(velocity) + 0.5 * top(spin) * norm(shape.sides());
    let relaxation = scene.bodies[body]
        .material
        .relaxation
        .map(|_| RelaxationSpec { modulus: of(Quantity::RelaxationModulus), time: of(Quantity::RelaxationTime) });
    BodySpec {
        velocity: velocity.map(middle),
        angular_velocity: spin.map(middle),
        top_speed,
        mu,
        lambda,
        density: of(Quantity::Density),
        viscosity: [low, high + room],
        relaxation,
        shape,
    }
}

/// How far the ends of the ranges may take bodies from where the middles take them \[m\].
fn reach(scene: &Scene, take: usize, known: &Values, duration: f64) -> f64 {
    let half = |target: Target| {
        let [low, high] = range(scene, known, target);
        0.5 * (high - low)
    };
    let of_start = |body: usize, quantity: fn(usize) -> Quantity| {
        norm([0, 1, 2].map(|a| half(Target { take, ..Target::new(body, quantity(a)) })))
    };
    let away = |body| of_start(body, Quantity::Velocity) * duration + of_place(scene, known, take, body);
    let fall = norm([0, 1, 2].map(|a| half(Target::new(0, Quantity::Gravity(a)))));
    most(scene, away) + 0.5 * fall * duration * duration + struck(scene, known, take) * duration
}

/// How far the ends of the ranges are from where the scene has a body \[m\].
fn of_place(scene: &Scene, known: &Values, take: usize, body: usize) -> f64 {
    let from = scene.bodies[body].starts[take].position();
    norm([0, 1, 2].map(|a| {
        let target = Target { take, ..Target::new(body, Quantity::StartPosition(a)) };
        // Of a body that is clamped there is no such number.
        let [low, high] = if scene.clamp.is_some() { [from[a]; 2] } else { range(scene, known, target) };
        (low - from[a]).abs().max((high - from[a]).abs())
    }))
}

/// Largest speed of a body that colliders of unknown motion strike: that of what moves otherwise may be taken the other way \[m/s\].
fn struck(scene: &Scene, known: &Values, take: usize) -> f64 {
    let own = most(scene, |body| body_spec(scene, take, known, body, 0.0).top_speed);
    let size = most(scene, |body| norm(scene.bodies[body].starts[take].shape.sides()));
    let driven = (0..scene.colliders.len()).filter(|&of| scene.colliders[of].driven);
    let speed = driven.map(|of| {
        let rigid = fastest(scene, known, of, scene.colliders[of].rigid(mpm::Contact::Slip));
        own + 2.0 * (rigid.pose.velocity.norm() + rigid.pose.spin.norm() * rigid.solid.radius().min(size))
    });
    speed.fold(0.0, f64::max)
}

fn middle([low, high]: [f64; 2]) -> f64 {
    0.5 * (low + high)
}

pub(crate) fn norm(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(crate) fn camera(c: &crate::scene::Camera) -> Camera {
    Camera {
        position: c.position,
        look_at: c.look_at,
        up: c.up,
        vertical_fov: c.vertical_fov,
        width: c.width,
        height: c.height,
        near: c.near,
    }
}

/// With the colour of each vertex's body.
pub(crate) fn lighting<F: Float>(scene: &Scene, body_of_vertex: &[u32], device: &Device) -> Result<Lighting<F>> {
    let s = &scene.shading;
    let light = |of: &crate::scene::Light| Light {
        direction: of.direction,
        intensity: of.intensity,
        ambient: s.ambient,
        albedo: scene.bodies[0].albedo,
        background: s.background,
    };
    let lighting = Lighting::of(&s.lights.iter().map(light).collect::<Vec<_>>(), device)?;
    if scene.bodies.len() == 1 {
        return Ok(lighting);
    }
    let colour = |&body: &u32| Vec3::from_array(scene.bodies[body as usize].albedo.map(F::from_f64));
    let albedo = device.array(&body_of_vertex.iter().map(colour).collect::<Vec<_>>())?;
    Ok(Lighting { albedo, ..lighting })
}

/// The piece of each particle at `x` in its body, for what may vary as one of [`Scene::varying`]: numbers of pieces of all bodies one
/// after the other, from `begins` of each on.
pub(crate) fn pieces(
    scene: &Scene,
    take: usize,
    part: usize,
    begins: impl Fn(usize) -> usize,
    x: &[[f64; 3]],
    body_of: &[u32],
) -> Vec<u32> {
    let boxes: Vec<_> = scene.bodies.iter().map(|body| body.starts[take].shape.bounds()).collect();
    let of = |(x, &body): (&[f64; 3], &u32)| {
        let body = body as usize;
        let ([min, max], counts) = (boxes[body], scene.cut(body, scene.varying(body)[part]).unwrap_or([1; 3]));
        let along = |a: usize| {
            let share = (x[a] - min[a]) / (max[a] - min[a]);
            ((share * counts[a] as f64) as usize).min(counts[a] - 1)
        };
        (begins(body) + (along(0) * counts[1] + along(1)) * counts[2] + along(2)) as u32
    };
    x.iter().zip(body_of).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffkern_sim::collision::Solid;
    use std::path::Path;

    #[test]
    fn thin_colliders_are_refused_by_name() {
        let mut scene = Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")).unwrap();
        let plate = Solid::Cuboid { half_x: 1.0, half_y: 1.0, half_z: 0.01 };
        scene.colliders.push(Collider {
            name: "plate".into(),
            surface: Surface::Solid { solid: plate, position: [0.0; 3], rotation: [0.0; 3] },
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            driven: false,
            contact: Contact::Friction(0.1),
            restitution: 0.0,
        });
        assert!(thick_enough(&scene, 0.03).is_ok());
        scene.colliders[1].contact = Contact::Slip;
        let error = thick_enough(&scene, 0.03).unwrap_err().to_string();
        assert!(error.starts_with("colliders.plate.shape: 0.02 m at its thinnest, less than a cell of"), "{error}");
        assert!(error.contains("--cells"), "{error}");
    }

    #[test]
    fn pieces_are_counted_along_z_first_and_after_those_of_the_bodies_before() {
        let mut scene = Scene::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jelly_drop_a")).unwrap();
        scene.bodies[0].starts[0].shape = BodyShape::Block { min: [0.0; 3], max: [1.0, 1.0, 1.0] };
        scene.bodies[0].fields.insert(Quantity::Mu, [2, 1, 3]);
        scene.bodies.push(scene.bodies[0].clone());
        // The ends of the box belong to the last pieces, and what is beyond them by rounding too.
        let x =
            [[0.1, 0.9, 0.1], [0.1, 0.9, 0.5], [0.1, 0.1, 1.0], [0.9, 0.5, 0.0], [1.1, 0.5, 1.0], [-1e-9, 0.5, 0.4]];
        let of_first = pieces(&scene, 0, 0, |body| 6 * body, &x, &[0; 6]);
        assert_eq!(of_first, [0, 1, 2, 3, 5, 1]);
        let of_second = pieces(&scene, 0, 0, |body| 6 * body, &x, &[1; 6]);
        assert_eq!(of_second, [6, 7, 8, 9, 11, 7]);
        assert_eq!(pieces(&scene, 0, 1, |body| body, &x, &[1; 6]), [1; 6]);
    }
}
