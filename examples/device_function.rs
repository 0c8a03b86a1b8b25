//! A function of your own inside a kernel, and how to check that its gradient is right.
//!
//! `cargo run --release -p examples --example device_function`

use diffkern::prelude::*;

/// A function that kernels call: the force of a spring per unit of stiffness, soft in compression.
///
/// The macro writes its adjoint and tangent too. On the host it stays an ordinary function.
#[diff_fn]
fn pull<F: Float>(length: F, rest: F) -> F {
    let stretch = length / rest - 1.0;
    // A branch on a real: the derivative is that of the branch taken.
    if stretch > 0.0 { stretch } else { 0.5 * stretch.tanh() }
}

/// Adds the force of every spring to the points at its ends.
#[diff_kernel]
fn spring_forces<F: Float>(
    x: &Array<Vec3<F>>,
    ends: &Array<u32>,
    rest: &Array<F>,
    stiffness: &Array<F>,
    force: &mut Array<Vec3<F>>,
) {
    let s = ABSOLUTE_POS;
    let a = ends[2 * s] as usize;
    let b = ends[2 * s + 1] as usize;
    let between = x[b] - x[a];
    let length = between.norm();
    // A macro sees one item only, so the result of a call carries its type.
    let size: F = pull::<F>(length, rest[s]);
    let along = between * (stiffness[s] * size / length);
    force[a] += along;
    force[b] += along * -1.0;
}

fn main() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[Vec3::new(0.0, 0.1, 0.0), Vec3::new(1.2, 0.0, 0.3), Vec3::new(0.4, 0.9, -0.2)])?;
    let ends = dev.array(&[0, 1, 1, 2, 2, 0])?;
    let rest = dev.array(&[1.0, 1.5, 0.8])?;
    let stiffness = dev.array(&[30.0, 20.0, 40.0])?;
    let force = dev.zeros(3)?;

    // Every kernel comes with a check of its adjoint and tangent at a point of your choice, in 64 bits: the dot-product
    // identity between the two, and finite differences. A wrong one is an error with the numbers.
    let report = spring_forces::gradcheck(3, &x, &ends, &rest, &stiffness, &force)?;
    println!("{report}");
    assert!(report.difference_error < 1e-6 && report.dot_product_error < 1e-10);

    // On the host the function can simply be called.
    assert_eq!(pull(3.0, 2.0), 0.5);
    Ok(())
}
