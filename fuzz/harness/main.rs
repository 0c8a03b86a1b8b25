//! Runs the kernels of `kernels.rs` on the CPU and prints, for each, what its arrays hold afterwards, their tangents and
//! the gradient of its inputs. Written out by the search for kernels that diffkern gets wrong.

#![allow(unused)]

mod kernels;

use diffkern::prelude::*;
use diffkern::{AnyArray, jvp};
use diffkern_fuzz::ast::ARRAYS;
use diffkern_fuzz::case::{Case, DOMAIN, case};

/// The arguments of every kernel.
pub struct Arrays {
    pub x: Array<f64>,
    pub p: Array<Vec2<f64>>,
    pub q: Array<Vec3<f64>>,
    pub m: Array<Mat2<f64>>,
    pub t: Array<Mat3<f64>>,
    pub idx: Array<u32>,
    pub y: Array<f64>,
    pub z: Array<Vec3<f64>>,
    pub a: Array<f64>,
    pub b: Array<Vec2<f64>>,
    pub c: Array<Mat3<f64>>,
    pub u: Array<f64>,
}

/// A kernel with its launch.
pub type Launch = fn(usize, &Arrays, f64, u32) -> diffkern::Result<()>;

fn vec2(x: &[f64]) -> Vec<Vec2<f64>> {
    x.chunks(2).map(|c| Vec2::new(c[0], c[1])).collect()
}

fn vec3(x: &[f64]) -> Vec<Vec3<f64>> {
    x.chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect()
}

fn mat2(x: &[f64]) -> Vec<Mat2<f64>> {
    x.chunks(4).map(|c| Mat2::from_array([c[0], c[1], c[2], c[3]])).collect()
}

fn mat3(x: &[f64]) -> Vec<Mat3<f64>> {
    x.chunks(9).map(|c| Mat3::from_array(std::array::from_fn(|k| c[k]))).collect()
}

fn arrays(dev: &Device, of: &[Vec<f64>]) -> diffkern::Result<Arrays> {
    let ints: Vec<u32> = of[5].iter().map(|x| *x as u32).collect();
    Ok(Arrays {
        x: dev.array(&of[0])?.requires_grad(),
        p: dev.array(&vec2(&of[1]))?.requires_grad(),
        q: dev.array(&vec3(&of[2]))?.requires_grad(),
        m: dev.array(&mat2(&of[3]))?.requires_grad(),
        t: dev.array(&mat3(&of[4]))?.requires_grad(),
        idx: if ints.is_empty() { dev.zeros::<u32>(1)? } else { dev.array(&ints)? },
        y: dev.array(&of[6])?.requires_grad(),
        z: dev.array(&vec3(&of[7]))?.requires_grad(),
        a: dev.array(&of[8])?.requires_grad(),
        b: dev.array(&vec2(&of[9]))?.requires_grad(),
        c: dev.array(&mat3(&of[10]))?.requires_grad(),
        u: dev.array(&of[11])?.requires_grad(),
    })
}

impl Arrays {
    fn any(&self) -> [&AnyArray; 12] {
        [
            self.x.any(),
            self.p.any(),
            self.q.any(),
            self.m.any(),
            self.t.any(),
            self.idx.any(),
            self.y.any(),
            self.z.any(),
            self.a.any(),
            self.b.any(),
            self.c.any(),
            self.u.any(),
        ]
    }
}

fn scalars(array: &AnyArray) -> diffkern::Result<Vec<f64>> {
    macro_rules! as_type {
        ($($ty:ty: $flat:expr),*) => {
            $(if let Ok(typed) = Array::<$ty>::try_from(array.clone()) {
                return Ok(typed.to_vec()?.into_iter().flat_map($flat).collect());
            })*
        };
    }
    as_type!(
        f64: |x| vec![x], Vec2<f64>: |x| x.to_array().to_vec(), Vec3<f64>: |x| x.to_array().to_vec(),
        Mat2<f64>: |x| x.to_array().to_vec(), Mat3<f64>: |x| x.to_array().to_vec()
    );
    Ok(Vec::new())
}

fn show(what: &str, name: usize, values: &[f64]) {
    let list: Vec<String> = values.iter().map(|x| format!("{:x}", x.to_bits())).collect();
    println!("{what} {name} {}", list.join(" "));
}

/// `written`: the arrays that the kernel writes.
fn run(launch: Launch, written: &[usize], at: &Case) -> diffkern::Result<()> {
    let dev = Device::cpu();
    let real = |k: &usize| ARRAYS[*k].1.is_real();

    let (forward, dots) = (arrays(&dev, &at.values)?, arrays(&dev, &at.dots)?);
    let pairs: Vec<_> =
        (0..ARRAYS.len()).filter(real).map(|k| (forward.any()[k], dots.any()[k])).collect();
    let ((), tangents) = jvp(&[&pairs], || launch(DOMAIN, &forward, at.scalar, at.count))?;
    for k in (0..ARRAYS.len()).filter(real) {
        show("value", k, &scalars(forward.any()[k])?);
        show("tangent", k, &scalars(&tangents.get_any(0, forward.any()[k])?)?);
    }

    let (reverse, bars) = (arrays(&dev, &at.values)?, arrays(&dev, &at.bars)?);
    let tape = Tape::record(|| launch(DOMAIN, &reverse, at.scalar, at.count))?;
    let seeds: Vec<_> = written.iter().map(|k| (reverse.any()[*k], bars.any()[*k])).collect();
    tape.backward_from(&seeds)?;
    macro_rules! grads {
        ($($k:literal $field:ident),*) => {
            $(
                match reverse.$field.grad() {
                    Ok(grad) => show("gradient", $k, &scalars(grad.any())?),
                    // What the kernel does not touch passes on its adjoint.
                    Err(_) if $k >= 6 && !written.contains(&$k) => show("gradient", $k, &at.bars[$k]),
                    Err(_) => show("gradient", $k, &vec![0.0; at.values[$k].len()]),
                }
            )*
        };
    }
    grads!(0 x, 1 p, 2 q, 3 m, 4 t, 6 y, 7 z, 8 a, 9 b, 10 c, 11 u);
    Ok(())
}

fn main() {
    for (number, seed, written, launch) in kernels::ALL {
        println!("kernel {number}");
        if let Err(error) = run(*launch, written, &case(*seed)) {
            println!("error {error}");
        }
    }
}
