//! What a run leaves when it is stopped is the best so far, by the loss that is minimised.

#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{fresh, small_video};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use train::error::{Error, Result};
use train::experiment::{Experiment, Identify, Simulation};
use train::identify::{Observer, State, identify};
use train::job::{Ending, Flow, Outcome, Progress, Stop};
use train::optimizer::Optimizer;
use train::scene::Scene;
use train::video::Video;

/// Asks for an end at the finished iteration number `last`, or at a sign of life after it.
struct Stopper {
    last: usize,
    later: bool,
    records: Vec<(String, f64)>,
    state: Value,
}

impl Observer for Stopper {
    fn progress(&mut self, progress: &Progress) -> Flow {
        if progress.finished {
            self.records.push((progress.stage.clone(), progress.loss.unwrap()));
        }
        let over = self.records.len() > self.last && (!self.later || !progress.finished);
        if over { Flow::Stop } else { Flow::Continue }
    }

    fn checkpoint(&mut self, state: &State) -> Result<()> {
        self.state = serde_json::to_value(state).unwrap();
        Ok(())
    }
}

fn stopped(video: &std::path::Path, optimizer: Optimizer, last: usize, later: bool) -> (Outcome, Stopper) {
    let scene = Scene::read(video).unwrap();
    // The fewest cells on which an answer is refined: few, for the sake of time.
    let mut job = Identify { optimizer, cells: Some(4), ..Identify::new(video.into()) };
    job.start = [(train::scene::Name::MU, 4000.0), (train::scene::Name::LAMBDA, 9000.0)].into();
    let options = job.options(&scene).unwrap();
    let frames = Video::read(video, &scene).unwrap();
    let mut stopper = Stopper { last, later, records: Vec::new(), state: Value::Null };
    let outcome = identify(&scene, &frames, &options, None, &mut stopper).unwrap();
    (outcome, stopper)
}

#[test]
fn a_stop_leaves_the_least_loss_of_its_level() {
    let folder = fresh("stop");
    small_video(&folder);
    let video = folder.join("video");
    let mut worse = 0;
    for (optimizer, lasts) in [(Optimizer::Lm, [0, 4]), (Optimizer::Adam, [1, 9])] {
        for (last, later) in lasts.into_iter().flat_map(|last| [(last, false), (last, true)]) {
            let (outcome, Stopper { records, state, .. }) = stopped(&video, optimizer, last, later);
            let what = format!("{optimizer} stopped after {last}, {later}: {records:?}");
            if outcome.ending != Ending::Interrupted {
                continue;
            }
            let best = &state["best"]["record"];
            assert_eq!(outcome.loss, best["loss"].as_f64(), "{what}");
            assert_eq!(outcome.parameters[0].found, best["values"]["mu"].as_f64().unwrap(), "{what}");
            let (stage, loss) = records.last().unwrap();
            // Between two levels, it is that of the next.
            if best["stage"] == stage.as_str() {
                let of_level = |k: usize| records.get(k).filter(|record| record.0 == *stage).map(|record| record.1);
                let least = (0..records.len()).filter_map(of_level).fold(f64::INFINITY, f64::min);
                let found = best["iteration"].as_u64().unwrap() as usize;
                // The level may have begun at its best, which is the last record of the one before.
                assert_eq!(
                    best["loss"].as_f64(),
                    of_level(found).map_or(best["loss"].as_f64(), |_| Some(least)),
                    "{what}"
                );
                assert!(best["loss"].as_f64() <= Some(least), "{what}");
                worse += usize::from(Some(*loss) > outcome.loss);
            }
            // Compared with the start only where it is the same measure.
            assert_eq!(outcome.loss_initial.is_some(), best["stage"] == "fine 3/3", "{what}");
        }
    }
    assert!(worse > 0, "no stop at a place that is not the best");
}

#[test]
fn the_loss_that_is_shown_never_rises_where_steps_lower_it() {
    let folder = fresh("shown");
    small_video(&folder);
    let (_, Stopper { records, .. }) = stopped(&folder.join("video"), Optimizer::Lm, 8, false);
    let stages: std::collections::BTreeSet<_> = records.iter().map(|record| &record.0).collect();
    assert!(stages.len() > 2, "{stages:?}");
    for pair in records.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        assert!(pair[1].1 < pair[0].1, "{records:?}");
    }
}

/// Between two frames that are read, and in the launches of a renderer: a flag that is set is an end, and nothing is written.
#[test]
fn a_set_flag_ends_reading_and_simulating() {
    let folder = fresh("set_flag");
    small_video(&folder);
    let video = folder.join("video");
    let scene = Scene::read(&video).unwrap();
    let stop = Stop::new(Arc::new(AtomicBool::new(true)));
    assert!(matches!(stop.scope(|| Video::read(&video, &scene)), Err(Error::Interrupted)));
    Video::read(&video, &scene).unwrap();

    let job =
        format!("Simulate(folder: {video:?}, out: {:?}, set: {{\"mu\": 4000, \"lambda\": 9000}})", folder.join("out"));
    std::fs::write(folder.join("job.ron"), job).unwrap();
    let Experiment::Simulate(job) = Experiment::read(&folder.join("job.ron")).unwrap() else { panic!() };
    let simulation = Simulation::new(&job).unwrap();
    assert!(simulation.run(&mut |_| Flow::Continue, &stop).unwrap().is_none());
    assert!(!folder.join("out/scene.json").exists());
    assert!(simulation.run(&mut |_| Flow::Continue, &Stop::default()).unwrap().is_some());
}
