//! The same kernels on each device that this build and machine have.

use diffkern::gradcheck::devices;
use diffkern::prelude::*;
use diffkern::{Rollout, Schedule};

use crate::atomics::{collect, count, tally, use_list};
use crate::locals::{bins, median};
use crate::loops::{grown, walk};
use crate::ops::{sort_is_right, sums_are_right};
use crate::random::{draw, sample};
use crate::updates::{divide, grow, kick, scale, scattered};
use crate::{numbers, reals};

/// Where `x` doubles beyond `limit`.
#[diff_kernel]
fn doubled<F: Float>(x: &Array<F>, y: &mut Array<F>, limit: F, most: u32) {
    let i = ABSOLUTE_POS;
    let mut s = x[i];
    let mut t = F::new(0.1);
    #[bound(most)]
    while s < limit {
        t = t * s.cos() + s;
        s = s * 2.0;
    }
    y[i] = s + t * t;
}

#[test]
fn updates_agree() {
    let cpu = Device::cpu();
    let x = reals(&cpu, 1, 300, 0.4, 1.3);
    let v: Vec<Vec3<f64>> = numbers(4, 900, 0.3, 1.2).chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect();
    let idx = cpu.array(&(0..300).rev().collect::<Vec<u32>>()).unwrap();
    for dev in devices().unwrap() {
        scale::devicecheck(&dev, 300, &x, &reals(&cpu, 2, 300, 0.4, 1.3)).unwrap();
        divide::devicecheck(&dev, 300, &x, &reals(&cpu, 3, 300, 0.4, 1.3)).unwrap();
        grow::devicecheck(&dev, 300, &x, &reals(&cpu, 6, 300, 0.1, 0.8), 0.3).unwrap();
        kick::devicecheck(&dev, 300, &x, &cpu.array(&v).unwrap(), &cpu.zeros(300).unwrap()).unwrap();
        scattered::devicecheck(&dev, 300, &idx, &x, &reals(&cpu, 5, 300, 0.3, 0.9)).unwrap();
    }
}

#[test]
fn loops_that_end_early_agree() {
    let cpu = Device::cpu();
    for dev in devices().unwrap() {
        let (x, w, y) = (reals(&cpu, 1, 99, 0.1, 1.5), reals(&cpu, 11, 6, 0.05, 1.1), cpu.zeros::<f64>(99).unwrap());
        walk::devicecheck(&dev, 99, &x, &w, &y).unwrap();
        grown::devicecheck(&dev, 99, &reals(&cpu, 3, 9, 0.1, 0.3), &x, &y).unwrap();
        // Turns kept in registers, and in scratch memory.
        doubled::devicecheck(&dev, 99, &x, &y, 3.0, 9).unwrap();
        doubled::devicecheck(&dev, 99, &x, &y, 3.0, 300).unwrap();
    }
}

#[test]
fn an_exceeded_bound_is_an_error_of_the_next_read() {
    for dev in devices().unwrap() {
        let (x, y) = (dev.array(&[0.5f32, 2.0]).unwrap(), dev.zeros::<f32>(2).unwrap());
        doubled(2, &x, &y, 3.0, 3).unwrap();
        y.to_vec().unwrap();
        doubled(2, &x, &y, 3.0, 2).unwrap();
        doubled(2, &x, &y, 3.0, 3).unwrap();
        let message = x.to_vec().unwrap_err().to_string();
        assert!(message.contains("`doubled`") && message.contains("bound"), "{message}");
        assert_eq!(x.to_vec().unwrap(), [0.5, 2.0]);
    }
}

#[test]
fn local_arrays_agree() {
    let cpu = Device::cpu();
    let x = reals(&cpu, 1, 12, 0.05, 0.99);
    let v: Vec<Vec2<f64>> = numbers(2, 24, 0.3, 1.2).chunks(2).map(|c| Vec2::new(c[0], c[1])).collect();
    let v = cpu.array(&v).unwrap();
    for dev in devices().unwrap() {
        median::devicecheck(&dev, 20, &reals(&cpu, 3, 100, 0.3, 1.9), &cpu.zeros(20).unwrap()).unwrap();
        bins::devicecheck(&dev, 12, &x, &v, &cpu.zeros(12).unwrap(), &cpu.zeros(48).unwrap()).unwrap();
    }
}

#[test]
fn counts_agree() {
    let cpu = Device::cpu();
    let x = reals(&cpu, 1, 600, 0.02, 0.98);
    for dev in devices().unwrap() {
        let (below, balance) = (cpu.array(&[5u32; 8]).unwrap(), cpu.array(&[7i32; 8]).unwrap());
        count::devicecheck(&dev, 600, &x, &below, &balance, &cpu.zeros(3).unwrap()).unwrap();
        let (n, left) = (cpu.zeros::<u32>(3).unwrap(), cpu.zeros::<i32>(1).unwrap());
        tally::devicecheck(&dev, 600, &x, &n, &left, &cpu.zeros(2).unwrap()).unwrap();
    }
}

/// In any order, but each index once.
#[test]
fn old_values_are_handed_out_once() {
    for dev in devices().unwrap() {
        let x: Vec<f32> = numbers(3, 900, 0.1, 0.9).into_iter().map(|x| x as f32).collect();
        let mut expected: Vec<u32> = (0..900).filter(|&i| x[i as usize] > 0.5).collect();
        let (next, list) = (dev.zeros::<u32>(1).unwrap(), dev.array(&[u32::MAX; 900]).unwrap());
        collect(900, &dev.array(&x).unwrap(), &next, &list, &dev.zeros(900).unwrap()).unwrap();
        assert_eq!(next.to_vec().unwrap(), [expected.len() as u32]);
        expected.resize(900, u32::MAX);
        let mut found = list.to_vec().unwrap();
        found.sort_unstable();
        assert_eq!(found, expected);
    }
}

#[test]
fn draws_agree() {
    let cpu = Device::cpu();
    let (mean, spread) = (reals(&cpu, 1, 1, 0.4, 0.6), reals(&cpu, 2, 1, 0.3, 0.9));
    for dev in devices().unwrap() {
        draw::devicecheck(&dev, 500, &cpu.zeros(500).unwrap(), &cpu.zeros(500).unwrap(), 3).unwrap();
        sample::devicecheck(&dev, 40, &mean, &spread, &cpu.zeros(40).unwrap(), 5).unwrap();
    }
}

#[test]
fn sorts_and_sums_agree() {
    for dev in devices().unwrap() {
        sort_is_right(&dev, &[0, 1, 2, 255, 256, 257, 1500]);
        sums_are_right(&dev, &[0, 1, 127, 128, 129, 4096, 17_000]);
    }
}

/// The order of a GPU decides which slot an element gets, so what was built on that is not built again.
#[test]
fn steps_that_use_old_values_are_replayed_in_a_fixed_order_only() {
    const N: usize = 40;
    let x: Vec<f32> = numbers(1, N, 0.51, 0.99).iter().map(|&x| x as f32).collect();
    for dev in devices().unwrap().into_iter().chain([Device::cpu()]) {
        let run = |rollout: Rollout| -> Result<Vec<f32>> {
            let x = dev.array(&x)?.requires_grad();
            let (tape, end) = Tape::record_value(|| {
                rollout.run(3, x.clone(), |x: &Array<f32>, _| {
                    let dev = x.device();
                    let (next, list, squares) = (dev.zeros(1)?, dev.zeros(N)?, dev.uninit(N)?);
                    collect(N, x, &next, &list, &squares)?;
                    let y = dev.uninit(N)?;
                    use_list(N, x, &list, &y)?;
                    Ok(y)
                })
            })?;
            tape.backward_from(&[(end.as_any(), dev.full(N, 1.0f32)?.as_any())])?;
            x.grad()?.to_vec()
        };
        // All elements are in the list, in any order, so each has a path of its own to the end.
        assert_eq!(run(Rollout::new(Schedule::StoreAll)).unwrap(), [27.0; N]);
        assert_eq!(run(Rollout::new(Schedule::StoreAll).recompute_all()).unwrap(), [27.0; N]);
        let replayed = run(Rollout::new(Schedule::Checkpoints(1)));
        match dev == Device::cpu() {
            true => assert_eq!(replayed.unwrap(), [27.0; N]),
            false => assert!(replayed.unwrap_err().to_string().contains("`fetch_add`")),
        }
    }
}
