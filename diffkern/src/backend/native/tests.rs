//! Bodies as the macro would write them, run on arrays of their own.

mod pool;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use super::*;
use crate::kernel::{Access, ElemTy, ScalarTy};
use crate::math::Vec3;

const OPTIONS: Options<'_> = Options { writers: &[], interrupts: &[], work: 1 << 16, copied: None };

/// `n`, or fewer under Miri, which is some thousand times slower.
const fn or_under_miri(n: usize, fewer: usize) -> usize {
    if cfg!(miri) { fewer } else { n }
}

fn launch(body: fn(&Chunk<'_>), n: usize, args: &[HostArg<'_>]) -> Result<(), Fault> {
    run(body, n.into(), args, OPTIONS)
}

fn read<T: crate::Element>(data: &[T]) -> HostArg<'_> {
    HostArg::Array(HostArray::read(data))
}

fn write<T: crate::Element>(data: &mut [T], access: Access, owned: bool) -> HostArg<'_> {
    HostArg::Array(HostArray::write(data, access, owned))
}

fn absent(len: u32) -> HostArg<'static> {
    HostArg::Absent { elem: ElemTy::Real, scalar: ScalarTy::F32, len }
}

/// `out[i] = a[i] * s`
fn scale(c: &Chunk<'_>) {
    let (a, mut out, s) = (c.read::<f32>(0), c.store::<f32>(1), c.real::<f32>(2));
    for p in c.range() {
        out.set(p, a.get(p, 7) * s, 8);
    }
}

/// `out[idx[i]] += a[i]`
fn scatter_add(c: &Chunk<'_>) {
    let (a, idx, out) = (c.read::<Vec3<f32>>(0), c.read::<u32>(1), c.add::<Vec3<f32>>(2));
    for p in c.range() {
        out.add(idx.get(p, 3), a.get(p, 3), 4);
    }
}

/// `out[idx[i]] = a[i]`
fn scatter_store(c: &Chunk<'_>) {
    let (a, idx, mut out) = (c.read::<f32>(0), c.read::<u32>(1), c.store::<f32>(2));
    for p in c.noted_range() {
        out.set(idx.get(p, 3), a.get(p, 3), 4);
    }
}

/// Its adjoint: `a_bar[i] += take(out_bar[idx[i]])`
fn scatter_store_adjoint(c: &Chunk<'_>) {
    let (idx, a_bar, mut out_bar) = (c.read::<u32>(0), c.add::<f32>(1), c.take::<f32>(2));
    for p in c.range() {
        let bar = out_bar.take(idx.get(p, 3), 4);
        a_bar.add(p, bar, 3);
    }
}

#[test]
fn reads_scalars_and_stores() {
    let (a, mut out) = ([1.0f32, 2.0, 3.0], [0.0f32; 3]);
    launch(scale, 3, &[read(&a), write(&mut out, Access::Store, true), HostArg::Real(2.5)]).unwrap();
    assert_eq!(out, [2.5, 5.0, 7.5]);
}

#[test]
fn an_empty_domain_runs_nothing_and_a_huge_one_is_refused() {
    let never = |_: &Chunk<'_>| unreachable!();
    assert_eq!(run(never, (7, 0).into(), &[], OPTIONS), Ok(()));
    let huge = Fault::DomainTooLarge { dims: [1 << 16, 1 << 16, 1] };
    assert_eq!(run(never, (1 << 16, 1 << 16).into(), &[], OPTIONS), Err(huge));
}

#[test]
fn an_interrupt_ends_a_launch_before_its_last_chunk() {
    const N: usize = or_under_miri(1 << 20, 1 << 12);
    fn interrupts_itself(c: &Chunk<'_>) {
        FLAG.store(true, Ordering::Relaxed);
        let mut out = c.store::<f32>(0);
        c.range().for_each(|p| out.set(p, 1.0, 3));
    }
    static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
    let mut out = vec![0.0f32; N];
    let options = Options { interrupts: std::slice::from_ref(&*FLAG), ..OPTIONS };
    let mut launch = || run(interrupts_itself, N.into(), &[write(&mut out, Access::Store, true)], options);
    assert_eq!((launch(), launch()), (Err(Fault::Interrupted), Err(Fault::Interrupted)));
    let written = out.iter().filter(|x| **x == 1.0).count();
    assert!(written > 0 && written < N, "{written} of {N}");
}

#[test]
fn a_read_out_of_range_is_clamped_and_reported() {
    let (a, mut out) = ([1.0f32, 2.0], [0.0f32; 4]);
    let result = launch(scale, 4, &[read(&a), write(&mut out, Access::Store, true), HostArg::Real(1.0)]);
    assert_eq!(result, Err(Fault::OutOfRange { slot: 0, line: 7, index: 2, len: 2 }));
    assert_eq!(out, [1.0, 2.0, 2.0, 2.0]);
    let empty: [f32; 0] = [];
    let result = launch(scale, 1, &[read(&empty), write(&mut out, Access::Store, true), HostArg::Real(1.0)]);
    assert_eq!(result, Err(Fault::OutOfRange { slot: 0, line: 7, index: 0, len: 0 }));
    assert_eq!(out[0], 0.0);
}

#[test]
fn a_write_out_of_range_is_dropped_and_reported() {
    let (a, mut out) = ([1.0f32; 4], [0.0f32; 2]);
    let result = launch(scale, 4, &[read(&a), write(&mut out, Access::Store, true), HostArg::Real(1.0)]);
    assert_eq!(result, Err(Fault::OutOfRange { slot: 1, line: 8, index: 2, len: 2 }));
    assert_eq!(out, [1.0, 1.0]);
    let (v, idx, mut sums) = ([Vec3::new(1.0f32, 2.0, 3.0); 2], [1u32, u32::MAX], [Vec3::<f32>::zero(); 2]);
    let result = launch(scatter_add, 2, &[read(&v), read(&idx), write(&mut sums, Access::Add, false)]);
    assert_eq!(result, Err(Fault::OutOfRange { slot: 2, line: 4, index: u32::MAX, len: 2 }));
    assert_eq!(sums, [Vec3::zero(), v[0]]);
}

#[test]
fn the_first_fault_in_order_is_reported_whatever_the_threads() {
    const WRITTEN: usize = or_under_miri(60_001, 1801);
    let a = vec![1.0f32; or_under_miri(100_000, 3000)];
    let mut out = vec![0.0f32; WRITTEN];
    for threads in [1, 3] {
        let _guard = with_threads(threads);
        let result = launch(scale, a.len(), &[read(&a), write(&mut out, Access::Store, true), HostArg::Real(1.0)]);
        assert_eq!(result, Err(Fault::OutOfRange { slot: 1, line: 8, index: WRITTEN as u32, len: WRITTEN as u32 }));
    }
}

#[test]
fn absent_arrays_read_zero_and_drop_writes() {
    let mut out = [9.0f32; 3];
    launch(scale, 3, &[absent(3), write(&mut out, Access::Store, true), HostArg::Real(2.0)]).unwrap();
    assert_eq!(out, [0.0; 3]);
    launch(scale, 3, &[read(&out), absent(3), HostArg::Real(2.0)]).unwrap();
    let result = launch(scale, 4, &[read(&[0.0f32; 4]), absent(3), HostArg::Real(2.0)]);
    assert_eq!(result, Err(Fault::OutOfRange { slot: 1, line: 8, index: 3, len: 3 }));
    let idx = [0u32, 1];
    let mut bar = [5.0f32; 2];
    launch(scatter_store_adjoint, 2, &[read(&idx), absent(2), write(&mut bar, Access::Take, false)]).unwrap();
    assert_eq!(bar, [0.0; 2]);
    launch(scatter_store_adjoint, 2, &[read(&idx), write(&mut bar, Access::Add, true), absent(2)]).unwrap();
    assert_eq!(bar, [0.0; 2]);
}

#[test]
fn take_reads_and_clears() {
    let (idx, mut a_bar, mut out_bar) = ([2u32, 0], [1.0f32, 1.0], [3.0f32, 4.0, 5.0]);
    let args = [read(&idx), write(&mut a_bar, Access::Add, true), write(&mut out_bar, Access::Take, false)];
    launch(scatter_store_adjoint, 2, &args).unwrap();
    assert_eq!((a_bar, out_bar), ([6.0, 4.0], [0.0, 4.0, 0.0]));
}

#[test]
fn integers_are_stored_and_wrap_when_added() {
    fn body(c: &Chunk<'_>) {
        let (mut ids, sum) = (c.store::<i32>(0), c.add::<u32>(1));
        for p in c.range() {
            ids.set(p, -(p as i32), 1);
            sum.add(0, u32::MAX, 2);
        }
    }
    let (mut ids, mut sum) = ([7i32; 3], [0u32]);
    launch(body, 3, &[write(&mut ids, Access::Store, true), write(&mut sum, Access::Add, false)]).unwrap();
    assert_eq!((ids, sum), ([0, -1, -2], [u32::MAX - 2]));
}

#[test]
fn positions_of_three_dimensions_run_x_first() {
    fn body(c: &Chunk<'_>) {
        let mut out = c.store::<u32>(0);
        for p in c.range() {
            out.set(p, c.pos_x(p) + 10 * c.pos_y(p) + 100 * c.pos_z(p), 1);
        }
    }
    let mut out = [0u32; 12];
    run(body, (2, 3, 2).into(), &[write(&mut out, Access::Store, true)], OPTIONS).unwrap();
    assert_eq!(out, [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121]);
    // One of three is 1.
    run(body, (3, 4, 1).into(), &[write(&mut out, Access::Store, true)], OPTIONS).unwrap();
    assert_eq!(out, [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32]);
    run(body, (3, 1, 4).into(), &[write(&mut out, Access::Store, true)], OPTIONS).unwrap();
    assert_eq!(out, [0, 1, 2, 100, 101, 102, 200, 201, 202, 300, 301, 302]);
    run(body, (1, 6, 2).into(), &[write(&mut out, Access::Store, true)], OPTIONS).unwrap();
    assert_eq!(out, [0, 10, 20, 30, 40, 50, 100, 110, 120, 130, 140, 150]);
}

/// The macro writes no such bodies; if it did, memory would not be read as what it is not.
#[test]
fn arrays_of_another_type_are_refused() {
    fn doubles(c: &Chunk<'_>) {
        c.read::<f64>(0);
    }
    fn vectors(c: &Chunk<'_>) {
        c.add::<Vec3<f32>>(0);
    }
    let (mut data, mut integers) = ([0.0f32; 6], [0u32; 6]);
    let wrong = [write(&mut data, Access::Add, false), write(&mut integers, Access::Add, false), absent(6)];
    for body in [doubles, vectors] {
        for arg in wrong {
            let result = launch(body, 1, &[arg]);
            assert!(
                matches!(&result, Err(Fault::Panicked { message }) if message.contains("another type")),
                "{result:?}"
            );
        }
    }
}

#[test]
fn an_update_out_of_range_is_reported_and_reads_the_last_element() {
    fn body(c: &Chunk<'_>) {
        let mut y = c.update::<f32>(0);
        for p in c.range() {
            let last = y.get(p + 5, 1);
            y.set(p, last + y.len() as f32, 2);
        }
    }
    for owned in [false, true] {
        let mut y = [1.0f32, 2.0, 4.0];
        let result = launch(body, 1, &[write(&mut y, Access::Update, owned)]);
        assert_eq!(result, Err(Fault::OutOfRange { slot: 0, line: 1, index: 5, len: 3 }));
        assert_eq!(y, if owned { [4.0, 2.0, 4.0] } else { [7.0, 2.0, 4.0] }, "of those that are this position's");
    }
}

/// A device function that a program calls itself has nobody to tell.
#[test]
fn faults_on_the_host_are_not_those_of_a_launch() {
    local_outside(9, 3, 1);
    let mut out = [0.0f32; 2];
    let args = [read(&[1.0f32, 2.0]), write(&mut out, Access::Store, true), HostArg::Real(2.0)];
    assert_eq!(launch(scale, 2, &args), Ok(()));
    assert_eq!(out, [2.0, 4.0]);
}

#[test]
fn an_element_changed_by_two_threads_names_both() {
    fn add(c: &Chunk<'_>) {
        let (idx, mut y) = (c.read::<u32>(0), c.update::<f32>(1));
        c.noted_range().for_each(|p| y.add(idx.get(p, 3), 1.0, 4));
    }
    fn take(c: &Chunk<'_>) {
        let (idx, mut y) = (c.read::<u32>(0), c.update::<f32>(1));
        for p in c.noted_range() {
            y.take(idx.get(p, 3), 4);
        }
    }
    for body in [add, take] {
        let (idx, mut y) = ([1u32, 0, 1], [0.0f32; 2]);
        let writers = [(1, vec![AtomicU32::new(0), AtomicU32::new(0)])];
        let looked_at = Options { writers: &writers, ..OPTIONS };
        let result = run(body, 3.into(), &[read(&idx), write(&mut y, Access::Update, false)], looked_at);
        assert_eq!(result, Err(Fault::WrittenTwice { slot: 1, line: 4, index: 1, threads: [0, 2] }));
    }
}

#[test]
fn an_element_stored_to_twice_names_both_threads() {
    let (a, idx, mut out) = ([1.0f32, 2.0, 3.0], [1u32, 0, 1], [0.0f32; 2]);
    let writers = [(2, vec![AtomicU32::new(0), AtomicU32::new(0)])];
    let looked_at = Options { writers: &writers, ..OPTIONS };
    let result =
        run(scatter_store, 3.into(), &[read(&a), read(&idx), write(&mut out, Access::Store, false)], looked_at);
    assert_eq!(result, Err(Fault::WrittenTwice { slot: 2, line: 4, index: 1, threads: [0, 2] }));
    let args = [read(&a), read(&idx), write(&mut out, Access::Store, false)];
    assert_eq!(run(scatter_store, 3.into(), &args, OPTIONS), Ok(()));
}

#[test]
fn own_views_see_the_covered_positions_only() {
    fn body(c: &Chunk<'_>) {
        let Some(covered) = c.covered() else { return };
        let (a, mut out) = (c.own_read::<f32>(0, covered), c.own_store::<f32>(1, covered));
        let (mut sum, mut bar) = (c.own_add::<f32>(2, covered), c.own_take::<f32>(3, covered));
        for p in covered.range() {
            out.set(p, a.get(p, 1) * 2.0, 1);
            sum.add(p, bar.take(p, 1), 1);
        }
    }
    let a: Vec<f32> = (0..1000).map(|x| x as f32).collect();
    let [mut out, mut sum, mut bar] = [0.0f32, 1.0, 2.0].map(|x| vec![x; 1000]);
    let args = [
        read(&a),
        write(&mut out, Access::Store, true),
        write(&mut sum, Access::Add, true),
        write(&mut bar, Access::Take, true),
    ];
    launch(body, 1001, &args[..]).unwrap();
    launch(body, 1000, &[args[0], args[1], absent(1000), args[3]]).unwrap();
    assert!(out.iter().zip(&a).all(|(o, a)| *o == 2.0 * a));
    assert!(sum.iter().all(|s| [1.0, 3.0].contains(s)) && bar[0] == 0.0 && bar[999] == 0.0);
    // An absent array that is too short does not cover the last position.
    out.fill(7.0);
    let args = [absent(999), write(&mut out, Access::Store, true), absent(1000), absent(1000)];
    launch(body, 1000, &args).unwrap();
    assert_eq!(out[999], 7.0);
}

#[test]
fn own_views_end_with_the_positions() {
    fn body(c: &Chunk<'_>) {
        let Some(covered) = c.covered() else { return };
        let (a, mut out) = (c.own_read::<f32>(0, covered), c.own_store::<f32>(1, covered));
        out.set(0, a.get(8, 1), 1);
        out.set(8, 1.0, 1);
    }
    let mut out = [5.0f32; 9];
    launch(body, 8, &[read(&[2.0f32; 9]), write(&mut out, Access::Store, true)]).unwrap();
    assert_eq!(out, [0.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]);
}

#[test]
fn accumulation_has_the_same_bits_for_any_number_of_threads() {
    let n = or_under_miri(20_000, 1200) as u32;
    let places = or_under_miri(3000, 300);
    let random = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
    let v: Vec<_> = (0..n).map(|i| Vec3::new(random(i), random(i + n) - 0.5, random(i + 2 * n) * 1e6)).collect();
    let idx: Vec<u32> = (0..n).map(|i| (random(i + 3 * n) * places as f32) as u32).collect();
    let sums = |threads| {
        let _guard = with_threads(threads);
        let mut sums = vec![Vec3::new(0.1f32, 0.2, 0.3); places + 1];
        launch(scatter_add, n as usize, &[read(&v), read(&idx), write(&mut sums, Access::Add, false)]).unwrap();
        sums
    };
    let one = sums(1);
    for threads in [2, 3, 7, 1] {
        assert!(
            sums(threads)
                .iter()
                .zip(&one)
                .all(|(a, b)| a.to_array().map(f32::to_bits) == b.to_array().map(f32::to_bits))
        );
    }
    let mut exact = vec![[0.1f64, 0.2, 0.3]; places + 1];
    for (v, &i) in v.iter().zip(&idx) {
        (0..3).for_each(|k| exact[i as usize][k] += f64::from(v[k]));
    }
    for (a, b) in one.iter().zip(&exact) {
        (0..3).for_each(|k| assert!((f64::from(a[k]) - b[k]).abs() <= 1e-5 * (1.0 + b[k].abs())));
    }
}

#[test]
fn launches_from_several_threads_do_not_mix() {
    const N: usize = or_under_miri(5001, 600);
    let v = vec![Vec3::new(1.0f64, 2.0, 3.0); N];
    fn body(c: &Chunk<'_>) {
        let (v, sum) = (c.read::<Vec3<f64>>(0), c.add::<Vec3<f64>>(1));
        for p in c.range() {
            sum.add(p % 3, v.get(p, 1), 2);
        }
    }
    let _guard = with_threads(3);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..or_under_miri(50, 2) {
                    let mut sum = [Vec3::<f64>::zero(); 3];
                    launch(body, N, &[read(&v), write(&mut sum, Access::Add, false)]).unwrap();
                    assert_eq!(sum.map(|s| s.x), [N as f64 / 3.0; 3]);
                }
            });
        }
    });
}

#[test]
fn a_panic_in_a_body_is_an_error_and_leaves_nothing_behind() {
    fn body(c: &Chunk<'_>) {
        let sum = c.add::<f32>(0);
        for p in c.range() {
            sum.add(0, 1.0, 1);
            assert!(p != 1000 || c.u32(1) == 0, "position {p}");
        }
    }
    const N: usize = or_under_miri(8000, 1500);
    let mut sum = [0.0f32];
    for (fail, expected) in [(1, false), (0, true), (0, true)] {
        sum = [0.0];
        let result = launch(body, N, &[write(&mut sum, Access::Add, false), HostArg::U32(fail)]);
        assert_eq!(result.is_ok(), expected);
        assert!(expected || result == Err(Fault::Panicked { message: "position 1000".to_owned() }));
    }
    assert_eq!(sum, [N as f32]);
    let wrong = launch(scale, 1, &[HostArg::Bool(true)]);
    assert!(matches!(wrong, Err(Fault::Panicked { .. })));
}

#[test]
fn dispatched_bodies_have_the_same_bits() {
    struct Mix;
    impl Body for Mix {
        type Real = f32;

        #[inline(always)]
        fn run(c: &Chunk<'_>) {
            let (a, mut out) = (c.read::<f32>(0), c.store::<f32>(1));
            for p in c.range() {
                let x = a.get(p, 1);
                out.set(p, crate::Float::round(x * 2.5 + x) + crate::Float::mul_add(x, x, x), 1);
            }
        }
    }
    let a: Vec<f32> = (0..999).map(|i| i as f32 * 0.37 - 100.0).collect();
    let [mut plain, mut newest] = [vec![0.0f32; 999], vec![0.0f32; 999]];
    launch(Mix::run, 999, &[read(&a), write(&mut plain, Access::Store, true)]).unwrap();
    launch(dispatch::<Mix>, 999, &[read(&a), write(&mut newest, Access::Store, true)]).unwrap();
    assert!(plain.iter().zip(&newest).all(|(a, b)| a.to_bits() == b.to_bits()));
}

#[test]
fn arrays_with_more_scalars_than_lanes_have_offsets_for_are_refused() {
    let unfit = |len: u32| {
        let args = [HostArg::Real(2.0), HostArg::Absent { elem: ElemTy::Mat3, scalar: ScalarTy::F32, len }];
        let chunk = Chunk {
            start: 0,
            end: 1,
            dims: [1; 3],
            args: &args,
            zeros: &[],
            pages: &[],
            writers: &[],
            fault: Default::default(),
            suspect: Default::default(),
            position: Default::default(),
            lines: lanes::Lines::default(),
        };
        chunk.unfit_for_lanes()
    };
    let most = ((1 << 31) - 1) / 9;
    assert_eq!(unfit(most), None);
    assert_eq!(unfit(most + 1), Some(Fault::TooLong { slot: 1, scalars: 9 * (most as usize + 1) }));
}

/// Sets the number of threads for one test at a time.
fn with_threads(n: usize) -> impl Drop {
    static TURN: Mutex<()> = Mutex::new(());
    struct Reset(#[expect(dead_code, reason = "held")] std::sync::MutexGuard<'static, ()>);
    impl Drop for Reset {
        fn drop(&mut self) {
            set_threads(0);
        }
    }
    let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    set_threads(n);
    Reset(turn)
}

#[test]
fn what_counts_as_zero_is_cleared_in_passing() {
    fn body(c: &Chunk<'_>) {
        let (own, any) = (c.add::<f32>(0), c.add::<f32>(1));
        for p in c.range() {
            own.add(p, 1.0, 1);
            any.add(p % 7, 1.0, 2);
        }
    }
    for n in [0, 1, 100, 300, or_under_miri(70_000, 700) as u32] {
        let (mut own, mut any) = (vec![9.0f32; n as usize + 5], vec![9.0f32; or_under_miri(5000, 40)]);
        let args = [write(&mut own, Access::Add, true), write(&mut any, Access::Add, false)];
        let [HostArg::Array(a), HostArg::Array(b)] = args else { panic!("arrays") };
        let args = [a, b].map(|array| HostArg::Array(array.with_uses(true, false)));
        launch(body, n as usize, &args).unwrap();
        assert!(own.iter().enumerate().all(|(i, &x)| x == if i < n as usize { 1.0 } else { 0.0 }), "{n}");
        assert!(
            any.iter().enumerate().all(|(i, &x)| x == (0..n).filter(|p| (p % 7) as usize == i).count() as f32),
            "{n}"
        );
    }
}
