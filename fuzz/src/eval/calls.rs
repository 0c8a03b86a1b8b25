//! Device functions, and methods of the type that a kernel is over.

use super::ops::method;
use super::{Run, Val};
use crate::ast::{Expr, Kind, Response};
use crate::case::LEN;
use crate::dual::Dual;

impl Run<'_> {
    pub(super) fn call(&mut self, name: &str, args: &[Expr], values: &[Val]) -> Val {
        let one = Dual::constant(1.0);
        let reals = |k: usize| values[k].clone().reals();
        let real = |k: usize| reals(k)[0];
        match name {
            "blend" => {
                let [a, b, t] = [0, 1, 2].map(real);
                let s = method("sin", t);
                Val::Real(vec![a * (one - s) + b * s * s])
            }
            "turn" => {
                let (v, angle) = (reals(0), real(1));
                let (c, s) = (method("cos", angle), method("sin", angle));
                Val::Real(vec![c * v[0] - s * v[1], s * v[0] + c * v[1]])
            }
            "gather" => {
                let Kind::Array(array) = args[0].kind else { panic!("`gather` takes an array") };
                let Val::Int(start) = values[1] else { panic!("`gather` starts at an integer") };
                let w = real(2);
                let mut sum = Dual::constant(0.5);
                for k in 0..3u32 {
                    let e = self.arrays[array][start.wrapping_add(k) as usize % LEN];
                    sum = if e.v > 0.0 { sum + method("sin", sum * e) * w } else { sum - e * w * w };
                }
                Val::Real(vec![sum])
            }
            "push" => {
                let (b, w) = (reals(0), real(1));
                let mass = (b[0] + b[1] * w) * Dual::constant(0.5);
                let scale = method("sin", w) + one;
                Val::Real(std::iter::once(mass).chain(b[1..].iter().map(|x| *x * scale)).collect())
            }
            "hold" => {
                let (b, v, w) = (reals(0), reals(1), real(2));
                let half = b.iter().map(|x| *x * Dual::constant(0.5));
                let held = [v[0] * w, v[1]].into_iter().chain(if w.v > 0.0 { half.collect() } else { b.clone() });
                Val::Real(held.chain([b[0] * w]).collect())
            }
            "let_go" => {
                let h = reals(0);
                let body = [h[2] + h[6], h[3] + h[0], h[4] * h[1], h[5]];
                Val::Real(if h[6].v > 0.5 {
                    if h[0].v > 0.0 { body.to_vec() } else { h[2..6].to_vec() }
                } else {
                    vec![h[6], h[3], h[0], h[1]]
                })
            }
            "R::bend" => {
                let Val::Int(n) = values[2] else { panic!("`bend` takes an integer") };
                Val::Real(vec![self.bend(real(0), real(1), n)])
            }
            "R::pull" => {
                let Val::Int(n) = values[2] else { panic!("`pull` takes an integer") };
                Val::Real(self.pull(reals(0), real(1), n))
            }
            other => panic!("no device function `{other}`"),
        }
    }

    /// Of the type that the kernel is launched with.
    fn bend(&mut self, x: Dual, w: Dual, n: u32) -> Dual {
        if self.response == Some(Response::Soft) {
            return method("sin", x * Dual::constant(f64::from(n % 3) * 0.25 + 0.5)) * w;
        }
        let mut s = x;
        for k in 0..n % 4 {
            s = if s.v > w.v { method("sin", s * w) } else { s + Dual::constant(f64::from(k)) * w * w };
        }
        s
    }

    fn pull(&mut self, v: Vec<Dual>, w: Dual, n: u32) -> Vec<Dual> {
        let scaled = |by: Dual| v.iter().map(|x| *x * by).collect::<Vec<_>>();
        if self.response == Some(Response::Soft) {
            return scaled(method("tanh", w) + Dual::constant(f64::from(n % 2)));
        }
        if v[0].v > w.v {
            let (one, s) = (Dual::constant(1.0), method("sin", v[2]));
            return vec![v[2], v[1] * (one - s) + w * s * s, v[0] * w];
        }
        let square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        let more = scaled(square * Dual::constant(0.25));
        v.iter().zip(more).map(|(x, y)| *x + y).collect()
    }
}
