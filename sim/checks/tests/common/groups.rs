//! Gradients of a whole run by every group of parameters of a model, and by its initial state.

use super::Random;
use diffkern::gradcheck::{Options, function};
use diffkern::prelude::*;
use diffkern::{AnyArray, State};
use diffkern_sim::collision::Pose;
use diffkern_sim::{Model, Params, Result, Span, Step};

/// The numbers of an array of reals, vectors, quaternions or poses.
pub fn numbers(array: &AnyArray) -> Result<Vec<f64>> {
    macro_rules! try_as {
        ($($element:ty => $flat:expr),+) => {
            $(if let Ok(typed) = Array::<$element>::try_from(array.clone()) {
                return Ok(typed.to_vec()?.into_iter().flat_map($flat).collect());
            })+
        };
    }
    try_as!(f64 => |x| vec![x], Vec2<f64> => |v| v.to_array().to_vec(), Vec3<f64> => |v| v.to_array().to_vec(),
        Mat3<f64> => |m| m.to_array().to_vec(), Quat<f64> => |q| q.to_array().to_vec(),
        Pose<f64> => |p| [p.centre.to_array().to_vec(), p.rotation.to_array().to_vec(), p.velocity.to_array().to_vec(),
            p.spin.to_array().to_vec()].concat());
    panic!("an array of another type")
}

/// An array like another with these numbers; one that wants a gradient.
pub fn like(array: &AnyArray, numbers: &[f64]) -> Result<AnyArray> {
    let device = array.device();
    macro_rules! try_as {
        ($($element:ty => $size:literal, $make:expr),+) => {
            $(if Array::<$element>::try_from(array.clone()).is_ok() {
                let values: Vec<$element> = numbers.chunks($size).map($make).collect();
                return Ok(device.array(&values)?.requires_grad().as_any().clone());
            })+
        };
    }
    try_as!(f64 => 1, |c| c[0], Vec2<f64> => 2, |c| Vec2::new(c[0], c[1]), Vec3<f64> => 3, |c| Vec3::new(c[0], c[1], c[2]),
        Mat3<f64> => 9, |c| Mat3::from_array(std::array::from_fn(|k| c[k])),
        Quat<f64> => 4, |c| Quat::new(c[0], c[1], c[2], c[3]),
    Pose<f64> => 13, |c| Pose {
        centre: Vec3::new(c[0], c[1], c[2]),
        rotation: Quat::new(c[3], c[4], c[5], c[6]),
        velocity: Vec3::new(c[7], c[8], c[9]),
        spin: Vec3::new(c[10], c[11], c[12]),
    });
    panic!("an array of another type")
}

/// The numbers of the gradient of an array.
pub fn gradient(array: &AnyArray) -> Result<Vec<f64>> {
    macro_rules! try_as {
        ($($element:ty),+) => {
            $(if let Ok(typed) = Array::<$element>::try_from(array.clone()) {
                return numbers(typed.grad()?.as_any());
            })+
        };
    }
    try_as!(f64, Vec2<f64>, Vec3<f64>, Mat3<f64>, Quat<f64>, Pose<f64>);
    panic!("an array of another type")
}

/// The first step of the differences, and how many there are, each a quarter of the one before.
type Steps = (f64, usize);
const USUAL: Steps = (5e-3, 5);
/// For what has so little influence that the longest step is needed against rounding.
pub const LONG: Steps = (2e-2, 6);

/// A run of a model and a number at its end.
pub struct Run<'a, M: Model> {
    pub model: &'a M,
    pub params: M::Params,
    pub state: M::State,
    pub span: Span,
    pub loss: &'a dyn Fn(&M::State) -> Result<Array<f64>>,
}

impl<M: Model> Run<'_, M>
where
    M::Control: Default,
{
    fn end(&self, params: &M::Params, state: &M::State) -> Result<Array<f64>> {
        let solver = self.model.bind(params, state)?;
        let end = solver.advance_with(state, self.span, |_, _| Ok(M::Control::default()), Schedule::Auto)?;
        (self.loss)(&end)
    }

    /// Central differences and Taylor remainders in random directions for every group of parameters and every array of the state.
    pub fn check(&self, leave_out: &[&str]) -> Result<()> {
        self.check_by(USUAL, leave_out)
    }

    /// The same in these steps.
    pub fn check_by(&self, steps: Steps, leave_out: &[&str]) -> Result<()> {
        let mut checked = 0;
        // Every group is compared at the same place.
        let here = self.end(&self.params, &self.state)?.to_vec()?[0];
        for path in self.params.groups().iter().map(|g| g.path.to_string()) {
            if leave_out.contains(&path.as_str()) {
                continue;
            }
            let group = self.params.group(&path)?.array.clone();
            let at = numbers(&group)?;
            let with = |x: &[f64]| -> Result<(M::Params, AnyArray)> {
                let (mut params, array) = (self.params.clone(), like(&group, x)?);
                params.replace(&path, array.clone())?;
                Ok((params, array))
            };
            let (params, array) = with(&at)?;
            let (tape, loss) = Tape::record_value(|| self.end(&params, &self.state))?;
            tape.backward(&loss)?;
            let slope = gradient(&array)?;
            let value = |x: &[f64]| match x == at {
                true => Ok(here),
                false => Ok(self.end(&with(x)?.0, &self.state)?.to_vec()?[0]),
            };
            compare_by(steps, &path, &slope, &at, &value)?;
            checked += 1;
        }
        for (k, array) in self.state.arrays().iter().enumerate() {
            let at = numbers(array)?;
            let with = |x: &[f64]| -> Result<(M::State, AnyArray)> {
                let (mut arrays, array) = (self.state.arrays(), like(array, x)?);
                arrays[k] = array.clone();
                Ok((self.state.with_arrays(arrays), array))
            };
            let (state, array) = with(&at)?;
            let (tape, loss) = Tape::record_value(|| self.end(&self.params, &state))?;
            tape.backward(&loss)?;
            let slope = gradient(&array)?;
            let name = format!("array {k} of the state");
            let value = |x: &[f64]| match x == at {
                true => Ok(here),
                false => Ok(self.end(&self.params, &with(x)?.0)?.to_vec()?[0]),
            };
            compare_by(steps, &name, &slope, &at, &value)?;
            checked += 1;
        }
        assert!(checked > 2, "{checked} groups");
        Ok(())
    }
}

/// The gradient `slope` of `f` at `at` against differences, and whether one that is off by a thousandth is seen.
pub fn compare(name: &str, slope: &[f64], at: &[f64], f: &dyn Fn(&[f64]) -> Result<f64>) -> Result<()> {
    compare_by(USUAL, name, slope, at, f)
}

fn compare_by(
    (first_step, steps): Steps,
    name: &str,
    slope: &[f64],
    at: &[f64],
    f: &dyn Fn(&[f64]) -> Result<f64>,
) -> Result<()> {
    assert!(slope.iter().any(|s| *s != 0.0), "{name} has no influence");
    let mut r = Random(at.len() as u64);
    // Far enough that the difference of the values is well above their rounding, relative to the group's own size. Of a
    // group of zeros, such as velocities at rest, no size is known.
    let largest = at.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let usual = if largest > 0.0 { largest } else { 0.3 };
    let scales: Vec<f64> = at.iter().map(|x| 0.3 * x.abs().max(0.3 * usual) * r.between(0.5, 1.0)).collect();
    let options = Options { scales, first_step, directions: 2, steps, detects: 1e-3, ..Options::default() };
    function(|x| Ok(f(x)?), slope, at, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
    Ok(())
}
