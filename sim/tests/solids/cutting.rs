//! What cells have of a body: volumes, moments, fields.

use super::*;
use crate::common::Random;
use diffkern_sim::shape::{Cuboid, Primitive, Sphere, Torus};

fn shapes() -> [(Primitive, f64); 3] {
    [
        (Primitive::Sphere(Sphere { radius: 0.5 }), 0.2),
        (Primitive::Torus(Torus { radius: 0.5, tube: 0.2 }), 0.15),
        (Primitive::Cuboid(Cuboid { sides: [0.7, 0.5, 0.3] }), 0.17),
    ]
}

#[test]
fn volumes_and_centres_do_not_depend_on_the_lattice() -> Result<()> {
    let mut r = Random(3);
    for (shape, cell) in shapes() {
        let exact = shape.moments()?.volume;
        for _ in 0..4 {
            let corner = Some([0, 1, 2].map(|_| r.between(-1.0, 0.0)));
            let cut = Body { corner, ..Body::new(shape, cell) }.build()?;
            assert!((cut.volume() / exact - 1.0).abs() < 1e-8, "{shape:?}: {}", cut.volume() / exact);
            assert!(cut.centre().iter().all(|x| x.abs() < 1e-8), "{shape:?}: {:?}", cut.centre());
        }
    }
    Ok(())
}
