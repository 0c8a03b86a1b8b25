//! Mass, centre and inertia against closed forms and the moments of meshes.

use crate::common::Random;
use crate::common::groups::{compare, like, numbers};
use crate::{cuboid, device};
use diffkern::prelude::*;
use diffkern_sim::mesh::Pose;
use diffkern_sim::rigid::{Body, Mass, MassProperties, Model};
use diffkern_sim::shape::{Bowl, Frustum, Prism};
use diffkern_sim::{Params as _, Result};

fn of(bodies: &[Body], density: f64) -> Result<Vec<MassProperties<f64>>> {
    let model = Model::new(&device(), bodies, 1e-3, &[])?;
    Ok(model.properties(&model.params(density, [0.0; 3])?)?.to_vec()?)
}

fn apart(a: Mat3<f64>, b: Mat3<f64>) -> f64 {
    (a - b).to_array().iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

#[test]
fn of_a_box_far_from_the_origin_of_its_frame() -> Result<()> {
    let sides = [0.3, 0.5, 0.7];
    let turn = [0.4, -0.7, 0.3];
    let placed = cuboid(sides)?.placed(1.0, &Pose { rotation: turn, translation: [1.0, -2.0, 0.5] })?;
    let body = of(&[Body::new(placed)], 800.0)?[0];
    let mass = 800.0 * 0.105;
    let [x, y, z] = sides.map(|s| s * s * mass / 12.0);
    let r = Quat::from_rotation_vector(Vec3::from_array(turn)).to_mat3();
    let inertia = r * Mat3::from_diagonal(Vec3::new(y + z, z + x, x + y)) * r.transpose();
    assert!((body.mass - mass).abs() < 1e-12 * mass);
    assert!((body.centre - Vec3::new(1.0, -2.0, 0.5)).norm() < 1e-13, "{:?}", body.centre);
    assert!(apart(body.inertia, inertia) < 1e-12 * mass, "{:?}", body.inertia);
    assert!(apart(body.inertia * body.inverse, Mat3::identity()) < 1e-12);
    Ok(())
}

/// Several bodies without symmetry in one model, each as the mesh itself says.
#[test]
fn of_several_bodies_are_those_of_their_meshes() -> Result<()> {
    let meshes = [
        Prism::bracket([0.8, 0.6], 0.2, 0.3).surface(10.0)?,
        Bowl { radius: 0.4, wall: 0.1 }.surface(0.1)?,
        Frustum { bottom: 0.2, top: 0.35, height: 0.5 }.surface(0.2)?,
        Prism::star(5, 0.25, 0.6, 0.2).surface(10.0)?,
    ];
    let bodies: Vec<_> = meshes.iter().cloned().map(Body::new).collect();
    for (mesh, body) in meshes.iter().zip(of(&bodies, 2.0)?) {
        let moments = mesh.moments();
        let second = Mat3::from_array(std::array::from_fn(|k| moments.second[k / 3][k % 3]));
        let inertia = (Mat3::from_diagonal(Vec3::splat(second.trace())) - second) * 2.0;
        assert!((body.mass - 2.0 * moments.volume).abs() < 1e-14);
        assert!((body.centre - Vec3::from_array(moments.centroid)).norm() < 1e-14);
        assert!(apart(body.inertia, inertia) < 1e-14, "{:?} {inertia:?}", body.inertia);
    }
    Ok(())
}

/// A weighted sum of all entries, as a function of vertices, densities, masses.
#[test]
fn gradients_to_vertices_density_and_mass() -> Result<()> {
    let bodies = [Body::new(Prism::bracket([0.8, 0.6], 0.2, 0.3).surface(10.0)?), Body::new(cuboid([0.3, 0.5, 0.7])?)];
    let model = Model::new(&device(), &bodies, 1e-3, &[])?;
    for paths in [["surface.vertices", "material.density"], ["surface.vertices", "mass"]] {
        let mut params = model.params(1.0, [0.0; 3])?;
        if paths[1] == "mass" {
            params.mass = Mass::Total(device().array(&[0.7, 1.3])?);
        }
        for path in paths {
            let group = params.group(path)?.array.clone();
            let sum = |x: &[f64]| -> Result<(diffkern::AnyArray, Array<f64>)> {
                let (mut params, array) = (params.clone(), like(&group, x)?);
                params.replace(path, array.clone())?;
                let out = device().zeros(1)?;
                weigh(2, &model.properties(&params)?, &out)?;
                Ok((array, out))
            };
            let at = numbers(&group)?;
            let mut r = Random(at.len() as u64);
            let at: Vec<f64> = at.iter().map(|x| x + r.between(-0.02, 0.02)).collect();
            let (tape, (array, out)) = Tape::record_value(|| sum(&at))?;
            tape.backward(&out)?;
            let slope = crate::common::groups::gradient(&array)?;
            compare(path, &slope, &at, &|x| Ok(sum(x)?.1.to_vec()?[0]))?;
        }
    }
    Ok(())
}

#[diff_kernel]
fn weigh<F: Float>(bodies: &Array<MassProperties<F>>, out: &mut Array<F>) {
    let body = bodies[ABSOLUTE_POS];
    let w = Mat3::new(0.3, -0.7, 0.2, 0.9, 0.4, -0.5, 0.6, -0.2, 0.8);
    let x = body.centre.dot(Vec3::new(0.7, -0.4, 0.9));
    out[0] += body.mass * body.mass + x + x * x + w.ddot(body.inertia) + 0.01 * w.ddot(body.inverse);
}

#[test]
fn lengths_that_do_not_fit_are_refused() -> Result<()> {
    let model = Model::<f64>::new(&device(), &[Body::new(cuboid([1.0; 3])?), Body::new(cuboid([1.0; 3])?)], 1e-3, &[])?;
    let params = model.params(1.0, [0.0; 3])?;
    for (path, array) in [
        ("material.density", device().array(&[1.0; 3])?.as_any().clone()),
        ("mass", device().array(&[1.0; 3])?.as_any().clone()),
        ("inertia", device().array(&[Mat3::<f64>::identity()])?.as_any().clone()),
        ("surface.vertices", device().array(&[Vec3::<f64>::zero()])?.as_any().clone()),
    ] {
        let mut params = params.clone();
        params.replace(path, array)?;
        let error = model.properties(&params).unwrap_err().to_string();
        assert!(error.starts_with(&format!("length of {path} is ")), "{error}");
    }
    let error = params.clone().replace("weight", device().array(&[1.0])?.as_any().clone()).unwrap_err().to_string();
    assert!(error.contains("material.density"), "{error}");
    assert!(Model::<f64>::new(&device(), &[], 1e-3, &[]).is_err());
    assert!(Body::ball(0.0, 0.1).is_err());
    Ok(())
}
