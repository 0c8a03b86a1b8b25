//! Runs the kernels of `kernels.rs` on the CPU and prints, for each, what its arrays hold afterwards, their tangents and
//! the gradient of its inputs. Written out by the search for kernels that diffkern gets wrong.

#![allow(unused, reason = "each batch of kernels uses a part of what is here")]

mod kernels;

use diffkern::prelude::*;
use diffkern::{AnyArray, jvp};
use kernels::{Body, Held};

use diffkern_fuzz::ast::{ARRAYS, Ty, Use};
use diffkern_fuzz::case::{Case, DOMAIN, LEN, case};

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
    pub r: Array<Body<f64>>,
    pub h: Array<Held<f64>>,
    pub w: Array<Held<f64>>,
    pub e: Array<Held<f64>>,
    pub o: Array<Held<f64>>,
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

fn bodies(x: &[f64]) -> Vec<Body<f64>> {
    x.chunks(4).map(|c| Body { mass: c[0], at: Vec3::new(c[1], c[2], c[3]) }).collect()
}

fn held(x: &[f64]) -> Vec<Held<f64>> {
    let one = |c: &[f64]| Held { size: Vec2::new(c[0], c[1]), body: bodies(&c[2..6])[0], gain: c[6] };
    x.chunks(7).map(one).collect()
}

fn flat(b: &Body<f64>) -> Vec<f64> {
    vec![b.mass, b.at.x, b.at.y, b.at.z]
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
        r: dev.array(&bodies(&of[12]))?.requires_grad(),
        h: dev.array(&held(&of[13]))?.requires_grad(),
        w: dev.array(&held(&of[14]))?.requires_grad(),
        e: dev.array(&held(&of[15]))?.requires_grad(),
        o: dev.array(&held(&of[16]))?.requires_grad(),
    })
}

impl Arrays {
    fn as_any(&self) -> [&AnyArray; 17] {
        [
            self.x.as_any(),
            self.p.as_any(),
            self.q.as_any(),
            self.m.as_any(),
            self.t.as_any(),
            self.idx.as_any(),
            self.y.as_any(),
            self.z.as_any(),
            self.a.as_any(),
            self.b.as_any(),
            self.c.as_any(),
            self.u.as_any(),
            self.r.as_any(),
            self.h.as_any(),
            self.w.as_any(),
            self.e.as_any(),
            self.o.as_any(),
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
        Mat2<f64>: |x| x.to_array().to_vec(), Mat3<f64>: |x| x.to_array().to_vec(), Body<f64>: |b| flat(&b),
        Held<f64>: |h| [vec![h.size.x, h.size.y], flat(&h.body), vec![h.gain]].concat()
    );
    Ok(Vec::new())
}

fn show(what: &str, name: usize, values: &[f64]) {
    let list: Vec<String> = values.iter().map(|x| format!("{:x}", x.to_bits())).collect();
    println!("{what} {name} {}", list.join(" "));
}

fn run(launch: Launch, at: &Case) -> diffkern::Result<()> {
    let dev = Device::cpu();
    let real = |k: &usize| ARRAYS[*k].1 != Ty::U32;

    let (forward, dots) = (arrays(&dev, &at.values)?, arrays(&dev, &at.dots)?);
    let pairs: Vec<_> =
        (0..ARRAYS.len()).filter(real).map(|k| (forward.as_any()[k], dots.as_any()[k])).collect();
    let ((), tangents) = jvp(&[&pairs], || launch(DOMAIN, &forward, at.scalar, at.count))?;
    for k in (0..ARRAYS.len()).filter(real) {
        show("value", k, &scalars(forward.as_any()[k])?);
        show("tangent", k, &scalars(&tangents.get_any(0, forward.as_any()[k])?)?);
    }

    // What the kernel writes it writes to copies: an array that requires a gradient keeps its value.
    let (leaves, bars) = (arrays(&dev, &at.values)?, arrays(&dev, &at.bars)?);
    let reverse = Arrays {
        y: dev.zeros(LEN)?,
        z: dev.zeros(LEN)?,
        a: dev.zeros(LEN)?,
        b: dev.zeros(LEN)?,
        c: dev.zeros(LEN)?,
        u: dev.zeros(LEN)?,
        w: dev.zeros(LEN)?,
        e: dev.zeros(LEN)?,
        o: dev.zeros(LEN)?,
        r: leaves.r.clone(),
        h: leaves.h.clone(),
        x: leaves.x.clone(),
        p: leaves.p.clone(),
        q: leaves.q.clone(),
        m: leaves.m.clone(),
        t: leaves.t.clone(),
        idx: leaves.idx.clone(),
    };
    let tape = Tape::record(|| {
        reverse.y.copy_from(&leaves.y)?;
        reverse.z.copy_from(&leaves.z)?;
        reverse.a.copy_from(&leaves.a)?;
        reverse.b.copy_from(&leaves.b)?;
        reverse.c.copy_from(&leaves.c)?;
        reverse.u.copy_from(&leaves.u)?;
        reverse.w.copy_from(&leaves.w)?;
        reverse.e.copy_from(&leaves.e)?;
        reverse.o.copy_from(&leaves.o)?;
        launch(DOMAIN, &reverse, at.scalar, at.count)
    })?;
    let seeds: Vec<_> = (0..ARRAYS.len()).filter(|k| ARRAYS[*k].2 != Use::Read).map(|k| (reverse.as_any()[k], bars.as_any()[k])).collect();
    tape.backward_from(&seeds)?;
    macro_rules! grads {
        ($($k:literal $field:ident),*) => {
            $({
                // An array that is only read is there afterwards as before, with its own adjoint.
                let mut sum = if ARRAYS[$k].2 == Use::Read { at.bars[$k].clone() } else { vec![0.0; at.bars[$k].len()] };
                // Without a gradient no path leads to it.
                if let Ok(grad) = leaves.$field.grad() {
                    sum.iter_mut().zip(scalars(grad.as_any())?).for_each(|(sum, x)| *sum += x);
                }
                show("gradient", $k, &sum);
            })*
        };
    }
    grads!(0 x, 1 p, 2 q, 3 m, 4 t, 6 y, 7 z, 8 a, 9 b, 10 c, 11 u, 12 r, 13 h, 14 w, 15 e, 16 o);
    Ok(())
}

fn main() {
    for (number, seed, launch) in kernels::ALL {
        println!("kernel {number}");
        if let Err(error) = run(*launch, &case(*seed)) {
            println!("error {error}");
        }
    }
}
