//! What one can see of a tape: where values stop to be finite, where gradients end, what was launched and what it took.

#![expect(clippy::unwrap_used, reason = "tests")]

use diffkern::prelude::*;
use diffkern::{NotFinite, Origin, PathEnd, Recording, Rollout, recompute, reduce};

#[diff_kernel]
fn root<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if i < y.len() {
        y[i] = x[i].sqrt();
    }
}

#[diff_kernel]
fn gather<F: Float>(x: &Array<F>, index: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let k = index[i] as usize;
    y[i] = x[k] - F::new(1.0);
}

#[diff_kernel]
fn invert<F: Float>(v: &Array<Vec3<F>>, w: &mut Array<Vec3<F>>) {
    let u = v[ABSOLUTE_POS];
    w[ABSOLUTE_POS] = Vec3::new(u.x, F::new(1.0) / u.y, u.z);
}

#[diff_kernel]
fn bin<F: Float>(x: &Array<F>, index: &mut Array<u32>) {
    index[ABSOLUTE_POS] = x[ABSOLUTE_POS] as u32;
}

#[diff_kernel]
fn choose<F: Float>(x: &Array<F>, by: &Array<F>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if by[i] > F::new(0.0) {
        y[i] = x[i];
    } else {
        y[i] = -x[i];
    }
}

#[diff_kernel]
fn multiply<F: Float>(x: &Array<F>, y: &Array<F>, z: &mut Array<F>) {
    z[ABSOLUTE_POS] = x[ABSOLUTE_POS] * y[ABSOLUTE_POS];
}

#[diff_kernel]
fn lower<F: Float>(x: &Array<F>, by: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] - by[0];
}

fn found(error: Error) -> NotFinite {
    match error {
        Error::NotFinite(found) => *found,
        other => panic!("{other}"),
    }
}

#[test]
fn a_value_that_arises_in_a_launch() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[4.0, -1.0, -2.0])?.requires_grad();
    let (y, z) = (dev.uninit(3)?, dev.uninit(3)?);
    let error = Recording::new().check_finite().record(|| {
        root(3, &x, &y)?;
        multiply(3, &y, &y, &z)
    });
    let found = found(error.unwrap_err());
    assert_eq!((found.kernel, found.param, found.array.id(), found.element), ("root", "y", y.id(), 1));
    assert!(found.value.is_nan() && !found.adjoint && found.steps.is_empty());
    assert_eq!((found.origin, found.file), (Origin::Here, file!()));
    // The line of the store, not of the kernel.
    let line = include_str!("seeing.rs").lines().position(|l| l.contains("y[i] = x[i].sqrt()")).unwrap() + 1;
    assert_eq!(found.line as usize, line);
    // Without the check nothing is said.
    Tape::record(|| root(3, &x, &y))?;
    Ok(())
}

#[test]
fn components_and_infinities() -> Result<()> {
    let dev = Device::cpu();
    let v = dev.array(&[Vec3::new(1.0f32, 2.0, 0.0), Vec3::new(1.0, 0.0, 3.0)])?.requires_grad();
    let w = dev.uninit(2)?;
    let found = found(Recording::new().check_finite().record(|| invert(2, &v, &w)).unwrap_err());
    assert_eq!((found.element, found.component, found.value), (1, 1, f64::INFINITY));
    assert!(found.to_string().contains("component 1 of element 1"), "{found}");
    Ok(())
}

#[test]
fn a_value_that_came_in_by_an_input() -> Result<()> {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[1.0, f64::NAN, 2.0])?.requires_grad(), dev.uninit(3)?);
    let error = Recording::new().check_finite().record(|| root(3, &x, &y)).unwrap_err();
    let found = found(error);
    assert_eq!(found.element, 1);
    let Origin::Input { param, array, adjoint, element, value, .. } = found.origin else { panic!("{found}") };
    assert_eq!((param, array.id(), adjoint, element), ("x", x.id(), false, 1));
    assert!(value.is_nan());
    // Another element that is not finite has nothing to do with it where every access is at the position.
    let mixed = dev.array(&[f64::INFINITY, -1.0])?.requires_grad();
    let error = Recording::new()
        .check_finite()
        .record(|| multiply(2, &mixed, &dev.array(&[0.5, 1e308 * 10.0])?, &dev.uninit(2)?));
    assert!(matches!(self::found(error.unwrap_err()).origin, Origin::Input { element: 0, .. }));
    Ok(())
}

#[test]
fn an_element_that_nothing_has_written() -> Result<()> {
    let dev = Device::cpu();
    let (empty, index) = (dev.uninit::<f64>(4)?.requires_grad(), dev.array(&[2u32, 0])?);
    let y = dev.uninit(2)?;
    let result = Recording::new().check_finite().record(|| gather(2, &empty, &index, &y));
    // Release builds leave what was there before.
    if cfg!(debug_assertions) {
        let found = found(result.unwrap_err());
        assert!(matches!(found.origin, Origin::Input { param: "x", element: 0, .. }), "{found}");
    }
    // Elements that are left alone are nobody's fault.
    let part = dev.uninit::<f64>(4)?;
    let x = dev.array(&[4.0; 4])?.requires_grad();
    Recording::new().check_finite().record(|| root(2, &x, &part))?;
    Ok(())
}

#[test]
fn an_adjoint_that_arises_in_backward_and_one_that_came_with_the_seed() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[1.0, 0.0])?.requires_grad();
    let y = dev.uninit(2)?;
    let tape = Recording::new().check_finite().record(|| root(2, &x, &y))?;
    let seed = dev.array(&[1.0, 1.0])?;
    let here = found(tape.backward_from(&[(y.as_any(), seed.as_any())]).unwrap_err());
    assert_eq!((here.kernel, here.param, here.array.id(), here.element), ("root", "x", x.id(), 1));
    assert!(here.adjoint && here.origin == Origin::Here, "{here}");
    assert!(here.to_string().contains("adjoint of kernel `root`"), "{here}");
    let z = dev.uninit(2)?;
    let tape = Recording::new().check_finite().record(|| multiply(2, &x, &x, &z))?;
    let bad = dev.array(&[f64::INFINITY, 1.0])?;
    let came = found(tape.backward_from(&[(z.as_any(), bad.as_any())]).unwrap_err());
    assert!(matches!(came.origin, Origin::Input { param: "z", adjoint: true, element: 0, .. }), "{came}");
    Ok(())
}

#[test]
fn the_step_of_a_rollout_is_named() -> Result<()> {
    let dev = Device::cpu();
    let (x, by) = (dev.array(&[5.5, 9.0])?.requires_grad(), dev.array(&[1.0])?.requires_grad());
    let step = |by: &Array<f64>| {
        let by = by.clone();
        move |x: &Array<f64>, _: usize| {
            let (y, z) = (x.device().uninit(2)?, x.device().uninit(2)?);
            lower(2, x, &by, &y)?;
            root(2, &y, &z)?;
            Ok(y)
        }
    };
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(1), Schedule::Checkpoints(3)] {
        let run = || Rollout::new(schedule).run(9, x.clone(), step(&by)).map(|_| ());
        let found = found(Recording::new().check_finite().record(run).unwrap_err());
        assert_eq!((found.kernel, found.element, found.steps.as_slice()), ("root", 0, [5].as_slice()), "{schedule:?}");
        assert!(found.to_string().starts_with("step 5: "), "{found}");
        // A rollout in a step.
        let by = by.clone();
        let nested = || {
            let step = move |x: &Array<f64>, _: usize| Rollout::new(schedule).run(2, x.clone(), step(&by));
            Rollout::new(schedule).run(4, x.clone(), step).map(|_| ())
        };
        let found = self::found(Recording::new().check_finite().record(nested).unwrap_err());
        assert_eq!(found.steps, [2, 1], "{schedule:?}");
    }
    // Adjoints: the root of zero has no derivative.
    let zero = dev.array(&[3.0, 9.0])?.requires_grad();
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(1), Schedule::Checkpoints(3)] {
        let by = by.clone();
        let step = move |(x, sum): &(Array<f64>, Array<f64>), _: usize| {
            let (y, z, next) = (x.device().uninit(2)?, x.device().uninit(2)?, x.device().uninit(2)?);
            lower(2, x, &by, &y)?;
            root(2, &y, &z)?;
            multiply(2, &z, sum, &next)?;
            Ok((y, next))
        };
        let start = (zero.clone(), dev.full(2, 1.0)?);
        let run = || Rollout::new(schedule).run(3, start, step);
        let (tape, (_, end)) = Recording::new().check_finite().record_value(run)?;
        let seed = dev.full(2, 1.0)?;
        let found = found(tape.backward_from(&[(end.as_any(), seed.as_any())]).unwrap_err());
        assert_eq!(
            (found.steps.as_slice(), found.adjoint, found.kernel),
            ([2].as_slice(), true, "root"),
            "{schedule:?}"
        );
    }
    Ok(())
}

fn zeros_of(tape: &Tape, x: &Array<f64>) -> Option<PathEnd> {
    let zeros = tape.report().zero_gradients;
    zeros.into_iter().find(|zero| zero.array.id() == x.id()).map(|zero| zero.ends.last().unwrap().clone())
}

#[test]
fn gradients_that_are_zero_by_structure() -> Result<()> {
    let dev = Device::cpu();
    let other = dev.array(&[1.0, 2.0])?.requires_grad();
    let x = dev.array(&[1.5, 0.5])?.requires_grad();
    let index = dev.zeros::<u32>(2)?;
    let temp = || dev.uninit::<f64>(2);

    // Through integers.
    let (tape, loss) = Tape::record_value(|| {
        let y = temp()?;
        bin(2, &x, &index)?;
        gather(2, &other, &index, &y)?;
        reduce::sum(&y)
    })?;
    assert!(tape.report().zero_gradients.is_empty(), "no loss is known before backward");
    tape.backward(&loss)?;
    let end = zeros_of(&tape, &x).unwrap();
    assert!(matches!(end, PathEnd::NoDerivative { kernel: "bin", param: "x", .. }), "{end}");
    assert!(tape.report().to_string().contains("takes no derivative by `x`"), "{}", tape.report());
    assert_eq!(zeros_of(&tape, &other), None);

    // By a branch alone.
    let (tape, loss) = Tape::record_value(|| {
        let y = temp()?;
        choose(2, &other, &x, &y)?;
        reduce::sum(&y)
    })?;
    tape.backward(&loss)?;
    assert!(matches!(zeros_of(&tape, &x), Some(PathEnd::NoDerivative { kernel: "choose", param: "by", .. })));

    // Overwritten before it is used, by a fill and by a copy of something without a gradient.
    for copied in [false, true] {
        let (tape, loss) = Tape::record_value(|| {
            let (y, z) = (temp()?, temp()?);
            multiply(2, &x, &x, &y)?;
            if copied {
                y.copy_from(&dev.array(&[1.0, 1.0])?)?
            } else {
                y.fill(1.0)?
            };
            multiply(2, &y, &other, &z)?;
            reduce::sum(&z)
        })?;
        tape.backward(&loss)?;
        assert!(matches!(zeros_of(&tape, &x), Some(PathEnd::Overwritten { .. })), "{copied}");
        assert_eq!(x.grad()?.to_vec()?, [0.0, 0.0], "and so it is");
        x.zero_grad();
    }

    // A result that nobody uses.
    let (tape, loss) = Tape::record_value(|| {
        let (y, z) = (temp()?, temp()?);
        multiply(2, &x, &other, &y)?;
        multiply(2, &other, &other, &z)?;
        reduce::sum(&z)
    })?;
    tape.backward(&loss)?;
    assert!(matches!(zeros_of(&tape, &x), Some(PathEnd::Unused { by: Some("multiply"), .. })));

    // Some elements only: it is not zero by structure.
    let (tape, loss) = Tape::record_value(|| {
        let (y, z) = (temp()?, temp()?);
        multiply(2, &x, &other, &y)?;
        y.slice(..1)?.fill(0.0)?;
        multiply(2, &y, &other, &z)?;
        reduce::sum(&z)
    })?;
    tape.backward(&loss)?;
    assert_eq!(zeros_of(&tape, &x), None);
    Ok(())
}

#[test]
fn gradients_that_end_inside_a_rollout() -> Result<()> {
    let dev = Device::cpu();
    let (x, other) = (dev.array(&[1.5, 0.5])?.requires_grad(), dev.array(&[1.0, 2.0])?.requires_grad());
    type Two = (Array<f64>, Array<f64>);
    // What is in the first array moves to the second, and from there nowhere: it takes two steps to end.
    let run = |steps: usize| {
        let start = (x.clone(), other.clone());
        let (tape, loss) = Tape::record_value(|| {
            let keep = other.clone();
            let step = move |(a, _): &Two, _: usize| {
                let (next, square) = (a.device().uninit(2)?, a.device().uninit(2)?);
                multiply(2, &keep, &keep, &next)?;
                multiply(2, a, a, &square)?;
                Ok((next, square))
            };
            let (a, b) = Rollout::new(Schedule::Checkpoints(1)).run(steps, start, step)?;
            reduce::dot(&a, &b)
        })?;
        tape.backward(&loss)?;
        Ok::<_, Error>(zeros_of(&tape, &x))
    };
    assert_eq!(run(1)?, None, "one step: it is in the second array");
    assert!(matches!(run(2)?, Some(PathEnd::InRollout { steps: 2 })));
    assert!(matches!(run(7)?, Some(PathEnd::InRollout { steps: 7 })));
    // An array that the steps read is one whose path goes on.
    assert!(run(3).is_ok());
    Ok(())
}

#[test]
fn a_graph_of_what_was_launched() -> Result<()> {
    let dev = Device::cpu();
    let (x, by) = (dev.array(&[5.0, 9.0])?.requires_grad(), dev.array(&[0.5])?.requires_grad());
    let (tape, loss) = Tape::record_value(|| {
        let by = by.clone();
        let step = move |x: &Array<f64>, _: usize| {
            let y = x.device().uninit(2)?;
            recompute(|| lower(2, x, &by, &y))?;
            let z = x.device().uninit(2)?;
            multiply(2, &y, &y, &z)?;
            Ok(z)
        };
        let y = Rollout::new(Schedule::Checkpoints(2)).run(200, x.clone(), step)?;
        y.slice(..1)?.fill(1.0)?;
        reduce::sum(&y)
    })?;
    tape.backward(&loss)?;
    let dot = tape.report().to_dot();
    assert!(dot.starts_with("digraph tape {") && dot.ends_with("}\n"), "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert_eq!(dot.matches("lower\\n").count(), 1, "a rollout is folded: {dot}");
    assert!(dot.contains("200 steps: 2 states kept (revolve)") && dot.contains("subgraph cluster_"), "{dot}");
    assert!(dot.contains("doublecircle") && dot.contains("style=bold"), "{dot}");
    // Every end of an arrow is a node.
    for line in dot.lines().filter(|line| line.contains(" -> ")) {
        let (from, rest) = line.trim().split_once(" -> ").unwrap();
        let to = rest.split_whitespace().next().unwrap();
        for node in [from, to] {
            assert!(dot.contains(&format!("{node} [label=")), "{node}: {dot}");
        }
    }
    assert!(dot.lines().count() < 40, "{dot}");
    Ok(())
}

#[test]
fn launches_are_counted_and_timed() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.full(100_000, 2.0f64)?.requires_grad();
    let run = || {
        let y = dev.uninit(x.len())?;
        multiply(x.len(), &x, &x, &y)?;
        multiply(x.len(), &x, &x, &y)?;
        reduce::sum(&y)
    };
    let (tape, loss) = Recording::new().timed().record_value(run)?;
    tape.backward(&loss)?;
    let report = tape.report();
    let kernel = report.kernels.iter().find(|k| k.name == "multiply").unwrap();
    assert_eq!((kernel.launches, kernel.adjoint_launches), (2, 2));
    assert!(kernel.seconds > 0.0 && kernel.adjoint_seconds > 0.0);
    assert_eq!(report.losses, [loss.label()]);
    assert_eq!(report.leaves, [x.label()]);
    Ok(())
}

/// A name is in the report, the graph and the errors.
#[test]
fn names_are_shown_wherever_arrays_are() -> Result<()> {
    let dev = Device::cpu();
    let x = dev.array(&[4.0, 9.0])?.requires_grad().named("stiffness");
    let lost = dev.array(&[1.0, 1.0])?.requires_grad().named("damping");
    let y = dev.uninit(2)?.named("force");
    let tape = Tape::record(|| {
        multiply(2, &x, &lost, &dev.uninit(2)?)?;
        multiply(2, &x, &x, &y)
    })?;
    tape.backward_from(&[(y.as_any(), dev.full(2, 1.0)?.as_any())])?;
    let report = tape.report();
    let line = format!("`damping` (array {}) gets no gradient", lost.id());
    assert!(report.to_string().contains(&line), "{report}");
    let dot = report.to_dot();
    assert!(dot.contains("`stiffness` (array ") && dot.contains("seed of `force` (array "), "{dot}");

    let missing = lost.grad().unwrap_err().to_string();
    assert!(
        missing.starts_with(&format!("`damping` (array {}) has no gradient: no `backward`", lost.id())),
        "{missing}"
    );
    let write = Tape::record(|| multiply(2, &y, &y, &x).and_then(|()| x.fill(1.0))).unwrap_err().to_string();
    assert!(write.contains("`stiffness` (array "), "{write}");
    let bad = dev.array(&[-1.0, 1.0])?.requires_grad().named("radius");
    let found = Recording::new().check_finite().record(|| root(2, &bad, &y)).unwrap_err().to_string();
    assert!(found.contains("`y` (`force` (array "), "{found}");
    // A view has the name of its array, another name takes the place of the first, and a copy has none.
    let view = x.slice(0..1)?;
    assert_eq!((view.label().name(), view.named("mu").label().name()), (Some("stiffness"), Some("mu")));
    assert_eq!((x.label().name(), x.detached()?.label().name()), (Some("mu"), None));
    Ok(())
}
