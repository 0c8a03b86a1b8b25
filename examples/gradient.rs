//! The gradient of a sum of squares, through an adjoint kernel that the macro wrote.
//!
//! `cargo run --release -p examples --example gradient`

use diffkern::prelude::*;

#[diff_kernel]
fn sum_of_squares<F: Float>(x: &Array<F>, loss: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    loss[0] += x[i] * x[i];
}

fn main() -> Result<()> {
    let dev = Device::best();
    let x = dev.array(&[1.0f32, 2.0, 3.0])?.requires_grad();
    let loss = dev.zeros::<f32>(1)?;
    let tape = Tape::record(|| sum_of_squares(x.len(), &x, &loss))?;
    tape.backward(&loss)?;
    println!("{:?}", x.grad()?.to_vec()?); // [2.0, 4.0, 6.0]
    assert_eq!(x.grad()?.to_vec()?, [2.0, 4.0, 6.0]);
    Ok(())
}
