use diffkern_ir::FuncKind;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::ItemFn;

use super::{instance, merged, of};
use crate::diagnostics::Diagnostics;
use crate::expand::expand;

fn instances(source: &str) -> [(String, syn::Result<()>); 2] {
    let item: ItemFn = syn::parse_str(source).unwrap();
    let name = Ident::new("D", proc_macro2::Span::call_site());
    [2, 3].map(|d| {
        let errors = Diagnostics::default();
        let item = instance::instance(&item, &name, d, &errors);
        (text(&item), errors.finish())
    })
}

fn text(item: &ItemFn) -> String {
    item.to_token_stream().to_string()
}

/// The instances of a function whose body is `body` are those with the other bodies.
fn becomes(body: &str, plane: &str, space: &str) {
    let found = instances(&format!("fn k<F: Float, const D: usize>(n: u32) {{ {body} }}"));
    for ((found, errors), (d, expected)) in found.into_iter().zip([(2, plane), (3, space)]) {
        errors.unwrap();
        let expected: ItemFn = syn::parse_str(&format!("fn k_{d}d<F: Float>(n: u32) {{ {expected} }}")).unwrap();
        assert_eq!(found, text(&expected), "for {d} dimensions");
    }
}

#[test]
fn signatures_have_vectors_and_matrices_of_the_dimension() {
    let [plane, space] = instances(
        "pub fn k<F: Float, M: Law, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<Vector<F, { D + 1 }>>,
             m: Matrix<F, D>, g: Grid<F, D>, w: Vector<F, 3>) -> (F, Vector<F, D>) {}",
    );
    let expected = |d: u8| {
        let source = format!(
            "pub fn k_{d}d<F: Float, M: Law>(x: &Array<Vec{d}<F>>, y: &mut Array<Vec{}<F>>,
                 m: Mat{d}<F>, g: Grid<F, ::diffkern::Dim{d}>, w: Vec3<F>) -> (F, Vec{d}<F>) {{}}",
            d + 1
        );
        text(&syn::parse_str(&source).unwrap())
    };
    assert_eq!((plane.0, space.0), (expected(2), expected(3)));
}

#[test]
fn loops_over_axes_are_written_out() {
    becomes(
        "for a in 0..D { y[a] = x[D - 1 - a]; }",
        "{ { y[0] = x[1]; } { y[1] = x[0]; } }",
        "{ { y[0] = x[2]; } { y[1] = x[1]; } { y[2] = x[0]; } }",
    );
    becomes(
        "for a in (1..=D).rev() { for b in a..D { s += m[(a, b)]; } for k in 0..n { s += k; } }",
        "{ { {} for k in 0..n { s += k; } } { { { s += m[(1, 1)]; } } for k in 0..n { s += k; } } }",
        "{ { {} for k in 0..n { s += k; } } { { { s += m[(2, 2)]; } } for k in 0..n { s += k; } }
           { { { s += m[(1, 1)]; } { s += m[(1, 2)]; } } for k in 0..n { s += k; } } }",
    );
    // The nodes of a stencil, by the digits of their number.
    becomes(
        "for k in 0..2usize.pow(D) - 2 { const LAST: u32 = k / 2 + D; f(k % 2, LAST, n); }",
        "{ { const LAST: u32 = 2; f(0, 2, n); } { const LAST: u32 = 2; f(1, 2, n); } }",
        "{ { const LAST: u32 = 3; f(0, 3, n); } { const LAST: u32 = 3; f(1, 3, n); } { const LAST: u32 = 4; f(0, 4, n); }
           { const LAST: u32 = 4; f(1, 4, n); } { const LAST: u32 = 5; f(0, 5, n); } { const LAST: u32 = 5; f(1, 5, n); } }",
    );
    // Of other bounds they stay.
    let same = "#[unroll] for a in 0..3 { for b in 0..n { s += x[a] * b; } }";
    becomes(same, same, same);
}

#[test]
fn branches_on_the_dimension_are_decided() {
    becomes("if D == 3 { a = 1; }", "{}", "{ a = 1; }");
    becomes("let r = if D > 2 && D != 4 { p } else { q };", "let r = q;", "let r = p;");
    becomes("let (a, b) = if D == 2 { (p, q) } else { (q, p) };", "let (a, b) = (p, q);", "let (a, b) = (q, p);");
    becomes(
        "if D == 2 { a = 1; } else if n > 0 { a = 2; } else { a = D; }",
        "{ a = 1; }",
        "if n > 0 { a = 2; } else { a = 3; }",
    );
    becomes("if n == D as u32 { a = 1; }", "if n == 2 { a = 1; }", "if n == 3 { a = 1; }");
}

#[test]
fn vectors_are_made_axis_by_axis() {
    becomes(
        "let v = Vector::<F, D>::from_fn(|a| x[a] * h); let z = Vector::<F, { D + 1 }>::zero();",
        "let v = Vec2::new(x[0] * h, x[1] * h); let z = Vec3::zero();",
        "let v = Vec3::new(x[0] * h, x[1] * h, x[2] * h); let z = Vec4::zero();",
    );
    becomes(
        "let m = Matrix::<F, D>::from_fn(|r, c| if r == c { s } else { m[(c, r)] });",
        "let m = Mat2::new(s, { m[(1, 0)] }, { m[(0, 1)] }, s);",
        "let m = Mat3::new(s, { m[(1, 0)] }, { m[(2, 0)] }, { m[(0, 1)] }, s, { m[(2, 1)] }, { m[(0, 2)] }, { m[(1, 2)] }, s);",
    );
}

#[test]
fn calls_name_the_instance() {
    becomes(
        "let v: Vector<F, D> = a::push::<F, M, D>(x, D); let s: F = M::stress::<F, D>(x) + Hooke::stress::<D>(y) + g::<F>(z);",
        "let v: Vec2<F> = a::push::<F, M, ::diffkern::Dim2>(x, 2);
         let s: F = M::stress_2d::<F>(x) + Hooke::stress_2d(y) + g::<F>(z);",
        "let v: Vec3<F> = a::push::<F, M, ::diffkern::Dim3>(x, 3);
         let s: F = M::stress_3d::<F>(x) + Hooke::stress_3d(y) + g::<F>(z);",
    );
}

#[test]
fn variables_hide_what_is_known() {
    becomes(
        "for a in 0..D { let b = a; let a = n; f(a, b); } let D = n; f(D);",
        "{ { let b = 0; let a = n; f(a, b); } { let b = 1; let a = n; f(a, b); } } let D = n; f(D);",
        "{ { let b = 0; let a = n; f(a, b); } { let b = 1; let a = n; f(a, b); } { let b = 2; let a = n; f(a, b); } } let D = n; f(D);",
    );
}

#[test]
fn mistakes_are_named() {
    let says = |body: &str, message: &str| {
        let [(_, plane), (_, space)] = instances(&format!("fn k<F: Float, const D: usize>(n: u32) {{ {body} }}"));
        let found = merged(vec![plane.err(), space.err()]).map(|e| e.into_iter().map(|e| e.to_string()).collect());
        assert_eq!(found, Some(vec![message.to_owned()]), "{body}");
    };
    says("let v: Vector<F, { D + 3 }> = x;", "there are 2, 3 or 4 components, and for D = 2 this is 5");
    says("let v: Vector<F, { D + 2 }> = x;", "there are 2, 3 or 4 components, and for D = 3 this is 5");
    says("let m: Matrix<F, { D + 1 }> = x;", "there are 2 or 3 rows, and for D = 3 this is 4");
    says("let v: Vector<F, N> = x;", "write a number or one made of `D`, such as `{ D + 1 }`");
    says(
        "for a in 0..D { if n > 0 { break; } }",
        "a loop over the dimension is written out, so nothing is left here; put what follows under an `if`",
    );
    says(
        "for a in 0..=9223372036854775800 + D + 4 { }",
        "a loop over the dimension has at most 64 iterations, here 9223372036854775807",
    );
    says("for a in 0..1000 + D { }", "a loop over the dimension has at most 64 iterations, here 1002");
    says(
        "let v = Vector::<F, D>::from_fn(f);",
        "`from_fn` takes a closure that is written out: `Vector::<F, D>::from_fn(|a| x[a])`",
    );
    says("let v = Vector::<F, D>::from_fn(|a, b| a);", "this closure takes one name, the axis: `|a| ..`");
    says("let v = Matrix::<F, D>::from_fn(|a| a);", "this closure takes row and column: `|r, c| ..`");
    says("let v: F = k::<F, D>(x);", "`k` calls itself; recursion is refused, write a loop");
}

#[test]
fn a_mistake_of_both_dimensions_is_one_error() {
    let errors = |args: &str, source: &str| {
        let expanded = expand(args.parse().unwrap(), source.parse().unwrap(), FuncKind::Kernel).to_string();
        expanded.matches("compile_error").count()
    };
    let source = |body: &str| {
        format!(
            "fn k<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<F>) {{\n    let i = ABSOLUTE_POS;\n    {body}\n}}"
        )
    };
    assert_eq!(errors("dims(2, 3)", &source("y[i] = x[i].dot(x[i]);")), 0);
    assert_eq!(errors("dims(2, 3)", &source("y[i] = x[i].dat(x[i]);")), 1);
    assert_eq!(errors("dims(2, 3)", &source("for a in 0..D { y[i] += z[a]; }")), 1);
    assert_eq!(errors("dims(2, 3)", &source("y[i] = x[i].z;")), 1);
    assert_eq!(errors("dims(2, 3)", &source("y[i] = x[i].z + x[i].w;")), 2);
    assert_eq!(errors("dims(2, 3)", "fn k<const D: usize, F: Float>(x: &Array<Vector<F, { D - 9 }>>) {}"), 1);
    assert_eq!(errors("dims(2, 4)", &source("y[i] = x[i].x;")), 1);
    assert_eq!(errors("", &source("y[i] = x[i].x;")), 1);
    assert_eq!(errors("dims(2, 3)", "fn k<F: Float>(x: &Array<F>, y: &mut Array<F>) { y[0] = x[0]; }"), 1);
}

#[test]
fn other_constants_are_not_the_dimension() {
    let item = syn::parse_str("fn k<F: Float, const N: usize>(x: &Array<F>) {}").unwrap();
    assert!(of(&Default::default(), &item, FuncKind::Kernel).is_err());
}
