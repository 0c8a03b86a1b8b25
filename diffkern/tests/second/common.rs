//! A program of one array of numbers, and what must hold of its Hessian.

use diffkern::gradcheck::{Along, along};
use diffkern::prelude::*;

/// Uniform in -1 .. 1, by xorshift.
pub struct Random(pub u64);

impl Random {
    pub fn component(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.component()).collect()
    }
}

pub fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    inner(a, a).sqrt()
}

type Program<'a> = &'a dyn Fn(&Array<f64>) -> Result<Array<f64>>;

pub fn gradient(program: Program<'_>, at: &[f64]) -> Result<Vec<f64>> {
    let x = Device::cpu().array(at)?.requires_grad();
    let (tape, loss) = Tape::record_value(|| program(&x))?;
    tape.backward(&loss)?;
    x.grad()?.to_vec()
}

/// The gradient and the products with all directions, of one call of `hvp`.
pub fn products(program: Program<'_>, at: &[f64], along: &[Vec<f64>]) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
    let x = Device::cpu().array(at)?.requires_grad();
    let (tape, loss) = Tape::record_value(|| program(&x))?;
    let moves = along.iter().map(|v| x.device().array(v)).collect::<Result<Vec<_>>>()?;
    let pairs: Vec<_> = moves.iter().map(|v| [(x.as_any(), v.as_any())]).collect();
    let directions: Vec<&[_]> = pairs.iter().map(|pair| &pair[..]).collect();
    let found = tape.hvp(&loss, &directions)?;
    let all = (0..along.len()).map(|k| found.get(k, &x)?.to_vec()).collect::<Result<Vec<_>>>()?;
    // The tape is as it was.
    tape.backward(&loss)?;
    assert_eq!(x.grad()?.to_vec()?, found.gradient(&x)?.to_vec()?, "the gradient that comes along");
    let again = tape.hvp(&loss, &directions[..1])?;
    assert_eq!(again.get(0, &x)?.to_vec()?, all[0], "one direction alone, after the others");
    Ok((found.gradient(&x)?.to_vec()?, all))
}

/// `H v` against finite differences of the gradient to 1e-6, `<u, H v> = <v, H u>` to 1e-10.
pub fn holds(what: &str, program: Program<'_>, at: &[f64]) -> Result<()> {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let (u, v) = (random.vector(at.len()), random.vector(at.len()));
    let (found, hessian) = products(program, at, &[u.clone(), v.clone()])?;
    assert_eq!(found, gradient(program, at)?, "{what}: the gradient that comes along");
    let (one, other) = (inner(&v, &hessian[0]), inner(&u, &hessian[1]));
    let size = norm(&u) * norm(&hessian[1]) + norm(&v) * norm(&hessian[0]);
    assert!((one - other).abs() <= 1e-10 * size, "{what}: <v, H u> = {one}, <u, H v> = {other}");
    assert!(size > 0.0, "{what}: a Hessian of zero shows nothing");
    let probes = [random.vector(at.len()), random.vector(at.len()), u.clone()];
    for probe in probes {
        let slope = inner(&probe, &hessian[1]);
        let moved = |t: f64| {
            let at: Vec<f64> = at.iter().zip(&v).map(|(x, v)| x + t * v).collect();
            Ok::<_, Error>(inner(&probe, &gradient(program, &at)?))
        };
        match along(moved, slope, (1e-3, 6), f64::EPSILON, 1e-5)? {
            Along::Smooth { derivative, .. } => {
                let error = (slope - derivative).abs() / (1e-2 * norm(&probe) * norm(&hessian[1])).max(slope.abs());
                assert!(error <= 1e-6, "{what}: {slope} against differences {derivative}: {error:e}");
            }
            kink => panic!("{what}: {kink:?} at the point of the test"),
        }
    }
    Ok(())
}

pub fn point(n: usize) -> Vec<f64> {
    let mut random = Random(77);
    (0..n).map(|_| 0.8 + 0.4 * random.component()).collect()
}
