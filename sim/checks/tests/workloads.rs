//! Loss and gradients of two published set-ups against reference values of an independent program (JAX, f64).
//!
//! The set-ups: an elastic block of unit particle mass and volume, thrown with a linear velocity field into a unit box
//! with separating walls; in space with a sticky floor.

mod common;

use common::relative;
use diffkern::Schedule;
use diffkern::prelude::*;
use diffkern_sim::Result;
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{
    Contact, Dim2, Dim3, Dimension, Grid, HalfSpace, Law, Model, Params, State, mean_square_distance,
};

struct Case<D: Dimension> {
    golden: &'static str,
    counts: [usize; 3],
    nodes: D::Counts,
    steps: usize,
    origin: [f64; 3],
    mean: [f64; 3],
    rate: [f64; 3],
    target: D::Coords,
    sticky_floor: bool,
}

/// Sections of the reference file: a name, its shape and its numbers.
fn golden(text: &str, section: &str) -> Vec<f64> {
    let mut lines = text.lines().skip_while(|l| l.split(' ').next() != Some(section));
    let head: Vec<&str> = lines.next().expect("section").split(' ').collect();
    if section == "loss" {
        return vec![head[1].parse().expect("number")];
    }
    let rows: usize = head[1].parse().expect("rows");
    lines.take(rows).flat_map(|l| l.split(' ').map(|x| x.parse::<f64>().expect("number"))).collect()
}

fn walls<D: Dimension>(n: usize, dx: f64, sticky_floor: bool) -> Vec<HalfSpace<D>> {
    let wall = |axis: usize, sign: f64, at: f64, contact| {
        let (mut point, mut normal) = (D::Coords::default(), D::Coords::default());
        point.as_mut()[axis] = at;
        normal.as_mut()[axis] = sign;
        HalfSpace::<D>::through(point, normal, contact)
    };
    let floor = sticky_floor.then(|| wall(1, 1.0, 2.5 * dx, Contact::Sticky));
    let pairs = (0..D::AXES).flat_map(|a| {
        [wall(a, 1.0, 2.5 * dx, Contact::Separating), wall(a, -1.0, (n as f64 - 3.5) * dx, Contact::Separating)]
    });
    floor.into_iter().chain(pairs).collect()
}

fn check<D: Dimension>(case: Case<D>) -> Result<()> {
    let dev = Device::cpu();
    let n = case.nodes.as_ref()[0];
    let dx = 1.0 / n as f64;
    let grid = Grid::<D>::new(D::Coords::default(), dx, case.nodes)?;
    let half_spaces = walls::<D>(n, dx, case.sticky_floor);
    let model =
        Model::<D, f64>::new(&dev, grid, 0.0128 / n as f64, Law::NeoHookean, &half_spaces)?.with_mass_cutoff(1e-8);

    let [a, b, c] = case.counts;
    let (mut x, mut v) = (Vec::new(), Vec::new());
    for p in 0..a * b * c {
        let at = [p / (b * c), p / c % b, p % c];
        let (mut xp, mut vp) = (D::Coords::default(), D::Coords::default());
        for (k, &i) in at.iter().enumerate().take(D::AXES) {
            let offset = (i as f64 + 0.5 - 0.5 * case.counts[k] as f64) * 0.5 * dx;
            xp.as_mut()[k] = case.origin[k] + 0.25 * dx * case.counts[k] as f64 + offset;
            vp.as_mut()[k] = case.mean[k] + case.rate[k] * offset;
        }
        x.push(D::vector::<f64>(&xp));
        v.push(D::vector::<f64>(&vp));
    }
    let (e, nu) = (400.0, 0.2);
    let (mu0, lambda0) = (e / (2.0 * (1.0 + nu)), e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)));
    let mu: Vec<f64> = (0..x.len()).map(|p| mu0 * (1.0 + 0.05 * ((p % 5) as f64 - 2.0))).collect();
    let lambda: Vec<f64> = (0..x.len()).map(|p| lambda0 * (1.0 + 0.05 * ((p % 3) as f64 - 1.0))).collect();
    let mut gravity = D::Coords::default();
    gravity.as_mut()[1] = -9.8;

    let state = State::<D, f64>::undeformed(&dev, &x, &v)?;
    let state = State { v: state.v.requires_grad(), ..state };
    let params = Params {
        mu: dev.array(&mu)?.requires_grad(),
        lambda: dev.array(&lambda)?.requires_grad(),
        ..Params::uniform(&dev, mu0, lambda0, 1.0, 1.0, gravity)?
    };
    let run = || {
        let solver = model.solver(&params, state.len())?;
        let end = solver.advance(&state, 0, case.steps, Schedule::Checkpoints(case.steps))?;
        mean_square_distance::<D, f64>(&end.x, case.target)
    };
    let mut loss = None;
    let tape = Tape::record(|| {
        loss = Some(run()?);
        Ok(())
    })?;
    let loss = loss.expect("recorded");
    tape.backward(&loss)?;

    let expected = golden(case.golden, "loss")[0];
    let found = loss.to_vec()?[0];
    assert!((found / expected - 1.0).abs() < 1e-12, "loss {found}, expected {expected}");
    let velocity: Vec<f64> =
        state.v.grad()?.to_vec()?.iter().flat_map(|g| D::coords::<f64>(*g).as_ref().to_vec()).collect();
    let error = relative(&velocity, &golden(case.golden, "ga"));
    assert!(error < 1e-10, "gradient to the velocities: relative error {error}");
    let (g_mu, g_lambda) = (params.mu.grad()?.to_vec()?, params.lambda.grad()?.to_vec()?);
    let material: Vec<f64> = g_mu.iter().zip(&g_lambda).flat_map(|(m, l)| [*m, *l]).collect();
    let error = relative(&material, &golden(case.golden, "gb"));
    assert!(error < 1e-8, "gradient to mu and lambda: relative error {error}");
    Ok(())
}

#[test]
fn plane() -> Result<()> {
    check(Case::<Dim2> {
        golden: include_str!("data/w1_small.txt"),
        counts: [32, 16, 1],
        nodes: [32, 32],
        steps: 64,
        origin: [0.25, 3.5 / 32.0, 0.0],
        mean: [1.0, -2.0, 0.0],
        rate: [8.0, -8.0, 0.0],
        target: [0.7, 0.4],
        sticky_floor: false,
    })
}

#[test]
fn space() -> Result<()> {
    check(Case::<Dim3> {
        golden: include_str!("data/w2_small.txt"),
        counts: [8, 8, 8],
        nodes: [16, 16, 16],
        steps: 32,
        origin: [0.375, 3.5 / 16.0, 0.375],
        mean: [1.0, -3.0, 0.5],
        rate: [8.0, -8.0, 4.0],
        target: [0.7, 0.4, 0.6],
        sticky_floor: true,
    })
}
