//! Golden expansions: each statement kind with the text of its primal, adjoint and tangent.
//!
//! `DIFFKERN_BLESS=1 cargo test -p diffkern-macros golden` writes the files anew; read the diff before you commit it.

use std::fs;
use std::path::Path;

use diffkern_ir::{Func, FuncKind, print, with_names};

use crate::attribute::Attribute;
use crate::diagnostics::Diagnostics;
use crate::source::Source;
use crate::{expand, lower, parse};

/// Cases shown with the tangent of their adjoint, which is long.
const SECOND: [&str; 3] = ["accumulate", "store", "device_function"];

/// Cases shown with their tangents along two directions.
const DIRECTIONS: [&str; 3] = ["accumulate", "nonlinear_loop", "call"];

fn text(func: &Func, source: &Source) -> String {
    with_names(&print(func, &|node| source.line(node)), |id| func.names.get(&id).map(String::as_str))
}

fn check(name: &str, kind: FuncKind, source: &str) {
    let item: syn::ItemFn = syn::parse_str(source).expect("the case is Rust");
    let errors = Diagnostics::default();
    let sig = parse::signature(&item, kind, &errors).expect("the signature is right");
    let lowered = lower::lower(&item, &sig, kind, &errors);
    let directions = DIRECTIONS.contains(&name).then_some(2);
    let forms = expand::forms(lowered, &Attribute { directions, ..Attribute::default() }, &errors);
    errors.finish().expect("the case has no mistakes");
    let forms = forms.expect("no mistakes");
    let mut found = format!(
        "{source}\n\n== primal\n{}\n== adjoint\n{}\n== tangent\n{}",
        text(&forms.primal, &forms.source),
        text(&forms.adjoint, &forms.source),
        text(&forms.tangent, &forms.source)
    );
    if let Some((_, func)) = &forms.directions {
        found += &format!("\n== along two directions\n{}", text(func, &forms.source));
    }
    if SECOND.contains(&name) {
        let second = forms.second.as_ref().expect("tests make it");
        found += &format!("\n== tangent of the adjoint\n{}", text(second, &forms.source));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("DIFFKERN_BLESS").is_some() {
        fs::write(&path, &found).expect("the golden file can be written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        found == expected,
        "{} differs from what is generated now:\n{found}\nRun with DIFFKERN_BLESS=1 if the change is meant.",
        path.display()
    );
}

macro_rules! golden {
    ($($name:ident: $kind:ident $source:literal;)*) => {
        $(#[test] fn $name() { check(stringify!($name), FuncKind::$kind, $source); })*
    };
}

golden! {
    store: Kernel "fn integrate<F: Float>(v: &Array<Vec3<F>>, x: &Array<Vec3<F>>, x_next: &mut Array<Vec3<F>>, dt: F) {
    let i = ABSOLUTE_POS;
    if i < x.len() {
        x_next[i] = x[i] + v[i] * dt;
    }
}";
    accumulate: Kernel "fn sum_of_squares<F: Float>(x: &Array<F>, out: &mut Array<F>) {
    out[0] += x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}";
    branch: Kernel "fn branch<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut r = v * v;
    if v > 0.5 {
        r = r.sin();
    } else {
        r += 2.0 * v;
    }
    y[ABSOLUTE_POS] = r;
}";
    early_return: Kernel "fn early<F: Float>(x: &Array<F>, y: &mut Array<F>, n: usize) {
    if ABSOLUTE_POS >= n {
        return;
    }
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS].exp();
}";
    linear_loop: Kernel "fn dot<F: Float>(a: &Array<F>, b: &Array<F>, y: &mut Array<F>, n: usize) {
    let mut sum = F::new(0.0);
    for k in 0..n {
        sum += a[k] * b[k];
    }
    y[ABSOLUTE_POS] = sum;
}";
    nonlinear_loop: Kernel "fn logistic<F: Float>(x: &Array<F>, r: &Array<F>, y: &mut Array<F>, n: usize) {
    let mut s = x[ABSOLUTE_POS];
    for _ in 0..n {
        s = r[0] * s * (1.0 - s);
    }
    y[ABSOLUTE_POS] = s;
}";
    unrolled_loop: Kernel "fn squares<F: Float>(x: &Array<Vec3<F>>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let mut sum = F::new(0.0);
    #[unroll]
    for k in 0..3 {
        sum += v[k] * v[k];
    }
    y[ABSOLUTE_POS] = sum;
}";
    component: Kernel "fn component<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>) {
    let mut v = x[ABSOLUTE_POS];
    v.x = v.x * v.y;
    v.x *= 3.0;
    y[ABSOLUTE_POS] = v;
}";
    matrices: Kernel "fn matrices<F: Float>(f: &Array<Mat2<F>>, y: &mut Array<F>) {
    let m = f[ABSOLUTE_POS];
    let b = m * m.transpose() - Mat2::identity();
    y[ABSOLUTE_POS] = b.trace() * m.determinant().ln();
}";
    call: Kernel "fn apply<F: Float>(x: &Array<F>, table: &Array<F>, y: &mut Array<F>) {
    let p: F = material::law(x[ABSOLUTE_POS], table, 2usize);
    y[ABSOLUTE_POS] = p * p;
}";
    device_function: DiffFn "fn law<F: Float>(x: F, table: &Array<F>, k: usize) -> (F, F) {
    let s = x * table[k];
    (s.exp(), s)
}";
    scatter: Kernel "fn scatter<F: Float>(x: &Array<F>, idx: &Array<u32>, y: &mut Array<F>) {
    y[idx[ABSOLUTE_POS]] += select(x[ABSOLUTE_POS] > 1.0, x[ABSOLUTE_POS], detach(x[ABSOLUTE_POS]));
}";
}
