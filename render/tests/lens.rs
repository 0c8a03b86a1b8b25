//! Where a lens shows what there is.

use diffkern::prelude::*;
use diffkern_render::lens::distort;
use diffkern_render::{Camera, CameraParams, Lens, Result};

#[test]
fn points_are_seen_where_browns_model_has_them() -> Result<()> {
    let device = Device::cpu();
    let camera = Camera {
        position: [0.0, -2.0, 0.0],
        look_at: [0.0; 3],
        up: [0.0, 0.0, 1.0],
        vertical_fov: 0.9,
        width: 80,
        height: 60,
        near: 0.1,
    };
    let lens = Lens { radial: [-0.21, 0.13, -0.04], tangential: [0.011, -0.007] };
    let plain = camera.params::<f64>(&device)?;
    let params = CameraParams { lens: Some(lens.params(&device)?), ..plain.clone() };
    let points = device.array(&[Vec3::new(0.5, 0.1, 0.3), Vec3::new(-0.2, 0.0, -0.4), Vec3::new(0.0, 0.3, 0.0)])?;
    let (without, with) = (plain.project(&points)?.to_vec()?, params.project(&points)?.to_vec()?);
    let focal = 30.0 / 0.45f64.tan();
    for (a, b) in without.iter().zip(&with) {
        let (x, y) = ((a.x - 40.0) / focal, (a.y - 30.0) / focal);
        let r = x.hypot(y);
        let scale = 1.0 - 0.21 * r.powi(2) + 0.13 * r.powi(4) - 0.04 * r.powi(6);
        let dx = 2.0 * 0.011 * x * y - 0.007 * (r * r + 2.0 * x * x);
        let dy = 0.011 * (r * r + 2.0 * y * y) - 2.0 * 0.007 * x * y;
        let expected = [40.0 + focal * (x * scale + dx), 30.0 + focal * (y * scale + dy), a.z];
        assert!((*b - Vec3::from_array(expected)).norm() < 1e-12, "{b:?} {expected:?}");
    }
    assert_eq!(with[2], without[2]); // the axis
    Ok(())
}

#[test]
fn what_lies_beyond_the_turn_of_the_polynomial_is_not_brought_back() -> Result<()> {
    let device = Device::cpu();
    // It turns at a radius of 1.05; seen are radii up to 0.7.
    let lens = Lens { radial: [-0.3, 0.0, 0.0], ..Lens::default() };
    assert!(lens.is_one_to_one(0.69) && !lens.is_one_to_one(0.71));
    assert!(Lens::default().is_one_to_one(100.0));
    let at = device.array(&[Vec3::new(10.0 * 1.8, 0.0, 1.0)])?;
    let (fov, out) = (device.array(&[2.0 * 0.1f64.atan()])?, device.zeros(1)?);
    distort(1, &at, &fov, &lens.params::<f64>(&device)?, &out, 0.0, 1.0)?;
    assert!((out.to_vec()?[0] - at.to_vec()?[0]).norm() < 1e-12);
    assert!(Lens { radial: [f64::NAN, 0.0, 0.0], ..lens }.params::<f64>(&device).is_err());
    Ok(())
}
