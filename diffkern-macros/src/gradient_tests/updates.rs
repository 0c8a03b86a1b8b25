//! Arrays that are read and overwritten.

use diffkern_ir::Ty;
use diffkern_ir::interpret::Library;

use super::support::{Case, Input, ints, random};

#[track_caller]
fn holds(source: &str, domain: usize, args: Vec<Input>) {
    Case::new(source, domain, args, Library::default()).holds();
}

#[test]
fn scaled_in_place() {
    for op in ["*=", "/="] {
        let source = format!(
            "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, v: &mut Array<Vec2<F>>) {{
                let i = ABSOLUTE_POS;
                y[i] {op} x[i].sin();
                v[i] {op} x[i] + 0.5;
            }}"
        );
        let args = vec![
            random(1, 3, Ty::Real, 0.3, 1.2),
            random(2, 3, Ty::Real, 0.3, 1.2),
            random(3, 3, Ty::Vec(2), 0.2, 1.0),
        ];
        holds(&source, 3, args);
    }
}

/// Several reads, one in a loop without stores, under conditions on what is read; two stores.
#[test]
fn read_often_and_overwritten_twice() {
    let source = "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, n: u32) {
        let mut s = x[ABSOLUTE_POS];
        for k in 0..n { s = s * y[ABSOLUTE_POS] + s.cos() * 0.3; }
        let old = y[ABSOLUTE_POS];
        if old > 0.6 {
            y[ABSOLUTE_POS] = s * old * old;
            if s > 0.4 { y[ABSOLUTE_POS] = s.exp() * old; }
        } else if x[ABSOLUTE_POS] > 0.5 {
            y[ABSOLUTE_POS] = y[ABSOLUTE_POS].sin() + s;
        }
    }";
    for seed in 1..5 {
        let args =
            vec![random(seed, 6, Ty::Real, 0.2, 1.2), random(seed + 9, 6, Ty::Real, 0.2, 1.2), super::support::int(3)];
        holds(source, 6, args);
    }
}

#[test]
fn components_written_back_at_an_index_from_data() {
    let source = "fn k<F: Float>(idx: &Array<u32>, count: &mut Array<u32>, v: &mut Array<Vec3<F>>) {
        let i = ABSOLUTE_POS;
        let mut w = v[idx[i]];
        w.x = w.y * w.z;
        if w.x > 0.3 { w.y *= w.x; }
        v[idx[i]] = w * v[idx[i]].z;
        count[i] = count[i] * 2 + idx[i];
    }";
    holds(source, 3, vec![ints(&[2, 0, 1]), ints(&[1, 2, 3]), random(4, 3, Ty::Vec(3), 0.2, 1.2)]);
}

/// Reads, then two additions; of a thread's own element, and at an index from data.
#[test]
fn added_to_what_was_read() {
    let source = "fn k<F: Float>(x: &Array<F>, idx: &Array<u32>, y: &mut Array<F>, z: &mut Array<F>) {
        let i = ABSOLUTE_POS;
        let j = idx[i];
        let old = z[j];
        y[i] += x[i] * y[i] * old;
        if x[i] > 0.7 { y[i] -= x[i].exp(); }
        z[j] += old * old * x[j];
    }";
    let args = vec![
        random(4, 4, Ty::Real, 0.3, 1.2),
        ints(&[3, 1, 0, 2]),
        random(5, 4, Ty::Real, 0.2, 1.0),
        random(6, 4, Ty::Real, 0.2, 1.0),
    ];
    holds(source, 4, args);
}

/// The interpreter refuses to fetch in an adjoint or tangent.
#[test]
fn counted_and_listed() {
    let source = "fn k<F: Float>(x: &Array<F>, n: &mut Array<Atomic<u32>>, list: &mut Array<u32>, sum: &mut Array<F>, y: &mut Array<F>) {
        let i = ABSOLUTE_POS;
        let mut s = x[i];
        for k in 0..3 {
            s = s * s + 0.3;
            if s > 0.6 {
                let slot = n[0].fetch_add(1);
                if slot < 4 { list[slot] = slot * 3; }
                sum[0] += s;
            }
        }
        y[i] = s;
    }";
    let args = vec![
        random(4, 5, Ty::Real, 0.3, 0.9),
        ints(&[0]),
        ints(&[9; 4]),
        random(5, 1, Ty::Real, 0.0, 1.0),
        random(6, 5, Ty::Real, 0.0, 1.0),
    ];
    holds(source, 5, args);
}
