//! Experiments that come with the program: their gradient, what they find, and what they refuse.

#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

mod common;

use common::{assert_refused, diffkern, errors, fresh, json_of};
use diffkern::gradcheck::{self, Options};
use diffkern::prelude::*;
use diffkern::{arith, jvp};
use diffkern_render::loss;
use std::fs;
use std::path::Path;
use train::Result;
use train::experiments::{Bits, Instance, Method, Observation, Program, Protocol, Row, Supervision, catalogue};

/// A protocol with some of its text changed.
fn protocol(name: &str, changes: &[(&str, &str)]) -> Protocol {
    Protocol::parse(Path::new("changed.ron"), &text(name, changes)).unwrap()
}

fn text(name: &str, changes: &[(&str, &str)]) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments").join(name).with_extension("ron");
    let mut text = fs::read_to_string(file).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text
}

const SMALL: (&str, &str) = ("width: 256, height: 256", "width: 48, height: 48");

/// Few steps and frames of a small picture; the first touches are in them.
const SHORT: [(&str, &str); 5] = [
    SMALL,
    ("(-0.1, -0.1, 0.5)", "(-0.1, -0.1, 0.37)"),
    ("(0.1, 0.1, 0.7)", "(0.1, 0.1, 0.4)"),
    ("frames: (count: 48, rate: 30.0, steps: 200)", "frames: (count: 4, rate: 20.0, steps: 300)"),
    ("horizons: [8, 20, 48]", "horizons: [2, 4]"),
];

const PUSHED: [(&str, &str); 3] = [
    SMALL,
    ("frames: (count: 30, rate: 30.0, steps: 240)", "frames: (count: 6, rate: 6.0, steps: 400)"),
    ("horizons: [4, 30]", "horizons: [1, 6]"),
];

const STATE: Observation = Observation { supervision: Supervision::State, bits: Bits::Float, finer: 1 };
const IMAGE: Observation = Observation { supervision: Supervision::Image, bits: Bits::Eight, finer: 1 };

/// The misfit to what the truth shows, by the numbers that the model takes.
struct Misfit {
    program: Program,
    seen: Vec<Array<f64>>,
    frames: usize,
}

impl Misfit {
    fn new(protocol: &Protocol, instance: &Instance, supervision: Supervision) -> Result<Self> {
        let (program, frames) = (Program::new(protocol, instance, supervision, 1)?, protocol.frames.count);
        let seen = program.observe(&program.inputs(&instance.truth)?, frames)?;
        Ok(Self { program, seen, frames })
    }

    fn of(&self, inputs: &[Array<f64>]) -> Result<Array<f64>> {
        let shown = self.program.observe(inputs, self.frames)?;
        let each: Vec<Array<f64>> =
            shown.iter().zip(&self.seen).map(|(shown, seen)| Ok(loss::l2(shown, seen)?)).collect::<Result<_>>()?;
        Ok(arith::scaled_sum(&each.iter().map(|one| (1.0, one)).collect::<Vec<_>>())?)
    }

    /// The gradient by a tape, checked against forward mode along each input, differences and Taylor remainders.
    fn check(&self, at: &[f64], first_step: f64, seed: u64) -> Result<()> {
        let inputs: Vec<Array<f64>> = self.program.inputs(at)?.into_iter().map(Array::requires_grad).collect();
        let (tape, value) = Tape::record_value(|| self.of(&inputs))?;
        tape.backward(&value)?;
        let numbers: Vec<f64> = inputs.iter().map(|input| input.to_vec().unwrap()[0]).collect();
        let slope: Vec<f64> = inputs.iter().map(|input| input.grad().unwrap().to_vec().unwrap()[0]).collect();
        assert!(slope.iter().all(|s| *s != 0.0), "{slope:?}");

        let device = Device::cpu();
        for (k, input) in inputs.iter().enumerate() {
            let one = device.array(&[1.0])?;
            let (value, tangents) = jvp(&[&[(input.as_any(), one.as_any())]], || self.of(&inputs))?;
            let along = tangents.get(0, &value)?.to_vec()?[0];
            assert!(
                (along / slope[k] - 1.0).abs() < 1e-9,
                "input {k}: {along} by forward mode, {} by the tape",
                slope[k]
            );
        }

        let f = |x: &[f64]| -> diffkern::Result<f64> {
            let inputs: Vec<Array<f64>> = x.iter().map(|x| device.array(&[*x])).collect::<diffkern::Result<_>>()?;
            let value = self.of(&inputs).map_err(|error| diffkern::Error::Jvp(error.to_string()))?;
            Ok(value.to_vec()?[0])
        };
        let scales = numbers.iter().map(|x| 0.1 * x).collect();
        let options =
            Options { scales, first_step, directions: 2, steps: 5, seed, detects: 1e-3, ..Options::default() };
        gradcheck::function(f, &slope, &numbers, &options)?;
        Ok(())
    }
}

#[test]
fn the_gradient_of_a_push_to_pictures_and_states_is_exact() -> Result<()> {
    // Short steps: a body that tumbles turns another triangle to the camera every hundredth of a radian, which is a kink.
    for (number, supervision) in [(6, Supervision::Image), (10, Supervision::Image), (11, Supervision::State)] {
        let protocol = protocol("rigid", &PUSHED);
        let instance = Instance::draw(&protocol, 3, number)?;
        Misfit::new(&protocol, &instance, supervision)?.check(&instance.start, 1e-2, number as u64)?;
    }
    Ok(())
}

#[test]
fn the_gradient_of_contact_to_pictures_and_states_is_exact() -> Result<()> {
    for (number, supervision) in [(0, Supervision::Image), (1, Supervision::State), (2, Supervision::Com)] {
        let protocol = protocol("contact", &SHORT);
        let instance = Instance::draw(&protocol, 3, number)?;
        Misfit::new(&protocol, &instance, supervision)?.check(&instance.start, 2e-3, number as u64)?;
    }
    Ok(())
}

#[test]
fn a_mass_is_found_by_the_motion_of_each_shape() -> Result<()> {
    let protocol = protocol("rigid", &[("steps: 240", "steps: 100")]);
    assert_eq!(protocol.shapes.len(), 14);
    for number in 0..14 {
        let row = Row::search(&protocol, 5, number, STATE, Method::Lm, 100)?;
        let mass = &row.numbers[0];
        assert!(mass.error() < 5e-9 && mass.determined && row.iterations <= 15, "{row:?}");
    }
    Ok(())
}

#[test]
fn a_mass_is_found_from_pictures_of_eight_bits() -> Result<()> {
    let protocol = protocol("rigid", &[SMALL]);
    let row = Row::search(&protocol, 5, 10, IMAGE, Method::Lm, 100)?;
    let mass = &row.numbers[0];
    assert!(mass.error() < 9e-5 && mass.holds() && mass.determined && row.iterations <= 15, "{row:?}");
    // What is rounded is not found to the last digit, or the frames were not rounded.
    assert!(mass.error() > 1e-10, "{row:?}");
    Ok(())
}

#[test]
fn finer_steps_of_what_was_observed_are_in_the_interval() -> Result<()> {
    let coarse = ("steps: 240", "steps: 120");
    let row =
        Row::search(&protocol("rigid", &[SMALL, coarse]), 5, 10, Observation { finer: 4, ..STATE }, Method::Lm, 100)?;
    let mass = &row.numbers[0];
    assert!(mass.error() > 1e-6 && mass.holds() && mass.determined, "{row:?}");
    Ok(())
}

#[test]
fn guesses_are_far_and_evolution_comes_near_without_derivatives() -> Result<()> {
    let protocol = protocol("rigid", &PUSHED);
    let error = |method| -> Result<f64> { Ok(Row::search(&protocol, 5, 0, STATE, method, 60)?.numbers[0].error()) };
    assert!(error(Method::Average)? > 1e-3 && error(Method::Random)? > 1e-3);
    let (evolved, exact) = (error(Method::Cmaes)?, error(Method::Lm)?);
    assert!(evolved < 1e-4 && exact < 1e-12 && exact < evolved, "{evolved}, {exact}");
    Ok(())
}

#[test]
fn a_landscape_is_lowest_at_the_truth() {
    let folder = fresh("experiments_landscape");
    fs::write(folder.join("small.ron"), text("rigid", &PUSHED)).unwrap();
    let arguments =
        ["landscape", "small.ron", "--over", "mass", "--supervision", "state", "--points", "21", "--out", "l"];
    assert!(diffkern(&folder, &arguments).output().unwrap().status.success());
    let numbers = fs::read_to_string(folder.join("l/small_mass.csv")).unwrap();
    let pair = |line: &str| -> [f64; 2] { [0, 1].map(|k| line.split(',').nth(k).unwrap().parse().unwrap()) };
    let rows: Vec<[f64; 2]> = numbers.lines().skip(1).map(pair).collect();
    let lowest = rows.iter().min_by(|a, b| a[1].total_cmp(&b[1])).unwrap()[0];
    let truth = Instance::draw(&protocol("rigid", &PUSHED), 0, 0).unwrap().truth[0];
    assert!(rows.len() == 21 && (lowest - truth).abs() <= 0.005, "{lowest}, {truth}");
    assert!(fs::read(folder.join("l/small_mass.png")).unwrap().starts_with(b"\x89PNG"));
    let output = diffkern(&folder, &["landscape", "rigid", "--over", "mu"]).output().unwrap();
    assert_refused("another unknown", &output, &["over: mu, expected some of mass"]);
}

#[test]
fn mass_and_contact_are_found_by_a_drop() -> Result<()> {
    let row = Row::search(&protocol("contact", &[]), 0, 0, STATE, Method::Lm, 100)?;
    assert_eq!(row.numbers.len(), 5);
    for number in &row.numbers {
        assert!(number.error() < 1e-8 && number.determined, "{row:?}");
    }
    Ok(())
}

/// Forces of contact scale with ke, kd and kf, and gravity with mass: without a known force all four may be doubled.
#[test]
fn without_a_push_contact_tells_mass_only_relative_to_its_stiffness() -> Result<()> {
    let pushed = protocol("contact", &SHORT);
    let free = Protocol { push: None, ..pushed.clone() };
    for (protocol, alike) in [(&free, true), (&pushed, false)] {
        let instance = Instance::draw(protocol, 0, 0)?;
        let program = Program::new(protocol, &instance, Supervision::State, 1)?;
        let doubled: Vec<f64> = instance.truth.iter().zip([2.0, 2.0, 2.0, 2.0, 1.0]).map(|(x, by)| x * by).collect();
        let [one, other] = [&instance.truth, &doubled].map(|values| program.seen(values, 4).unwrap().concat());
        let away = one.iter().zip(&other).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        assert_eq!(away < 1e-9, alike, "{away}");
    }
    Ok(())
}

#[test]
fn draws_depend_on_seed_and_number_alone_and_stay_in_their_ranges() -> Result<()> {
    for named in catalogue()? {
        let protocol = named.protocol;
        let values = |seed, number| Instance::draw(&protocol, seed, number).map(|i| [i.truth, i.start].concat());
        assert_eq!(values(1, 7)?, values(1, 7)?);
        assert!(values(1, 7)? != values(1, 8)? && values(1, 7)? != values(2, 7)?);
        for number in 0..50 {
            let drawn = values(9, number)?;
            for (x, unknown) in drawn.iter().zip(protocol.unknowns.iter().cycle()) {
                assert!((unknown.range.0..=unknown.range.1).contains(x), "{x}");
            }
        }
    }
    Ok(())
}

#[test]
fn an_unknown_without_influence_is_refused_before_the_search() {
    let folder = fresh("experiments_influence");
    let output = diffkern(&folder, &["run", "rigid", "--unknown", "mass,mu"]).output().unwrap();
    assert_refused("mu without a floor", &output, &["mu is without influence", "expected some of mass"]);

    let push = "    push: (force: 10.0, interval: (0.0, 0.1), direction: any),\n";
    fs::write(folder.join("free.ron"), text("rigid", &[SMALL, (push, "    gravity: (0.0, 0.0, -9.81),\n")])).unwrap();
    let output = diffkern(&folder, &["run", "free.ron", "--supervision", "state"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("mass not identifiable"), "{}", errors(&output));

    let far = ("position: ((-0.1, -0.1, 0.5)", "position: ((-0.1, -0.1, 50.0)");
    let text = text("contact", &[far, ("(0.1, 0.1, 0.7)", "(0.1, 0.1, 60.0)")]);
    fs::write(folder.join("far.ron"), text).unwrap();
    let output = diffkern(&folder, &["run", "far.ron", "--supervision", "com"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors(&output).contains("kd, ke, kf, mu not identifiable"), "{}", errors(&output));
}

#[test]
fn unstable_steps_and_wrong_files_are_refused_with_their_field() {
    let folder = fresh("experiments_refused");
    let cases = [
        ("steps: 200", "steps: 20", "frames.steps: 20 from frame to frame"),
        (
            "horizons: [8, 20, 48]",
            "horizons: [8, 20]",
            "horizons: [8, 20], expected numbers of frames of which the last is 48",
        ),
        ("range: (3.1622776601683795, 31.622776601683796)", "range: (3.0, 2.0)", "range of mass: 3 to 2"),
        ("floor: (normal: (0.3, 0.0, 1.0)),", "", "there is nothing to touch"),
        ("reach: 0.35", "reach: -1.0", "reach: -1 m, expected a positive length"),
        ("picture", "pictur", "pictur"),
        ("instances: 30", "instances: 30, gravity: 3", "wrong.ron:"),
    ];
    for (from, to, message) in cases {
        let changed =
            text("contact", &[("    instances", "    picture: silhouette,\n    instances")]).replacen(from, to, 1);
        fs::write(folder.join("wrong.ron"), changed).unwrap();
        let output = diffkern(&folder, &["run", "wrong.ron"]).output().unwrap();
        assert_refused(message, &output, &[message]);
    }
    let output = diffkern(&folder, &["run", "rigit"]).output().unwrap();
    assert_refused("a name", &output, &["rigit is no experiment, expected one of rigid, contact"]);
}

#[test]
fn a_table_goes_on_where_it_stopped() {
    let folder = fresh("experiments_table");
    fs::write(folder.join("small.ron"), text("rigid", &[SMALL, ("steps: 240", "steps: 100")])).unwrap();
    let table = |count: &str, seed: &str| {
        diffkern(&folder, &["table", "small.ron", "--count", count, "--seed", seed, "--out", "t"]).output().unwrap()
    };
    assert!(table("1", "4").status.success());
    let first = json_of(&folder.join("t/small.json"));
    let output = table("2", "4");
    assert!(output.status.success(), "{}", errors(&output));
    let second = json_of(&folder.join("t/small.json"));
    let [first, second] = [&first, &second].map(|table| table["rows"].as_array().unwrap());
    assert_eq!((first.len(), second.len()), (4, 8));
    // The times of the searches are in the rows: those of the first are not run again.
    assert_eq!(second[..4], first[..]);
    // The others are those of the second instance, a column each.
    assert!(second[4..].iter().all(|row| row["instance"] == 1), "{second:?}");
    let text = fs::read_to_string(folder.join("t/small.md")).unwrap();
    assert!(text.contains("| mass | image |") && text.contains("9.01e-5"), "{text}");
    assert_refused("another seed", &table("2", "5"), &["another experiment, seed or version"]);
}

#[test]
fn the_list_names_jobs_and_experiments() {
    let output = diffkern(&fresh("experiments_list"), &["list"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for name in ["identify", "simulate", "throw", "rigid", "contact"] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{text}");
    }
}

/// Shards together are the whole set; what is there is not made again, and another set is refused.
#[test]
fn datasets_are_made_in_shards_and_gone_on_with() {
    let folder = fresh("experiments_dataset");
    fs::write(folder.join("small.ron"), text("rigid", &PUSHED)).unwrap();
    let make = |more: &[&str]| {
        let arguments = ["dataset", "small.ron", "--count", "5", "--seed", "3", "--supervision", "state", "--out", "d"];
        diffkern(&folder, &[&arguments[..], more].concat()).output().unwrap()
    };
    let file = |k: usize| folder.join(format!("d/small/instance_{k:06}.npz"));
    assert!(make(&["--shard", "1/2"]).status.success());
    assert_eq!((0..5).filter(|&k| file(k).is_file()).collect::<Vec<_>>(), [1, 3]);
    let first = fs::read(file(1)).unwrap();
    fs::remove_file(file(3)).unwrap();
    fs::write(file(1), b"kept").unwrap();
    assert!(make(&[]).status.success());
    assert_eq!(fs::read(file(1)).unwrap(), b"kept");
    fs::remove_file(file(1)).unwrap();
    assert!(make(&["--shard", "1/4"]).status.success());
    assert!(fs::read(file(1)).unwrap() == first && (0..5).all(|k| file(k).is_file()));
    let head = json_of(&folder.join("d/small/dataset.json"));
    assert_eq!((&head["truth"], &head["seed"]), (&serde_json::json!(["mass"]), &serde_json::json!(3)));
    let other = make(&["--finer", "2"]);
    assert_refused("another set", &other, &["dataset.json", "another set is here"]);
    assert_refused("a shard", &make(&["--shard", "2/2"]), &["--shard", "expected I/N with I from 0 to N - 1"]);
}

/// A shot from farther away hits later: the naive twin has another slope for that, though its loss is nearly the same.
#[test]
fn landscapes_of_both_twins_have_other_slopes() {
    let folder = fresh("experiments_steering");
    let plan = text(
        "billiards",
        &[
            ("steps: 1023", "steps: 700"),
            ("rows: 4", "rows: 2"),
            ("seeds: 5", "seeds: 2"),
            ("iterations: 100", "iterations: 3"),
        ],
    );
    fs::write(folder.join("shot.ron"), plan).unwrap();
    let arguments = ["landscape", "shot.ron", "--over", "place_x", "--points", "5", "--out", "l"];
    assert!(diffkern(&folder, &arguments).output().unwrap().status.success());
    let slopes = |name: &str| -> Vec<f64> {
        let numbers = fs::read_to_string(folder.join("l").join(name)).unwrap();
        assert!(numbers.starts_with("place_x,loss,d_loss_d_place_x\n"), "{numbers}");
        numbers.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect()
    };
    let (right, naive) = (slopes("shot_place_x.csv"), slopes("shot_place_x_naive.csv"));
    assert!(
        right.len() == 5 && right.iter().zip(&naive).all(|(a, b)| (a - b).abs() > 0.1 * a.abs()),
        "{right:?} {naive:?}"
    );
    for name in ["shot_place_x.png", "shot_place_x_naive.png"] {
        assert!(fs::read(folder.join("l").join(name)).unwrap().starts_with(b"\x89PNG"));
    }
    let other = diffkern(&folder, &["landscape", "shot.ron", "--over", "mass"]).output().unwrap();
    assert_refused("a control", &other, &["over: \"mass\", expected some of place_x, place_y, velocity_x, velocity_y"]);
    assert!(diffkern(&folder, &["run", "shot.ron", "--out", "t"]).output().unwrap().status.success());
    let study = json_of(&folder.join("t/shot.json"));
    assert_eq!(study["curves"].as_array().unwrap().len(), 4);
    assert!(fs::read(folder.join("t/shot.png")).unwrap().starts_with(b"\x89PNG"));
    let other = diffkern(&folder, &["run", "billiards", "--seed", "3"]).output().unwrap();
    assert_refused("an option of others", &other, &["--seed: is no option of this experiment, expected --out alone"]);
}
