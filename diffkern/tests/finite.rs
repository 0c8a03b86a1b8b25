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
