//! Structs as the values of branches, of `match` and of blocks, nested, wherever a value may stand; elements that are read
//! and overwritten.

use diffkern::prelude::*;

use crate::case::{Case, Flat, Point, Program, Real, Run, case, dot, fixed, list};
use crate::structs::{Body, grown};

pub fn cases() -> Vec<Case> {
    vec![
        a_struct_from_nested_branches(),
        a_struct_chosen_in_an_argument(),
        a_function_that_ends_in_nested_branches(),
        structs_chosen_in_a_store_and_in_a_field(),
        two_structs_from_a_branch(),
        structs_in_the_order_of_the_text(),
        an_element_read_and_overwritten(),
        fields_read_and_overwritten_at_an_index_from_data(),
    ]
}

/// Bodies of both signs, heavy and light.
const BODIES: [f64; 18] =
    [0.7, 0.9, 1.3, -0.6, 0.8, 1.2, 0.5, -0.4, 0.8, 0.4, 1.1, 0.9, 0.3, -0.9, 0.6, -0.7, 0.6, 0.5];

#[diff_kernel]
fn sort_out<F: Float>(b: &Array<Body<F>>, kind: &Array<u32>, y: &mut Array<Body<F>>) {
    let b = b[ABSOLUTE_POS];
    let chosen: Body<F> = if b.mass > 1.0 {
        if b.x.x > 0.0 { b } else { Body { mass: b.mass * b.x.y, ..b } }
    } else {
        match kind[ABSOLUTE_POS] {
            0 => {
                let turned = Vec2::new(b.x.y, -b.x.x);
                { Body { x: turned * b.mass, mass: b.x.x } }
            }
            1 => {
                if b.x.y > 0.0 {
                    Body { mass: b.x.x * b.x.y, ..b }
                } else {
                    b
                }
            }
            _ => b,
        }
    };
    y[ABSOLUTE_POS] = Body { x: chosen.x * chosen.mass, mass: chosen.mass };
}

case! {
    /// `(p m, q m, m)` of `(p, q, m)`, which is `b`, or `(x, y, m y)`, `(m y, -m x, x)`, `(x, y, x y)`.
    a_struct_from_nested_branches<S>(run; b: Body<S> = fixed(&BODIES)) {
        let y = run.zeros::<Body<S>>(6)?;
        sort_out(6, &b, &run.dev.array(&[0u32, 0, 0, 1, 1, 2])?, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut db) = (vec![], vec![]);
        for (i, (b, w)) in b.chunks(3).zip(w.chunks(3)).enumerate() {
            let [x, z, m] = [b[0], b[1], b[2]];
            let c = match i {
                1 => [x, z, m * z],
                2 => [m * z, -m * x, x],
                3 => [x, z, x * z],
                _ => [x, z, m],
            };
            y.extend([c[0] * c[2], c[1] * c[2], c[2]]);
            let dc = [w[0] * c[2], w[1] * c[2], w[0] * c[0] + w[1] * c[1] + w[2]];
            db.extend(match i {
                1 => [dc[0], dc[1] + dc[2] * m, dc[2] * z],
                2 => [dc[2] - dc[1] * m, dc[0] * m, dc[0] * z - dc[1] * x],
                3 => [dc[0] + dc[2] * z, dc[1] + dc[2] * x, 0.0],
                _ => dc,
            });
        }
        (dot(w, &y), vec![db])
    }
}

#[diff_fn]
fn pull<F: Float>(a: Body<F>, b: Body<F>, k: F) -> F {
    k * a.mass * b.x.dot(a.x)
}

#[diff_kernel]
fn pulls<F: Float>(b: &Array<Body<F>>, y: &mut Array<F>) {
    let near = b[2 * ABSOLUTE_POS];
    let far = b[2 * ABSOLUTE_POS + 1];
    let force: F = pull(
        if near.mass > far.mass { near } else { far },
        {
            let moved: Body<F> = grown(far, near.mass);
            moved
        },
        0.5,
    );
    y[ABSOLUTE_POS] = force * (if near.x.x > 0.0 { near } else { Body { mass: 2.0, ..far } }).mass;
}

case! {
    /// `a.m (f.x + n.m, f.y) . a.x / 2`, `a` the heavier of `n` and `f`, times `n.m` or 2.
    a_struct_chosen_in_an_argument<S>(run; b: Body<S> = fixed(&[0.7, 0.9, 1.3, -0.6, 0.8, 1.2, -0.5, 0.4, 0.8, 0.4, 1.1, 0.9])) {
        let y = run.zeros::<S>(2)?;
        pulls(2, &b, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // The first: n heavier, n.x > 0.
        let (n, f) = (&b[..3], &b[3..6]);
        let inner = (f[0] + n[2]) * n[0] + f[1] * n[1];
        let (first, s) = (0.5 * n[2] * n[2] * inner, w[0] * 0.5 * n[2] * n[2]);
        let mut db = vec![
            s * (f[0] + n[2]), s * f[1], w[0] * n[2] * inner + s * n[0],
            s * n[0], s * n[1], 0.0,
        ];
        // The second: f heavier, n.x < 0.
        let (n, f) = (&b[6..9], &b[9..]);
        let inner = (f[0] + n[2]) * f[0] + f[1] * f[1];
        let (second, s) = (f[2] * inner, w[1] * f[2]);
        db.extend([0.0, 0.0, s * f[0], s * (2.0 * f[0] + n[2]), s * 2.0 * f[1], w[1] * inner]);
        (w[0] * first + w[1] * second, vec![db])
    }
}

#[diff_fn]
fn reacts<F: Float>(b: Body<F>, kind: u32, k: F) -> Body<F> {
    match kind {
        0 => {
            if b.x.x > 0.0 {
                let next: Body<F> = grown(b, k);
                next
            } else {
                (b)
            }
        }
        1 | 2 => match kind == 1 {
            true => Body { x: b.x * k, ..b },
            false => Body { mass: k * k, ..b },
        },
        _ => b,
    }
}

#[diff_kernel]
fn react<F: Float>(b: &Array<Body<F>>, kind: &Array<u32>, k: &Array<F>, y: &mut Array<Body<F>>) {
    let after: Body<F> = reacts(b[ABSOLUTE_POS], kind[ABSOLUTE_POS], k[0]);
    y[ABSOLUTE_POS] = after;
}

case! {
    /// `(x + k, y, m x)`, `b`, `(k x, k y, m)`, `(x, y, k^2)`, `b`.
    a_function_that_ends_in_nested_branches<S>(run; b: Body<S> = fixed(&BODIES[..15]), k: S = fixed(&[0.7])) {
        let y = run.zeros::<Body<S>>(5)?;
        react(5, &b, &run.dev.array(&[0u32, 0, 1, 2, 5])?, &k, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (mut y, mut db, mut dk) = (vec![], vec![], 0.0);
        for (i, (b, w)) in b.chunks(3).zip(w.chunks(3)).enumerate() {
            let k = k[0];
            let (value, bar, by_k) = match i {
                0 => ([b[0] + k, b[1], b[2] * b[0]], [w[0] + w[2] * b[2], w[1], w[2] * b[0]], w[0]),
                2 => ([k * b[0], k * b[1], b[2]], [k * w[0], k * w[1], w[2]], w[0] * b[0] + w[1] * b[1]),
                3 => ([b[0], b[1], k * k], [w[0], w[1], 0.0], w[2] * 2.0 * k),
                _ => ([b[0], b[1], b[2]], [w[0], w[1], w[2]], 0.0),
            };
            y.extend(value);
            db.extend(bar);
            dk += by_k;
        }
        (dot(w, &y), vec![db, vec![dk]])
    }
}

#[diff_struct]
struct Held<F> {
    at: F,
    body: Body<F>,
}

impl<F: Float> Flat for Held<F> {
    fn join(s: &[f64]) -> Self {
        Held { at: F::from_f64(s[0]), body: Body::join(&s[1..]) }
    }
    fn split(&self) -> Vec<f64> {
        [vec![self.at.to_f64()], self.body.split()].concat()
    }
}

#[diff_kernel]
fn hold<F: Float>(b: &Array<Body<F>>, by: &Array<F>, y: &mut Array<Held<F>>) {
    let i = ABSOLUTE_POS;
    y[i] = if b[i].x.x > 0.0 {
        if b[i].x.y > 0.0 {
            Held { at: b[i].mass, body: if b[i].mass > 1.0 { grown(b[i], by[0]) } else { b[i] } }
        } else {
            let light = Body { mass: by[0], ..if b[i].mass > 0.7 { b[i] } else { b[0] } };
            Held { body: light, at: light.x.x }
        }
    } else {
        Held { at: (if b[i].x.y > 0.0 { Held { at: by[0], body: b[i] } } else { y_of(b[i]) }).body.mass, body: b[i] }
    };
}

#[diff_fn]
fn y_of<F: Float>(b: Body<F>) -> Held<F> {
    Held { at: b.x.y, body: b }
}

case! {
    /// `(m, x + s, y, m x)`, `(m, x, y, m)`, `(x, x, y, s)` and `(m, x, y, m)`; the fourth takes `(x, y)` of the first.
    structs_chosen_in_a_store_and_in_a_field<S>(run; b: Body<S> = fixed(&[
        0.7, 0.9, 1.3, 0.4, 1.1, 0.9, 0.5, -0.4, 0.8, 0.3, -0.9, 0.6, -0.7, 0.6, 0.5,
    ]), by: S = fixed(&[0.7])) {
        let y = run.zeros::<Held<S>>(5)?;
        hold(5, &b, &by, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let (body, s) = (|i: usize| &b[3 * i..3 * i + 3], by[0]);
        let (a, light, low) = (body(0), body(2), body(4));
        let mut values = vec![a[2], a[0] + s, a[1], a[2] * a[0]];
        values.extend([body(1)[2], body(1)[0], body(1)[1], body(1)[2]]);
        values.extend([light[0], light[0], light[1], s, a[0], a[0], a[1], s]);
        values.extend([low[2], low[0], low[1], low[2]]);
        let db = vec![
            w[1] + w[3] * a[2] + w[12] + w[13], w[2] + w[14], w[0] + w[3] * a[0],
            w[5], w[6], w[4] + w[7],
            w[8] + w[9], w[10], 0.0,
            0.0, 0.0, 0.0,
            w[17], w[18], w[16] + w[19],
        ];
        (dot(w, &values), vec![db, vec![w[1] + w[11] + w[15]]])
    }
}

#[diff_kernel]
fn pairs<F: Float>(b: &Array<Body<F>>, y: &mut Array<Body<F>>) {
    let a = b[2 * ABSOLUTE_POS];
    let c = b[2 * ABSOLUTE_POS + 1];
    let (light, heavy) = if a.mass < c.mass {
        (a, c)
    } else {
        let lighter = c;
        if a.mass > 5.0 { (a, a) } else { (lighter, a) }
    };
    let (either, scale): (Body<F>, F) = match ABSOLUTE_POS {
        0 => (select(light.x.x > 0.0, light, heavy), heavy.mass),
        _ => ({ heavy }, light.x.y),
    };
    y[ABSOLUTE_POS] = Body { x: either.x * scale, mass: either.mass * light.mass };
}

case! {
    /// `(x s, y s, m l.m)` of the lighter and the heavier.
    two_structs_from_a_branch<S>(run; b: Body<S> = fixed(&BODIES[..12])) {
        let y = run.zeros::<Body<S>>(2)?;
        pairs(2, &b, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        // Lighter, heavier: 1 and 0, where 0 is taken; 2 and 3, where 3 is.
        let (light, heavy) = (&b[3..6], &b[..3]);
        let mut values = vec![heavy[0] * heavy[2], heavy[1] * heavy[2], heavy[2] * light[2]];
        let mut db = vec![
            w[0] * heavy[2], w[1] * heavy[2], w[0] * heavy[0] + w[1] * heavy[1] + w[2] * light[2],
            0.0, 0.0, w[2] * heavy[2],
        ];
        let (light, heavy) = (&b[6..9], &b[9..]);
        values.extend([heavy[0] * light[1], heavy[1] * light[1], heavy[2] * light[2]]);
        db.extend([
            0.0, w[3] * heavy[0] + w[4] * heavy[1], w[5] * heavy[2],
            w[3] * light[1], w[4] * light[1], w[5] * light[2],
        ]);
        (dot(w, &values), vec![db])
    }
}

#[diff_kernel]
fn ordered<F: Float>(b: &Array<Body<F>>, a: &Array<F>, y: &mut Array<Body<F>>) {
    let mut s = a[ABSOLUTE_POS];
    let square = Body {
        mass: {
            s *= s;
            s
        },
        x: Vec2::new(s, s * s),
    };
    let next: Body<F> = grown(
        if s > 0.0 {
            s *= 3.0;
            square
        } else {
            square
        },
        s,
    );
    let mut k = 0u32;
    let first = b[{
        k += 1;
        k
    }];
    let second = b[{
        k += 1;
        k
    }]
    .x;
    y[ABSOLUTE_POS] = Body { x: next.x + first.x + second, mass: next.mass * first.mass };
}

case! {
    /// `(4 a^2 + x_1 + x_2, a^4 + y_1 + y_2, a^4 m_1)`: operands are evaluated as they are written, each once.
    structs_in_the_order_of_the_text<S>(run; b: Body<S> = fixed(&BODIES[..9]), a: S = fixed(&[0.8, -1.2])) {
        let y = run.zeros::<Body<S>>(2)?;
        ordered(2, &b, &a, &y)?;
        run.output(&y);
    }
    by_hand(w) {
        let value = a.iter().flat_map(|a| {
            [4.0 * a * a + b[3] + b[6], a.powi(4) + b[4] + b[7], a.powi(4) * b[5]]
        });
        let (x, z) = (w[0] + w[3], w[1] + w[4]);
        let mass = w[2] * a[0].powi(4) + w[5] * a[1].powi(4);
        let da = list(2, |i| w[3 * i] * 8.0 * a[i] + (w[3 * i + 1] + w[3 * i + 2] * b[5]) * 4.0 * a[i].powi(3));
        (dot(w, &value.collect::<Vec<_>>()), vec![vec![0.0, 0.0, 0.0, x, z, mass, x, z, 0.0], da])
    }
}

#[diff_kernel]
fn advance<F: Float>(b: &mut Array<Body<F>>, by: &Array<F>) {
    let old = b[ABSOLUTE_POS];
    if old.mass > 0.9 {
        let next: Body<F> = grown(old, by[0]);
        b[ABSOLUTE_POS] = if next.mass > 0.0 { next } else { Body { mass: b[ABSOLUTE_POS].x.y, ..old } };
    } else {
        b[ABSOLUTE_POS].mass *= old.x.x;
    }
}

case! {
    /// `(x + s, y, m x)`, `(x, y, y)` and `(x, y, m x)`, twice.
    an_element_read_and_overwritten<S>(run; b: Body<S> = fixed(&[0.7, 0.9, 1.5, -0.6, 0.95, 1.2, 0.8, -0.4, 0.5]), by: S = fixed(&[0.3])) {
        let y = run.zeros::<Body<S>>(3)?;
        y.copy_from(&b)?;
        advance(3, &y, &by)?;
        advance(3, &y, &by)?;
        run.output(&y);
    }
    by_hand(w) {
        // The first grows twice; the second takes `y`, twice; the third is multiplied by `x` twice.
        let (x, s) = (b[0], by[0]);
        let value = [
            x + 2.0 * s, b[1], b[2] * x * (x + s),
            b[3], b[4], b[4],
            b[6], b[7], b[8] * b[6] * b[6],
        ];
        let db = vec![
            w[0] + w[2] * b[2] * (2.0 * x + s), w[1], w[2] * x * (x + s),
            w[3], w[4] + w[5], 0.0,
            w[6] + w[8] * b[8] * 2.0 * b[6], w[7], w[8] * b[6] * b[6],
        ];
        (dot(w, &value), vec![db, vec![2.0 * w[0] + w[2] * b[2] * x]])
    }
}

#[diff_kernel]
fn turn<F: Float>(b: &mut Array<Body<F>>, at: &Array<u32>, angle: &Array<F>, pairs: &mut Array<F>) {
    let i = at[ABSOLUTE_POS];
    let x = b[i].x;
    b[i].mass = b[i].mass * b[i].x.y;
    b[i].x.x = x.x - angle[ABSOLUTE_POS] * x.y;
    b[i].x.y = b[i].x.y * angle[ABSOLUTE_POS];
    pairs[2 * i + 1] *= pairs[2 * i];
}

case! {
    /// `(x - a y, a y, m y)` of the elements 2 and 0, in the places of fields; `(p, p q)` of pairs of scalars.
    fields_read_and_overwritten_at_an_index_from_data<S>(run; b: Body<S> = fixed(&BODIES[..9]), a: S = fixed(&[0.6, -1.1]), p: S = fixed(&[0.4, 0.9, -0.7, 1.2, 0.5, 0.8])) {
        let (y, pairs) = (run.zeros::<Body<S>>(3)?, run.zeros::<S>(6)?);
        y.copy_from(&b)?;
        pairs.copy_from(&p)?;
        turn(2, &y, &run.dev.array(&[2u32, 0])?, &a, &pairs)?;
        run.output(&y);
        run.output(&pairs);
    }
    by_hand(w) {
        let angle = [Some(a[1]), None, Some(a[0])];
        let (mut value, mut db, mut da) = (vec![], vec![], vec![0.0; 2]);
        for (i, (b, w)) in b.chunks(3).zip(w.chunks(3)).enumerate() {
            let Some(a) = angle[i] else {
                value.extend(b);
                db.extend(w);
                continue;
            };
            value.extend([b[0] - a * b[1], a * b[1], b[2] * b[1]]);
            db.extend([w[0], -a * w[0] + a * w[1] + w[2] * b[2], w[2] * b[1]]);
            da[1 - i / 2] += -w[0] * b[1] + w[1] * b[1];
        }
        let mut dp = vec![];
        for (i, (p, w)) in p.chunks(2).zip(w[9..].chunks(2)).enumerate() {
            let changed = i != 1;
            value.extend([p[0], if changed { p[0] * p[1] } else { p[1] }]);
            dp.extend(if changed { [w[0] + w[1] * p[1], w[1] * p[0]] } else { [w[0], w[1]] });
        }
        (dot(w, &value), vec![db, da, dp])
    }
}
