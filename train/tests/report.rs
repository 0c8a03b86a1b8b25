//! The files that a finished run leaves.

mod common;

use common::{fresh, sample};
use std::fs;
use train::experiment::{Experiment, Identify};
use train::job::{Discretisation, Ending, Outcome, Parameter, Record, Simulator, TrackFit};
use train::report::{self, Summary};
use train::run::{Former, Meta, RunDir};
use train::scene::{Name, Scene};
use train::video::Video;

fn outcome(video: &Video) -> Outcome {
    let parameter = |name: Name, initial, found, determined| Parameter {
        name: name.clone(),
        unit: name.unit().into(),
        initial,
        found,
        interval: Some((0.9 * found, 1.1 * found)),
        by_noise: Some((0.99 * found, 1.01 * found)),
        determined,
    };
    let record = |iteration: usize| Record {
        iteration,
        stage: if iteration < 5 { "coarse".into() } else { "fine".into() },
        loss: 0.1 * 0.3f64.powi(iteration as i32),
        values: [(Name::MU, 8e3 - 4e3 * 0.5f64.powi(iteration as i32)), (Name::LAMBDA, 2e4)].into(),
    };
    Outcome {
        parameters: vec![parameter(Name::MU, 4e3, 8e3, true), parameter(Name::LAMBDA, 2e4, 2e4, false)],
        loss_initial: Some(0.1),
        loss: Some(1e-6),
        iterations: 9,
        runs: Default::default(),
        iou: Some(0.96),
        outlines: Some(0.31),
        fitted_frames: 5,
        ending: Ending::Converged,
        history: (0..10).map(record).collect(),
        viscosity: 0.0,
        discretisation: Discretisation { simulator: Simulator::Mpm, dx: 0.01, dt: 1e-4, elements: 100 },
        videos: vec![Video { frames: video.frames.iter().rev().cloned().collect(), ..video.clone() }],
        tracks: vec![TrackFit { name: "dots".into(), distance: 2.5e-3, places: Vec::new() }],
        warnings: Vec::new(),
    }
}

#[test]
fn numbers_pictures_and_frames_are_written_whole() {
    let folder = fresh("report").join("run");
    let scene = Scene::read(&sample()).unwrap();
    let video = Video::read(&sample(), &scene).unwrap();
    let meta = Meta::here(&scene, &video, "cpu", 0);
    let job = Experiment::Identify(Identify::new(sample())).to_ron().unwrap();
    let run = RunDir::begin(&folder, &job, &meta, Former::Keep).unwrap();
    let outcome = outcome(&video[0]);
    let files = report::write(run.path(), &scene, &video, &outcome, 12.5).unwrap();
    assert!(files.iter().all(|file| file.exists()), "{files:?}");

    let text = fs::read_to_string(folder.join("result.json")).unwrap();
    let summary: Summary = serde_json::from_str(&text).unwrap();
    assert_eq!(summary, Summary::new(&scene, &outcome, 12.5));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["parameters"], serde_json::json!({"mu": 8e3, "lambda": 2e4}));
    assert_eq!((&json["iterations"], &json["seconds"]), (&9.into(), &12.5.into()));

    let frames = Video::read(&folder.join("frames"), &scene).unwrap();
    assert_eq!(frames, outcome.videos);
    assert!(fs::read(folder.join("comparison.gif")).unwrap().starts_with(b"GIF89a"));
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    let embedded = |kind: &str| page.matches(&format!("src=\"data:image/{kind};base64,")).count();
    assert_eq!((embedded("png"), embedded("gif")), (4, 1));
    assert!(page.contains(&format!("<h1>{}</h1>", scene.name)) && page.contains("<code>lambda</code>"));
    let names =
        ["report.html", "events.out.tfevents.diffkern", "loss.png", "parameters.png", "comparison.gif", "residual.png"];
    for name in names {
        assert!(files.contains(&folder.join(name)), "{name}");
    }
    let names = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name());
    let left: Vec<_> = names.filter(|n| n.to_string_lossy().contains(".part")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A run that was stopped too early to have frames has a report, without those of the run before it.
#[test]
fn a_report_without_frames_has_no_animation() {
    let folder = fresh("frameless").join("run");
    let scene = Scene::read(&sample()).unwrap();
    let video = Video::read(&sample(), &scene).unwrap();
    report::write(&folder, &scene, &video, &outcome(&video[0]), 12.5).unwrap();
    let stopped =
        Outcome { videos: Vec::new(), history: Vec::new(), ending: Ending::Interrupted, ..outcome(&video[0]) };
    let files = report::write(&folder, &scene, &video, &stopped, 0.5).unwrap();
    let left = ["comparison.gif", "residual.png"].map(|name| folder.join(name).exists());
    assert!(left == [false; 2] && files.iter().all(|file| file.exists()), "{files:?}");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert_eq!((page.matches("<img").count(), page.contains("image/gif")), (2, false));
    assert!(page.contains("interrupted"));
}

#[test]
fn a_run_is_opened_again_as_it_was_begun() {
    let folder = fresh("reopen").join("run");
    let scene = Scene::read(&sample()).unwrap();
    let video = Video::read(&sample(), &scene).unwrap();
    let meta = Meta::here(&scene, &video, "cpu", 3);
    let job = Experiment::Identify(Identify { seed: 3, ..Identify::new(sample()) });
    RunDir::begin(&folder, &job.to_ron().unwrap(), &meta, Former::Keep).unwrap();
    let (run, opened, before) = RunDir::open(&folder, Experiment::read).unwrap();
    assert_eq!((opened, &before), (job, &meta));
    assert_eq!(before.differs(&meta), None);
    assert!(run.checkpoint().unwrap().is_none());
    let other = Meta { version: "0.0.0".into(), ..meta };
    assert!(other.differs(&before).unwrap().contains("bits may differ"));
}
