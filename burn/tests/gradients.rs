//! Gradients through both systems, against finite differences.

use burn::backend::{Autodiff, NdArray};
use burn::tensor::Tensor;
use diffkern::prelude::*;
use pendulum::{STEPS, pendulum, start, swing, torque};

mod pendulum;

type Plain = NdArray<f64>;
type B = Autodiff<Plain>;

fn through(start: Tensor<B, 1>, torque: Tensor<B, 1>) -> Tensor<B, 1> {
    diffkern_burn::apply(&Device::cpu(), [start, torque], |[start, torque]| pendulum(start, torque)).expect("it runs")
}

/// Burn before the rollout, Burn after it, and a path around it.
fn loss(start: Tensor<B, 1>, torque: Tensor<B, 1>) -> Tensor<B, 1> {
    let last = through(start.clone() * 0.5, torque.clone().tanh());
    last.clone().exp().sum() + (last * start).sum() + torque.powi_scalar(2).sum() * 0.01
}

fn tensor(values: &[f64]) -> Tensor<B, 1> {
    Tensor::from_data(values, &Default::default())
}

fn numbers(tensor: Tensor<Plain, 1>) -> Vec<f64> {
    tensor.into_data().to_vec().expect("reals")
}

fn gradients(start: &[f64], torque: &[f64]) -> [Vec<f64>; 2] {
    let (start, torque) = (tensor(start).require_grad(), tensor(torque).require_grad());
    let grads = loss(start.clone(), torque.clone()).backward();
    [start, torque].map(|t| numbers(t.grad(&grads).expect("a gradient")))
}

#[test]
fn gradients_through_a_rollout_inside_a_loss_of_burn_are_differences() {
    let value = |start: &[f64], torque: &[f64]| numbers(loss(tensor(start), tensor(torque)).inner())[0];
    let exact = gradients(&start(), &torque());
    let h = 1e-5;
    for (which, gradient) in exact.iter().enumerate() {
        for (k, exact) in gradient.iter().enumerate() {
            let moved = |by: f64| {
                let mut inputs = [start(), torque()];
                inputs[which][k] += by;
                value(&inputs[0], &inputs[1])
            };
            let slope = |h: f64| (moved(h) - moved(-h)) / (2.0 * h);
            // Of fourth order.
            let numeric = (4.0 * slope(h / 2.0) - slope(h)) / 3.0;
            assert!((exact - numeric).abs() < 1e-8 * exact.abs().max(1e-2), "{which}, {k}: {exact} {numeric}");
        }
    }
}

#[test]
fn a_walk_back_on_another_thread_finds_the_same() {
    let here = gradients(&start(), &torque());
    let (start, torque) = (tensor(&start()).require_grad(), tensor(&torque()).require_grad());
    let loss = loss(start.clone(), torque.clone());
    let there = std::thread::spawn(move || {
        let grads = loss.backward();
        [start, torque].map(|t| numbers(t.grad(&grads).expect("a gradient")))
    });
    assert_eq!(there.join().expect("the thread ends"), here);
}

#[test]
fn what_is_not_tracked_gets_no_gradient_and_what_has_no_influence_a_zero() {
    let (plain, torque) = (tensor(&start()), tensor(&[1.0; STEPS + 1]).require_grad());
    let grads = through(plain.clone(), torque.clone()).sum().backward();
    assert!(plain.grad(&grads).is_none());
    let gradient = numbers(torque.grad(&grads).expect("a gradient"));
    assert!(gradient[..STEPS].iter().all(|g| *g != 0.0) && gradient[STEPS] == 0.0, "{gradient:?}");

    let unused = tensor(&[1.0, 2.0]).require_grad();
    let both = diffkern_burn::apply(&Device::cpu(), [torque.clone(), unused.clone()], |[torque, _]| {
        let next = torque.device().zeros(2)?;
        swing(1, torque, torque, &next, 0, 0.1)?;
        Ok(next)
    });
    let grads = both.expect("it runs").sum().backward();
    assert_eq!(numbers(unused.grad(&grads).expect("a gradient")), [0.0, 0.0]);
}

#[test]
fn two_calls_on_one_tensor_add_up() {
    let twice = |weights: [f64; 2]| {
        let (start, torque) = (tensor(&start()).require_grad(), tensor(&torque()));
        let first = through(start.clone(), torque.clone()).sum() * weights[0];
        let second = through(start.clone(), torque * 0.5).sum() * weights[1];
        let grads = (first + second).backward();
        numbers(start.grad(&grads).expect("a gradient"))
    };
    let (both, one, other) = (twice([1.0, 2.0]), twice([1.0, 0.0]), twice([0.0, 2.0]));
    for k in 0..2 {
        assert!((both[k] - one[k] - other[k]).abs() < 1e-14, "{both:?} {one:?} {other:?}");
    }
}

#[test]
fn errors_of_the_program_are_errors_of_the_call() {
    let failing = diffkern_burn::apply(&Device::cpu(), [tensor(&[1.0]).require_grad()], |[_]| {
        Err(Error::Tape("on purpose".to_owned()))
    });
    assert!(failing.expect_err("it fails").to_string().contains("on purpose"));
}
