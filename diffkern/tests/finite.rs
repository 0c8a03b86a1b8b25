//! Where a value that is not finite came from, to the element and the component.

#![expect(clippy::unwrap_used, reason = "tests")]

use diffkern::prelude::*;
use diffkern::{NotFinite, Origin, Recording};

#[diff_kernel]
fn invert<F: Float>(v: &Array<Vec3<F>>, w: &mut Array<Vec3<F>>) {
    let u = v[ABSOLUTE_POS];
    w[ABSOLUTE_POS] = Vec3::new(u.x, F::new(1.0) / u.y, u.z);
}

#[diff_kernel]
fn gather<F: Float>(v: &Array<Vec3<F>>, index: &Array<u32>, w: &mut Array<Vec3<F>>) {
    let k = index[ABSOLUTE_POS] as usize;
    w[ABSOLUTE_POS] = v[k];
}

#[diff_kernel]
fn invert_after<F: Float>(x: &Array<F>, y: &Array<F>, z: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let mut r = y[i];
    if i < x.len() {
        r = x[i];
    }
    z[i] = F::new(1.0) / r;
}

#[diff_kernel]
fn bell<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = (-(x[ABSOLUTE_POS] * x[ABSOLUTE_POS])).exp();
}

fn found(result: Result<Tape>) -> NotFinite {
    match result.unwrap_err() {
        Error::NotFinite(found) => *found,
        other => panic!("{other}"),
    }
}

/// Vectors of ones but for one component.
fn vectors(n: usize, changes: &[(usize, usize, f64)]) -> Vec<Vec3<f64>> {
    let mut all = vec![[1.0; 3]; n];
    for &(element, component, value) in changes {
        all[element][component] = value;
    }
    all.into_iter().map(|[x, y, z]| Vec3::new(x, y, z)).collect()
}

fn input(found: &NotFinite) -> (&'static str, usize, usize) {
    match found.origin {
        Origin::Input { param, element, component, .. } => (param, element, component),
        ref other => panic!("{other:?}"),
    }
}

/// Element 1 becomes infinite; that element 3 was not finite before has nothing to do with it.
#[test]
fn other_elements_are_not_blamed_where_each_position_has_its_own() -> Result<()> {
    let dev = Device::cpu();
    let v = dev.array(&vectors(4, &[(1, 1, 0.0), (3, 2, f64::NAN)]))?.requires_grad();
    let found = found(Recording::new().check_finite().record(|| invert(4, &v, &dev.uninit(4)?)));
    assert_eq!((found.element, found.component, found.components), (1, 1, 3));
    assert_eq!((found.value, found.origin), (f64::INFINITY, Origin::Here));
    Ok(())
}

#[test]
fn the_element_of_the_position_is_blamed() -> Result<()> {
    let dev = Device::cpu();
    let v = dev.array(&vectors(4, &[(2, 1, f64::NAN)]))?.requires_grad();
    let found = found(Recording::new().check_finite().record(|| invert(4, &v, &dev.uninit(4)?)));
    assert_eq!((found.element, found.component), (2, 1));
    assert_eq!(input(&found), ("v", 2, 1));
    Ok(())
}

#[test]
fn any_element_is_blamed_where_positions_read_at_will() -> Result<()> {
    let dev = Device::cpu();
    let v = dev.array(&vectors(4, &[(2, 1, f64::NAN)]))?.requires_grad();
    let index = dev.array(&[2u32, 0])?;
    let found = found(Recording::new().check_finite().record(|| gather(2, &v, &index, &dev.uninit(2)?)));
    assert_eq!((found.element, found.component), (0, 1));
    assert_eq!(input(&found), ("v", 2, 1));
    Ok(())
}

/// The element that becomes infinite lies beyond the end of the shorter input.
#[test]
fn a_shorter_input_is_searched_as_a_whole() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 2.0])?.requires_grad();
    for zero in [2, 3] {
        let mut y = [1.0; 4];
        y[zero] = 0.0;
        let y = dev.array(&y)?;
        let found = found(Recording::new().check_finite().record(|| invert_after(4, &x, &y, &dev.uninit(4)?)));
        assert_eq!((found.element, found.origin), (zero, Origin::Here));
    }
    Ok(())
}

/// The value is 0, its derivative an infinity times 0.
#[test]
fn an_input_of_an_adjoint_is_blamed() -> Result<()> {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[1.0, f64::INFINITY])?.requires_grad(), dev.uninit(2)?);
    let tape = Recording::new().check_finite().timed().record(|| bell(2, &x, &y))?;
    let one = dev.full(2, 1.0)?;
    let found = found(tape.backward_from(&[(y.as_any(), one.as_any())]).map(|()| tape));
    assert_eq!((found.adjoint, found.param, found.element), (true, "x", 1));
    assert_eq!(input(&found), ("x", 1, 0));
    assert!(matches!(found.origin, Origin::Input { adjoint: false, .. }));
    Ok(())
}

#[diff_kernel]
fn spread<F: Float>(x: &Array<F>, to: &Array<u32>, counts: &mut Array<Atomic<u32>>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    counts[0].fetch_add(1u32);
    y[to[i]] += x[i].sqrt();
}

/// The position, where elements are not those of the positions: the first that makes the sum what it is. What the search runs
/// again is seen nowhere.
#[test]
fn the_position_of_the_thread_is_named() -> Result<()> {
    let dev = Device::cpu();
    let to = dev.array(&[3u32, 1, 3, 3, 0, 3, 3])?;
    for bad in [0, 2, 3, 5, 6] {
        let mut x = [4.0; 7];
        (x[bad], x[6]) = (-1.0, -1.0);
        let x = dev.array(&x)?.requires_grad();
        let (counts, y) = (dev.zeros::<u32>(1)?, dev.full(4, 1.0)?);
        let found = found(Recording::new().check_finite().record(|| spread(7, &x, &to, &counts, &y)));
        assert_eq!((found.param, found.element, found.position), ("y", 3, Some(bad)), "{found}");
        assert!(found.to_string().contains(&format!("), from position {bad}; it arises here")), "{found}");
        assert_eq!(counts.to_vec()?, [7]);
    }
    // Of a domain of two extents only where each position has its own element.
    let v = dev.array(&vectors(4, &[(2, 1, 0.0)]))?.requires_grad();
    let found = found(Recording::new().check_finite().record(|| invert((2, 2), &v, &dev.uninit(4)?)));
    assert_eq!(found.position, Some(2));
    Ok(())
}

const REACH: u32 = line!();
#[diff_fn]
fn reach<F: Float>(x: F, n: u32) -> F {
    let mut r = x;
    for _ in 0..n {
        r = r * r;
    }
    let safe = r.max(1.0);
    safe.sqrt() - (r - 1.0).sqrt()
}

const STAGES: u32 = line!();
#[diff_kernel]
fn stages<F: Float>(x: &Array<F>, v: &Array<Vec2<F>>, n: u32, scale: F, y: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    let a = x[i];
    let inverse = F::new(1.0) / a;
    // Not chosen where it is infinite.
    let guarded = select(a == 0.0, 3.0, inverse);
    let mut late = F::new(0.0);
    if a > 2.0 {
        late = (a - 4.0).ln();
    }
    let w = v[i] * scale;
    let far: F = reach::<F>(a, n);
    y[i] = Vec2::new(guarded + late, w.x + w.y) + Vec2::new(0.0, far);
}

/// The line of the operation, through loops and branches and into device functions; in `f32` what overflows there only.
#[test]
fn the_line_of_the_operation_is_named() -> Result<()> {
    const PLAIN: [f64; 2] = [1.0, 2.0];
    fn line<T: Float>(dev: &Device, (x, v, scale): (f64, [f64; 2], f64)) -> Result<(u32, Vec<u32>)> {
        let real = T::from_f64;
        let x = dev.array(&[1.25, x, 1.25].map(real))?.requires_grad();
        let v = dev.array(&[PLAIN, v, PLAIN].map(|[a, b]| Vec2::new(real(a), real(b))))?;
        let found =
            found(Recording::new().check_finite().record(|| stages(3, &x, &v, 8, real(scale), &dev.uninit(3)?)));
        assert_eq!((found.position, found.element), (Some(1), 1), "{found}");
        assert!(found.file.ends_with("finite.rs") && found.inside.iter().all(|(file, _)| file == &found.file));
        assert!(found.to_string().contains(&format!("finite.rs:{}", found.line)), "{found}");
        Ok((found.line - STAGES, found.inside.iter().map(|(_, line)| line - REACH).collect()))
    }
    let (dev, plain) = (Device::cpu(), PLAIN);
    assert_eq!(line::<f64>(&dev, (4.0, plain, 1.0))?, (10, vec![]), "the logarithm of 0");
    assert_eq!(line::<f64>(&dev, (3.0, plain, 1.0))?, (10, vec![]), "the logarithm of -1");
    assert_eq!(line::<f64>(&dev, (1.5, [1e300, 0.0], 1e200))?, (12, vec![]), "a product");
    assert_eq!(line::<f64>(&dev, (0.0, plain, 1.0))?, (13, vec![8]), "the root of -1, in a function");
    assert_eq!(line::<f64>(&dev, (-1e2, plain, 1.0))?, (13, vec![5]), "a power, in a loop of a function");
    assert_eq!(line::<f32>(&dev, (1.6, plain, 1.0))?, (13, vec![5]), "1.6^256, too large for `f32` only");
    Ok(())
}

const ROOTS: u32 = line!();
#[diff_kernel]
fn roots<F: Float>(x: &Array<F>, to: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let r = x[i] * 2.0;
    let root = r.sqrt();
    y[to[i] as usize] += root;
    y[0] += 1.0;
}

/// In an adjoint, where a root has no derivative; of a sum, where several positions together overflow, the addition.
#[test]
fn lines_of_adjoints_and_of_sums() -> Result<()> {
    let dev = Device::cpu();
    let to = dev.array(&[0u32, 2, 1])?;
    let (x, y) = (dev.array(&[1.0, 0.0, 2.0])?.requires_grad(), dev.zeros(3)?);
    let tape = Recording::new().check_finite().record(|| roots(3, &x, &to, &y))?;
    let one = dev.full(3, 1.0)?;
    let backwards = found(tape.backward_from(&[(y.as_any(), one.as_any())]).map(|()| tape));
    assert_eq!((backwards.adjoint, backwards.line - ROOTS, backwards.position), (true, 5, Some(1)), "{backwards}");
    let large = dev.array(&[f32::MAX, f32::MAX, 1.0].map(|x| x / 4.0))?.requires_grad();
    let full = dev.full(3, f32::MAX)?;
    let sum = found(Recording::new().check_finite().record(|| roots(3, &large, &to, &full)).and_then(|tape| {
        let more = dev.array(&[f32::MAX, 1.0, 1.0])?.requires_grad();
        Recording::new().check_finite().record(|| add(3, &more, &full)).map(|_| tape)
    }));
    assert_eq!((sum.kernel, sum.line - ADD, sum.position), ("add", 3, Some(0)), "{sum}");
    Ok(())
}

const ADD: u32 = line!();
#[diff_kernel]
fn add<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[0] += x[ABSOLUTE_POS];
}
