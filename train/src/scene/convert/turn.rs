//! Rotation vectors and the turn from axes with y up to axes with z up.

use crate::scene::document::Vector;

/// From y up to z up: a quarter turn about x.
pub(super) const UPRIGHT: Vector = [std::f64::consts::FRAC_PI_2, 0.0, 0.0];

/// A vector in axes with z up that is `(x, y, z)` in axes with y up.
pub(super) fn upright([x, y, z]: Vector) -> Vector {
    // Zeros stay without a sign.
    [x, 0.0 - z, y]
}

/// The rotation by `first` and then by `second`, as rotation vectors \[rad\].
pub(super) fn after(first: Vector, second: Vector) -> Vector {
    let ((a, u), (b, v)) = (quaternion(second), quaternion(first));
    let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let real = a * b - (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]);
    let imaginary = [0, 1, 2].map(|k| a * v[k] + b * u[k] + cross[k]);
    let sine = norm(imaginary);
    if sine == 0.0 {
        return [0.0; 3];
    }
    let angle = 2.0 * sine.atan2(real);
    imaginary.map(|x| x / sine * angle)
}

/// Real and imaginary part of the unit quaternion.
fn quaternion(rotation: Vector) -> (f64, Vector) {
    let angle = norm(rotation);
    if angle == 0.0 {
        return (1.0, [0.0; 3]);
    }
    let (sine, cosine) = (0.5 * angle).sin_cos();
    (cosine, rotation.map(|x| x / angle * sine))
}

fn norm(v: Vector) -> f64 {
    v[0].hypot(v[1]).hypot(v[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffkern_sim::mesh::Pose;

    #[test]
    fn the_turn_is_the_rotation_that_it_says() {
        let turn = Pose { rotation: UPRIGHT, translation: [0.0; 3] };
        let x = [0.3, -0.2, 0.7];
        let near = |a: Vector, b: Vector| (0..3).all(|k| (a[k] - b[k]).abs() < 1e-14);
        assert!(near(turn.apply(x), upright(x)));
        let first = Pose { rotation: [0.4, 1.1, -0.3], translation: [0.0; 3] };
        let both = Pose { rotation: after(first.rotation, UPRIGHT), translation: [0.0; 3] };
        assert!(near(both.apply(x), upright(first.apply(x))));
    }
}
