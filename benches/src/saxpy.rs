//! W4: a chain of launches of `y' = a y + x` on every element; what one launch and its adjoint cost in memory traffic.

use anyhow::Result;
use diffkern::prelude::*;
use diffkern::reduce;

use crate::harness::{Sizes, Workload};

#[diff_kernel]
fn saxpy<F: Float>(a: &Array<F>, x: &Array<F>, y: &Array<F>, y_next: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    y_next[i] = a[i] * y[i] + x[i];
}

pub struct Saxpy {
    device: Device,
    steps: usize,
    a: Array<f32>,
    x: Array<f32>,
    y0: Array<f32>,
}

impl Saxpy {
    pub fn new(device: &Device, sizes: Sizes) -> Result<Self> {
        let fraction = |i: usize, prime: usize| ((i * prime) % 1000) as f64 / 1000.0;
        let values = |f: &dyn Fn(usize) -> f64| (0..sizes.particles).map(|i| f(i) as f32).collect::<Vec<f32>>();
        Ok(Saxpy {
            device: device.clone(),
            steps: sizes.steps,
            a: device.array(&values(&|i| 0.9 + 0.1 * fraction(i, 7919)))?.requires_grad(),
            x: device.array(&values(&|i| fraction(i, 104_729) - 0.5))?.requires_grad(),
            y0: device.array(&values(&|i| fraction(i, 15_485_863)))?.requires_grad(),
        })
    }

    fn run(&self) -> diffkern::Result<Array<f32>> {
        let mut y = self.y0.clone();
        for _ in 0..self.steps {
            let next = self.device.uninit::<f32>(y.len())?;
            saxpy(y.len(), &self.a, &self.x, &y, &next)?;
            y = next;
        }
        reduce::mean(&y)
    }
}

impl Workload for Saxpy {
    fn forward(&self) -> Result<f64> {
        Ok(f64::from(self.run()?.to_vec()?[0]))
    }

    fn forward_backward(&self) -> Result<f64> {
        for array in [&self.a, &self.x, &self.y0] {
            array.zero_grad();
        }
        let (tape, loss) = Tape::record_value(|| self.run())?;
        tape.backward(&loss)?;
        Ok(f64::from(loss.to_vec()?[0]))
    }

    fn gradients(&self) -> Result<[Vec<f64>; 2]> {
        let host = |g: Array<f32>| -> Result<Vec<f64>> { Ok(g.to_vec()?.into_iter().map(f64::from).collect()) };
        Ok([host(self.y0.grad()?)?, host(self.a.grad()?)?])
    }
}
