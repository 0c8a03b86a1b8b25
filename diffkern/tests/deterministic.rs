//! Sums that threads make at indices of their choice: the same bits in each run where a device is asked for that, the
//! same numbers as on the CPU in any case.

use diffkern::prelude::*;

/// Neighbouring threads add to the same few elements, numbers of very different size.
#[diff_kernel]
fn scatter<F: Float>(x: &Array<F>, at: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let k = at[i] as usize;
    y[k] += x[i] * x[i];
    y[k + 1] += x[i];
}

/// Its adjoint scatters: two arrays, one of vectors, in loops.
#[diff_kernel]
fn gather<F: Float>(v: &Array<Vec3<F>>, w: &Array<F>, at: &Array<u32>, n: u32, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut sum = F::new(0.0);
    for k in 0..n {
        let j = at[(i + k as usize) % at.len()] as usize;
        sum += v[j].dot(v[j + 1]) * w[j] * w[0];
    }
    y[i] = sum;
}

/// The devices of this build and machine, named in `DIFFKERN_TEST_DEVICES` where they have to be there.
fn devices() -> Vec<Device> {
    let wanted = std::env::var("DIFFKERN_TEST_DEVICES").unwrap_or_default();
    let open = |name: &str| match Device::by_name(name) {
        Err(error) if wanted.split(',').any(|w| w == name) => panic!("{error}"),
        opened => opened.ok(),
    };
    ["cpu", "wgpu", "cuda"].into_iter().filter_map(open).collect()
}

/// `sum[0] += x[i]`
#[diff_kernel]
fn add_up<F: Float>(x: &Array<F>, sum: &mut Array<F>) {
    sum[0] += x[ABSOLUTE_POS];
}

/// What the table of the kernel language says of sums into one element: how far ten million terms are off in `f32`.
#[test]
fn ten_million_terms_in_one_element_stay_within_the_bound() -> Result<()> {
    const TERMS: usize = 10_000_000;
    const CHUNKS: f64 = 64.0;
    let dev = Device::cpu();
    for term in [1.0f32 / 3.0, 0.1, 0.7] {
        let sum = dev.zeros::<f32>(1)?;
        add_up(TERMS, &dev.array(&vec![term; TERMS])?, &sum)?;
        let exact = TERMS as f64 * f64::from(term);
        let off = (f64::from(sum.to_vec()?[0]) - exact).abs() / exact;
        // Equal terms are rounded in one direction for as long as the sum keeps its exponent: of what the bound allows
        // (9.4e-3) they lose a sixth.
        assert!(off < (TERMS as f64 / CHUNKS + CHUNKS) * 6e-8, "{term}: {off:e}");
    }
    Ok(())
}

/// The choice is one for the whole process, so tests take turns.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

const N: usize = 20_000;
const ELEMENTS: usize = 101;

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|k| ((k * 7919 % 1009) as f32 / 100.0 - 5.0) * 10f32.powi((k % 7) as i32 - 3)).collect()
}

fn indices() -> Vec<u32> {
    (0..N).map(|k| (k * 31 % (ELEMENTS - 1)) as u32).collect()
}

/// Values and gradients, as bits.
fn outcome(dev: &Device) -> Result<Vec<Vec<f32>>> {
    let at = dev.array(&indices())?;
    let x = dev.array(&numbers(N))?.requires_grad();
    let y = dev.zeros::<f32>(ELEMENTS)?;
    let tape = Tape::record(|| scatter(N, &x, &at, &y))?;
    let seed = dev.array(&numbers(ELEMENTS))?;
    tape.backward_from(&[(y.as_any(), seed.as_any())])?;
    let vectors: Vec<_> = numbers(ELEMENTS * 3).as_chunks::<3>().0.iter().map(|&c| Vec3::from_array(c)).collect();
    let v = dev.array(&vectors)?.requires_grad();
    let w = dev.array(&numbers(ELEMENTS))?.requires_grad();
    let z = dev.uninit::<f32>(N)?;
    let tape = Tape::record(|| gather(N, &v, &w, &at, 5, &z))?;
    let seed = dev.array(&numbers(N))?;
    tape.backward_from(&[(z.as_any(), seed.as_any())])?;
    let flat = v.grad()?.to_vec()?.iter().flat_map(|v| v.to_array()).collect();
    Ok(vec![y.to_vec()?, x.grad()?.to_vec()?, z.to_vec()?, flat, w.grad()?.to_vec()?])
}

fn bits(all: &[Vec<f32>]) -> Vec<Vec<u32>> {
    all.iter().map(|x| x.iter().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn sums_have_the_same_bits_in_each_run() -> Result<()> {
    let _turn = TURN.lock();
    let expected = outcome(&Device::cpu())?;
    for dev in devices() {
        let before = dev.is_deterministic();
        dev.set_deterministic(true);
        assert!(dev.is_deterministic());
        let first = outcome(&dev)?;
        for run in 0..12 {
            assert_eq!(bits(&outcome(&dev)?), bits(&first), "{}, run {run}", dev.name());
        }
        dev.set_deterministic(false);
        assert_eq!(dev.is_deterministic(), before);
        for (which, all) in [("ordered", &first), ("atomic", &outcome(&dev)?)] {
            for (k, (found, expected)) in all.iter().zip(&expected).enumerate() {
                let scale = expected.iter().fold(0f32, |m, x| m.max(x.abs()));
                for (i, (a, b)) in found.iter().zip(expected).enumerate() {
                    assert!((a - b).abs() <= 2e-5 * scale, "{} {which} {k} [{i}]: {a} {b}", dev.name());
                }
            }
        }
    }
    Ok(())
}

#[test]
fn views_and_small_domains_are_added_up_in_their_place() -> Result<()> {
    let _turn = TURN.lock();
    for dev in devices() {
        dev.set_deterministic(true);
        for n in [1, 2, 15, 16, 17, 31, 33, 1000] {
            let (x, at) = (dev.full(n, 2.0f32)?, dev.array(&vec![1u32; n])?);
            let y = dev.array(&[100.0f32, 1.0, 2.0, 3.0, 200.0])?;
            scatter(n, &x, &at, &y.slice(1..4)?)?;
            let n = n as f32;
            assert_eq!(y.to_vec()?, [100.0, 1.0, 2.0 + 4.0 * n, 3.0 + 2.0 * n, 200.0], "{}", dev.name());
        }
        dev.set_deterministic(false);
    }
    Ok(())
}

#[test]
fn no_position_is_lost_or_doubled() -> Result<()> {
    let _turn = TURN.lock();
    for dev in devices() {
        dev.set_deterministic(true);
        // Numbers that add up without rounding: any lost or doubled position shows.
        let x: Vec<f32> = (0..N).map(|k| (k % 13) as f32).collect();
        let at = indices();
        let mut expected = vec![0f32; ELEMENTS];
        for (x, &k) in x.iter().zip(&at) {
            expected[k as usize] += x * x;
            expected[k as usize + 1] += x;
        }
        let y = dev.zeros::<f32>(ELEMENTS)?;
        scatter(N, &dev.array(&x)?, &dev.array(&at)?, &y)?;
        assert_eq!(y.to_vec()?, expected, "{}", dev.name());
        dev.set_deterministic(false);
    }
    Ok(())
}
