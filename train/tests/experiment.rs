//! Jobs in RON.

mod common;

use common::{fresh, sample};
use std::path::Path;
use train::experiment::{Experiment, Identify, Simulate};
use train::job::Simulator;
use train::limits::{Bytes, Seconds};
use train::scene::{Name, Scene};
use train::video::Bits;

#[test]
fn a_job_survives_being_written_and_read() {
    let mut identify = Identify::new("some/video".into());
    identify.out = Some("o".into());
    identify.unknowns = vec![Name::LAMBDA];
    identify.fixed = [(Name::MU, 0.1 + 0.2)].into();
    identify.start = [(Name::LAMBDA, 1.0 / 3.0)].into();
    identify.max_iterations = Some(7);
    let simulate = Simulate {
        simulator: Some(Simulator::Mpm),
        folder: "v".into(),
        out: None,
        set: [(Name::LAMBDA, 1.4e4), (Name::MU, 8e3)].into(),
        cells: Some(6),
        device: "best".into(),
        bits: Bits::Sixteen,
        noise: 0.02,
        seed: 3,
        gradcheck: true,
        allow_outside: true,
        max_time: Some(Seconds(5400.0)),
        max_memory: Some(Bytes(8 << 30)),
    };
    for job in [Experiment::Identify(identify), Experiment::Simulate(simulate)] {
        let text = job.to_ron().unwrap();
        assert_eq!(Experiment::parse(Path::new("x.ron"), &text).unwrap(), job, "{text}");
    }
}

/// Jobs that were written when the field was called otherwise.
#[test]
fn the_former_name_of_gradcheck_is_read() {
    for name in ["gradcheck", "check_gradient"] {
        let text = format!("Simulate(folder: \"v\", set: {{}}, {name}: true)");
        let Experiment::Simulate(job) = Experiment::parse(Path::new("x.ron"), &text).unwrap() else {
            panic!("expected a simulation");
        };
        assert!(job.gradcheck, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn paths_that_ron_cannot_hold_are_named() {
    use std::os::unix::ffi::OsStringExt;

    let mut job = Identify::new("v".into());
    job.out = Some(std::ffi::OsString::from_vec(b"o\xff".into()).into());
    let refused = Experiment::Identify(job).to_ron().unwrap_err();
    assert_eq!(refused.exit_code(), 2);
    assert!(refused.to_string().starts_with("out: o") && refused.to_string().contains("not UTF-8"), "{refused}");
}

#[test]
fn defaults_are_filled_in_and_folders_are_relative_to_the_file() {
    let folder = fresh("ron");
    std::fs::write(folder.join("a.ron"), "Identify(folder: \"v\", max_iterations: 3)").unwrap();
    let Experiment::Identify(job) = Experiment::read(&folder.join("a.ron")).unwrap() else {
        panic!("expected an identification");
    };
    let expected = Identify { max_iterations: Some(3), ..Identify::new(folder.join("v")) };
    assert_eq!(job, expected);
}

#[test]
fn unknowns_come_from_the_scene_unless_they_are_fixed() {
    let scene = Scene::read(&sample()).unwrap();
    let mut job = Identify::new(sample());
    assert_eq!(job.options(&scene).unwrap().unknowns, [Name::MU, Name::LAMBDA]);
    job.fixed = [(Name::LAMBDA, 2e4)].into();
    let options = job.options(&scene).unwrap();
    assert_eq!(options.unknowns, [Name::MU]);
    assert_eq!(options.fixed, [(Name::LAMBDA, 2e4)].into());
}

#[test]
fn an_optimizer_is_chosen_by_name_and_auto_is_least_squares() {
    use train::optimizer::Optimizer;

    let scene = Scene::read(&sample()).unwrap();
    let Experiment::Identify(job) =
        Experiment::parse(Path::new("x.ron"), "Identify(folder: \"v\", optimizer: \"adam\")").unwrap()
    else {
        panic!("expected an identification");
    };
    assert_eq!(job.options(&scene).unwrap().optimizer, Optimizer::Adam);
    let mut job = Identify::new(sample());
    assert_eq!(job.options(&scene).unwrap().optimizer, Optimizer::Lm);
    job.optimizer = Optimizer::NewtonCg;
    let chosen = job.options(&scene);
    match cfg!(feature = "second-order") {
        true => assert_eq!(chosen.unwrap().optimizer, Optimizer::NewtonCg),
        false => assert!(chosen.unwrap_err().to_string().contains("--features second-order")),
    }
}
