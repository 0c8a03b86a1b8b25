//! How much work a position of a kernel is.

use super::support::kernel;

/// The work of a kernel with this body, after `let i = ABSOLUTE_POS`, which is 1.
fn work(body: &str) -> u32 {
    let params =
        "x: &Array<F>, v: &Array<Vec3<F>>, m: &Array<Mat3<F>>, n: u32, y: &mut Array<F>, z: &mut Array<Mat3<F>>";
    diffkern_ir::work(&kernel(&format!(
        "fn k<F: Float>({params}, c: &mut Array<Atomic<u32>>) {{ let i = ABSOLUTE_POS; {body} }}"
    )))
}

#[test]
fn every_scalar_counts() {
    assert_eq!(work(""), 1);
    assert_eq!(work("y[i] = x[i];"), 1 + 2 + 2);
    assert_eq!(work("y[i] += x[i] * x[i];"), 1 + 2 + 2 + 1 + 4);
    assert_eq!(work("let w = v[i] + v[i];"), 1 + 6 + 6 + 3);
    assert_eq!(work("z[i] += m[i];"), 1 + 18 + 36);
    assert_eq!(work("c[i].fetch_add(1u32);"), 1 + 4);
    assert_eq!(work("let t: F = f(x[i]); y[i] = t;"), 1 + 2 + 50 + 2);
    // Products of matrices as what they give.
    assert_eq!(work("z[i] = m[i] * m[i];"), 1 + 18 + 18 + 9 + 18);
    assert_eq!(work("let w = m[i] * v[i];"), 1 + 18 + 6 + 3);
}

#[test]
fn both_sides_and_all_iterations_count() {
    assert_eq!(work("if x[i] > 0.0 { y[i] = 1.0; } else { y[i] = x[i]; }"), 1 + 2 + 1 + 2 + 4);
    for (range, iterations) in [("0..3u32", 3), ("2..5u32", 3), ("5..2u32", 0), ("0..n", 8)] {
        assert_eq!(work(&format!("for k in {range} {{ y[i] += x[k]; }}")), 1 + iterations * 6, "{range}");
    }
    let many = "for _ in 0..2000000000u32 ";
    assert_eq!(work(&format!("{many} {{ {many} {{ {many} {{ y[i] += x[i]; }} }} }}")), u32::MAX);
}
