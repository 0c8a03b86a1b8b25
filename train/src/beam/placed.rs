//! A recording in the frame of the beam, and the scene that it is.

use super::recording::{GRAVITY, Recording, TIPS};
use crate::error::{Error, Result};
use crate::files;
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where the markers are on the beam \[m\]: its free end is at x = 0, its lower corner there at y = z = 0, z up.
pub(super) const PLACES: [[f64; 3]; 6] = [
    [0.0, 0.015, 0.036],
    [0.0, -0.006, 0.024],
    [0.0, 0.036, 0.006],
    [-0.094, -0.01, -0.001],
    [-0.094, 0.04, 0.0275],
    [-0.094, 0.04, 0.0],
];
/// Length and both other sides \[m\].
const SIDES: [f64; 3] = [0.1, 0.03, 0.03];
/// Density of Dragon Skin 10 \[kg/m^3\].
const DENSITY: f64 = 1070.0;
/// Poisson's ratio that it is simulated with. The authors take 0.499, with which pressure waves are 4.5 times as fast, and bending is the same.
const POISSON: f64 = 0.48;
/// Standard deviation of a coordinate of a marker \[m\].
const DEVIATION: f64 = 3e-4;
/// How far the markers may be from where they should be on the beam, root of the mean square \[m\].
const FIT: f64 = 5e-3;
/// How far inside of the edge a load is \[m\].
const INSIDE: f64 = 1e-6;
/// Greatest rate of the damping by mass of a loaded beam \[1/s\].
const DAMPING: f64 = 10.0;
/// Longest time that is simulated \[s\].
const LONGEST: f64 = 1.64;

/// What is to be found from a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unknown {
    /// Young's modulus and viscosity, of a beam that carries nothing.
    Material,
    /// The mass that hangs on the upper edge of the free end of a beam of a known material, and a damping by mass, for what takes energy beside the beam: with a weight
    /// it slows down some five frames after it was let go, as if something caught it.
    Load {
        /// Young's modulus \[Pa\].
        young: f64,
        /// Viscosity \[Pa s\].
        viscosity: f64,
    },
}

/// A recording from its release on, in the frame of the beam.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// Name of the recording.
    pub name: String,
    /// Frames a second.
    pub rate: f64,
    /// The frame at which the beam is let go.
    pub release: usize,
    /// How far the markers are from where they should be on the beam then, root of the mean square \[m\].
    pub distance: f64,
    /// Gravity \[m/s^2\].
    pub gravity: [f64; 3],
    /// Markers near the free end \[m\], frame by frame.
    pub tips: Vec<[[f64; 3]; TIPS]>,
}

impl Placed {
    /// Finds the release and the frame: the rotation and translation that take the places of the markers on the beam to those that were
    /// measured at the release, by least squares (Kabsch 1976).
    ///
    /// # Errors
    /// When the beam is never let go, or its markers are not those of such a beam.
    pub fn new(recording: &Recording) -> Result<Self> {
        let file = &recording.file;
        let release = recording.release().ok_or_else(|| {
            Error::file(file, "the free end never moves, expected a beam that is let go in the recording")
        })?;
        let measured = recording.markers[release].map(Vector3::from);
        let places = PLACES.map(Vector3::from);
        let middle = |points: &[Vector3<f64>; 6]| points.iter().sum::<Vector3<f64>>() / 6.0;
        let (from, to) = (middle(&places), middle(&measured));
        let covariance: Matrix3<f64> =
            places.iter().zip(&measured).map(|(p, m)| (p - from) * (m - to).transpose()).sum();
        let parts = covariance.svd(true, true);
        let (Some(u), Some(v_t)) = (parts.u, parts.v_t) else {
            return Err(Error::file(file, "the places of the markers have no rotation, expected them apart"));
        };
        let (u_t, v) = (u.transpose(), v_t.transpose());
        let mirror = Vector3::new(1.0, 1.0, (v * u_t).determinant().signum());
        let back = u * Matrix3::from_diagonal(&mirror) * v_t;
        let local = |m: &[f64; 3]| back * (Vector3::from(*m) - to) + from;
        let square: f64 =
            recording.markers[release].iter().zip(&places).map(|(m, p)| (local(m) - p).norm_squared()).sum();
        let distance = (square / 6.0).sqrt();
        if distance.is_nan() || distance > FIT {
            let problem = format!(
                "the markers of frame {release} are {:.1} mm off those of a beam of 100 x 30 x 30 mm, expected at most {:.0} mm; their places are \
                 in the README of the sample",
                1e3 * distance,
                1e3 * FIT
            );
            return Err(Error::file(file, problem));
        }
        let down = back * Vector3::new(-GRAVITY, 0.0, 0.0);
        let frames = recording.markers.len() - release;
        let most = (LONGEST / recording.dt).round() as usize;
        let tips = recording.markers[release..release + frames.min(most)].iter();
        let tips = tips.map(|markers| std::array::from_fn(|m| local(&markers[m]).into())).collect();
        let (name, gravity) = (recording.name(), down.into());
        Ok(Self { name, rate: 1.0 / recording.dt, release, distance, gravity, tips })
    }

    /// Writes the scene to a folder: `scene.json` and `tracks/tip.csv`, to be identified by anybody.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path, unknown: Unknown) -> Result<()> {
        let tracks = folder.join("tracks");
        std::fs::create_dir_all(&tracks).map_err(|e| Error::write(&tracks, e))?;
        files::write(&tracks.join("tip.csv"), self.track().as_bytes())?;
        let file: PathBuf = folder.join("scene.json");
        files::write_json(&file, &self.scene(unknown))
    }

    fn track(&self) -> String {
        let mut text = String::from("frame,marker,x,y,z\n");
        for (k, markers) in self.tips.iter().enumerate() {
            for (m, [x, y, z]) in markers.iter().enumerate() {
                let _ = writeln!(text, "{k},{m},{x:.6},{y:.6},{z:.6}");
            }
        }
        text
    }

    fn scene(&self, unknown: Unknown) -> Value {
        let [length, width, height] = SIDES;
        let mut body = json!({
            "shape": {"box": {"min": [-length, 0.0, 0.0], "max": [0.0, width, height]}},
            "density": DENSITY,
            "material": {"law": "stable_neo_hookean", "poisson": POISSON},
            "albedo": [0.9, 0.5, 0.4],
            "clamps": [{"axis": "x", "plane": -0.999 * length, "side": "below"}],
        });
        let unknowns = match unknown {
            Unknown::Material => json!({
                "bodies.beam.material.young": {"range": [1e5, 6e5]},
                "bodies.beam.material.viscosity": {"range": [0.0, 1000.0]},
            }),
            Unknown::Load { young, viscosity } => {
                body["material"]["young"] = json!(young);
                body["material"]["viscosity"] = json!(viscosity);
                body["load"] = json!({"at": [-INSIDE, 0.5 * width, height - INSIDE]});
                json!({
                    "bodies.beam.load.mass": {"range": [0.01, 0.2]},
                    "bodies.beam.material.damping": {"range": [0.0, DAMPING]},
                })
            }
        };
        json!({
            "version": 1,
            "name": self.name,
            "frame_rate": self.rate,
            "frames": self.tips.len(),
            "gravity": self.gravity,
            "bodies": {"beam": body},
            "cameras": {"side": {
                "position": [-0.05, -0.45, 0.0], "look_at": [-0.05, 0.0, 0.0], "vertical_fov": 0.4, "width": 160, "height": 120,
            }},
            "videos": {"side": {"camera": "side", "weights": {"silhouette": 0.0}}},
            "observations": {"tip": {"markers": {"file": "tracks/tip.csv", "deviation": DEVIATION}}},
            "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
            "unknowns": unknowns,
        })
    }
}
