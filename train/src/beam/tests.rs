//! The reader, the frame of the beam, and searches of recordings that the simulator made.

use super::placed::{PLACES, Placed, Unknown};
use super::recording::{GRAVITY, Recording, TIPS, read};
use super::study::{Effort, Study};
use crate::experiment::{Job, Quiet, Simulate, from_ron};
use crate::run::Former;
use crate::table::Table;
use nalgebra::{Rotation3, Vector3};
use std::error::Error as StdError;
use std::path::{Path, PathBuf};

type Tested = std::result::Result<(), Box<dyn StdError>>;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/silicone_beam")
}

fn fresh(name: &str) -> std::io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("diffkern-beam-{name}-{}", std::process::id()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

#[test]
fn recordings_are_read_and_wrong_ones_are_refused() -> Tested {
    let all = read(&sample())?;
    let told: Vec<_> = all.iter().map(|r| (r.name(), r.markers.len(), r.release())).collect();
    // The frames from which on the authors compare as well.
    let expected = [("beam_gravity_V2_b", 500, Some(65)), ("beam_load52_V2_a", 600, Some(43))];
    assert_eq!(told, expected.map(|(name, frames, release)| (name.to_owned(), frames, release)));
    assert!(
        (all[0].dt - 0.01).abs() < 1e-9 && all[0].markers[0][5] == [0.049346, 0.008943, -0.022459],
        "{:?}",
        all[0].markers[0]
    );
    let folder = fresh("read")?;
    let good = std::fs::read_to_string(sample().join("beam_gravity_V2_b.csv"))?;
    let lines = |from: usize, to: usize| {
        good.lines().take(1).chain(good.lines().skip(from).take(to - from)).collect::<Vec<_>>().join("\n")
    };
    let cases = [
        (good.replacen("Tip-2_y_m", "Tip-9", 1), ":1:1: Tip-2_y_m: there is no such column"),
        (good.replacen("0.031080", "", 1), ":3:1: Tip-1_y_m: \"\", expected a finite number"),
        (lines(1, 9), "8 frames, expected at least 10"),
        (good.replacen("0.020000,", "0.022000,", 1), ":4:1: t_s: 0.022, expected frames at equal distances"),
        (lines(1, 40), "the free end never moves"),
        // A beam of twice the size is another one.
        (stretched(&good), "off those of a beam of 100 x 30 x 30 mm"),
    ];
    for (text, expected) in cases {
        std::fs::write(folder.join("gravity.csv"), text)?;
        let said = read(&folder).and_then(|all| all.iter().try_for_each(|one| Placed::new(one).map(drop)));
        let said = said.map_err(|e| e.to_string());
        assert!(
            said.as_ref().is_err_and(|s| s.contains("gravity.csv") && s.contains(expected)),
            "{said:?}\n{expected}"
        );
    }
    std::fs::remove_file(folder.join("gravity.csv"))?;
    assert!(read(&folder).is_err_and(|e| e.to_string().contains("holds no recordings")));
    Ok(())
}

/// All places twice as large.
fn stretched(text: &str) -> String {
    let mut lines = text.lines().map(str::to_owned).collect::<Vec<_>>();
    for line in &mut lines[1..] {
        let cells = line.split(',').enumerate();
        let twice = |(k, cell): (usize, &str)| match cell.parse::<f64>() {
            Ok(value) if k > 0 => (2.0 * value).to_string(),
            _ => cell.to_owned(),
        };
        *line = cells.map(twice).collect::<Vec<_>>().join(",");
    }
    lines.join("\n")
}

/// A recording of a beam that lies in the room somehow, with the motion `tips` of its markers in its own frame.
fn turned(file: PathBuf, tips: &[[[f64; 3]; TIPS]]) -> Recording {
    let (turn, shift) = (Rotation3::from_euler_angles(0.4, -1.2, 2.3), Vector3::new(0.3, -0.2, 0.9));
    let lab = |place: &[f64; 3]| (turn * Vector3::from(*place) + shift).into();
    let frame = |tips: &[[f64; 3]; TIPS]| std::array::from_fn(|m| lab(if m < TIPS { &tips[m] } else { &PLACES[m] }));
    Recording { file, dt: 0.01, markers: tips.iter().map(frame).collect() }
}

#[test]
fn the_frame_of_the_beam_is_found() -> Tested {
    let still: [[f64; 3]; TIPS] = std::array::from_fn(|m| PLACES[m]);
    let fallen = still.map(|[x, y, z]| [x, y + 1e-3, z - 4e-3]);
    let recording = turned("one.csv".into(), &[vec![still; 12], vec![fallen; 5]].concat());
    let placed = Placed::new(&recording)?;
    assert_eq!((placed.release, placed.tips.len()), (11, 6));
    assert!(placed.distance < 1e-12, "{}", placed.distance);
    let off = |a: &[[f64; 3]; TIPS], b: &[[f64; 3]; TIPS]| {
        a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    assert!(off(&placed.tips[0], &still) < 1e-12 && off(&placed.tips[3], &fallen) < 1e-12, "{placed:?}");
    // Down is -x of the room.
    let down = Rotation3::from_euler_angles(0.4, -1.2, 2.3).inverse() * Vector3::new(-GRAVITY, 0.0, 0.0);
    assert!((Vector3::from(placed.gravity) - down).norm() < 1e-12, "{placed:?}");
    Ok(())
}

/// What the simulator says of the scene of a beam, as a recording of the same beam that lies otherwise.
fn simulated(folder: &Path, name: &str, placed: &Placed, unknown: Unknown, values: &[(&str, f64)]) -> Tested {
    let scene = folder.join("made").join(name);
    placed.write(&scene, unknown)?;
    let set = values.iter().map(|(name, value)| format!("{name:?}: {value:?}")).collect::<Vec<_>>().join(", ");
    let text = format!("(folder: {scene:?}, out: {:?}, cells: {CELLS}, set: {{{set}}})", scene.join("video"));
    let job: Simulate = from_ron(Path::new("simulate.ron"), &text)?;
    job.run(Former::Keep, &mut Quiet)?;
    let track = Table::read(&scene.join("video/tracks/tip.csv"), &["frame", "marker", "x", "y", "z"])?;
    let frame = |rows: &[Vec<f64>]| std::array::from_fn(|m| [rows[m][2], rows[m][3], rows[m][4]]);
    let mut tips: Vec<[[f64; 3]; TIPS]> = track.rows.chunks_exact(TIPS).map(frame).collect();
    // It is held for a while: a recording has ten frames.
    tips.splice(0..0, vec![tips[0]; 10 - FRAMES]);
    let mut text = String::from("t_s");
    for marker in ["Tip-1", "Tip-2", "Tip-3", "Base-1", "Base-2", "Base-3"] {
        ["x", "y", "z"].iter().for_each(|axis| text.push_str(&format!(",{marker}_{axis}_m")));
    }
    let down = Vector3::from(placed.gravity);
    let turn = Rotation3::rotation_between(&down, &Vector3::new(-1.0, 0.0, 0.0)).ok_or("no rotation")?;
    for (k, tips) in tips.iter().enumerate() {
        text.push_str(&format!("\n{:.6}", 0.01 * k as f64));
        for place in tips.iter().chain(&PLACES[TIPS..]) {
            let place = turn * Vector3::from(*place);
            text.push_str(&format!(",{:.9},{:.9},{:.9}", place.x, place.y, place.z));
        }
    }
    let data = folder.join("data");
    std::fs::create_dir_all(&data)?;
    std::fs::write(data.join(format!("{name}.csv")), text)?;
    Ok(())
}

/// Few, for the sake of time.
const CELLS: usize = 2;
const FRAMES: usize = 5;

#[test]
fn stiffness_viscosity_and_load_are_found_again() -> Tested {
    let folder = fresh("found")?;
    let still: [[f64; 3]; TIPS] = std::array::from_fn(|m| PLACES[m]);
    let gravity = [0.9, 0.2, -9.764];
    let tips = vec![still; FRAMES];
    let placed = Placed { name: "beam".into(), rate: 100.0, release: 0, distance: 0.0, gravity, tips };
    let (young, viscosity) = (243_000.0, 61.0);
    let bare = [("bodies.beam.material.young", young), ("bodies.beam.material.viscosity", viscosity)];
    simulated(&folder, "gravity", &placed, Unknown::Material, &bare)?;
    let weight = [("bodies.beam.load.mass", 0.037), ("bodies.beam.material.damping", 4.7)];
    simulated(&folder, "weight", &placed, Unknown::Load { young, viscosity }, &weight)?;
    let study =
        Study::new(&folder.join("data"), &folder.join("out"), Effort { cells: CELLS, frames: FRAMES }, &mut Quiet)?;
    let [bare] = &study.bare[..] else { return Err(format!("{study:?}").into()) };
    let [loaded] = &study.loaded[..] else { return Err(format!("{study:?}").into()) };
    let all = [(bare.young, young), (bare.viscosity, viscosity), (loaded.load, 0.037), (loaded.damping, 4.7)];
    for (found, truth) in all {
        assert!(found.is_some_and(|found| (found.value / truth - 1.0).abs() < 0.02), "{truth}: {study:?}");
    }
    assert!(bare.distance < 1e-4 && loaded.distance < 1e-4, "{study:?}");
    Ok(())
}
