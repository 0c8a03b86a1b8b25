//! Where the derivative is one-sided or zero by convention, and where a NaN must not pass.

use diffkern_ir::Ty;
use diffkern_ir::interpret::{Library, Val};

use super::support::{Case, library, real, reals, zeros};

/// Gradient of the sum of `y[i]` by `x[i]`.
fn slope(body: &str, x: f64, p: f64) -> f64 {
    slope_with(body, x, p, Library::default())
}

fn slope_with(body: &str, x: f64, p: f64, library: Library) -> f64 {
    let source = format!(
        "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>, p: F) {{ let v = x[ABSOLUTE_POS]; {body} y[ABSOLUTE_POS] = r; }}"
    );
    let case = Case::new(&source, 1, vec![reals(&[x]), zeros(1, Ty::Real), real(p)], library);
    let one = vec![Val::Real(vec![1.0])];
    let bars = case.gradient(&[vec![Val::Real(vec![0.0])], one]);
    bars[0][0].reals()[0]
}

#[test]
fn conventions() {
    let cases = [
        ("let r = v.abs();", 0.0, 0.0),
        ("let r = v.hypot(v);", 0.0, 0.0),
        ("let r = v.atan2(v);", 0.0, 0.0),
        ("let r = Vec2::new(v, v).norm();", 0.0, 0.0),
        ("let r = v.min(p * 0.0);", 0.0, 1.0),
        ("let r = v.max(p * 0.0);", 0.0, 1.0),
        ("let r = max(v, 0.0);", 0.0, 1.0),
        ("let r = max(0.0, v);", 0.0, 0.0),
        ("let r = F::min(F::new(0.0), v);", 0.0, 0.0),
        ("let r = v.powf(p);", 0.0, 0.0),
        ("let r = v.powf(2.0);", 0.0, 0.0),
        ("let r = v.powf(1.0);", 0.0, 1.0),
        ("let r = v.powf(0.0);", 0.0, 0.0),
        ("let r = v.powi(0);", 0.0, 0.0),
        ("let r = v.powi(3);", 0.0, 0.0),
        ("let r = p.powf(v);", 1.0, 2.5 * 2.5f64.ln()),
        ("let r = (p * 0.0).powf(v);", 2.0, 0.0),
        ("let r = v.floor() + v.ceil() + v.round();", 0.3, 0.0),
        ("let r = v.sqrt();", 0.0, f64::INFINITY),
        ("let mut r = p; if v > 1.0 { r = v * v; }", 1.0, 0.0),
    ];
    for (body, x, expected) in cases {
        assert_eq!(slope(body, x, 2.5), expected, "{body}");
    }
}

/// The value not chosen is NaN or infinite, and so would be its derivative.
#[test]
fn unchosen_values_do_not_leak() {
    let half = library(&["fn bad<F: Float>(v: F) -> F { v.sqrt() * v.ln() }"]);
    assert!(slope_with("let r: F = bad::<F>(v);", -1.0, 0.0, half).is_nan(), "the case can fail");
    let cases = [
        "let r = select(v > 0.0, v.sqrt(), v);",
        "let r = select(v > 0.0, v.ln() * v.sqrt() / v, v);",
        "let s = v.sqrt() * v; let q = s * s; let r = select(v > 0.0, q, v);",
        "let s = v.sqrt() * v; let mut r = v; if v > 0.0 { r = s * 2.0; }",
        "let s = v.sqrt() * v; let mut r = v; if v > 0.0 { r = s * 2.0; } else { r = v; }",
        "let s = v.sqrt(); let mut r = v; if v > 0.0 { for k in 0..3 { r = r * s; } }",
        "let mut s = v; for k in 0..3 { s = s.sqrt() * v; } let r = select(v > 0.0, s, v);",
        "let s = v.sqrt(); let mut r = s; for k in 0..3 { r = select(v > 0.0, r * 2.0, v); }",
        "let s = v.sqrt(); let mut r = v; for k in 0..usize::cast_from(p) { r = r * s; }",
        "let s: F = bad::<F>(v); let r = select(v > 0.0, s, v);",
        "let s: F = bad::<F>(v); let mut r = v; if v > 0.0 { r = s; }",
        "let w = Vec3::new(v.sqrt(), v, v.ln()); let n = w.dot(w); let r = select(v > 0.0, n, v);",
        "let w = Vec3::new(v.sqrt(), v, v) * v.ln(); let u = w.outer(w) * w; let r = select(v > 0.0, u.x, v);",
    ];
    for body in cases {
        let bad = library(&["fn bad<F: Float>(v: F) -> F { v.sqrt() * v.ln() }"]);
        assert_eq!(slope_with(body, -1.0, 0.0, bad), 1.0, "{body}");
    }
}

/// Of a product one component is chosen, and another is NaN.
#[test]
fn components_of_products_do_not_leak_into_each_other() {
    let cases = [
        ("let w = Vec3::new(v, v, v.sqrt()) * v; let r = select(v < 0.0, w.x, w.z);", -2.0),
        ("let w = Vec2::new(v, v.ln()).mul_elem(Vec2::new(v, v.sqrt())); let r = select(v < 0.0, w.x, w.y);", -2.0),
        ("let w = Vec3::new(v, v, v).cross(Vec3::new(v, v * v, v.sqrt())); let r = select(v < 0.0, w.z, w.x);", 5.0),
        ("let w = Mat2::new(v, v, v.ln(), v) * Vec2::new(v, v); let r = select(v < 0.0, w.x, w.y);", -4.0),
        (
            "let w = Mat3::new(v, v, v, v, v * 2.0, v * 3.0, v, v.ln(), v) * Vec3::new(v, v, v); let r = select(v < 0.0, w.y, w.z);",
            -12.0,
        ),
        (
            "let w = Mat2::new(v, v, v.ln(), v) * Mat2::new(v, v, v, v); let r = select(v < 0.0, w[(0, 0)], w[(1, 0)]);",
            -4.0,
        ),
        (
            "let w = Vec3::new(v, v.sqrt(), v).outer(Vec3::new(v, v, v)); let r = select(v < 0.0, w[(2, 2)], w[(1, 1)]);",
            -2.0,
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(slope(body, -1.0, 0.0), expected, "{body}");
    }
}

/// The guards of [`unchosen_values_do_not_leak`] test an adjoint against zero. Where it is zero and its tangent is not, the
/// tangent passes; where both are zero, nothing does.
#[test]
fn an_adjoint_of_zero_may_have_a_tangent() {
    let bad = || library(&["fn bad<F: Float>(v: F) -> F { v.sqrt() * v.ln() }"]);
    let number = |x: f64| vec![Val::Real(vec![x])];
    let after = |body: &str, x: f64, y_bar: f64, y_bar_dot: f64| {
        let source = format!(
            "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) {{ let v = x[ABSOLUTE_POS]; {body} y[ABSOLUTE_POS] = r; }}"
        );
        let case = Case::new(&source, 1, vec![reals(&[x]), zeros(1, Ty::Real)], bad());
        let (bars, dots, bar_dots) = ([0.0, y_bar], [1.0, 0.0], [0.0, y_bar_dot]);
        let (bars, bar_dots) = case.second(&bars.map(number), &dots.map(number), &bar_dots.map(number));
        (bars[0][0].reals()[0], bar_dots[0][0].reals()[0])
    };
    let cases = [
        "let r = select(v > 0.0, v.sqrt() * v.ln(), v);",
        "let s = v.sqrt(); let q = s * v.ln(); let mut r = v; if v > 0.0 { r = q; }",
        "let s: F = bad::<F>(v); let r = select(v > 0.0, s, v);",
        "let s: F = bad::<F>(v); let mut r = v; if v > 0.0 { r = s; }",
        "let w = Vec3::new(v.sqrt(), v, v) * v.ln(); let r = select(v > 0.0, w.x, v);",
    ];
    let slope = |x: f64| x.ln() / (2.0 * x.sqrt()) + 1.0 / x.sqrt();
    let curvature = |x: f64| -x.ln() / (4.0 * x.powf(1.5));
    for body in cases {
        for (y_bar, y_bar_dot) in [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.5, -2.0)] {
            let (bar, bar_dot) = after(body, 1.7, y_bar, y_bar_dot);
            let expected = slope(1.7) * y_bar_dot + curvature(1.7) * y_bar;
            assert!((bar - slope(1.7) * y_bar).abs() < 1e-12, "{body}: {bar}");
            assert!((bar_dot - expected).abs() < 1e-12, "{body}: {bar_dot} against {expected}");
            assert_eq!(after(body, -1.0, y_bar, y_bar_dot), (y_bar, y_bar_dot), "{body}");
        }
    }
}
