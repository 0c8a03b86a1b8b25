//! The fastest frequency of a body at rest, from which the longest stable step follows.

use super::HELD;
use super::body::CutBody;
use super::shape::{Shape, mean_shape, shape};
use super::surface::Contacts;
use crate::mesh::{Point, add, per_axis, scale, sub};

/// Iterations for the fastest mode, which leave less than a hundredth of its frequency.
const ITERATIONS: usize = 30;
/// Iterations for the kinetic energy for each correction, which leave `3^-30` of it and less.
const TERMS: usize = 30;

/// Values and gradients of the 27 splines of a cell, at a place or on the mean \[1/m\].
struct Stencil {
    first: usize,
    weights: [(f64, Point); 27],
}

/// The largest squared frequency, and the largest rate at which viscosity damps.
pub(super) struct Fastest {
    square: f64,
    damping: f64,
}

impl Fastest {
    /// The same with what adds to the squared frequency at most.
    pub(super) fn and(self, square: f64) -> Fastest {
        Fastest { square: self.square + square, ..self }
    }

    /// Longest step of central differences, with damping by velocities of the step before.
    pub(super) fn stable_step(&self) -> f64 {
        let (w2, c) = (self.square, self.damping);
        // `w^2 dt^2 / 4 + c dt / 2 <= 1`, of which the larger root.
        2.0 / (0.5 * c + (0.25 * c * c + w2).sqrt())
    }
}

/// Linear elasticity at rest with springs of `stiffness` \[Pa/m\] at all places of contact, and the mass of the steps.
pub(super) struct Linear<'a> {
    body: &'a CutBody,
    points: Vec<Stencil>,
    q: &'a [[f64; 4]],
    surface: Vec<(Stencil, f64)>,
    means: Vec<Stencil>,
    mass: &'a [f64],
    lumped: &'a [f64],
    loads: Vec<(Stencil, f64)>,
    corrections: usize,
}

/// A point mass \[kg\] by the cell that carries it and its place there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) cell: usize,
    pub(super) at: Point,
    pub(super) mass: f64,
}

/// Depth of the layer \[m\] whose mass, of a uniform density, is the least that moves with a unit of area when all points of the surface are pushed in any
/// pattern: of unit density the reciprocal of the largest eigenvalue of `A^(1/2) B W B^T A^(1/2)`, `B` the values at the points of contact and `A` their
/// areas. It is that of `W B^T A B`, of springs alone.
pub(super) fn surface_depth(body: &CutBody) -> f64 {
    let whole: f64 = body.size.iter().product();
    let mass: Vec<f64> = body.parts.iter().map(|p| p.volume * whole).collect();
    let mut lumped = vec![0.0; body.numbering.nodes.len()];
    for (k, (part, m)) in body.parts.iter().zip(&mass).enumerate() {
        let shares = Stencil::new(9 * k, mean_shape(&part.points), body.size);
        shares.nodes(body).for_each(|(i, (w, _))| lumped[i] += m * w);
    }
    1.0 / Linear::new(body, &[], &mass, &lumped, 1.0).largest(&|l, x| l.elastic(x))
}

impl Stencil {
    fn new(first: usize, mut weights: Shape, size: Point) -> Stencil {
        weights.iter_mut().for_each(|(_, g)| *g = per_axis(|a| g[a] / size[a]));
        Stencil { first, weights }
    }

    fn nodes<'a>(&'a self, body: &'a CutBody) -> impl Iterator<Item = (usize, &'a (f64, Point))> {
        let row = |n: usize| body.numbering.rows[self.first + n / 3] as usize + n % 3;
        self.weights.iter().enumerate().map(move |(n, w)| (row(n), w))
    }

    fn value(&self, body: &CutBody, x: &[Point]) -> Point {
        self.nodes(body).fold([0.0; 3], |sum, (i, (w, _))| add(sum, scale(x[i], *w)))
    }

    fn gradient(&self, body: &CutBody, x: &[Point]) -> [Point; 3] {
        let mut g = [[0.0; 3]; 3];
        for (i, (_, d)) in self.nodes(body) {
            (0..3).for_each(|a| g[a] = add(g[a], scale(*d, x[i][a])));
        }
        g
    }
}

impl<'a> Linear<'a> {
    pub(super) fn new(
        body: &'a CutBody,
        q: &'a [[f64; 4]],
        mass: &'a [f64],
        lumped: &'a [f64],
        stiffness: f64,
    ) -> Linear<'a> {
        let at = |cell: usize, x: Point| Stencil::new(9 * cell, shape(x), body.size);
        let cells = || body.parts.iter().enumerate();
        let Contacts { carried, areas, .. } = &body.contacts;
        let springs = carried.cells.iter().zip(&carried.at).zip(areas);
        Linear {
            body,
            points: cells().flat_map(|(k, p)| p.points.map(|(x, _)| at(k, x))).collect(),
            q,
            surface: match stiffness > 0.0 {
                true => springs.map(|((&c, &x), area)| (at(c as usize, x), stiffness * area)).collect(),
                false => Vec::new(),
            },
            means: cells().map(|(k, p)| Stencil::new(9 * k, mean_shape(&p.points), body.size)).collect(),
            mass,
            lumped,
            loads: Vec::new(),
            corrections: 1,
        }
    }

    /// The same with point masses, which are in the lumped ones already.
    pub(super) fn with(self, loads: &[Load]) -> Linear<'a> {
        let stencil = |load: &Load| (Stencil::new(9 * load.cell, shape(load.at), self.body.size), load.mass);
        Linear { loads: loads.iter().map(stencil).collect(), ..self }
    }

    /// The same with so many corrections towards the consistent mass.
    pub(super) fn corrected(self, corrections: usize) -> Linear<'a> {
        Linear { corrections, ..self }
    }

    pub(super) fn fastest(&self) -> Fastest {
        let viscous = self.q.iter().any(|q| q[2] > 0.0);
        let damping = if viscous { self.largest(&|l, x| l.viscous(x)) } else { 0.0 };
        Fastest { square: self.largest(&|l, x| l.elastic(x)), damping }
    }

    /// Adds what points with `mu` and `lambda` of `q` resist.
    fn strained(&self, x: &[Point], law: impl Fn(&[f64; 4]) -> [f64; 2]) -> Vec<Point> {
        let mut out = vec![[0.0; 3]; x.len()];
        for (stencil, q) in self.points.iter().zip(self.q) {
            let (g, [mu, lambda]) = (stencil.gradient(self.body, x), law(q));
            let trace = lambda * (g[0][0] + g[1][1] + g[2][2]);
            let entry = |a: usize, b: usize| mu * (g[a][b] + g[b][a]) + if a == b { trace } else { 0.0 };
            let stress = per_axis(|a| per_axis(|b| entry(a, b)));
            for (i, (_, d)) in stencil.nodes(self.body) {
                out[i] = add(out[i], times(&stress, *d));
            }
        }
        out
    }

    fn elastic(&self, x: &[Point]) -> Vec<Point> {
        let mut out = self.strained(x, |q| [q[0], q[1]]);
        for (stencil, k) in &self.surface {
            let pushed = scale(stencil.value(self.body, x), *k);
            stencil.nodes(self.body).for_each(|(i, (w, _))| out[i] = add(out[i], scale(pushed, *w)));
        }
        out
    }

    fn viscous(&self, x: &[Point]) -> Vec<Point> {
        self.strained(x, |q| [q[2], 0.0])
    }

    /// `D^-1 f`, of tied and held control points as they move.
    fn lumped(&self, f: &[Point]) -> Vec<Point> {
        let one = |i: usize| match self.body.numbering.ties[i] {
            HELD => [0.0; 3],
            j if j as usize == i => scale(f[i], 1.0 / self.lumped[i]),
            j => scale(sub(f[i], f[j as usize]), 1.0 / (self.lumped[i] + self.lumped[j as usize])),
        };
        (0..f.len()).map(one).collect()
    }

    /// `M x`, see [`mass`](super::mass).
    fn inert(&self, x: &[Point]) -> Vec<Point> {
        let (mut sum, h) = (vec![[0.0; 3]; x.len()], self.body.size);
        for ((stencil, part), m) in self.means.iter().zip(&self.body.parts).zip(self.mass) {
            let (value, g) = (stencil.value(self.body, x), stencil.gradient(self.body, x));
            // Moments in metres.
            let moment = |r: usize, a: usize| (0..3).map(|b| g[r][b] * part.second[b][a] * h[a] * h[b]).sum::<f64>();
            let moments = per_axis(|r| per_axis(|a| moment(r, a)));
            for (i, (w, d)) in stencil.nodes(self.body) {
                sum[i] = add(sum[i], scale(add(scale(value, *w), times(&moments, *d)), *m));
            }
        }
        for (stencil, m) in &self.loads {
            let value = scale(stencil.value(self.body, x), *m);
            stencil.nodes(self.body).for_each(|(i, (w, _))| sum[i] = add(sum[i], scale(value, *w)));
        }
        sum
    }

    /// `sum e^n x` up to the number of corrections, `e = 1 - D^-1 M`: by Horner's scheme.
    fn series(&self, x: &[Point]) -> Vec<Point> {
        (0..self.corrections).fold(x.to_vec(), |sum, _| {
            let counted = self.lumped(&self.inert(&sum));
            x.iter().zip(&sum).zip(counted).map(|((x, s), c)| sub(add(*x, *s), c)).collect()
        })
    }

    /// `W f`.
    fn accelerated(&self, f: &[Point]) -> Vec<Point> {
        self.series(&self.lumped(f))
    }

    /// `v W^-1 v / 2` of free control points. `W = (1 + e + .. + e^k) D^-1` with `k` corrections and `e = 1 - D^-1 M`, whose eigenvalues are from 0 to 1, so that the
    /// iteration for `p = (1 + .. + e^k)^-1 v` gains a factor of `1 + 2 / k` each time.
    pub(super) fn kinetic(&self, v: &[Point]) -> f64 {
        let weighted = |x: &[Point]| x.iter().zip(self.lumped).map(|(x, d)| scale(*x, *d)).collect::<Vec<_>>();
        let v = self.lumped(&weighted(v));
        let mut p = v.clone();
        for _ in 0..TERMS * self.corrections {
            let all = self.series(&p);
            for ((p, v), all) in p.iter_mut().zip(&v).zip(all) {
                *p = add(*p, scale(sub(*v, all), 2.0 / (2.0 + self.corrections as f64)));
            }
        }
        0.5 * dot(&weighted(&v), &p)
    }

    /// The largest eigenvalue of `W K`, by the method of Lanczos in the energy `x K x`, in which it is symmetric.
    fn largest(&self, stiffness: &dyn Fn(&Self, &[Point]) -> Vec<Point>) -> f64 {
        let (mut x, mut before) = (rough(self.lumped.len()), Vec::new());
        let mut f = stiffness(self, &x);
        let (mut diagonal, mut beside) = (Vec::new(), vec![dot(&x, &f).sqrt()]);
        for k in 0..ITERATIONS {
            let norm = beside[k];
            if norm.is_nan() || norm <= 0.0 {
                break;
            }
            x.iter_mut().chain(&mut f).for_each(|p| *p = scale(*p, 1.0 / norm));
            let mut next = self.accelerated(&f);
            let along = dot(&next, &f);
            for (i, n) in next.iter_mut().enumerate() {
                *n = sub(*n, scale(x[i], along));
                if let Some(&p) = before.get(i) {
                    *n = sub(*n, scale(p, norm));
                }
            }
            before = std::mem::replace(&mut x, next);
            f = stiffness(self, &x);
            diagonal.push(along);
            beside.push(dot(&x, &f).sqrt());
        }
        largest_eigenvalue(&diagonal, &beside[1..])
    }
}

/// Of a symmetric matrix with this diagonal and these entries beside it, by bisection: where the pivots of `l - T` turn positive.
fn largest_eigenvalue(diagonal: &[f64], beside: &[f64]) -> f64 {
    let above = |l: f64| {
        let mut pivot = f64::INFINITY;
        diagonal.iter().enumerate().all(|(k, d)| {
            pivot = l - d - if k > 0 { beside[k - 1] * beside[k - 1] / pivot } else { 0.0 };
            pivot > 0.0
        })
    };
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let (mut low, mut high) = (0.0, largest(diagonal) + 2.0 * largest(beside));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if above(middle) { high = middle } else { low = middle }
    }
    high
}

fn dot(a: &[Point], b: &[Point]) -> f64 {
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a * b).sum()
}

fn times(rows: &[Point; 3], v: Point) -> Point {
    per_axis(|r| rows[r][0] * v[0] + rows[r][1] * v[1] + rows[r][2] * v[2])
}

/// A start in which no mode is missing.
fn rough(n: usize) -> Vec<Point> {
    (0..n).map(|i| per_axis(|a| ((3 * i + a) as f64 * 12.9898).sin())).collect()
}
