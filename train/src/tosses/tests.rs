//! Readers, starts, gradients through impacts, and searches on tosses that the simulator made.

use super::cube::{Constants, Cubes, HALF, Motion};
use super::misfit::{losses, normals};
use super::recording::{Toss, read};
use super::search::{Sample, Slope};
use super::start::{begin, fall, rotation_vector};
use super::study::{AUTHORS, within};
use crate::error::Error;
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::error::Error as StdError;
use std::io::Write as _;
use std::path::{Path, PathBuf};

type Tested = std::result::Result<(), Box<dyn StdError>>;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/cube_tosses")
}

/// A folder of its own.
fn folder(name: &str) -> std::io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("diffkern-tosses-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// An NPY file of `<f8` or `<i8`.
fn npy(kind: &str, shape: &str, values: &[f64]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for value in values {
        bytes.extend(if kind == "<i8" { (*value as i64).to_le_bytes() } else { value.to_le_bytes() });
    }
    bytes
}

/// A ZIP archive, every second file of it deflated.
fn zip(files: &[(&str, Vec<u8>)]) -> std::io::Result<Vec<u8>> {
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for (k, (name, bytes)) in files.iter().enumerate() {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
        deflate.write_all(bytes)?;
        let packed = if k % 2 == 0 { bytes.clone() } else { deflate.finish()? };
        let name = format!("{name}.npy");
        let method = if k % 2 == 0 { 0u16 } else { 8 };
        let mut fields = Vec::new();
        fields.extend([20u16, 0, method, 0, 0].iter().flat_map(|x| x.to_le_bytes()));
        fields.extend(
            [crc32fast::hash(bytes), packed.len() as u32, bytes.len() as u32].iter().flat_map(|x| x.to_le_bytes()),
        );
        fields.extend([name.len() as u16, 0].iter().flat_map(|x| x.to_le_bytes()));
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        directory.extend([0u8; 10]);
        directory.extend((all.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        all.extend(b"PK\x03\x04");
        all.extend(&fields);
        all.extend(name.as_bytes());
        all.extend(packed);
    }
    let begin = all.len() as u32;
    all.extend(&directory);
    all.extend(b"PK\x05\x06\0\0\0\0");
    all.extend([files.len() as u16; 2].iter().flat_map(|x| x.to_le_bytes()));
    all.extend([directory.len() as u32, begin].iter().flat_map(|x| x.to_le_bytes()));
    all.extend([0u8; 2]);
    Ok(all)
}

fn archive(tosses: &[Toss]) -> std::io::Result<Vec<u8>> {
    let rows: usize = tosses.iter().map(Toss::len).sum();
    let ends = tosses.iter().scan(0, |end, toss| {
        *end += toss.len();
        Some(*end as f64)
    });
    let offset: Vec<f64> = std::iter::once(0.0).chain(ends).collect();
    let ids: Vec<f64> = tosses.iter().map(|toss| toss.id as f64).collect();
    let position: Vec<f64> = tosses.iter().flat_map(|t| t.position.concat()).collect();
    let rotation: Vec<f64> = tosses.iter().flat_map(|t| t.rotation.concat()).collect();
    zip(&[
        ("toss_id", npy("<i8", &format!("{},", ids.len()), &ids)),
        ("offset", npy("<i8", &format!("{},", offset.len()), &offset)),
        ("position_m", npy("<f8", &format!("{rows}, 3"), &position)),
        ("quat_wxyz", npy("<f8", &format!("{rows}, 4"), &rotation)),
        ("dt_s", npy("<f8", "", &[tosses[0].dt])),
    ])
}

#[test]
fn folders_and_archives_are_read_alike() -> Tested {
    let tosses = read(&sample())?;
    assert_eq!(
        tosses.iter().map(|t| t.id).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 102, 103, 104, 105, 106, 107]
    );
    assert!((tosses[0].dt * 148.0 - 1.0).abs() < 1e-4, "{}", tosses[0].dt);
    assert_eq!((tosses[0].len(), tosses[0].position[0]), (111, [0.209874, 0.195843, 0.125734]));
    let file = folder("archive")?.join("tosses.npz");
    let alike: Vec<Toss> = tosses.iter().map(|t| Toss { dt: tosses[0].dt, ..t.clone() }).collect();
    std::fs::write(&file, archive(&alike)?)?;
    assert_eq!(read(&file)?, alike);
    assert_eq!(within(&alike, &(100..104), "test")?.len(), 4);
    assert!(within(&alike, &(200..300), "test").is_err_and(|e| e.to_string().contains("200..300 holds 0 tosses")));
    Ok(())
}

#[test]
fn wrong_files_are_named_with_row_and_field() -> Tested {
    let folder = folder("wrong")?;
    let good = std::fs::read_to_string(sample().join("toss_0003.csv"))?;
    let file = folder.join("toss_0003.csv");
    let row = good.lines().nth(4).unwrap_or_default().to_owned();
    let cells: Vec<&str> = row.split(',').collect();
    let with = |place: usize, cell: &str| {
        let mut cells = cells.clone();
        cells[place] = cell;
        good.replacen(&row, &cells.join(","), 1)
    };
    let cases = [
        (good.replacen("qw", "qq", 1), ":1:1: qw: there is no such column"),
        (with(2, "NaN"), ":5:1: y_m: \"NaN\", expected a finite number"),
        (with(4, "3"), ":5:1: qw: a quaternion of length"),
        (with(1, "left"), ":5:1: x_m: \"left\", expected a finite number"),
        (with(0, "0.5"), ":5:1: t_s: 0.5, expected frames at equal distances"),
        (good.lines().take(4).collect::<Vec<_>>().join("\n"), "3 frames, expected at least 10"),
    ];
    for (text, expected) in cases {
        std::fs::write(&file, text)?;
        let Err(error) = read(&folder) else { return Err(format!("read where {expected}").into()) };
        let said = error.to_string();
        assert!(said.contains("toss_0003.csv") && said.contains(expected), "{said}\nexpected {expected}");
        assert_eq!(error.exit_code(), 2);
    }
    let missing = read(&folder.join("none")).map(drop);
    assert!(matches!(missing, Err(Error::Input { .. })), "{missing:?}");
    let mut tosses = read(&sample())?;
    let archived = folder.join("tosses.npz");
    tosses[1].rotation[7] = [0.5; 4].map(|x: f64| x + 0.01);
    std::fs::write(&archived, archive(&tosses)?)?;
    let said = read(&archived).map(drop).map_err(|e| e.to_string());
    let begin = tosses[0].len() + 7;
    assert!(said.as_ref().is_err_and(|s| s.contains(&format!("row {begin}, qw: of toss 1: a quaternion"))), "{said:?}");
    let whole = std::fs::read(&archived)?;
    // Cut, and with each of its bytes changed that say how it is laid out: an error or other numbers, but no panic.
    std::fs::write(&archived, &whole[..whole.len() / 2])?;
    assert!(read(&archived).is_err());
    for at in (0..60).chain(whole.len() - 330..whole.len()) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xa5;
        std::fs::write(&archived, &bytes)?;
        drop(read(&archived));
    }
    Ok(())
}

/// Starts that are made up: tumbling cubes over the table.
fn starts(count: usize, seed: u64) -> Vec<Pose<f64>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut number = |scale: f64| scale * (2.0 * random.f64() - 1.0);
    let start = |_| Pose {
        centre: Vec3::new(number(0.2), number(0.2), 0.16 + number(0.03)),
        rotation: Quat::from_rotation_vector(Vec3::new(number(2.0), number(2.0), number(2.0))),
        velocity: Vec3::new(number(1.2), number(1.2), number(0.3)),
        spin: Vec3::new(number(5.0), number(5.0), number(5.0)),
    };
    (0..count).map(start).collect()
}

const DT: f64 = 1.0 / 148.0;

/// What a camera would have measured.
fn measured(motion: &Motion, seed: u64, noise: [f64; 2]) -> Vec<Toss> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut number = |scale: f64| scale * (random.f64() + random.f64() + random.f64() - 1.5) * 2.0;
    let of = |b: usize| {
        let mut toss = Toss { id: b, dt: DT, position: Vec::new(), rotation: Vec::new() };
        for frame in motion {
            let [x, y, z] = frame[b].x.to_array();
            let off = Vec3::new(number(noise[1]), number(noise[1]), number(noise[1]));
            let q = Quat::from_rotation_vector(off) * frame[b].q;
            toss.position.push([x + number(noise[0]), y + number(noise[0]), z + number(noise[0])]);
            toss.rotation.push([q.w, q.x, q.y, q.z]);
        }
        toss
    };
    (0..motion[0].len()).map(of).collect()
}

#[test]
fn starts_are_found_by_least_squares() -> Tested {
    let starts = starts(6, 5);
    let truth = Constants { mu: 0.2, e: 0.3, s: 1.02 };
    let tosses = measured(&Cubes::new(&starts, DT)?.motion(truth, 40)?, 1, [0.0; 2]);
    for (toss, start) in tosses.iter().zip(&starts) {
        let (bent, left) = fall(toss, HALF).ok_or("too short a flight")?;
        assert!((bent * truth.s - 9.81).abs() < 1e-6 && left < 1e-9, "{bent} {left}");
        let found = begin(toss, HALF, 9.81 / truth.s);
        let apart = [
            (found.centre - start.centre).norm(),
            (found.velocity - start.velocity).norm(),
            (found.spin - start.spin).norm(),
            rotation_vector(found.rotation * start.rotation.conjugate()).norm(),
        ];
        assert!(apart.iter().all(|&a| a < 1e-6), "{apart:?}");
    }
    Ok(())
}

/// Of the loss over windows that end a few frames after the first impact, by all constants along a direction.
#[test]
fn the_loss_has_its_gradient_through_impacts() -> Tested {
    for seed in [11, 12, 13, 14] {
        let (at, other) = (Constants { mu: 0.23, e: 0.31, s: 1.013 }, Constants { mu: 0.19, e: 0.22, s: 1.002 });
        let tosses = measured(&Cubes::new(&starts(5, seed), DT)?.motion(other, 40)?, seed, [1e-5, 1e-4]);
        let sample = Sample::new(&tosses, 9.7)?;
        let windows = sample.windows(Some(6));
        let loss = |x: Constants| -> crate::Result<f64> {
            Ok(losses(&tosses, &windows, &sample.motion(x, &windows)?).iter().sum())
        };
        let linear = sample.linearise(at, &windows, Slope::Tangent)?;
        let normals = normals(&tosses, &windows, &linear)?;
        let along = [0.7, -0.5, 0.06];
        let slope: f64 = normals.iter().flat_map(|n| (0..3).map(|k| 2.0 * n.gradient[k] * along[k])).sum();
        let here = loss(at)?;
        let moved = |h: f64| {
            let x = at.to_array();
            loss(Constants::from_array(std::array::from_fn(|k| x[k] + h * along[k])))
        };
        let mut rates = [0.0; 2];
        let steps = [4e-5, 2e-5];
        let left = steps.map(|h| moved(h).map(|there| [(there - here - h * slope).abs(), (there - here).abs()]));
        let [coarse, fine] = left;
        let (coarse, fine) = (coarse?, fine?);
        for k in 0..2 {
            rates[k] = (coarse[k] / fine[k]).log2();
        }
        assert!(rates[0] > 1.9 && (rates[1] - 1.0).abs() < 0.1, "seed {seed}: {rates:?} {coarse:?} {fine:?}");
    }
    Ok(())
}

#[test]
fn constants_of_made_up_tosses_are_found_again() -> Tested {
    let truth = Constants { mu: 0.24, e: 0.3, s: 1.021 };
    let motion = Cubes::new(&starts(12, 3), DT)?.motion(truth, 45)?;
    let tosses = measured(&motion, 9, [2e-5, 3e-4]);
    let sample = Sample::new(&tosses, 9.81 / truth.s)?;
    let place = sample.search(AUTHORS[0], &sample.windows(Some(10)), Slope::Secant)?;
    let apart: Vec<f64> = place.at.to_array().iter().zip(truth.to_array()).map(|(a, b)| (a - b).abs()).collect();
    assert!(apart[0] < 0.01 && apart[1] < 0.01 && apart[2] < 2e-3, "{:?}", place.at);
    Ok(())
}
