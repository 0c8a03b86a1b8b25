//! The reader, gradients of all that is seen, and a search on a film that the simulator made.

use super::balls::{ALL, Balls, Lens, MOTION, Shot, pixels};
use super::film::{Film, read};
use super::study::Study;
use crate::npz::{self, Numbers};
use diffkern::prelude::*;
use std::error::Error as StdError;
use std::path::{Path, PathBuf};

type Tested = std::result::Result<(), Box<dyn StdError>>;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/tennis")
}

/// Balls that meet after some frames, and a camera that is a little off.
const TRUTH: [f64; ALL] = [
    0.52, 0.29, 0.77, 0.295, 0.03, -0.02, -1.2, 0.11, 0.2, 0.1, -0.7, 0.3, 0.55, 0.13, 0.004, -0.006, 0.003, 0.002,
    -0.004, 0.005, 0.01,
];

fn film(frames: usize) -> std::result::Result<Film, Box<dyn StdError>> {
    let mut film = read(&sample())?;
    film.pixels.truncate(frames);
    Ok(film)
}

#[test]
fn films_are_read_and_wrong_ones_are_refused() -> Tested {
    let film = read(&sample())?;
    assert_eq!((film.pixels.len(), film.camera.points.len()), (50, 8));
    assert!((film.dt * 60.0 - 1.0).abs() < 1e-4 && film.pixels[0][1] == [830.890297, 360.387129], "{film:?}");
    let folder = std::env::temp_dir().join(format!("diffkern-tennis-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::copy(sample().join("camera.npz"), folder.join("camera.npz"))?;
    let good = std::fs::read_to_string(sample().join("tennis.csv"))?;
    let cases = [
        (good.replacen("b1_u_px", "u", 1), ":1:1: b1_u_px: there is no such column"),
        (good.replacen("366.382533", "NaN", 1), ":3:1: b0_v_px: \"NaN\", expected a finite number"),
        (good.lines().take(6).collect::<Vec<_>>().join("\n"), "5 frames, expected at least 10"),
    ];
    for (text, expected) in cases {
        std::fs::write(folder.join("tennis.csv"), text)?;
        let said = read(&folder).map(drop).map_err(|e| e.to_string());
        assert!(said.as_ref().is_err_and(|s| s.contains("tennis.csv") && s.contains(expected)), "{said:?}\n{expected}");
    }
    std::fs::remove_file(folder.join("camera.npz"))?;
    assert!(read(&folder).is_err_and(|e| e.to_string().contains("camera.npz")));
    Ok(())
}

#[test]
fn a_camera_without_a_rotation_is_refused() -> Tested {
    let folder = std::env::temp_dir().join(format!("diffkern-tennis-rotation-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let arrays = npz::read(&sample().join("camera.npz"))?;
    let mirror = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0];
    for r in [[0.0; 9], [1.0; 9], mirror, mirror.map(|x: f64| 2.0 * x.abs())] {
        let changed: Vec<(&str, Numbers)> = arrays
            .iter()
            .map(|(name, array)| {
                let values = if name == "R" { r.to_vec() } else { array.values.clone() };
                (name.as_str(), Numbers { shape: array.shape.clone(), values })
            })
            .collect();
        std::fs::write(folder.join("camera.npz"), npz::archive(&changed)?)?;
        let said = read(&folder).map(drop).map_err(|e| e.to_string());
        assert!(said.as_ref().is_err_and(|s| s.contains("camera.npz: R: is no rotation")), "{said:?}");
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

#[test]
fn the_camera_has_right_gradients() -> diffkern::Result<()> {
    let device = Device::cpu();
    let x = device.array(&[Vec3::new(0.3, -0.7, 0.1), Vec3::new(-0.2, 0.5, 0.2)])?;
    let shot = Shot { turn: Vec3::new(0.1, -0.2, 0.3), shift: Vec3::new(0.02, 0.03, -0.04), zoom: 0.1 };
    let rotation = Quat::new(0.1, 0.9, 0.3, -0.2).normalize().to_mat3();
    let lens = Lens { rotation, translation: Vec3::new(0.1, 0.2, 2.3), focal: 1.2, u: 0.6, v: 0.4 };
    pixels::gradcheck(2, &x, &device.array(&[shot])?, &device.array(&[lens])?, &device.zeros(2)?)?;
    Ok(())
}

/// Of all pixels after the collision, along directions of all unknowns. A tenth of a millimetre moves impacts, and where sliding ends, from one step to the next, where derivatives jump: steps are
/// shorter than that.
#[test]
fn what_is_seen_has_its_gradient_through_the_collision() -> Tested {
    let balls = Balls::new(&film(24)?)?;
    let by: Vec<usize> = (0..ALL).collect();
    for seed in [1, 2, 3] {
        let mut random = fastrand::Rng::with_seed(seed);
        let along: Vec<f64> = by.iter().map(|&k| (random.f64() - 0.5) * if k < MOTION { 1.0 } else { 0.2 }).collect();
        let weight: Vec<[f64; 2]> = (0..48).map(|_| [random.f64() - 0.5, random.f64() - 0.5]).collect();
        let of = |p: &[[f64; 2]]| p.iter().zip(&weight).map(|(p, w)| p[0] * w[0] + p[1] * w[1]).sum::<f64>();
        let seen = balls.seen(&TRUTH, &by)?;
        let slope: f64 = seen.derivatives.iter().zip(&along).map(|(d, a)| of(d) * a).sum();
        let here = of(&seen.pixels);
        let left = |h: f64| -> crate::Result<[f64; 2]> {
            let there = of(&balls.seen(&std::array::from_fn(|k| TRUTH[k] + h * along[k]), &[])?.pixels);
            Ok([(there - here - h * slope).abs(), (there - here).abs()])
        };
        let (coarse, fine) = (left(8e-6)?, left(4e-6)?);
        let rates = [0, 1].map(|k| (coarse[k] / fine[k]).log2());
        assert!(rates[0] > 1.9 && (rates[1] - 1.0).abs() < 0.1, "seed {seed}: {rates:?} {coarse:?} {fine:?}");
    }
    Ok(())
}

#[test]
fn a_film_that_was_made_up_is_explained() -> Tested {
    let mut film = film(30)?;
    let seen = Balls::new(&film)?.seen(&TRUTH, &[])?.pixels;
    film.pixels = seen.chunks_exact(2).take(30).map(|pair| [pair[0], pair[1]]).collect();
    film.camera.points.iter_mut().zip(&seen[60..]).for_each(|((_, clicked), there)| *clicked = *there);
    let study = Study::new(&film)?;
    let best = study.found.last().ok_or("nothing found")?;
    assert!(best.error[0] < 1e-3, "{best:?}");
    assert!((best.restitution[0] - TRUTH[12]).abs() < 1e-3 && (best.friction[0] - TRUTH[13]).abs() < 1e-3, "{best:?}");
    // Without the camera it cannot be.
    assert!(study.found[1].error[0] > 50.0 * best.error[0], "{:?}", study.found[1]);
    Ok(())
}
