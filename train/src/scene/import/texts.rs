//! The texts that a scene without a version may hold, and what they mean. A text is taken as a whole or refused.

use crate::scene::document::{LawName, Side};
use crate::scene::measure::Measure;
use crate::text::quoted;

pub(super) const UNITS: &[&str] = &["SI (m, kg, s, N, Pa)"];
pub(super) const AXES: &[&str] = &["right-handed, z up"];
/// Frames at instants, and frames of an exposure of half the interval between them.
pub(super) const FRAME_TIMES: &[&str] = &[
    "frame k is the state at t = k / frame_rate; frame_0000 is t = 0",
    "frame k is exposed from (k - 0.25) to (k + 0.25) / frame_rate; the initial state is that at t = 0",
];
pub(super) const PIXELS: &[&str] =
    &["continuous image coordinates (u right, v down), origin at the top-left corner of \
     the image; pixel (row i, col j) covers [j,j+1]x[i,i+1], centre at (j+0.5, i+0.5). \
     forward=normalize(look_at-position), right=normalize(forward x up), camup=right x forward; \
     k=(height/2)/tan(vertical_fov/2); u=width/2+k*x_right/depth, v=height/2-k*y_camup/depth (square pixels)"];
pub(super) const ANTIALIASING: &[&str] = &[
    "point-sampled at 4x4 sub-pixel centres per pixel, then box filtered (mean), then round(255*value); no gamma, no noise",
    "4x4 point samples a pixel, mean of 5 instants of the exposure (trapezoid rule), then noise; no gamma",
];
pub(super) const SILHOUETTE: &[&str] = &["8-bit grey, object 255, background 0, values between are coverage"];
pub(super) const SHADED: &[&str] =
    &["8-bit RGB, linear: rgb = clip(albedo_rgb*(ambient + light_intensity*max(0, n.l)),0,1); \
     l = unit vector to the light; no shadows, no floor drawn"];
pub(super) const NORMALS: &[&str] = &[
    "smooth: area-weighted vertex normals inside each of the six sides of the block, hard edges between sides",
    "smooth: area-weighted vertex normals of the whole closed surface",
];
/// Of rigid bodies.
pub(super) const FLAT: &[&str] = &["flat (one per face)"];
pub(super) const DISTRIBUTION: &[&str] = &["uniform density"];
/// What is said of the frame of a mesh.
pub(super) const FRAME: &[&str] = &["(body frame, origin at the centre of mass)"];
pub(super) const SURFACE: &[&str] = &["the deformed boundary of the block"];
pub(super) const DEFORMATION: &[&str] = &["none (stress free)", "none"];
pub(super) const ENERGY: &[&str] = &["mu/2*(tr(F^T F)-3) - mu*ln(J) + lambda/2*ln(J)^2, J=det F"];
pub(super) const KIRCHHOFF: &[&str] = &["mu*(F F^T - I) + lambda*ln(J)*I"];
pub(super) const DAMPING: &[&str] = &["Newtonian viscosity added to the elastic stress", "Newtonian"];
pub(super) const CAUCHY: &[&str] = &["eta*(L + L^T), L = spatial velocity gradient (Kirchhoff: times J)"];
pub(super) const SHUTTER: &[&str] = &["frame intervals about k / frame_rate"];
pub(super) const NOISE: &[&str] = &["white, independent per value, clipped to 0..255"];
pub(super) const MEANING_OF_MU: &[&str] = &["first Lame parameter of the energy (shear modulus)"];
pub(super) const MEANING_OF_LAMBDA: &[&str] = &["second Lame parameter"];
/// Of what no folder has described.
pub(super) const NO_MEANING: &[&str] = &[];

/// Names of the constitutive models.
pub(super) const LAWS: &[(&str, LawName)] =
    &[("compressible neo-Hookean", LawName::NeoHookean), ("fixed corotated", LawName::FixedCorotated)];

/// What a text says of how things touch the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    Frictionless,
    Sticky,
    /// With the coefficient of another field.
    Friction,
}

pub(super) const CONTACTS: &[(&str, Touch)] = &[
    ("frictionless", Touch::Frictionless),
    ("sticky", Touch::Sticky),
    ("rigid, frictionless, separating (no adhesion)", Touch::Frictionless),
    ("rigid, no bounce, frictionless", Touch::Frictionless),
    ("rigid, no bounce, Coulomb friction with one coefficient (static = kinetic)", Touch::Friction),
    ("rigid", Touch::Friction),
];

/// The texts that say which side of a clamp's plane is held.
pub(super) fn clamps(axis: &str, plane: f64) -> [(String, Side); 4] {
    let long = |sign: &str| {
        format!(
            "all material with rest position {axis} {sign} {plane} is held fixed (zero displacement) for all t; it is drawn too"
        )
    };
    let short = |sign: &str| format!("{axis} {sign} {plane} is held");
    [(long("<="), Side::Below), (long(">="), Side::Above), (short("<="), Side::Below), (short(">="), Side::Above)]
}

/// Names of units, and SI units in each.
pub(super) fn units(measure: Measure) -> &'static [(&'static str, f64)] {
    match measure {
        Measure::Pressure => &[("Pa", 1.0), ("kPa", 1e3), ("MPa", 1e6)],
        Measure::Viscosity => &[("Pa s", 1.0), ("kPa s", 1e3)],
        Measure::Ratio => &[("1", 1.0)],
        Measure::Length => &[("m", 1.0)],
        Measure::Angle => &[("rad", 1.0)],
        Measure::Density => &[("kg/m^3", 1.0)],
        Measure::Mass => &[("kg", 1.0), ("g", 1e-3)],
        Measure::Time => &[("s", 1.0)],
        Measure::Velocity => &[("m/s", 1.0)],
        Measure::AngularVelocity => &[("rad/s", 1.0)],
        Measure::Acceleration => &[("m/s^2", 1.0)],
        Measure::Rate => &[("1/s", 1.0)],
    }
}

/// Why a text is not taken.
pub(super) fn refused<S: AsRef<str>>(text: &str, known: &[S]) -> String {
    if known.is_empty() {
        return format!("{} is not among the texts that are known, expected no such field", quoted(text));
    }
    let known = known.iter().map(|text| quoted(text.as_ref())).collect::<Vec<_>>().join(" or ");
    format!("{} is not among the texts that are known, expected exactly {known}", quoted(text))
}
