//! A kernel or function from its text, its derivatives run by the interpreter, and the two identities they must meet.

use diffkern_ir::interpret::{Arg, Array, Forms, Library, Val, run};
use diffkern_ir::{Func, FuncKind, ParamKind, Ty, print, verify};

use crate::adjoint::adjoint;
use crate::diagnostics::Diagnostics;
use crate::directions::directions;
use crate::guard;
use crate::simplify::simplify;
use crate::tangent::{second, tangent};
use crate::{lower, parse};

/// Lowers a function that has no mistakes.
pub fn lowered(source: &str, kind: FuncKind) -> Func {
    let item: syn::ItemFn = syn::parse_str(source).expect("the case is Rust");
    let errors = Diagnostics::default();
    let sig = parse::signature(&item, kind, &errors);
    let lowered = sig.map(|sig| lower::lower(&item, &sig, kind, &errors));
    errors.finish().expect("the case has no mistakes");
    let (func, _) = lowered.expect("the signature is right");
    verify(&func).expect("lowering makes valid IR");
    func
}

/// Without the lines of the source.
pub fn text(func: &Func) -> String {
    print(func, &|_| 0)
}

pub fn kernel(source: &str) -> Func {
    lowered(source, FuncKind::Kernel)
}

pub fn function(source: &str) -> Func {
    lowered(source, FuncKind::DiffFn)
}

pub fn library(sources: &[&str]) -> Library {
    let mut library = Library::default();
    for source in sources {
        let primal = function(source);
        let (vjp, jvp) = (adjoint(&primal), tangent(&primal));
        let second = second(&vjp);
        library.add(Forms { primal, vjp: guard::lower(vjp), jvp, second });
    }
    library
}

/// Uniform in an interval, by xorshift.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn within(&mut self, lo: f64, hi: f64) -> f64 {
        for _ in 0..3 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
        }
        lo + (hi - lo) * (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn value(&mut self, ty: Ty, lo: f64, hi: f64) -> Val {
        Val::Real((0..ty.components()).map(|_| self.within(lo, hi)).collect())
    }
}

/// The derivative at 0, of order 8.
pub fn difference(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    let pair = |k: f64| f(k * h) - f(-k * h);
    (pair(1.0) * 4.0 / 5.0 - pair(2.0) / 5.0 + pair(3.0) * 4.0 / 105.0 - pair(4.0) / 280.0) / h
}

pub fn dot(a: &[Val], b: &[Val]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.reals().iter().zip(b.reals()).map(|(a, b)| a * b).sum::<f64>()).sum()
}

fn moved(x: &[Val], v: &[Val], h: f64) -> Array {
    let add = |(x, v): (&Val, &Val)| match (x, v) {
        (Val::Real(x), Val::Real(v)) => Val::Real(x.iter().zip(v).map(|(x, v)| x + h * v).collect()),
        (other, _) => other.clone(),
    };
    x.iter().zip(v).map(add).collect()
}

#[track_caller]
pub fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let scale = expected.abs().max(found.abs()).max(1e-3);
    assert!((found - expected).abs() <= tolerance * scale, "{what}: {found:e} against {expected:e}");
}

/// A kernel with the arguments to run it on; the arrays that it writes are given their length by a value too.
pub struct Case {
    pub primal: Func,
    pub adjoint: Func,
    pub tangent: Func,
    pub second: Func,
    pub args: Vec<Arg>,
    pub arrays: Vec<Array>,
    pub domain: usize,
    pub library: Library,
}

impl Case {
    /// `args`: an array (by its elements) or a value for each parameter.
    pub fn new(source: &str, domain: usize, args: Vec<Input>, library: Library) -> Self {
        let mut primal = kernel(source);
        let (from_raw, raw_tangent) = (adjoint(&primal), tangent(&primal));
        verify(&from_raw).expect("the adjoint is valid");
        verify(&raw_tangent).expect("the tangent is valid");
        simplify(&mut primal);
        verify(&primal).expect("simplified IR is valid");
        let adjoint = adjoint(&primal);
        let second = second(&adjoint);
        verify(&second).expect("the tangent of the adjoint is valid");
        let (adjoint, tangent) = (guard::lower(adjoint), tangent(&primal));
        verify(&adjoint).expect("the adjoint is valid");
        verify(&tangent).expect("the tangent is valid");
        let mut arrays = Vec::new();
        let args = args
            .into_iter()
            .map(|input| match input {
                Input::Array(array) => {
                    arrays.push(array);
                    Arg::Array(arrays.len() - 1)
                }
                Input::Value(value) => Arg::Value(value),
            })
            .collect();
        Self { primal, adjoint, tangent, second, args, arrays, domain, library }
    }

    /// The arrays after `func` ran with an array of `extra` for each real array parameter.
    pub fn launch(&self, func: &Func, start: &[Array], extra: &[Array]) -> Vec<Array> {
        let mut arrays: Vec<Array> = start.iter().chain(extra).cloned().collect();
        let mut args = self.args.clone();
        args.extend((0..extra.len()).map(|k| Arg::Array(start.len() + k)));
        for pos in 0..self.domain {
            run(func, &args, &mut arrays, pos, &self.library);
        }
        arrays
    }

    /// The array of each real array parameter.
    fn real_arrays(&self) -> Vec<usize> {
        let mut found = Vec::new();
        for (param, arg) in self.primal.params.iter().zip(&self.args) {
            if let (ParamKind::Array { elem, .. }, Arg::Array(k)) = (&param.kind, arg)
                && elem.is_real()
            {
                found.push(*k);
            }
        }
        found
    }

    /// The real arrays after the kernel ran.
    pub fn values(&self) -> Vec<Array> {
        let end = self.launch(&self.primal, &self.arrays, &[]);
        self.real_arrays().into_iter().map(|k| end[k].clone()).collect()
    }

    /// The bars of the real arrays after the adjoint ran on bars that are `seed` for the written ones.
    pub fn gradient(&self, bars: &[Array]) -> Vec<Array> {
        self.launch(&self.adjoint, &self.arrays, bars).split_off(self.arrays.len())
    }

    /// The dots of the real arrays after the tangent ran.
    pub fn push_forward(&self, dots: &[Array]) -> Vec<Array> {
        self.launch(&self.tangent, &self.arrays, dots).split_off(self.arrays.len())
    }

    /// The real arrays after the kernel ran with its tangents along several directions, and along each their dots.
    pub fn push_along(&self, dots: &[Vec<Array>]) -> (Vec<Array>, Vec<Vec<Array>>) {
        let joined = directions(&self.primal, dots.len());
        verify(&joined).expect("the kernel with its tangents is valid");
        let mut end = self.launch(&joined, &self.arrays, &dots.concat());
        let after = end.split_off(self.arrays.len());
        let values = self.real_arrays().into_iter().map(|k| end[k].clone()).collect();
        (values, after.chunks(dots[0].len()).map(<[Array]>::to_vec).collect())
    }

    /// The kernel with its tangents along several directions gives the bits of the kernel and of each tangent.
    ///
    /// # Errors
    /// With what differs.
    pub fn agrees_along(&self, dots: &[Vec<Array>]) -> Result<(), String> {
        let bits = |of: &[Array]| -> Vec<u64> {
            of.iter().flatten().flat_map(|x| x.reals().iter().map(|x| x.to_bits()).collect::<Vec<_>>()).collect()
        };
        let (values, tangents) = self.push_along(dots);
        if bits(&values) != bits(&self.values()) {
            return Err(format!("values beside {} tangents differ", dots.len()));
        }
        for (k, (found, dots)) in tangents.iter().zip(dots).enumerate() {
            if bits(found) != bits(&self.push_forward(dots)) {
                return Err(format!("the tangent along direction {k} of several differs from that along it alone"));
            }
        }
        Ok(())
    }

    /// The bars of the real arrays and the dots of these after the tangent of the adjoint ran.
    pub fn second(&self, bars: &[Array], dots: &[Array], bar_dots: &[Array]) -> (Vec<Array>, Vec<Array>) {
        let extra = [bars, dots, bar_dots].concat();
        let mut after = self.launch(&self.second, &self.arrays, &extra).split_off(self.arrays.len());
        let bar_dots = after.split_off(2 * bars.len());
        after.truncate(bars.len());
        (after, bar_dots)
    }

    /// Random arrays like the real ones.
    fn like(&self, rng: &mut Random) -> Vec<Array> {
        let mut element = |x: &Val| Val::Real(x.reals().iter().map(|_| rng.within(-1.0, 1.0)).collect());
        self.real_arrays().iter().map(|k| self.arrays[*k].iter().map(&mut element).collect()).collect()
    }

    /// `<u, J v> = <J^T u, v>` to 1e-10, and `<u, J v>` against differences of the kernel to 1e-7. `J` maps all real
    /// arrays before the launch to all after it: a written array also passes on what the kernel leaves of it.
    #[track_caller]
    pub fn holds(&self) {
        self.holds_at(1e-3);
    }

    /// The same with differences of this step: a small one for kernels that jump.
    #[track_caller]
    pub fn holds_at(&self, step: f64) {
        for seed in 1..4 {
            let mut rng = Random::new(seed);
            let (dots, bars) = (self.like(&mut rng), self.like(&mut rng));
            let total = |a: &[Array], b: &[Array]| a.iter().zip(b).map(|(a, b)| dot(a, b)).sum::<f64>();
            let forward = total(&bars, &self.push_forward(&dots));
            let reverse = total(&self.gradient(&bars), &dots);
            close(reverse, forward, 1e-10, "adjoint against tangent");

            let along = |h: f64| {
                let mut start = self.arrays.clone();
                for (k, dot) in self.real_arrays().into_iter().zip(&dots) {
                    start[k] = moved(&self.arrays[k], dot, h);
                }
                let end = self.launch(&self.primal, &start, &[]);
                let outcome: Vec<Array> = self.real_arrays().iter().map(|k| end[*k].clone()).collect();
                total(&bars, &outcome)
            };
            close(forward, difference(along, step), 1e-7, "tangent against differences");
            self.holds_twice(&mut rng, &dots, &bars, step);
            for count in 2..=4 {
                let several: Vec<_> = (0..count).map(|_| self.like(&mut rng)).collect();
                self.agrees_along(&several).expect("directions agree");
            }
        }
    }
}

impl Case {
    /// The tangent of the adjoint against differences of the adjoint to 1e-7, along `dots` for the arrays and a random
    /// direction for the bars; the bars are those of the adjoint; the second derivative is symmetric to 1e-10.
    #[track_caller]
    fn holds_twice(&self, rng: &mut Random, dots: &[Array], bars: &[Array], step: f64) {
        let (bar_dots, probe) = (self.like(rng), self.like(rng));
        let total = |a: &[Array], b: &[Array]| a.iter().zip(b).map(|(a, b)| dot(a, b)).sum::<f64>();
        let (bars_after, found) = self.second(bars, dots, &bar_dots);
        close(total(&probe, &bars_after), total(&probe, &self.gradient(bars)), 1e-12, "bars beside their tangents");
        let along = |h: f64| {
            let mut start = self.arrays.clone();
            for (k, dot) in self.real_arrays().into_iter().zip(dots) {
                start[k] = moved(&self.arrays[k], dot, h);
            }
            let bars: Vec<Array> = bars.iter().zip(&bar_dots).map(|(bar, dot)| moved(bar, dot, h)).collect();
            let after = self.launch(&self.adjoint, &start, &bars).split_off(self.arrays.len());
            total(&probe, &after)
        };
        close(total(&probe, &found), difference(along, step), 1e-7, "tangent of adjoint against differences");

        let zeros: Vec<Array> = bars.iter().map(|bar| moved(bar, bar, -1.0)).collect();
        let curvature = |along: &[Array]| self.second(bars, along, &zeros).1;
        let (one, other) = (total(&probe, &curvature(dots)), total(dots, &curvature(&probe)));
        close(one, other, 1e-10, "second derivative against its transpose");
    }
}

pub enum Input {
    Array(Array),
    Value(Val),
}

pub fn reals(values: &[f64]) -> Input {
    Input::Array(values.iter().map(|x| Val::Real(vec![*x])).collect())
}

/// `n` random elements between `lo` and `hi`.
pub fn random(seed: u64, n: usize, ty: Ty, lo: f64, hi: f64) -> Input {
    let mut rng = Random::new(seed);
    Input::Array((0..n).map(|_| rng.value(ty, lo, hi)).collect())
}

pub fn ints(values: &[i64]) -> Input {
    Input::Array(values.iter().map(|x| Val::Int(*x)).collect())
}

pub fn int(value: i64) -> Input {
    Input::Value(Val::Int(value))
}

pub fn real(value: f64) -> Input {
    Input::Value(Val::Real(vec![value]))
}

pub fn zeros(n: usize, ty: Ty) -> Input {
    Input::Array(vec![Val::Real(vec![0.0; ty.components()]); n])
}
