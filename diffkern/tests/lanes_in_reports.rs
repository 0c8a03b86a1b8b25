//! Reports mark kernels that ran in scalar on the CPU because something in them has no lanes, and name it.

use diffkern::prelude::*;

const N: usize = 5;

#[diff_trait]
trait Root {
    fn root<F: Float>(x: F) -> F;
}

/// The adjoint keeps as many turns as there were.
struct Newton;

#[diff_impl]
impl Root for Newton {
    fn root<F: Float>(x: F) -> F {
        let mut r = x;
        for _ in 0..60 {
            if (r * r - x).abs() < 1e-5 * x {
                break;
            }
            r = 0.5 * (r + x / r); // kept
        }
        r
    }
}

struct Exact;

#[diff_impl]
impl Root for Exact {
    fn root<F: Float>(x: F) -> F {
        x.sqrt()
    }
}

/// Each law has an account of its own.
#[diff_kernel]
fn roots<F: Float, R: Root>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    let a: F = R::root(x[i].x);
    y[i] = Vec2::new(a, a * x[i].y);
}

#[diff_kernel]
fn counted<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>, counts: &mut Array<u32>) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * x[i].x;
    counts[i / 2] += 1; // integers
}

#[diff_kernel]
fn numbered<F: Float>(
    x: &Array<Vec2<F>>,
    y: &mut Array<Vec2<F>>,
    next: &mut Array<Atomic<u32>>,
    places: &mut Array<u32>,
) {
    let i = ABSOLUTE_POS;
    y[i] = x[i] * x[i].x;
    places[i] = next[0].fetch_add(1); // old values
}

#[diff_kernel]
fn scaled<F: Float>(x: &Array<Vec2<F>>, y: &mut Array<Vec2<F>>) {
    y[ABSOLUTE_POS] *= x[ABSOLUTE_POS].y;
}

/// The compiler makes vector instructions of the scalar body.
#[diff_kernel]
fn plain<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * 2.0;
}

/// The line of this file that ends in a comment.
fn line(comment: &str) -> usize {
    let ends = |line: &str| line.ends_with(&format!("// {comment}"));
    include_str!("lanes_in_reports.rs").lines().position(ends).map_or(0, |k| k + 1)
}

/// What a report of one launch and its adjoint says of the kernel, and its text.
fn marks<F: Float>(
    launch: impl FnOnce(&Array<Vec2<F>>, &Array<Vec2<F>>) -> Result<()>,
) -> Result<([Option<&'static str>; 2], String)> {
    let dev = Device::cpu();
    let two = F::from_f64(2.0);
    let x = dev.full(N, Vec2::new(two, two))?.requires_grad();
    let y = dev.full(N, Vec2::new(two, two))?;
    let tape = Tape::record(|| launch(&x, &y))?;
    let seeds = dev.full(N, Vec2::new(F::one(), F::one()))?;
    tape.backward_from(&[(y.as_any(), seeds.as_any())])?;
    let report = tape.report();
    let kernel = &report.kernels[0];
    Ok(([kernel.in_scalar, kernel.adjoint_in_scalar], report.to_string()))
}

fn ends_in(words: Option<&'static str>, what: &str, line: usize) {
    let words = words.unwrap_or_default();
    assert!(words.starts_with(&format!("{what}, line {line} of ")), "{words:?}");
    assert!(words.ends_with("lanes_in_reports.rs"), "{words:?}");
}

#[test]
fn the_construct_is_named() -> Result<()> {
    let dev = Device::cpu();
    let (counts, next) = (dev.zeros::<u32>(N)?, dev.zeros::<u32>(1)?);
    let ([primal, _], text) = marks::<f32>(|x, y| counted(N, x, y, &counts))?;
    ends_in(primal, "an accumulation of integers", line("integers"));
    assert!(text.contains("`counted` ran in scalar, for lanes do not have an accumulation of integers"), "{text}");

    let ([primal, _], _) = marks::<f32>(|x, y| numbered(N, x, y, &next, &counts))?;
    ends_in(primal, "the old value that `fetch_add` gives", line("old values"));

    let ([primal, _], _) = marks::<f32>(|x, y| scaled(N, x, y))?;
    assert!(primal.is_some_and(|words| words.starts_with("an array that is read and overwritten")), "{primal:?}");
    Ok(())
}

#[test]
fn a_law_without_lanes_is_found_below_its_kernel() -> Result<()> {
    let (marks_of_newton, text) = marks::<f32>(|x, y| roots::<f32, Newton>(N, x, y))?;
    assert_eq!(marks_of_newton[0], None);
    let words = marks_of_newton[1].unwrap_or_default();
    assert!(words.starts_with("the adjoint of a loop that ends early, line "), "{words}");
    assert!(
        text.contains("the adjoint of `roots` ran in scalar, for lanes do not have the adjoint of a loop"),
        "{text}"
    );
    assert_eq!(marks::<f32>(|x, y| roots::<f32, Exact>(N, x, y))?.0, [None; 2]);
    Ok(())
}

#[test]
fn what_runs_in_scalar_for_other_reasons_is_not_marked() -> Result<()> {
    let dev = Device::cpu();
    let counts = dev.zeros::<u32>(N)?;
    let (marks_of_doubles, text) = marks::<f64>(|x, y| counted(N, x, y, &counts))?;
    assert_eq!(marks_of_doubles, [None; 2]);
    assert!(!text.contains("in scalar"), "{text}");

    let (x, y) = (dev.full(N, 1.0f32)?.requires_grad(), dev.zeros(N)?);
    let tape = Tape::record(|| plain(N, &x, &y))?;
    assert_eq!(tape.report().kernels[0].in_scalar, None);
    Ok(())
}
