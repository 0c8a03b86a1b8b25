//! What acts on bodies from outside: fibres that pull, clamps that move.

use super::gradients::loss;
use super::*;
use crate::common::Random;
use crate::common::groups::{compare, numbers};
use diffkern_sim::Span;
use diffkern_sim::fem::lattice::{Clamp, Control, Skin};
use diffkern_sim::shape::{Cuboid, Primitive};

const MU: f64 = 2e4;

fn bar(clamps: Vec<Clamp>) -> Result<CutBody> {
    let block = Primitive::Cuboid(Cuboid { sides: [0.2, 0.05, 0.04] });
    Body { clamps, corner: Some([-0.11, -0.03, -0.03]), ..Body::new(block, 0.04) }.build()
}

fn clamped() -> Result<CutBody> {
    bar(vec![Clamp::below(0, -0.07)])
}

#[test]
fn driven_clamps_are_a_frame_that_accelerates() -> Result<()> {
    let (dev, body) = (device(), clamped()?);
    let drive = [0.7, -3.0, 2.0];
    let start = body.state(&dev, [0.1, 0.3, -0.2], [0.0, 2.0, 1.0])?;
    let run = |gravity: [f64; 3], control: Control<f64>| -> Result<Vec<Vec3<f64>>> {
        let mut params = Params::<f64>::uniform(&dev, MU, 3e4, 1e3, gravity)?;
        params.viscosity = Some(dev.array(&[3.0])?);
        params.loads = Some(dev.array(&[0.05])?);
        let model = Model::new(&dev, &body, Law::NeoHookean, 1e-4, &[])?;
        let model = model.with_loads(&[(0, [0.09, 0.01, 0.01])])?.with_mass_corrections(3)?;
        let solver = model.solver(&params, &start)?;
        let span = Span::steps(0, 400, 1e-4);
        let end = solver.advance_with(&start, span, move |_, _| Ok(control.clone()), Schedule::StoreAll)?;
        Ok(end.x.to_vec()?)
    };
    let driven = Control { drive: Some(dev.array(&[Vec3::from_array(drive)])?), ..Control::default() };
    let (seen, inside) = (run([0.0, 0.0, -9.81], driven)?, run([-0.7, 3.0, -11.81], Control::default())?);
    // Steps are exact for constant accelerations.
    let way = Vec3::from_array(drive) * (0.5 * 0.04 * 0.04);
    let apart = seen.iter().zip(&inside).map(|(a, b)| (*a - *b - way).norm()).fold(0.0, f64::max);
    assert!(apart < 1e-12, "{apart} m");
    Ok(())
}

/// Damping slows the body, not what carries it.
#[test]
fn clamps_keep_their_velocity_under_damping() -> Result<()> {
    let (dev, body) = (device(), clamped()?);
    let mut params = Params::<f64>::uniform(&dev, MU, 3e4, 1e3, [0.0; 3])?;
    // Another for each control point.
    let mut r = Random(31);
    params.damping = dev.array(&r.many(body.rest().len(), |r| r.between(10.0, 30.0)))?;
    let velocity = [0.3, 0.2, -0.1];
    let start = displaced(&body, |_| [0.0; 3], |_| velocity)?;
    let model = Model::new(&dev, &body, Law::NeoHookean, 1e-4, &[])?;
    let end = model.solver(&params, &start)?.advance(&start, 0, 500, Schedule::StoreAll)?;
    let on_the_plane = [[-0.07, 0.01, -0.005], [-0.07, -0.02, 0.015]];
    let places = Skin::of_points(&dev, &body, &on_the_plane)?.carried(&end.x)?.to_vec()?;
    for (place, rest) in places.iter().zip(on_the_plane) {
        let way = *place - Vec3::from_array(rest);
        assert!((way - Vec3::from_array(velocity) * 0.05).norm() < 1e-12, "{way:?}");
    }
    Ok(())
}

/// Without lateral contraction, a free bar is at rest where `mu (s - 1 / s) + a s = 0`, however it is turned.
#[test]
fn fibres_pull_until_the_solid_holds() -> Result<()> {
    let (dev, body, activation) = (device(), bar(Vec::new())?, 0.4 * MU);
    // Along no axis: the bar is stretched along the fibres alone.
    let fibre = Vec3::new(0.6, 0.48, 0.64);
    let stretch = (MU / (MU + activation)).sqrt();
    let mut params = Params::<f64>::uniform(&dev, MU, 1e-9, 1e3, [0.0; 3])?;
    params.fibres = Some(dev.array(&[fibre])?);
    let turn = Quat::from_rotation_vector(Vec3::new(0.7, -0.4, 0.9));
    let moved = |rest: [f64; 3]| {
        let rest = Vec3::from_array(rest);
        let stretched = rest + fibre * ((stretch - 1.0) * rest.dot(fibre));
        (turn.rotate(stretched) - rest).to_array()
    };
    let start = displaced(&body, moved, |_| [0.0; 3])?;
    let solver = Model::new(&dev, &body, Law::NeoHookean, 1e-4, &[])?.solver(&params, &start)?;
    let fastest = |activation: f64| -> Result<f64> {
        let control = Control { activation: Some(dev.array(&[activation])?), ..Control::default() };
        let span = Span::steps(0, 50, 1e-4);
        let end = solver.advance_with(&start, span, move |_, _| Ok(control.clone()), Schedule::StoreAll)?;
        Ok(end.v.to_vec()?.iter().map(|v| v.norm()).fold(0.0, f64::max))
    };
    let (held, off) = (fastest(activation)?, fastest(1.01 * activation)?);
    assert!(held < 1e-10 && off > 1e-3, "{held} and {off} m/s");
    Ok(())
}

#[test]
fn gradients_by_fibres_activations_and_drives() -> Result<()> {
    let (dev, body, mut r) = (device(), clamped()?, Random(29));
    let cells = body.cells();
    let mut params = Params::<f64>::uniform(&dev, MU, 3e4, 1e3, [0.4, -0.3, -9.81])?;
    params.damping = dev.array(&[3.0])?;
    let start = displaced(&body, |[x, y, z]| [0.02 * y, 0.03 * x, -0.02 * z], |[x, y, z]| [z, x, 2.0 * y])?;
    let model = Model::new(&dev, &body, Law::StableNeoHookean, 5e-4, &[])?;
    let fibres: Vec<f64> = r.many(3 * cells, |r| r.between(-1.0, 1.0));
    let activations = r.many(cells, |r| r.between(2e3, 9e3));
    let drive = vec![4.0, -3.0, 5.0];
    // With other values of one of the three; and the gradient by these, where it is asked for.
    let run = |which: usize, values: &[f64], sloped: bool| -> Result<(f64, Vec<f64>)> {
        let vectors = |k: usize, own: &[f64]| -> Result<Array<Vec3<f64>>> {
            let values = if k == which { values } else { own };
            let rows: Vec<_> = values.chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect();
            Ok(dev.array(&rows)?.requires_grad())
        };
        let (fibre, pushed) = (vectors(0, &fibres)?, vectors(2, &drive)?);
        let activation = dev.array(if which == 1 { values } else { &activations })?.requires_grad();
        let params = Params { fibres: Some(fibre.clone()), ..params.clone() };
        let value = || -> Result<Array<f64>> {
            let control = Control { force: None, activation: Some(activation.clone()), drive: Some(pushed.clone()) };
            let (solver, span) = (model.solver(&params, &start)?, Span::steps(0, 40, 5e-4));
            let end = solver.advance_with(&start, span, move |_, _| Ok(control.clone()), Schedule::Auto)?;
            loss(&end)
        };
        if !sloped {
            return Ok((value()?.to_vec()?[0], Vec::new()));
        }
        let (tape, out) = Tape::record_value(value)?;
        tape.backward(&out)?;
        let slope = match which {
            0 => numbers(fibre.grad()?.as_any())?,
            1 => numbers(activation.grad()?.as_any())?,
            _ => numbers(pushed.grad()?.as_any())?,
        };
        Ok((out.to_vec()?[0], slope))
    };
    let all = [("fibres", &fibres), ("activation", &activations), ("drive", &drive)];
    for (which, (name, at)) in all.into_iter().enumerate() {
        compare(name, &run(which, at, true)?.1, at, &|x| Ok(run(which, x, false)?.0))?;
    }
    Ok(())
}

#[test]
fn controls_of_the_wrong_length_are_refused() -> Result<()> {
    let (dev, body) = (device(), clamped()?);
    let start = body.state(&dev, [0.0; 3], [0.0; 3])?;
    let plain = Params::<f64>::uniform(&dev, MU, 3e4, 1e3, [0.0; 3])?;
    let model = Model::new(&dev, &body, Law::NeoHookean, 1e-4, &[])?;
    let step = |params: &Params<f64>, control: &Control<f64>| {
        let solver = model.solver(params, &start)?;
        Ok::<_, diffkern_sim::Error>(solver.step(&start, control, solver.tick(0))?)
    };
    let two = dev.array(&[1.0, 2.0])?;
    let along = dev.array(&[Vec3::new(1.0, 0.0, 0.0); 2])?;
    let pulled = Control { activation: Some(dev.array(&[1.0])?), ..Control::default() };
    let fibres = Params { fibres: Some(dev.array(&[Vec3::new(1.0, 0.0, 0.0)])?), ..plain.clone() };
    let cases = [
        (&plain, Control { drive: Some(along.clone()), ..Control::default() }, "length of the acceleration of clamps"),
        (&fibres, Control { activation: Some(two), ..Control::default() }, "activation"),
        (&plain, pulled.clone(), "Params::fibres"),
        (&Params { fibres: Some(along), ..plain.clone() }, pulled.clone(), "fibres"),
    ];
    for (params, control, expected) in cases {
        let error = step(params, &control).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, expected {expected}");
    }
    let free = bar(Vec::new())?;
    let start = free.state(&dev, [0.0; 3], [0.0; 3])?;
    let solver = Model::new(&dev, &free, Law::NeoHookean, 1e-4, &[])?.solver(&plain, &start)?;
    let drive = Control { drive: Some(dev.array(&[Vec3::new(1.0, 0.0, 0.0)])?), ..Control::default() };
    let error = solver.step(&start, &drive, solver.tick(0)).unwrap_err().to_string();
    assert!(error.contains("nothing is held"), "{error}");
    assert!(step(&fibres, &pulled).is_ok());
    Ok(())
}
