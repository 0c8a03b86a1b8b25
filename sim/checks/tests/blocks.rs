//! Occupied blocks and sorted particles change nothing but time: the same states and gradients as on the whole grid in the
//! order given, whatever moves from block to block, and what leaves the grid is an error.

mod common;

use common::{Random, relative};
use diffkern::prelude::*;
use diffkern::{Rollout, Schedule};
use diffkern_sim::Step as _;
use diffkern_sim::mpm::occupied::{base_nodes_2d, base_nodes_3d};
use diffkern_sim::mpm::stencil::GridShape;
use diffkern_sim::mpm::{
    Blocks, Contact, Grid, HalfSpace, Law, Model, Params, Solver, Sorting, State, mean_square_distance,
};
use diffkern_sim::{Error, Result};

const DX: f64 = 0.1;
const DT: f64 = 2e-3;
const STEPS: usize = 60;

/// Clusters of particles that fly apart over a large grid, some of them into walls.
struct Scene<D: Dimension> {
    model: Model<D, f64>,
    x: Vec<D::Vector<f64>>,
    v: Vec<D::Vector<f64>>,
}

/// Corners of the clusters and their velocities; the cells that they pass in `STEPS` steps are 5 to 8.
const CLUSTERS: [([f64; 3], [f64; 3]); 3] =
    [([0.55, 0.55, 0.55], [-2.0, 5.0, 6.0]), ([2.1, 0.62, 1.7], [4.5, -5.5, -5.0]), ([1.3, 1.9, 1.1], [5.0, 4.0, 0.3])];

fn scene<D: Dimension>(seed: u64, nodes: D::Counts) -> Result<Scene<D>> {
    let mut r = Random(seed);
    let coords = |from: &[f64]| {
        let mut c = D::Coords::default();
        c.as_mut().iter_mut().zip(from).for_each(|(c, x)| *c = *x);
        c
    };
    let (mut x, mut v) = (Vec::new(), Vec::new());
    // Particle by particle from another cluster: as unordered as can be.
    for _ in 0..27 {
        for (corner, speed) in CLUSTERS {
            let at = corner.map(|c| c + r.between(0.0, 0.18));
            let around = speed.map(|s| s + r.between(-0.5, 0.5));
            x.push(D::vector::<f64>(&coords(&at)));
            v.push(D::vector::<f64>(&coords(&around)));
        }
    }
    let wall = |axis: usize, sign: f64, offset: f64, contact| {
        let mut normal = [0.0; 3];
        normal[axis] = sign;
        HalfSpace::<D> { normal: coords(&normal), offset, contact, friction: 0.0 }
    };
    let walls = [
        wall(0, 1.0, 0.3, Contact::Separating),
        wall(1, 1.0, 0.3, Contact::Slip),
        wall(0, -1.0, -2.6, Contact::Sticky),
    ];
    let grid = Grid::new(D::Coords::default(), DX, nodes)?;
    let model = Model::new(&Device::cpu(), grid, DT, Law::NeoHookean, &walls)?;
    Ok(Scene { model, x, v })
}

/// The last state and all gradients of its distance from a point, as numbers.
fn run<D: Dimension>(
    scene: &Scene<D>,
    blocks: Blocks,
    sorting: Sorting,
    schedule: Schedule,
    whole_grid: bool,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let device = Device::cpu();
    let n = scene.x.len();
    let model = scene.model.clone().with_blocks(blocks).with_sorting(sorting);
    let friction = device.full(3, 0.2)?.requires_grad();
    let mut params = Params::uniform(&device, 90.0, 120.0, 2.0, 0.002, D::Coords::default())?;
    params.mu = device.array(&(0..n).map(|p| 80.0 + p as f64).collect::<Vec<_>>())?.requires_grad();
    params.density = params.density.requires_grad();
    params.gravity = params.gravity.requires_grad();
    params.friction = Some(friction.clone());
    let start = State::<D, f64>::undeformed(&device, &scene.x, &scene.v)?;
    let start = State { x: start.x.requires_grad(), v: start.v.requires_grad(), ..start };
    let (tape, (end, loss)) = Tape::record_value(|| {
        let solver = model.solver(&params, n)?;
        let end = if whole_grid {
            Rollout::new(schedule).run(STEPS, start.clone(), move |s, k| solver.step(s, &(), solver.tick(k)))?
        } else {
            solver.advance(&start, 0, STEPS, schedule)?
        };
        let loss = mean_square_distance::<D, f64>(&end.x, D::Coords::default())?;
        Ok::<_, Error>((end, loss))
    })?;
    tape.backward(&loss)?;
    let flat = |vectors: Vec<D::Vector<f64>>| {
        vectors.into_iter().flat_map(|v| D::coords::<f64>(v).as_ref().to_vec()).collect::<Vec<_>>()
    };
    let state = [flat(end.x.to_vec()?), flat(end.v.to_vec()?)].concat();
    let gradient = [
        flat(start.x.grad()?.to_vec()?),
        flat(start.v.grad()?.to_vec()?),
        params.mu.grad()?.to_vec()?,
        params.density.grad()?.to_vec()?,
        flat(params.gravity.grad()?.to_vec()?),
        friction.grad()?.to_vec()?,
    ];
    // Each group counts the same, however small its gradient.
    let scaled = gradient.into_iter().flat_map(|g| {
        let size = g.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(size > 0.0, "every group has a gradient");
        g.into_iter().map(move |x| x / size)
    });
    Ok((state, scaled.collect()))
}

fn same<D: Dimension>(nodes: D::Counts) -> Result<()> {
    for seed in [3, 5, 8] {
        let scene = scene::<D>(seed, nodes)?;
        let expected = run(&scene, Blocks::All, Sorting::Never, Schedule::StoreAll, true)?;
        for (blocks, sorting, schedule, whole_grid) in [
            (Blocks::Occupied, Sorting::Never, Schedule::StoreAll, true),
            (Blocks::Occupied, Sorting::Never, Schedule::Checkpoints(4), true),
            (Blocks::All, Sorting::Always, Schedule::StoreAll, false),
            (Blocks::Occupied, Sorting::Always, Schedule::Checkpoints(4), false),
            (Blocks::Auto, Sorting::Auto, Schedule::StoreAll, false),
        ] {
            let found = run(&scene, blocks, sorting, schedule, whole_grid)?;
            let errors = (relative(&found.0, &expected.0), relative(&found.1, &expected.1));
            assert!(errors.0 < 1e-12 && errors.1 < 1e-10, "seed {seed}, {blocks:?}, {sorting:?}: {errors:?}");
        }
    }
    Ok(())
}

#[test]
fn same_in_the_plane() -> Result<()> {
    same::<Dim2>([31, 38])
}

#[test]
fn same_in_space() -> Result<()> {
    same::<Dim3>([31, 30, 27])
}

#[test]
fn replays_have_the_same_bits() -> Result<()> {
    let scene = scene::<Dim2>(13, [31, 38])?;
    let once = run(&scene, Blocks::Occupied, Sorting::Always, Schedule::StoreAll, false)?;
    let again = run(&scene, Blocks::Occupied, Sorting::Always, Schedule::Checkpoints(3), false)?;
    assert_eq!(once, again);
    Ok(())
}

fn solver<D: Dimension>(scene: &Scene<D>, blocks: Blocks) -> Result<Solver<D, f64>> {
    let params = Params::uniform(&Device::cpu(), 90.0, 120.0, 2.0, 0.002, D::Coords::default())?;
    scene.model.clone().with_blocks(blocks).solver(&params, scene.x.len())
}

#[test]
fn blocks_follow_the_particles() -> Result<()> {
    let scene = scene::<Dim3>(21, [31, 30, 27])?;
    let (few, all) = (solver(&scene, Blocks::Occupied)?, solver(&scene, Blocks::All)?);
    let mut state = State::undeformed(&Device::cpu(), &scene.x, &scene.v)?;
    let mut counts = std::collections::BTreeSet::new();
    for _ in 0..STEPS {
        counts.insert(few.active_nodes(&state)?);
        state = few.step(&state, &(), few.tick(0))?;
    }
    assert!(counts.len() > 2, "particles change blocks: {counts:?}");
    assert_eq!(all.active_nodes(&state)?, 8 * 8 * 7 * 64);
    assert!(counts.iter().all(|&n| n * 5 < all.active_nodes(&state).unwrap_or(0)), "{counts:?}");
    // By itself a small grid is taken whole, and one much larger than the number of particles is not.
    let auto = |nodes| -> Result<(usize, usize)> {
        let grid = Grid::new([0.0; 3], DX, [nodes; 3])?;
        let model = Model::<Dim3, f64>::new(&Device::cpu(), grid, DT, Law::NeoHookean, &[])?;
        let solver =
            model.solver(&Params::uniform(&Device::cpu(), 90.0, 120.0, 2.0, 0.002, [0.0; 3])?, scene.x.len())?;
        Ok((solver.active_nodes(&State::undeformed(&Device::cpu(), &scene.x, &scene.v)?)?, grid.len()))
    };
    let (small, large) = (auto(24)?, auto(32)?);
    assert_eq!(small.0, small.1);
    assert!(large.0 * 10 < large.1, "{large:?}");
    Ok(())
}

/// Particles exactly where their first node changes, a little before and after, at the borders of blocks too.
#[test]
fn borders_of_blocks_are_found() -> Result<()> {
    let device = Device::cpu();
    let borders = (0..22).flat_map(|k| [-1e-15, 0.0, 1e-15].map(|e| (k as f64 + 0.5) * DX + e));
    let x: Vec<_> =
        borders.filter(|x| (0.5 * DX..21.0 * DX).contains(x)).map(|x| Vec3::new(x, 22.0 * DX - x, x)).collect();
    let n = x.len();
    let start = State::undeformed(&device, &x, &vec![Vec3::new(0.1, 0.2, 0.3); n])?;
    let grid = Grid::new([0.0; 3], DX, [24; 3])?;
    let end = |blocks| -> Result<Vec<Vec3<f64>>> {
        let model = Model::<Dim3, f64>::new(&device, grid, DT, Law::NeoHookean, &[])?.with_blocks(blocks);
        let solver = model.solver(&Params::uniform(&device, 90.0, 120.0, 2.0, 0.002, [0.0; 3])?, n)?;
        Ok(solver.step(&start, &(), solver.tick(0))?.x.to_vec()?)
    };
    assert_eq!(end(Blocks::Occupied)?, end(Blocks::All)?);
    Ok(())
}

#[test]
fn what_leaves_the_grid_is_an_error() -> Result<()> {
    let mut scene = scene::<Dim2>(34, [31, 38])?;
    scene.x[7] = Vec2::new(0.01, 1.0);
    let solver = solver(&scene, Blocks::Occupied)?;
    let state = State::undeformed(&Device::cpu(), &scene.x, &scene.v)?;
    assert!(
        matches!(solver.step(&state, &(), solver.tick(0)), Err(diffkern::Error::Index { .. })),
        "{:?}",
        solver.step(&state, &(), solver.tick(0)).err()
    );
    let error = solver.advance(&state, 0, 3, Schedule::StoreAll).unwrap_err();
    assert!(matches!(error, Error::Outside { particle: 7, step: 0, axis: 'x', .. }), "{error}");
    Ok(())
}

#[test]
fn errors_name_the_particle_of_the_caller() -> Result<()> {
    let mut scene = scene::<Dim2>(55, [31, 38])?;
    (scene.x[40], scene.v[40]) = (Vec2::new(1.5, 3.3), Vec2::new(0.0, 20.0));
    let model = scene.model.clone().with_sorting(Sorting::Always);
    let solver = model.solver(&Params::uniform(&Device::cpu(), 90.0, 120.0, 2.0, 0.002, [0.0; 2])?, scene.x.len())?;
    let state = State::undeformed(&Device::cpu(), &scene.x, &scene.v)?;
    let error = solver.advance(&state, 0, STEPS, Schedule::StoreAll).unwrap_err();
    assert!(matches!(error, Error::Outside { particle: 40, step: 9, axis: 'y', .. }), "{error}");
    Ok(())
}

#[test]
fn first_nodes_are_numbered_by_block() -> Result<()> {
    let device = Device::cpu();
    let x = device.array(&[Vec2::new(0.95, 1.72), Vec2::new(-3.0, 9.0)])?;
    let nodes = device.zeros::<u32>(2)?;
    let grid = GridShape { origin: Vec3::zero(), inv_dx: 10.0, nx: 20, ny: 30, nz: 1 };
    base_nodes_2d(2, &x, &nodes, grid)?;
    // Node (8, 16): block (1, 2) of 3 x 4. The other one is outside: node (0, 27), block (0, 3).
    assert_eq!(nodes.to_vec()?, [(4 + 2) * 64, 3 * 64 + 3]);
    let x = device.array(&[Vec3::new(0.62, 0.95, 0.72)])?;
    let nodes = device.zeros::<u32>(1)?;
    base_nodes_3d(1, &x, &nodes, GridShape { nx: 12, ny: 12, nz: 12, ..grid })?;
    // Node (5, 8, 6): block (1, 2, 1) of 3 x 3 x 3, place (1, 0, 2).
    assert_eq!(nodes.to_vec()?, [((3 + 2) * 3 + 1) * 64 + 16 + 2]);
    Ok(())
}
