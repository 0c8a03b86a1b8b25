//! Structs: in arrays, as values of loops, branches and functions, one field at a time.

use diffkern::prelude::*;

use crate::case::{Case, Flat, Point, Program, Real, Run, case, dot, fixed, list, reals, signed};

pub fn cases() -> Vec<Case> {
    vec![fields_in_and_out(), a_struct_carried_by_a_loop(), a_struct_from_a_branch(), one_field_accumulated()]
}

#[diff_struct]
pub(crate) struct Body<F> {
    pub x: Vec2<F>,
    pub mass: F,
}

impl<F: Float> Flat for Body<F> {
    fn join(s: &[f64]) -> Self {
        let [x, y, mass] = [s[0], s[1], s[2]].map(F::from_f64);
        Body { x: Vec2::new(x, y), mass }
    }
    fn split(&self) -> Vec<f64> {
        [self.x.x, self.x.y, self.mass].map(Float::to_f64).to_vec()
    }
}

#[diff_kernel]
fn weigh<F: Float>(b: &Array<Body<F>>, y: &mut Array<Body<F>>) {
    let b = b[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = Body { x: b.x * b.mass, mass: b.x.x * b.x.y };
}

case! {
    /// `(m x, m y, x y)`.
    fields_in_and_out<S>(run; b: Body<S> = signed(6, 0.5, 1.5)) {
        let y = run.zeros::<Body<S>>(2)?;
        weigh(2, &b, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut db) = (vec![], vec![]);
        for (b, w) in b.chunks(3).zip(w.chunks(3)) {
            y.extend([b[0] * b[2], b[1] * b[2], b[0] * b[1]]);
            db.extend([w[0] * b[2] + w[2] * b[1], w[1] * b[2] + w[2] * b[0], w[0] * b[0] + w[1] * b[1]]);
        }
        (dot(w, &y), vec![db])
    }
}

#[diff_fn]
pub(crate) fn grown<F: Float>(b: Body<F>, by: F) -> Body<F> {
    Body { mass: b.mass * b.x.x, x: Vec2::new(b.x.x + by, b.x.y) }
}

#[diff_kernel]
fn grow<F: Float>(b: &Array<Body<F>>, by: &Array<F>, y: &mut Array<F>, n: u32) {
    let mut state = b[ABSOLUTE_POS];
    for _ in 0..n {
        let next: Body<F> = grown(state, by[0]);
        state = next;
    }
    y[ABSOLUTE_POS] = state.mass * state.x.y;
}

case! {
    /// `m y x (x + d) (x + 2 d) ..`.
    a_struct_carried_by_a_loop<S>(run; b: Body<S> = reals(6, 0.6, 1.4), by: S = reals(1, 0.1, 0.3)) {
        let y = run.zeros::<S>(2)?;
        grow(2, &b, &by, &y, 4)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut db, mut dby) = (vec![], vec![], 0.0);
        for (b, w) in b.chunks(3).zip(w) {
            let at = |k: usize| b[0] + k as f64 * by[0];
            let value = b[2] * b[1] * (0..4).map(at).product::<f64>();
            y.push(value);
            db.extend([w * value * (0..4).map(|k| 1.0 / at(k)).sum::<f64>(), w * value / b[1], w * value / b[2]]);
            dby += w * value * (0..4).map(|k| k as f64 / at(k)).sum::<f64>();
        }
        (dot(w, &y), vec![db, vec![dby]])
    }
}

#[diff_kernel]
fn bounce<F: Float>(b: &Array<Body<F>>, y: &mut Array<Body<F>>) {
    let mut b = b[ABSOLUTE_POS];
    if b.x.y < 0.0 {
        b.x.y = -b.mass * b.x.y;
        b = Body { mass: b.mass * b.mass, ..b };
    }
    let chosen = if b.x.x > 0.0 { b } else { Body { x: Vec2::new(b.x.y, b.x.x), mass: 1.0 } };
    y[ABSOLUTE_POS] = chosen;
}

case! {
    /// Fields changed in one branch, the whole chosen by another.
    a_struct_from_a_branch<S>(run; b: Body<S> = fixed(&[0.5, -0.7, 1.2, -0.4, -0.6, 0.8, 0.3, 0.9, 1.1])) {
        let y = run.zeros::<Body<S>>(3)?;
        bounce(3, &b, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (x, y, m) = (|i: usize| b[3 * i], |i: usize| b[3 * i + 1], |i: usize| b[3 * i + 2]);
        let values = [x(0), -m(0) * y(0), m(0) * m(0), -m(1) * y(1), x(1), 1.0, x(2), y(2), m(2)];
        (dot(w, &values), vec![vec![
            w[0], -w[1] * m(0), -w[1] * y(0) + w[2] * 2.0 * m(0),
            w[4], -w[3] * m(1), -w[3] * y(1),
            w[6], w[7], w[8],
        ]])
    }
}

#[diff_kernel]
fn total<F: Float>(b: &Array<Body<F>>, sum: &mut Array<Body<F>>) {
    let b = b[ABSOLUTE_POS];
    sum[0].mass += b.mass * b.x.x;
    sum[0].x -= b.x * b.x.y;
}

case! {
    /// `sum m x`, and `-sum y (x, y)`.
    one_field_accumulated<S>(run; b: Body<S> = signed(9, 0.5, 1.5)) {
        let sum = run.zeros::<Body<S>>(1)?;
        total(3, &b, &sum)?;
        run.output(&sum);
    }
    by_hand(w) {
        let at = |f: fn(&[f64]) -> f64| b.chunks(3).map(f).sum::<f64>();
        let value = [-at(|b| b[0] * b[1]), -at(|b| b[1] * b[1]), at(|b| b[2] * b[0])];
        (dot(w, &value), vec![list(9, |k| {
            let b = &b[k / 3 * 3..];
            match k % 3 {
                0 => w[2] * b[2] - w[0] * b[1],
                1 => -w[0] * b[0] - 2.0 * w[1] * b[1],
                _ => w[2] * b[0],
            }
        })])
    }
}
