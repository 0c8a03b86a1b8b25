//! What a scene may be wrong about beside its material.

use super::flight::Change;
use crate::scene::{Fit, Quantity, Scene};

/// A cause of pictures that are not as the scene says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    CameraPosition,
    CameraDirection,
    FieldOfView,
    /// Of a body, by its place in the scene.
    Place(usize),
    Orientation(usize),
    Size(usize),
    Velocity(usize),
    Spin(usize),
    Gravity,
    StartTime,
    FrameRate,
}

/// What changes along a direction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moved {
    /// A number of the camera.
    Camera(Quantity),
    /// A body, or all.
    Flight(Option<usize>, Change),
}

/// A direction along which pictures change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) cause: Cause,
    pub(super) moved: Moved,
    /// By how many units a scene may well be wrong.
    pub(super) likely: f64,
}

impl Cause {
    /// All that a scene of so many bodies may be wrong about.
    pub(super) fn all(bodies: usize) -> Vec<Self> {
        let of = |body| {
            [Self::Place(body), Self::Orientation(body), Self::Size(body), Self::Velocity(body), Self::Spin(body)]
        };
        [Self::CameraPosition, Self::CameraDirection, Self::FieldOfView]
            .into_iter()
            .chain((0..bodies).flat_map(of))
            .chain([Self::Gravity, Self::StartTime, Self::FrameRate])
            .collect()
    }

    /// The directions of one cause.
    pub(super) fn columns(self) -> Vec<Column> {
        let column = |likely: f64, moved: Moved| Column { cause: self, moved, likely };
        let three =
            |likely: f64, moved: &dyn Fn(usize) -> Moved| (0..3).map(|a| column(likely, moved(a))).collect::<Vec<_>>();
        let along = |of: Option<usize>, n: i32| move |a: usize| Moved::Flight(of, Change::Along(a, n));
        let about = |of: usize, n: i32| move |a: usize| Moved::Flight(Some(of), Change::About(a, n));
        match self {
            Self::CameraPosition => three(0.1, &|a| Moved::Camera(Quantity::Position(a))),
            Self::CameraDirection => three(0.1, &|a| Moved::Camera(Quantity::LookAt(a))),
            Self::FieldOfView => vec![column(0.1, Moved::Camera(Quantity::FieldOfView))],
            Self::Place(body) => three(0.1, &along(Some(body), 0)),
            Self::Orientation(body) => three(0.3, &about(body, 0)),
            Self::Size(body) => vec![column(0.2, Moved::Flight(Some(body), Change::Apart))],
            Self::Velocity(body) => three(1.0, &along(Some(body), 1)),
            Self::Spin(body) => three(3.0, &about(body, 1)),
            Self::Gravity => three(3.0, &along(None, 2)),
            Self::StartTime => vec![column(1.0, Moved::Flight(None, Change::Later))],
            Self::FrameRate => vec![column(0.2, Moved::Flight(None, Change::Slower))],
        }
    }

    /// What of the scene has to be found along for this to be found.
    pub(super) fn fit(self) -> Option<Fit> {
        match self {
            Self::CameraPosition | Self::CameraDirection | Self::FieldOfView => Some(Fit::Camera),
            Self::Place(_) | Self::Velocity(_) | Self::Spin(_) | Self::StartTime => Some(Fit::Start),
            Self::Orientation(_) | Self::Size(_) | Self::Gravity | Self::FrameRate => None,
        }
    }

    /// In words, with how much the scene would be off, in units of its columns.
    pub(super) fn words(self, scene: &Scene, by: f64) -> String {
        let of = |body: usize| match scene.bodies.len() {
            1 => "the body".to_owned(),
            _ => scene.bodies[body].name.clone(),
        };
        let (cm, degrees, percent) = (100.0 * by, by.to_degrees(), 100.0 * by);
        match self {
            Self::CameraPosition => format!("the position of the camera, by {cm:.2} cm"),
            Self::CameraDirection => format!("the point that the camera looks at, by {cm:.2} cm"),
            Self::FieldOfView => format!("the field of view, by {degrees:.2} degrees"),
            Self::Place(body) => format!("where {} starts, by {cm:.2} cm", of(body)),
            Self::Orientation(body) => format!("how {} is turned, by {degrees:.2} degrees", of(body)),
            Self::Size(body) => format!("the size of {}, by {percent:.1} %", of(body)),
            Self::Velocity(body) => format!("the velocity of {}, by {by:.3} m/s", of(body)),
            Self::Spin(body) => format!("the angular velocity of {}, by {by:.3} rad/s", of(body)),
            Self::Gravity => format!("gravity, by {by:.2} m/s^2"),
            Self::StartTime => format!("when it starts, by {by:.2} frames"),
            Self::FrameRate => format!("the frame rate, by {percent:.1} %"),
        }
    }
}
