//! Counting: `+=` on integers, and `fetch_add`, whose old values carry no derivative.

use diffkern::prelude::*;
use diffkern::set_threads;

use crate::{near, numbers, reals};

/// How many are below each mark, and how much they sum to.
#[diff_kernel]
pub fn count<F: Float>(x: &Array<F>, below: &mut Array<u32>, balance: &mut Array<i32>, sum: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    for k in 0..below.len() {
        if x[i] < F::cast_from(k) * 0.1 {
            below[k] += 1;
            balance[k] -= 1;
        } else {
            balance[k] += 2;
        }
    }
    sum[i % sum.len()] += x[i] * x[i];
}

#[test]
fn integers_accumulate() {
    let dev = Device::cpu();
    let x = reals(&dev, 1, 3000, 0.02, 0.98);
    let (below, balance) = (dev.array(&[5u32; 8]).unwrap(), dev.array(&[7i32; 8]).unwrap());
    count(3000, &x, &below, &balance, &dev.zeros(3).unwrap()).unwrap();
    let under: Vec<u32> =
        (0..8).map(|k| x.to_vec().unwrap().iter().filter(|x| **x < f64::from(k) * 0.1).count() as u32).collect();
    assert_eq!(below.to_vec().unwrap(), under.iter().map(|n| n + 5).collect::<Vec<_>>());
    let expected: Vec<i32> = under.iter().map(|&n| 7 - n as i32 + 2 * (3000 - n as i32)).collect();
    assert_eq!(balance.to_vec().unwrap(), expected);
    count::gradcheck(50, &reals(&dev, 2, 50, 0.02, 0.98), &below, &balance, &dev.zeros(3).unwrap()).unwrap();
}

/// Puts the indices of the large elements into a list; each slot is handed out once.
#[diff_kernel(injective)]
pub fn collect<F: Float>(x: &Array<F>, next: &mut Array<Atomic<u32>>, list: &mut Array<u32>, squares: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if x[i] > 0.5 {
        let slot = next[0].fetch_add(1);
        if slot < list.len() as u32 {
            list[slot] = i as u32;
        }
    }
    squares[i] = x[i] * x[i];
}

/// The second kernel, which uses the slots.
#[diff_kernel]
pub fn use_list<F: Float>(x: &Array<F>, list: &Array<u32>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[list[ABSOLUTE_POS]] * 3.0;
}

#[test]
fn old_values_are_those_of_one_thread_whatever_their_number() {
    // Enough for several threads to take part, if they were let.
    const N: usize = 400_000;
    let dev = Device::cpu();
    let x0 = numbers(3, N, 0.1, 0.9);
    let x = dev.array(&x0).unwrap();
    let expected: Vec<u32> = (0..N as u32).filter(|&i| x0[i as usize] > 0.5).collect();
    for threads in [1, 2, 5, 5, 5] {
        set_threads(threads);
        let (next, list) = (dev.zeros::<u32>(1).unwrap(), dev.zeros::<u32>(expected.len() - 10).unwrap());
        let squares = dev.zeros::<f64>(N).unwrap();
        collect(N, &x, &next, &list, &squares).unwrap();
        assert_eq!(next.to_vec().unwrap(), [expected.len() as u32]);
        assert!(list.to_vec().unwrap() == expected[..expected.len() - 10], "with {threads} threads");
    }
}

/// The gradient does not count again: a second run of the kernel would double the counter.
#[test]
fn gradients_do_not_fetch_again() {
    let dev = Device::cpu();
    let x0 = numbers(4, 40, 0.1, 0.9);
    let x = dev.array(&x0).unwrap().requires_grad();
    let large = x0.iter().filter(|x| **x > 0.5).count();
    let (next, list) = (dev.zeros::<u32>(1).unwrap(), dev.zeros::<u32>(40).unwrap());
    let (squares, y) = (dev.zeros::<f64>(40).unwrap(), dev.zeros::<f64>(large).unwrap());
    let tape = Tape::record(|| {
        collect(40, &x, &next, &list, &squares)?;
        use_list(large, &x, &list, &y)
    })
    .unwrap();
    let (of_squares, of_y) = (dev.array(&[1.0; 40]).unwrap(), dev.array(&vec![1.0; large]).unwrap());
    tape.backward_from(&[(squares.as_any(), of_squares.as_any()), (y.as_any(), of_y.as_any())]).unwrap();
    let expected: Vec<f64> = x0.iter().map(|x| 2.0 * x + if *x > 0.5 { 3.0 } else { 0.0 }).collect();
    near(&x.grad().unwrap().to_vec().unwrap(), &expected);
    assert_eq!(next.to_vec().unwrap(), [large as u32]);
    collect::gradcheck(40, &x, &next, &list, &squares).unwrap();
}

/// As statements: sums in any order, of integers and reals.
#[diff_kernel]
pub fn tally<F: Float>(
    x: &Array<F>,
    n: &mut Array<Atomic<u32>>,
    left: &mut Array<Atomic<i32>>,
    s: &mut Array<Atomic<F>>,
) {
    let i = ABSOLUTE_POS;
    n[i % 3].fetch_add(2);
    left[0].fetch_sub(1);
    s[i % 2].fetch_add(x[i] * x[i]);
    s[0].fetch_sub(x[i]);
}

#[test]
fn statements_add_in_any_order() {
    let dev = Device::cpu();
    let x = reals(&dev, 5, 300, 0.1, 0.9);
    let (n, left, s) = (dev.zeros::<u32>(3).unwrap(), dev.array(&[1000i32]).unwrap(), dev.zeros::<f64>(2).unwrap());
    tally(300, &x, &n, &left, &s).unwrap();
    assert_eq!((n.to_vec().unwrap(), left.to_vec().unwrap()), (vec![200, 200, 200], vec![700]));
    tally::gradcheck(300, &x, &n, &left, &s).unwrap();
}
