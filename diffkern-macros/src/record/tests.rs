//! Structs in the middle of expressions: what is written becomes, and that its values keep the order of the text.

use diffkern_ir::FuncKind;
use quote::ToTokens;

use super::declare::declare;
use super::def::Records;
use super::find::missing;
use super::rewrite::rewrite;
use crate::diagnostics::Diagnostics;
use crate::spell;

/// `Pair { a: F, b: F }`, `Body { x: Vec2<F>, pair: Pair<F> }`, `Frame { m: Mat2<F>, q: Quat<F> }`.
fn records() -> Records {
    let all = [
        "Body [F] { x: Vec2, pair: struct Pair [F] { a: real, b: real } }",
        "Pair [F] { a: real, b: real }",
        "Frame [F] { m: Mat2, q: Quat }",
    ];
    Records { choices: Vec::new(), all: all.iter().map(|text| syn::parse_str(text).unwrap()).collect() }
}

/// The body of a kernel without structs, as text.
fn rewritten(body: &str) -> Result<String, String> {
    let source = format!(
        "fn k<F: Float>(b: &Array<Body<F>>, pairs: &Array<Pair<F>>, s: &Array<F>, p: Pair<F>, q: Pair<F>, y: &mut \
         Array<F>, z: &mut Array<Pair<F>>, w: &mut Array<Frame<F>>) {{ {body} }}"
    );
    let mut item: syn::ItemFn = syn::parse_str(&source).unwrap();
    let errors = Diagnostics::default();
    spell::plain(&mut item, &errors);
    let (item, _) = rewrite(&item, FuncKind::Kernel, &records(), &errors);
    errors.finish().map_err(|e| e.into_iter().map(|e| e.to_string()).collect::<Vec<_>>().join("; "))?;
    // What is made is Rust.
    let again: syn::ItemFn = syn::parse2(item.to_token_stream()).unwrap();
    assert_eq!(again.to_token_stream().to_string(), item.to_token_stream().to_string());
    Ok(item.block.stmts.iter().map(|s| s.to_token_stream().to_string()).collect::<Vec<_>>().join("\n"))
}

/// `expected` without regard to spaces.
#[track_caller]
fn becomes(body: &str, expected: &str) {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let found = rewritten(body).unwrap();
    assert!(bare(&found) == bare(expected), "{found}");
}

#[test]
fn branches_and_blocks_give_their_fields() {
    becomes(
        "let r = if c { match k { 0 => p, _ => { let t: Pair<F> = f(q); t } } } else { (Pair { a: 1.0, ..q }) };",
        "let (r__a, r__b): (F, F) = if c {
            { let __made_1 = k; if __made_1 == 0 { (p__a, p__b) } else { let (t__a, t__b): (F, F) = f(q__a, q__b); (t__a, t__b) } }
        } else { ((1.0, q__b)) };",
    );
    becomes(
        "let (u, v): (Pair<F>, F) = if c { (p, s[0]) } else { let t = q; (t, t.a) };",
        "let (u__a, u__b, v): (F, F, F) = if c { (p__a, p__b, s[0]) }
         else { let (t__a, t__b): (F, F) = (q__a, q__b); (t__a, t__b, t__a) };",
    );
    // Without annotation one side may tell.
    becomes(
        "let (u, v) = if c { (f(p), m) } else { (q, m) };",
        "let (u__a, u__b, v) = if c { ({ let (field__0, field__1): (F, F) = f(p__a, p__b); ((field__0, field__1, m)) }) }
         else { (q__a, q__b, m) };",
    );
    becomes(
        "let (u, v) = ({ let t = p; t }, q);",
        "let (u__a, u__b, v__a, v__b): (F, F, F, F) =
         ({ let (field__0, field__1): (F, F) = { let (t__a, t__b): (F, F) = (p__a, p__b); (t__a, t__b) }; ((field__0, field__1, q__a, q__b)) });",
    );
    // Names of a block hide those outside.
    becomes("let r = { let p = s[0]; p };", "let r = { let p = s[0]; p };");
}

#[test]
fn a_struct_in_the_middle_of_an_expression_is_bound_before_it() {
    becomes(
        "let v: F = f(1.0, if c { p } else { q }, s);",
        "let v: F = ({ let (field__0, field__1): (F, F) = if c { (p__a, p__b) } else { (q__a, q__b) }; (f(1.0, field__0, field__1, s)) });",
    );
    becomes(
        "y[i] = (if c { b[0] } else { b[1] }).pair.b * (if c { p } else { q }).a;",
        "y[i] = ({ let (field__0, field__1, field__2): (Vec2<F>, F, F) = if c {
             (Vec2::new(b[(0) * 4 + 0], b[(0) * 4 + 1]), b[(0) * 4 + 2], b[(0) * 4 + 3])
         } else {
             (Vec2::new(b[(1) * 4 + 0], b[(1) * 4 + 1]), b[(1) * 4 + 2], b[(1) * 4 + 3])
         }; (field__2) }) * ({ let (field__3, field__4): (F, F) = if c { (p__a, p__b) } else { (q__a, q__b) }; (field__3) });",
    );
    becomes(
        "let r = Body { pair: f(p), x: v };",
        "let (r__x, r__pair__a, r__pair__b): (Vec2<F>, F, F) =
         ({ let (field__0, field__1): (F, F) = f(p__a, p__b); ((v, field__0, field__1)) });",
    );
    becomes(
        "let r = Pair { a: 1.0, ..f(p) };",
        "let (r__a, r__b): (F, F) = ({ let (field__0, field__1): (F, F) = f(p__a, p__b); ((1.0, field__1)) });",
    );
    becomes(
        "let r = select(c, p, detach(q));",
        "let (r__a, r__b): (F, F) = ({ let field__0: bool = c;
        ((select(field__0, p__a, detach(q__a)), select(field__0, p__b, detach(q__b)))) });",
    );
}

#[test]
fn operands_that_change_something_keep_their_order() {
    // Fields in the order of the text, not of the struct.
    becomes(
        "let r = Pair { b: { m += 1.0; m }, a: m };",
        "let (r__a, r__b): (F, F) = ({ let field__0: F = { m += 1.0; m }; let field__1: F = m; ((field__1, field__0)) });",
    );
    // What is there before the branch has its value then; an array is no value.
    becomes(
        "let v: F = f(m, -1.0, s, m + 1.0, if c { m = 2.0; p } else { q }, m);",
        "let v: F = ({ let field__2 = m; let field__3 = m + 1.0;
         let (field__0, field__1): (F, F) = if c { m = 2.0; (p__a, p__b) } else { (q__a, q__b) };
         let (field__4, field__5): (F, F) = (field__0, field__1); let field__6 = m;
         (f(field__2, -1.0, s, field__3, field__4, field__5, field__6)) });",
    );
    // References are to arrays.
    becomes(
        "let v: F = f(&s, if c { m = 2.0; p } else { q }, m);",
        "let v: F = ({ let (field__0, field__1): (F, F) = if c { m = 2.0; (p__a, p__b) } else { (q__a, q__b) };
         let (field__2, field__3): (F, F) = (field__0, field__1); let field__4 = m;
         (f(&s, field__2, field__3, field__4)) });",
    );
    // An index is evaluated once.
    becomes(
        "let r = pairs[n[0].fetch_add(1)];",
        "let (r__a, r__b): (F, F) = ({ let field__0 = n[0].fetch_add(1); ((pairs[(field__0) * 2 + 0], pairs[(field__0) * 2 + 1])) });",
    );
    becomes(
        "let v = b[{ k += 1; k }].x;",
        "let v = ({ let field__0 = { k += 1; k }; (Vec2::new(b[(field__0) * 4 + 0], b[(field__0) * 4 + 1])) });",
    );
    // The right side comes before the index, whatever the operator.
    for op in ["=", "+=", "*="] {
        becomes(
            &format!("z[{{ k += 1; k }}].b {op} {{ k += 2; 1.0 }};"),
            &format!(
                "let field__0: F = {{ k += 2; 1.0 }}; let field__1 = {{ k += 1; k }}; z[(field__1) * 2 + 1] {op} field__0;"
            ),
        );
    }
    becomes(
        "let v = b[0].x.x; b[i].x.x = v; b[i].x.y += v;",
        "let v = b[(0) * 4 + 0]; b[(i) * 4 + 0] = v; b[(i) * 4 + 1] += v;",
    );
    becomes("let v = b[{ k += 1; k }].x.y;", "let v = b[({ k += 1; k }) * 4 + 1];");
}

#[test]
fn mistakes_are_named() {
    let says = |body: &str, message: &str| {
        let found = rewritten(body);
        assert!(found.as_ref().is_err_and(|e| e == message), "{body}: {found:?}");
    };
    says("y[i] = (if c { p } else { q }).c;", "`Pair` has no field `c`; it has `a`, `b`");
    says("y[i] = b[i].pair.c;", "`Pair` has no field `c`; it has `a`, `b`");
    says("let r: Pair<F> = if c { p } else { b[0] };", "expected `Pair`, found `Body`");
    says(
        "let r: Pair<F> = (if c { b[0] } else { b[1] }).pair.a;",
        "expected a `Pair`: a variable, an element of an array, `Pair { .. }`, or an `if`, a block or a call that gives one",
    );
    says("let r = Pair { a: 1.0, a: 2.0, b: 1.0 };", "the field `a` is given twice");
    says("let r = Pair { a: 1.0 };", "the field `b` is missing");
    says("let (u, v): (Pair<F>, F) = if c { (p, 1.0) } else { (p, 1.0, 2.0) };", "expected 2 values, found 3");
    says(
        "y[i] = (if c { b[0] } else { b[1] }).pair;",
        "a `Pair` is passed to a device function, returned, stored or bound with `let`; here take a field",
    );
    says(
        "y[i] = Pair { a: 1.0, b: 2.0 };",
        "a struct is passed to a device function, returned, stored or bound with `let`; here take a field",
    );
}

/// Row by row, and a quaternion's real part first: as they lie in memory.
#[test]
fn matrices_and_quaternions_are_their_scalars() {
    becomes(
        "let m: Mat2<F> = w[i].m; let q: Quat<F> = w[i].q;",
        "let m: Mat2<F> = Mat2::new(w[(i) * 8 + 0], w[(i) * 8 + 1], w[(i) * 8 + 2], w[(i) * 8 + 3]);
         let q: Quat<F> = Quat::new(w[(i) * 8 + 4], w[(i) * 8 + 5], w[(i) * 8 + 6], w[(i) * 8 + 7]);",
    );
    becomes(
        "w[i].m = m;",
        "let field__0: Mat2<F> = m; let field__1 = i;
         w[(field__1) * 8 + 0] = field__0[(0usize, 0usize)]; w[(field__1) * 8 + 1] = field__0[(0usize, 1usize)];
         w[(field__1) * 8 + 2] = field__0[(1usize, 0usize)]; w[(field__1) * 8 + 3] = field__0[(1usize, 1usize)];",
    );
    becomes(
        "w[i].q = r;",
        "let field__0: Quat<F> = r; let field__1 = i;
         w[(field__1) * 8 + 4] = field__0.w; w[(field__1) * 8 + 5] = field__0.x;
         w[(field__1) * 8 + 6] = field__0.y; w[(field__1) * 8 + 7] = field__0.z;",
    );
}

/// The struct that has to be looked up first.
#[test]
fn structs_are_found_wherever_they_are_named() {
    let first = |source: &str| {
        let item: syn::ItemFn = syn::parse_str(source).unwrap();
        missing(&item, &records()).map(|path| path.to_token_stream().to_string())
    };
    assert_eq!(first("fn k<F: Float>(p: Pair<F>, q: &Array<a::Edge<F>>) {}"), Some("a :: Edge".to_owned()));
    assert_eq!(first("fn k<F: Float>(x: F) -> Edge<F> { x }"), Some("Edge".to_owned()));
    assert_eq!(first("fn k<F: Float>(x: F) { let e = Edge { x }; }"), Some("Edge".to_owned()));
    // What is refused as a type, parameters and paths of functions are none.
    assert_eq!(first("fn k<F: Float>(x: &Array<Vec5<F>>, m: Mat7<F>, v: Vec<F>) { let y: F = Law::f(x); }"), None);
}

#[test]
fn a_struct_has_one_parameter() {
    let said = |item: &str| declare(Default::default(), item.parse().unwrap()).to_string();
    assert!(said("struct Edge<F, G> { x: F }").contains("one parameter, its real type"));
    assert!(said("struct Edge<const N: usize> { x: u32 }").contains("one parameter, its real type"));
    assert!(!said("struct Edge<F: Float> { x: F }").contains("compile_error"));
}
