//! Two balls that were filmed: their centroids in pixels, and what is known of the camera.

use crate::error::{Error, Result};
use crate::npz::{self, Numbers};
use crate::table::Table;
use diffkern::prelude::*;
use std::path::Path;

/// What a film shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Film {
    /// Time from frame to frame \[s\].
    pub dt: f64,
    /// Centroids of both balls at each frame \[px\], to the right and down.
    pub pixels: Vec<[[f64; 2]; 2]>,
    /// Centres of the balls in the first two frames by the camera as it was calibrated \[m\].
    pub(super) first: [[[f64; 2]; 2]; 2],
    /// The camera as it was calibrated.
    pub(super) camera: Calibrated,
}

/// A camera: `y = R x + t`, then `f y / y_z` from the middle of the picture, upward.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Calibrated {
    pub(super) rotation: Mat3<f64>,
    pub(super) translation: Vec3<f64>,
    /// Focal length \[px\], and the middle \[px\].
    pub(super) focal: f64,
    pub(super) middle: [f64; 2],
    /// Points \[m\] and where they were clicked \[px\], down.
    pub(super) points: Vec<(Vec3<f64>, [f64; 2])>,
}

/// How far the product of a rotation and its transpose may be off the identity: numbers of three decimals are by up to 1.5e-3.
const SKEW: f64 = 2e-3;
const PIXELS: [&str; 4] = ["b0_u_px", "b0_v_px", "b1_u_px", "b1_v_px"];
const METRES: [&str; 4] = ["b0_x_m", "b0_y_m", "b1_x_m", "b1_y_m"];
/// Fewest frames.
const FEWEST: usize = 10;

/// Reads `tennis.csv` and `camera.npz` of a folder.
///
/// # Errors
/// When a file is missing, or what is wrong in it by row and field.
pub fn read(folder: &Path) -> Result<Film> {
    let camera = calibrated(&folder.join("camera.npz"))?;
    let file = folder.join("tennis.csv");
    let names: Vec<&str> = std::iter::once("t_s").chain(PIXELS).chain(METRES).collect();
    let table = Table::read(&file, &names)?;
    let (rows, dt) = (&table.rows, table.interval(FEWEST)?);
    let pairs = |row: &[f64], from: usize| [[row[from], row[from + 1]], [row[from + 2], row[from + 3]]];
    let pixels = rows.iter().map(|row| pairs(row, 1)).collect();
    Ok(Film { dt, pixels, first: [pairs(&rows[0], 5), pairs(&rows[1], 5)], camera })
}

fn calibrated(file: &Path) -> Result<Calibrated> {
    let arrays = npz::read(file)?;
    let get = |name: &str, shape: &[usize]| -> Result<&Numbers> {
        let array = arrays.get(name).ok_or_else(|| Error::field(file, name, "there is no such array"))?;
        let same = array.shape.len() == shape.len() && array.shape.iter().zip(shape).all(|(a, b)| *b == 0 || a == b);
        match (same, array.values.iter().find(|x| !x.is_finite())) {
            (false, _) => {
                Err(Error::field(file, name, format!("shape {:?}, expected {shape:?} (0: any)", array.shape)))
            }
            (true, Some(value)) => Err(Error::field(file, name, format!("holds {value}, expected finite numbers"))),
            (true, None) => Ok(array),
        }
    };
    let (r, t) = (&get("R", &[3, 3])?.values, &get("T", &[3])?.values);
    rotates(r).map_err(|problem| Error::field(file, "R", problem))?;
    let one = |name: &str| Ok::<f64, Error>(get(name, &[])?.values[0]);
    let (pixel, world) = (get("pts_pixel", &[0, 2])?, get("pts_world", &[0, 3])?);
    if pixel.shape[0] != world.shape[0] {
        let problem = format!("{} points, expected {}, as pts_world", pixel.shape[0], world.shape[0]);
        return Err(Error::field(file, "pts_pixel", problem));
    }
    let of = |(p, w): (&[f64], &[f64])| (Vec3::new(w[0], w[1], w[2]), [p[0], p[1]]);
    Ok(Calibrated {
        rotation: Mat3::from_cols(
            Vec3::new(r[0], r[3], r[6]),
            Vec3::new(r[1], r[4], r[7]),
            Vec3::new(r[2], r[5], r[8]),
        ),
        translation: Vec3::new(t[0], t[1], t[2]),
        focal: one("alpha")?,
        middle: [one("cx")?, one("cy")?],
        points: pixel.values.chunks_exact(2).zip(world.values.chunks_exact(3)).map(of).collect(),
    })
}

/// Refuses a matrix, row by row, that is no rotation.
fn rotates(r: &[f64]) -> std::result::Result<(), String> {
    let rows = [0, 3, 6].map(|k| [r[k], r[k + 1], r[k + 2]]);
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let [x, y, z] = rows;
    let determinant = dot([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]], z);
    let off = |(i, j): (usize, usize)| (dot(rows[i], rows[j]) - if i == j { 1.0 } else { 0.0 }).abs();
    let skew = (0..3).flat_map(|i| (0..3).map(move |j| (i, j))).map(off).fold(0.0, f64::max);
    match skew <= SKEW && determinant > 0.0 {
        true => Ok(()),
        false => Err(format!(
            "is no rotation: R R^T is {skew:.4} off the identity and the determinant is {determinant:.4}, expected at most {SKEW} and 1, as \
             what turns the world to the camera has"
        )),
    }
}
