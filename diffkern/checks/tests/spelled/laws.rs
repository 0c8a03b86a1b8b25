//! Laws of structs, enums and options, and laws of a type that is named.

use diffkern::prelude::*;

use crate::numbers;

#[diff_struct]
struct Body<F> {
    v: Vec2<F>,
    mass: F,
}

#[derive(Clone, Copy)]
#[diff_enum]
enum Kind {
    Soft,
    Hard,
}

#[diff_trait]
trait Law {
    fn pull<F: Float>(b: Body<F>, by: F, kind: Kind, most: Option<u32>) -> Body<F>;
    fn energy<F: Float>(b: Body<F>) -> (F, Body<F>);
}

mod kinds {
    pub struct Spring;
    pub struct Damper;
}

use kinds::Spring;

#[diff_impl]
impl Law for Spring {
    fn pull<F: Float>(b: Body<F>, by: F, kind: Kind, most: Option<u32>) -> Body<F> {
        let share = match kind {
            Kind::Soft => 0.5,
            Kind::Hard => 2.0,
        };
        let mut moved = b;
        for _ in 0..most.unwrap_or(2) {
            moved = Body { v: moved.v + Vec2::new(by, moved.mass) * share, ..moved };
        }
        moved.mass *= by;
        moved
    }

    fn energy<F: Float>(b: Body<F>) -> (F, Body<F>) {
        let (e, half): (F, Body<F>) = (0.5 * b.mass * b.v.dot(b.v), Body { mass: 0.5 * b.mass, v: b.v });
        (e, half)
    }
}

#[diff_impl]
impl Law for kinds::Damper {
    fn pull<F: Float>(b: Body<F>, by: F, kind: Kind, most: Option<u32>) -> Body<F> {
        let harder: Body<F> = Spring::pull(b, by, Kind::Hard, most);
        if kind == Kind::Hard { harder } else { Body { v: harder.v * -by, mass: b.mass } }
    }

    fn energy<F: Float>(b: Body<F>) -> (F, Body<F>) {
        (b.mass.sin(), b)
    }
}

#[diff_kernel]
fn of_a_parameter<F: Float, L: Law>(b: &Array<Body<F>>, by: F, kind: Kind, y: &mut Array<F>) {
    let pulled: Body<F> = L::pull(b[ABSOLUTE_POS], by, kind, Some(3u32));
    let (e, rest): (F, Body<F>) = L::energy(pulled);
    y[ABSOLUTE_POS] += e * rest.mass + rest.v.x;
}

#[diff_kernel]
fn of_types<F: Float>(b: &Array<Body<F>>, by: F, y: &mut Array<F>) {
    let pulled: Body<F> = Spring::pull(b[ABSOLUTE_POS], by, Kind::Soft, Some(2u32));
    let (e, rest): (F, Body<F>) = kinds::Damper::energy(pulled);
    y[ABSOLUTE_POS] += e * rest.v.y;
}

fn bodies(n: usize) -> Array<Body<f64>> {
    let x = numbers(3 * n).to_vec().unwrap();
    let all: Vec<_> = x.chunks(3).map(|x| Body { v: Vec2::new(x[0], x[1]), mass: x[2] }).collect();
    Device::cpu().array(&all).unwrap()
}

#[test]
fn laws_take_and_give_structs() {
    let (b, y) = (bodies(4), Device::cpu().zeros(4).unwrap());
    for kind in [Kind::Soft, Kind::Hard] {
        of_a_parameter::<Spring>::gradcheck(4, &b, 0.7, kind, &y).unwrap();
        of_a_parameter::<kinds::Damper>::gradcheck(4, &b, 0.7, kind, &y).unwrap();
    }
    let first = b.to_vec().unwrap()[0];
    let pulled = Spring::pull(first, 0.7, Kind::Hard, Some(3));
    assert_eq!(pulled.mass, first.mass * 0.7);
    assert!((pulled.v.y - (first.v.y + 6.0 * first.mass)).abs() < 1e-12);
    of_a_parameter::<f64, Spring>(4, &b, 0.7, Kind::Hard, &y).unwrap();
    let (e, rest) = Spring::energy(pulled);
    assert!((y.to_vec().unwrap()[0] - (e * rest.mass + rest.v.x)).abs() < 1e-12);
}

#[test]
fn the_law_of_a_type_is_called_by_its_name() {
    let (b, y) = (bodies(4), Device::cpu().zeros(4).unwrap());
    of_types::gradcheck(4, &b, 0.7, &y).unwrap();
    of_types::lanecheck(4, &b, 0.7, &y).unwrap();
    of_types(4, &b, 0.7, &y).unwrap();
    let (e, rest) = kinds::Damper::energy(Spring::pull(b.to_vec().unwrap()[0], 0.7, Kind::Soft, None));
    assert!((y.to_vec().unwrap()[0] - e * rest.v.y).abs() < 1e-12);
}
