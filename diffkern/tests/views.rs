//! Launches that write several views of one array: values, tangents and gradients are those of arrays of their own.

use diffkern::prelude::*;
use diffkern::{AnyArray, Schedule, jvp, reduce, rollout};

#[diff_kernel]
fn store_two<F: Float>(x: &Array<F>, a: &mut Array<F>, b: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    a[i] = x[i].sin();
    b[i] = x[i] * x[i];
}

#[diff_kernel]
fn add_two<F: Float>(x: &Array<F>, a: &mut Array<F>, b: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    a[i] += x[i].sin();
    b[i] += x[i] * x[i];
}

#[diff_kernel]
fn scale_two<F: Float>(x: &Array<F>, a: &mut Array<F>, b: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    a[i] *= x[i].sin();
    b[i] *= x[i] * x[i];
}

#[diff_struct]
struct Ball<F> {
    at: Vec2<F>,
    speed: F,
}

#[diff_kernel]
fn throw_two<F: Float>(x: &Array<F>, a: &mut Array<Ball<F>>, b: &mut Array<Ball<F>>) {
    let i = ABSOLUTE_POS;
    a[i] = Ball { at: Vec2::new(x[i], x[i] * x[i]), speed: x[i].sin() };
    b[i].speed += x[i] * 3.0;
}

type Launch = fn(&Array<f64>, &Array<f64>, &Array<f64>) -> Result<()>;

const LAUNCHES: [(&str, Launch); 3] = [
    ("=", |x, a, b| store_two(x.len(), x, a, b)),
    ("+=", |x, a, b| add_two(x.len(), x, a, b)),
    ("*=", |x, a, b| scale_two(x.len(), x, a, b)),
];

const X: [f64; 2] = [0.7, -1.3];
const Q: [f64; 4] = [0.4, -0.2, 1.1, 0.9];

/// What the launch gives from `X` and `Q`, and its tangents along two directions, in views of one array or in two.
fn tangents(launch: Launch, views: bool) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
    let dev = Device::cpu();
    let x = dev.array(&X)?;
    let (q, own) = (dev.array(&Q)?, dev.array(&Q[2..])?);
    let (first, second) = (q.slice(..2)?, if views { q.slice(2..)? } else { own });
    let (dx, dy) = (dev.array(&[0.3, 0.8])?, dev.array(&[-1.1, 0.25])?);
    let (dq, dr) = (dev.array(&[0.15, 0.35])?, dev.array(&[0.65, -0.4])?);
    let directions: [&[(&AnyArray, &AnyArray)]; 2] = [
        &[(x.as_any(), dx.as_any()), (first.as_any(), dq.as_any())],
        &[(x.as_any(), dy.as_any()), (second.as_any(), dr.as_any())],
    ];
    let ((), moved) = jvp(&directions, || launch(&x, &first, &second))?;
    let of = |k: usize| Ok([moved.get(k, &first)?.to_vec()?, moved.get(k, &second)?.to_vec()?].concat());
    let values = [first.to_vec()?, second.to_vec()?].concat();
    Ok((values, (0..2).map(of).collect::<Result<_>>()?))
}

#[test]
fn tangents_of_two_views_are_those_of_two_arrays() -> Result<()> {
    for (name, launch) in LAUNCHES {
        let (of_views, of_arrays) = (tangents(launch, true)?, tangents(launch, false)?);
        assert_eq!(of_views, of_arrays, "{name}");
        assert!(of_views.1.iter().flatten().all(|x| x.abs() > 1e-3), "{name}: {:?}", of_views.1);
    }
    Ok(())
}

#[test]
fn tangents_of_two_views_of_structs() -> Result<()> {
    let dev = Device::cpu();
    let (x, dx) = (dev.array(&X)?, dev.array(&[0.3, 0.8])?);
    let balls: Array<Ball<f64>> = dev.array(&[Ball { at: Vec2::new(0.2, 0.3), speed: 0.5 }; 4])?;
    let (a, b) = (balls.slice(..2)?, balls.slice(2..)?);
    let ((), moved) = jvp(&[&[(x.as_any(), dx.as_any())]], || throw_two(2, &x, &a, &b))?;
    let (a, b) = (moved.get(0, &a)?.to_vec()?, moved.get(0, &b)?.to_vec()?);
    for (k, (x, dx)) in X.into_iter().zip([0.3, 0.8]).enumerate() {
        assert_eq!(a[k], Ball { at: Vec2::new(dx, 2.0 * x * dx), speed: x.cos() * dx });
        assert_eq!(b[k], Ball { at: Vec2::new(0.0, 0.0), speed: 3.0 * dx });
    }
    Ok(())
}

/// Both modes, through the steps of a rollout.
#[test]
fn steps_that_write_views_have_one_slope_in_both_modes() -> Result<()> {
    for (name, launch) in LAUNCHES {
        let dev = Device::cpu();
        let (x, dx) = (dev.array(&X)?.requires_grad(), dev.array(&[0.3, 0.8])?);
        let program = || -> Result<Array<f64>> {
            let x = x.clone();
            let q = rollout(3, Schedule::Checkpoints(1), dev.array(&Q)?, move |q: &Array<f64>, _| {
                let next = q.device().uninit(4)?;
                next.copy_from(q)?;
                launch(&x, &next.slice(2..)?, &next.slice(..2)?)?;
                launch(&x, &next.slice(..2)?, &next.slice(2..)?)?;
                Ok(next)
            })?;
            reduce::dot(&q, &q)
        };
        let (loss, moved) = jvp(&[&[(x.as_any(), dx.as_any())]], program)?;
        let slope = moved.get(0, &loss)?.to_vec()?[0];
        let (tape, loss) = Tape::record_value(program)?;
        tape.backward(&loss)?;
        let gradient = x.grad()?.to_vec()?;
        let expected = gradient[0] * 0.3 + gradient[1] * 0.8;
        assert!((slope - expected).abs() <= 1e-12 * expected.abs() && slope.abs() > 1e-3, "{name}: {slope} {expected}");
    }
    Ok(())
}
