//! Every value has one place, and none that is given goes unused.

use diffkern::prelude::*;
use diffkern_sim::Result;
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{Contact, Dim2, Grid, HalfSpace, Law, Model, Params, State};

const GRAVITY: [f64; 2] = [0.0, -10.0];
const UP: [f64; 2] = [0.0, 1.0];

fn model(floor: HalfSpace<Dim2>) -> Result<Model<Dim2, f64>> {
    let grid = Grid::new([0.0, 0.0], 0.1, [40, 10])?;
    Model::new(&Device::cpu(), grid, 1e-3, Law::NeoHookean, &[floor])
}

fn params() -> Result<Params<Dim2, f64>> {
    Params::uniform(&Device::cpu(), 1.0, 1.0, 1.0, 1.0, GRAVITY)
}

/// Speed of a particle that has slid over a floor for a tenth of a second, from 1 m/s.
fn slide(friction: f64, params: &Params<Dim2, f64>) -> Result<f64> {
    let floor = HalfSpace::through([0.0, 0.6], UP, Contact::Separating).with_friction(friction);
    let start = State::undeformed(&Device::cpu(), &[Vec2::new(0.5, 0.35)], &[Vec2::new(1.0, 0.0)])?;
    let end = model(floor)?.solver(params, 1)?.advance(&start, 0, 100, Schedule::StoreAll)?;
    Ok(end.v.to_vec()?[0].x)
}

#[test]
fn friction_of_a_half_space_acts_by_itself() -> Result<()> {
    let given = Params { friction: Some(Device::cpu().array(&[0.3])?), ..params()? };
    assert!((slide(0.3, &params()?)? - 0.7).abs() < 2e-3);
    assert_eq!(slide(0.3, &params()?)?.to_bits(), slide(0.0, &given)?.to_bits());
    assert!((slide(0.0, &params()?)? - 1.0).abs() < 1e-12);
    Ok(())
}

#[track_caller]
fn refused<T>(result: Result<T>, message: &str) {
    assert_eq!(result.err().map(|error| error.to_string()).as_deref(), Some(message));
}

#[test]
fn a_value_that_would_not_be_used_is_refused() -> Result<()> {
    let friction = |n: usize| Device::cpu().full(n, 0.3).map(Some);
    let both = slide(0.2, &Params { friction: friction(1)?, ..params()? });
    refused(both, "friction of half-space 0 is 0.2, expected 0, as `Params::friction` gives the coefficients");
    let three = slide(0.0, &Params { friction: friction(3)?, ..params()? });
    refused(three, "length of friction is 3, expected 1 or 1, one a half-space");
    let sticky = model(HalfSpace::through([0.0, 0.6], UP, Contact::Sticky).with_friction(0.2));
    refused(sticky, "friction of half-space 0 is 0.2, expected 0, as nothing slides on a sticky contact");
    let smooth = model(HalfSpace::through([0.0, 0.6], UP, Contact::Slip))?.with_contact_spacing(0.05);
    refused(smooth, "contact spacing is 0.05, expected none, as no half-space has a penalty contact");
    let grid = Grid::new([0.0, 0.0], 0.1, [40, 10])?;
    let free = Model::<Dim2, f64>::new(&Device::cpu(), grid, 1e-3, Law::NeoHookean, &[])?;
    let nowhere = free.solver(&Params { friction: friction(1)?, ..params()? }, 1);
    refused(nowhere, "length of friction is 1, expected none, as there are no half-spaces");
    Ok(())
}
