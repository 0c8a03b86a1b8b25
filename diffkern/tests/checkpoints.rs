//! Rollouts of unknown length, with files, with launches that are run again, and inside each other: always the same
//! bits, within what was predicted.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use diffkern::prelude::*;
use diffkern::{Rollout, recompute, reduce, rollout};

#[path = "checkpoints/costs.rs"]
mod costs;

const N: usize = 24;

#[diff_kernel]
fn force<F: Float>(x: &Array<F>, stiffness: &Array<F>, f: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    f[i] = stiffness[0] * x[i].sin() + x[i] * x[i] * 0.1;
}

#[diff_kernel]
fn weigh<F: Float>(f: &Array<F>, x: &Array<F>, w: &mut Array<F>) {
    w[ABSOLUTE_POS] += f[ABSOLUTE_POS] * x[ABSOLUTE_POS];
}

#[diff_kernel]
fn grow<F: Float>(y: &mut Array<F>, x: &Array<F>) {
    y[ABSOLUTE_POS] = y[ABSOLUTE_POS] * x[ABSOLUTE_POS].cos() + y[ABSOLUTE_POS] * y[ABSOLUTE_POS];
}

#[diff_kernel]
fn step_on<F: Float>(x: &Array<F>, f: &Array<F>, w: &Array<F>, x_next: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    x_next[i] = x[i] - (f[i] + w[i] * f[i]) * 0.01;
}

struct Scene {
    x: Array<f64>,
    stiffness: Array<f64>,
}

/// A step with intermediate arrays that its gradient reads, one of them accumulated into and overwritten.
fn advance(x: &Array<f64>, stiffness: &Array<f64>) -> Result<Array<f64>> {
    let dev = x.device();
    let (f, w, next) = (dev.uninit(N)?, dev.zeros(N)?, dev.uninit(N)?);
    force(N, x, stiffness, &f)?;
    weigh(N, &f, x, &w)?;
    step_on(N, x, &f, &w, &next)?;
    // The versions read above are needed, these not.
    force(N, &next, stiffness, &f)?;
    weigh(N, &f, &next, &w)?;
    let last = dev.uninit(N)?;
    step_on(N, &next, &f, &w, &last)?;
    f.fill(0.0)?;
    w.copy_from(&f)?;
    Ok(last)
}

impl Scene {
    fn new() -> Result<Scene> {
        let dev = Device::cpu();
        let x: Vec<f64> = (0..N).map(|k| 0.3 + 0.07 * k as f64).collect();
        Ok(Scene { x: dev.array(&x)?.requires_grad(), stiffness: dev.array(&[1.3])?.requires_grad() })
    }

    fn gradient(&self, run: impl FnOnce() -> Result<Array<f64>>) -> Result<(Vec<u64>, Tape)> {
        self.x.zero_grad();
        self.stiffness.zero_grad();
        let (tape, loss) = Tape::record_value(|| reduce::dot(&run()?, &self.x))?;
        tape.backward(&loss)?;
        let mut all = self.x.grad()?.to_vec()?;
        all.extend(self.stiffness.grad()?.to_vec()?);
        Ok((all.into_iter().map(f64::to_bits).collect(), tape))
    }

    fn steps(&self, steps: usize, options: &Rollout) -> Result<Array<f64>> {
        let stiffness = self.stiffness.clone();
        options.run(steps, self.x.clone(), move |x: &Array<f64>, _| advance(x, &stiffness))
    }

    fn steps_while(&self, steps: usize, options: &Rollout) -> Result<Array<f64>> {
        let stiffness = self.stiffness.clone();
        let step = move |x: &Array<f64>, _: usize| advance(x, &stiffness);
        let (end, run) = options.run_while(move |_, k| Ok(k < steps), self.x.clone(), step)?;
        assert_eq!(run, steps);
        Ok(end)
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let dir = std::env::temp_dir().join(format!("diffkern-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Folder(dir)
    }

    fn files(&self) -> Vec<PathBuf> {
        std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Every way to reverse, `dir` for those with files.
fn ways(dir: &Path, budget: usize) -> Vec<Rollout> {
    use Schedule::{Auto, Budget, Checkpoints, StoreAll};
    let mut all = vec![Rollout::new(StoreAll), Rollout::new(Auto), Rollout::new(Budget(budget))];
    all.extend([1, 2, 3, 8].map(|states| Rollout::new(Checkpoints(states))));
    let files = |states, cost| Rollout::new(Checkpoints(states)).files(dir).file_cost_steps(cost);
    all.extend([files(1, 0.0), files(2, 1.0), files(3, 20.0), Rollout::new(Budget(budget)).files(dir)]);
    let again: Vec<Rollout> = all
        .iter()
        .flat_map(|way| [way.clone().recompute(&["force"]), way.clone().recompute(&["force", "weigh"])])
        .collect();
    all.extend(again);
    all.push(Rollout::new(StoreAll).recompute_all());
    all
}

#[test]
fn every_way_gives_the_same_bits() -> Result<()> {
    let (scene, folder) = (Scene::new()?, Folder::new("ways"));
    for steps in [1, 2, 3, 7, 40] {
        let (bits, _) = scene.gradient(|| scene.steps(steps, &Rollout::new(Schedule::StoreAll)))?;
        for way in ways(&folder.0, 6_000) {
            let (known, tape) = scene.gradient(|| scene.steps(steps, &way))?;
            assert_eq!(known, bits, "{steps} steps, {way:?}");
            let report = tape.report().rollouts[0].clone();
            assert_eq!(report.predicted_factor, report.measured_factor, "{steps} steps, {way:?}: {report:?}");
            let (unknown, tape) = scene.gradient(|| scene.steps_while(steps, &way))?;
            assert_eq!(unknown, bits, "{steps} steps, unknown, {way:?}");
            let report = tape.report().rollouts[0].clone();
            assert_eq!(report.predicted_factor, report.measured_factor, "{steps} steps, {way:?}: {report:?}");
        }
    }
    assert!(folder.files().is_empty());
    Ok(())
}

#[test]
fn backward_twice_doubles_every_gradient() -> Result<()> {
    let (scene, folder) = (Scene::new()?, Folder::new("twice"));
    for way in ways(&folder.0, 6_000) {
        for unknown in [false, true] {
            scene.stiffness.zero_grad();
            let run = || if unknown { scene.steps_while(12, &way) } else { scene.steps(12, &way) };
            let (tape, loss) = Tape::record_value(|| reduce::sum(&run()?))?;
            tape.backward(&loss)?;
            let once = scene.stiffness.grad()?.to_vec()?[0];
            tape.backward(&loss)?;
            assert_eq!(scene.stiffness.grad()?.to_vec()?[0], 2.0 * once, "{way:?}");
        }
    }
    Ok(())
}

#[test]
fn rollouts_in_steps_of_rollouts_in_every_combination() -> Result<()> {
    let (scene, folder) = (Scene::new()?, Folder::new("nested"));
    let (bits, _) = scene.gradient(|| scene.steps(12, &Rollout::new(Schedule::StoreAll)))?;
    let ways = ways(&folder.0, 12_000);
    for (nth, outer) in ways.iter().enumerate() {
        for (kth, inner) in ways.iter().enumerate() {
            let (nested, tape) = scene.gradient(|| {
                let (stiffness, inner) = (scene.stiffness.clone(), inner.clone());
                let step = move |x: &Array<f64>, _: usize| {
                    let stiffness = stiffness.clone();
                    let step = move |x: &Array<f64>, _: usize| advance(x, &stiffness);
                    match (nth + kth) % 2 {
                        0 => inner.run(3, x.clone(), step),
                        _ => inner.run_while(|_, k| Ok(k < 3), x.clone(), step).map(|(end, _)| end),
                    }
                };
                outer.run(4, scene.x.clone(), step)
            })?;
            assert_eq!(nested, bits, "{outer:?} around {inner:?}");
            drop(tape);
        }
    }
    assert!(folder.files().is_empty());
    Ok(())
}

#[test]
fn a_rollout_ends_where_its_state_says_so() -> Result<()> {
    let scene = Scene::new()?;
    let until = |schedule| {
        let stiffness = scene.stiffness.clone();
        let large = |x: &Array<f64>, _: usize| Ok(reduce::sum(x)?.to_vec()?[0] > 20.0);
        Rollout::new(schedule).run_while(large, scene.x.clone(), move |x, _| advance(x, &stiffness))
    };
    let mut results = Vec::new();
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(2), Schedule::Checkpoints(5), Schedule::Budget(5000)] {
        results.push(scene.gradient(|| until(schedule).map(|(end, _)| end))?.0);
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    let (_, steps) = until(Schedule::Auto)?;
    assert!(steps > 3, "{steps}");
    assert_eq!(results[0], scene.gradient(|| scene.steps(steps, &Rollout::new(Schedule::StoreAll)))?.0);
    // No step at all, and a question that writes.
    let none = Rollout::new(Schedule::Auto).run_while(|_, _| Ok(false), scene.x.clone(), |x, _| Ok(x.clone()))?;
    assert_eq!((none.0.id(), none.1), (scene.x.id(), 0));
    let writes = |x: &Array<f64>, _: usize| x.fill(0.0).map(|()| true);
    let error = Rollout::new(Schedule::Auto).run_while(writes, scene.x.clone(), |x, _| Ok(x.clone())).unwrap_err();
    assert!(error.to_string().contains("whether to go on"), "{error}");
    Ok(())
}

/// What a file costs is used, or refused; in whichever order it is given.
#[test]
fn a_cost_of_files_needs_files() -> Result<()> {
    let (scene, folder) = (Scene::new()?, Folder::new("cost"));
    let plain = || Rollout::new(Schedule::Checkpoints(2));
    let error = scene.steps(3, &plain().file_cost_steps(0.5)).unwrap_err();
    assert!(error.to_string().contains("a file costs 0.5 steps, and there are none"), "{error}");
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        let error = scene.steps(3, &plain().files(&folder.0).file_cost_steps(wrong)).unwrap_err();
        assert!(error.to_string().contains(&format!("a file costs {wrong} steps")), "{error}");
    }
    assert_eq!(plain().file_cost_steps(0.5).files(&folder.0), plain().files(&folder.0).file_cost_steps(0.5));
    Ok(())
}

#[test]
fn files_are_checked_and_removed() -> Result<()> {
    let (scene, folder) = (Scene::new()?, Folder::new("files"));
    let way = Rollout::new(Schedule::Checkpoints(2)).files(&folder.0).file_cost_steps(0.5);
    let (tape, _) = Tape::record_value(|| reduce::sum(&scene.steps(60, &way)?))?;
    let files = folder.files();
    assert!(files.len() > 3, "{files:?}");
    let bytes: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();
    let report = tape.report().rollouts[0].clone();
    assert_eq!((report.files, report.peak_file_bytes as u64), (files.len(), bytes));
    drop(tape);
    assert!(folder.files().is_empty(), "removed with the tape");

    // One bit of each file changes; the files go; they get short.
    for harm in 0..3 {
        let (tape, end) = Tape::record_value(|| scene.steps(60, &way))?;
        for file in folder.files() {
            match harm {
                0 => {
                    let mut contents = std::fs::read(&file).unwrap();
                    let middle = contents.len() / 2;
                    contents[middle] ^= 4;
                    std::fs::write(&file, contents).unwrap();
                }
                1 => std::fs::remove_file(&file).unwrap(),
                _ => std::fs::write(&file, b"short").unwrap(),
            }
        }
        let seed = Device::cpu().full(N, 1.0)?;
        let error = tape.backward_from(&[(end.as_any(), seed.as_any())]).unwrap_err();
        assert!(matches!(&error, Error::File { path, .. } if path.starts_with(&folder.0)), "{error}");
        assert!(error.to_string().contains(".state"), "{error}");
    }
    let missing = Rollout::new(Schedule::Checkpoints(2)).files(folder.0.join("nowhere"));
    let error = Tape::record_value(|| scene.steps(60, &missing)).unwrap_err();
    assert!(error.to_string().contains("nowhere") && error.to_string().contains("written"), "{error}");
    if Path::new("/dev/full").exists() {
        // Writes into the folder of processes fail like those to a full disk, for a reason that the system gives.
        let full = Rollout::new(Schedule::Checkpoints(2)).files("/proc");
        assert!(matches!(Tape::record_value(|| scene.steps(60, &full)).unwrap_err(), Error::File { .. }));
    }
    Ok(())
}

#[test]
fn launches_are_run_again_once_and_from_what_they_read() -> Result<()> {
    let scene = Scene::new()?;
    let all = |again: bool| {
        let run = || {
            let dev = scene.x.device();
            let (f, w, end) = (dev.uninit(N)?, dev.zeros(N)?, dev.uninit(N)?);
            let make = || {
                force(N, &scene.x, &scene.stiffness, &f)?;
                weigh(N, &f, &scene.x, &w)?;
                // Into contents that are not new: both versions matter.
                weigh(N, &f, &scene.x, &w)
            };
            if again {
                recompute(make)?
            } else {
                make()?
            };
            step_on(N, &scene.x, &f, &w, &end)?;
            w.fill(7.0)?;
            f.copy_from(&w)?;
            Ok(end)
        };
        scene.gradient(run)
    };
    let ((bits, plain), (again, light)) = (all(false)?, all(true)?);
    assert_eq!(bits, again);
    let (plain, light) = (plain.report(), light.report());
    assert_eq!((plain.launches_again, light.launches_again), (0, 3));
    assert_eq!(plain.bytes_kept - light.bytes_kept, 2 * N * 8, "f and w are not kept");
    Ok(())
}

#[test]
fn recomputed_launches_survive_an_overwrite_of_what_they_read() -> Result<()> {
    let dev = Device::cpu();
    let scene = Scene::new()?;
    let run = |again: bool| {
        scene.gradient(|| {
            let (a, f, w, end) = (dev.uninit(N)?, dev.uninit(N)?, dev.zeros(N)?, dev.uninit(N)?);
            a.copy_from(&scene.x)?;
            let make = || force(N, &a, &scene.stiffness, &f);
            if again {
                recompute(make)?
            } else {
                make()?
            };
            a.fill(1e9)?;
            weigh(N, &f, &scene.x, &w)?;
            step_on(N, &scene.x, &f, &w, &end)?;
            Ok(end)
        })
    };
    assert_eq!(run(false)?.0, run(true)?.0);
    Ok(())
}

#[test]
fn what_is_read_and_overwritten_in_one_launch_comes_back_as_it_was() -> Result<()> {
    let scene = Scene::new()?;
    for mask in 0..16 {
        let run = |mask: u32| {
            scene.gradient(|| {
                let (y, end) = (scene.x.device().uninit(N)?, scene.x.device().uninit(N)?);
                let launch = |k: u32, act: &dyn Fn() -> Result<()>| match mask >> k & 1 {
                    0 => act(),
                    _ => recompute(act),
                };
                launch(0, &|| force(N, &scene.x, &scene.stiffness, &y))?;
                launch(1, &|| grow(N, &y, &scene.x))?;
                launch(2, &|| weigh(N, &scene.x, &scene.x, &y))?;
                launch(3, &|| grow(N, &y, &scene.x))?;
                step_on(N, &scene.x, &y, &y, &end)?;
                y.fill(3.0)?;
                Ok(end)
            })
        };
        assert_eq!(run(mask)?.0, run(0)?.0, "{mask:b}");
    }
    Ok(())
}

#[test]
fn long_chains_of_recomputed_launches_end_in_kept_contents() -> Result<()> {
    let scene = Scene::new()?;
    let run = |again: bool| {
        scene.gradient(|| {
            let dev = scene.x.device();
            let (w, end) = (dev.zeros(N)?, dev.uninit(N)?);
            for _ in 0..500 {
                let f = dev.uninit(N)?;
                let make = || {
                    force(N, &w, &scene.stiffness, &f)?;
                    weigh(N, &f, &scene.x, &w)
                };
                if again {
                    recompute(make)?
                } else {
                    make()?
                };
                // Keeps the numbers small.
                let scaled = dev.uninit(N)?;
                force(N, &w, &scene.stiffness, &scaled)?;
            }
            step_on(N, &scene.x, &w, &w, &end)?;
            Ok(end)
        })
    };
    let ((bits, _), (again, tape)) = (run(false)?, run(true)?);
    assert_eq!(bits, again);
    // `w` at each 32nd turn, two links long; `x`, the end and the stiffness.
    assert_eq!(tape.report().bytes_kept, (500usize.div_ceil(32) + 2) * N * 8 + 8);
    Ok(())
}

/// What `force` wrote is overwritten by a launch that reads it; both are run again, so neither is kept.
#[test]
fn contents_before_a_recomputed_launch_are_not_kept_either() -> Result<()> {
    let scene = Scene::new()?;
    let run = |again: bool| {
        scene.gradient(|| {
            let (y, end) = (scene.x.device().uninit(N)?, scene.x.device().uninit(N)?);
            let make = || {
                force(N, &scene.x, &scene.stiffness, &y)?;
                grow(N, &y, &scene.x)
            };
            if again {
                recompute(make)?
            } else {
                make()?
            };
            step_on(N, &scene.x, &y, &y, &end)?;
            y.fill(0.0)?;
            Ok(end)
        })
    };
    let ((bits, plain), (same, light)) = (run(false)?, run(true)?);
    assert_eq!(bits, same);
    assert_eq!(plain.report().bytes_kept - light.report().bytes_kept, 2 * N * 8);
    Ok(())
}

#[diff_kernel]
fn spread<F: Float>(x: &Array<F>, f: &mut Array<F>, g: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let twice = x[i] + x[i];
    f[i] = twice;
    g[i] = twice + x[i];
}

#[diff_kernel]
fn push<F: Float>(x: &Array<F>, f: &Array<F>, g: &Array<F>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] - f[ABSOLUTE_POS] * g[ABSOLUTE_POS];
}

/// The cost of running launches again, by hand.
#[test]
fn launches_run_again_are_predicted_to_the_byte() -> Result<()> {
    const STEPS: usize = 10;
    let x = Device::cpu().full(N, 0.01)?.requires_grad();
    let step = |x: &Array<f64>, _: usize| {
        let (f, g, y) = (x.device().uninit(N)?, x.device().uninit(N)?, x.device().uninit(N)?);
        spread(N, x, &f, &g)?;
        push(N, x, &f, &g, &y)?;
        Ok(y)
    };
    // What `spread` reads in each step; what one step brings back, the state, and the adjoints of `x`, `f`, `g` and `y`.
    let budget = (STEPS + 2 + 1 + 4) * N * 8;
    let way = Rollout::new(Schedule::Budget(budget)).recompute(&["spread"]);
    let plan = way.predict(STEPS, &x, step)?;
    assert_eq!((plan.recomputes(), plan.bytes()), (true, Some(budget)));
    // Work of a position: 9 of `spread`, 11 of `push`.
    assert_eq!(plan.factor(), 1.0 + 9.0 / 20.0);
    let less = Rollout::new(Schedule::Budget(budget - 1)).recompute(&["spread"]);
    assert!(!less.predict(STEPS, &x, step)?.recomputes());
    let misspelt = Rollout::new(Schedule::StoreAll).recompute(&["spread", "pusch"]);
    for way in [way, Rollout::new(Schedule::StoreAll).recompute(&["spread"]), misspelt.clone()] {
        let (tape, end) = Tape::record_value(|| way.run(STEPS, x.clone(), step))?;
        let one = Device::cpu().full(N, 1.0)?;
        tape.backward_from(&[(end.as_any(), one.as_any())])?;
        let report = tape.report();
        assert_eq!(report.launches_again, STEPS);
        let named: &[&str] = if way == misspelt { &["pusch"] } else { &[] };
        assert_eq!(report.rollouts[0].not_launched, named);
        assert_eq!(report.to_string().contains("no step has launched `pusch`"), way == misspelt);
    }
    Ok(())
}

/// A product by what the step makes anew: its gradient is not asked for, but its contents are needed.
#[test]
fn constants_of_a_step_are_counted() -> Result<()> {
    const STEPS: usize = 10;
    let x = Device::cpu().full(N, 0.01)?.requires_grad();
    let step = |x: &Array<f64>, _: usize| {
        let (c, y) = (x.device().full(N, 0.5)?, x.device().uninit(N)?);
        push(N, x, x, &c, &y)?;
        Ok(y)
    };
    // `x` and the constant in each step, the state, and room for as many adjoints.
    let all = (2 * STEPS + 1 + 3) * N * 8;
    let plan = |budget| Rollout::new(Schedule::Budget(budget)).predict(STEPS, &x, step);
    assert_eq!((plan(all)?.factor(), plan(all)?.bytes()), (1.0, None));
    assert!(plan(all - 1)?.factor() > 1.0);
    Ok(())
}

#[test]
fn a_budget_chooses_among_all_and_is_kept() -> Result<()> {
    let (scene, folder) = (Scene::new()?, Folder::new("budget"));
    let (bits, _) = scene.gradient(|| scene.steps(200, &Rollout::new(Schedule::StoreAll)))?;
    let mut chosen = Vec::new();
    for budget in [
        3_000, 5_000, 10_000, 20_000, 60_000, 120_000, 140_000, 150_000, 160_000, 170_000, 180_000, 190_000, 200_000,
        400_000, 1_000_000,
    ] {
        for (files, again) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut way = Rollout::new(Schedule::Budget(budget));
            way = if files { way.files(&folder.0) } else { way };
            way = if again { way.recompute(&["weigh"]) } else { way };
            let stiffness = scene.stiffness.clone();
            let plan = way.predict(200, &scene.x, move |x: &Array<f64>, _| advance(x, &stiffness))?;
            let (same, tape) = scene.gradient(|| scene.steps(200, &way))?;
            assert_eq!(same, bits, "{way:?}");
            let report = tape.report();
            let rollout = &report.rollouts[0];
            // The reduction around the rollout has its own share.
            assert!(report.peak_bytes <= budget + 2_000, "{way:?}: {report}");
            assert_eq!(rollout.schedule, plan.to_string(), "{way:?}");
            assert_eq!(rollout.files, plan.files(), "{way:?}");
            assert_eq!(rollout.predicted_factor, rollout.measured_factor, "{way:?}: {report}");
            assert_eq!(report.launches_again > 0, plan.recomputes(), "{way:?}: {report}");
            chosen.push((plan.recomputes(), plan.files() > 0, plan.factor()));
        }
    }
    for kind in [|c: &(bool, bool, f64)| c.0, |c: &(bool, bool, f64)| c.1, |c: &(bool, bool, f64)| !c.0 && !c.1] {
        assert!(chosen.iter().any(kind), "{chosen:?}");
    }
    // More to choose from never costs more.
    for four in chosen.chunks(4) {
        assert!(four[1].2 <= four[0].2 && four[2].2 <= four[0].2 && four[3].2 <= four[1].2.min(four[2].2), "{four:?}");
    }
    Ok(())
}

#[test]
fn the_shorthand_is_the_same() -> Result<()> {
    let scene = Scene::new()?;
    let stiffness = scene.stiffness.clone();
    let (bits, _) = scene.gradient(|| scene.steps(9, &Rollout::new(Schedule::Checkpoints(2))))?;
    let short =
        || rollout(9, Schedule::Checkpoints(2), scene.x.clone(), move |x: &Array<f64>, _| advance(x, &stiffness));
    assert_eq!(bits, scene.gradient(short)?.0);
    Ok(())
}
