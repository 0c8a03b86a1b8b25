//! What is to be known of each quantity: where a document and a run have it, in which unit, within which bounds.

use super::bounds::{self, Bounds};
use super::measure::Measure;
use super::{Scene, Target, Weight};

/// What a quantity is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The material of a body; it may vary from piece to piece.
    Material,
    /// A body as a whole.
    Body,
    /// The way in which a body begins; each take has its own.
    Start,
    /// A collider.
    Collider,
    /// A camera.
    Camera,
    /// The whole scene.
    Scene,
}

impl Owner {
    /// Whether a path that begins with this word may lead to what is of it: the name of a group leads into that group alone.
    pub(crate) fn may_be_in(self, word: &str) -> bool {
        match word {
            "bodies" => matches!(self, Self::Material | Self::Body | Self::Start),
            "colliders" => self == Self::Collider,
            "cameras" => self == Self::Camera,
            _ => true,
        }
    }
}

/// How values of a quantity differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// By factors: they are positive.
    Factors,
    /// By differences; they are not negative.
    NotNegative,
    /// By differences.
    Any,
}

/// Numbers that a run takes in one array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// First elastic parameter: the shear modulus, or Young's modulus. One a piece of each body, as the three that follow.
    Mu,
    /// Second elastic parameter: the second Lamé parameter, or Poisson's ratio.
    Lambda,
    /// Of a rigid body that has a mass in its place, the mass.
    Density,
    Viscosity,
    /// Of each body.
    Damping,
    /// Shear modulus of the Maxwell branch of each body; 0 of those without.
    BranchModulus,
    /// Relaxation time of each body; 1 s of those without.
    BranchTime,
    /// Of each body; 0 of those without.
    Load,
    /// Velocity and angular velocity of each body, six numbers.
    Motion,
    /// Where each body begins, three numbers.
    Place,
    /// Velocity and angular velocity of each collider, six numbers.
    ColliderMotion,
    /// Of each collider; 0 of those without.
    Friction,
    /// Of each collider.
    Restitution,
    Gravity,
    /// Position, point looked at, field of view, exposure and distortion of each camera, thirteen numbers.
    Camera,
}

impl Part {
    pub(crate) const ALL: [Self; 15] = [
        Self::Mu,
        Self::Lambda,
        Self::Density,
        Self::Viscosity,
        Self::Damping,
        Self::BranchModulus,
        Self::BranchTime,
        Self::Load,
        Self::Motion,
        Self::Place,
        Self::ColliderMotion,
        Self::Friction,
        Self::Restitution,
        Self::Gravity,
        Self::Camera,
    ];
}

/// All that is to be known of a quantity.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) owner: Owner,
    /// Where a document has it, below the name of what it is of; of a vector without its component.
    pub(crate) path: &'static str,
    /// How many of its last words are the key: more than one where another quantity has the same last word.
    pub(super) words: usize,
    /// Which component of a vector.
    pub(crate) component: Option<usize>,
    pub(super) measure: Measure,
    pub(crate) scale: Scale,
    pub(super) bounds: &'static Bounds,
    /// Where a run has it: in which part, and which of the numbers there of what it is of.
    pub(crate) part: Part,
    pub(crate) place: usize,
    /// The value that a scene gives.
    pub(super) known: fn(&Scene, Target, usize) -> Option<f64>,
}

pub(super) const MU: Row = Row {
    owner: Owner::Material,
    path: "material.mu",
    words: 1,
    component: None,
    measure: Measure::Pressure,
    scale: Scale::Factors,
    bounds: &bounds::MODULUS,
    part: Part::Mu,
    place: 0,
    known: |scene, target, _| scene.bodies[target.of].material.mu,
};

pub(super) const LAMBDA: Row = Row {
    path: "material.lambda",
    part: Part::Lambda,
    known: |scene, target, _| scene.bodies[target.of].material.lambda,
    ..MU
};

pub(super) const YOUNG: Row =
    Row { path: "material.young", known: |scene, target, _| scene.bodies[target.of].material.young, ..MU };

pub(super) const POISSON: Row = Row {
    path: "material.poisson",
    measure: Measure::Ratio,
    scale: Scale::NotNegative,
    bounds: &bounds::RATIO,
    known: |scene, target, _| scene.bodies[target.of].material.poisson,
    ..LAMBDA
};

pub(super) const DENSITY: Row = Row {
    path: "density",
    measure: Measure::Density,
    bounds: &bounds::DENSITY,
    part: Part::Density,
    known: |scene, target, _| match scene.bodies[target.of].rigid {
        Some(Weight::Density(density)) => density,
        Some(Weight::Mass(_)) | None => Some(scene.bodies[target.of].density),
    },
    ..MU
};

pub(super) const MASS: Row = Row {
    path: "mass",
    measure: Measure::Mass,
    bounds: &bounds::MASS,
    part: Part::Density,
    known: |scene, target, _| match scene.bodies[target.of].rigid {
        Some(Weight::Mass(mass)) => mass,
        Some(Weight::Density(_)) | None => None,
    },
    ..MU
};

pub(super) const VISCOSITY: Row = Row {
    path: "material.viscosity",
    measure: Measure::Viscosity,
    scale: Scale::NotNegative,
    bounds: &bounds::VISCOSITY,
    part: Part::Viscosity,
    known: |scene, target, _| Some(scene.bodies[target.of].material.viscosity),
    ..MU
};

pub(super) const DAMPING: Row = Row {
    owner: Owner::Body,
    path: "material.damping",
    measure: Measure::Rate,
    scale: Scale::NotNegative,
    bounds: &bounds::DAMPING,
    part: Part::Damping,
    known: |scene, target, _| Some(scene.bodies[target.of].material.damping),
    ..MU
};

pub(super) const RELAXATION_MODULUS: Row = Row {
    owner: Owner::Body,
    path: "material.relaxation.modulus",
    words: 2,
    scale: Scale::NotNegative,
    bounds: &bounds::BRANCH,
    part: Part::BranchModulus,
    known: |scene, target, _| scene.bodies[target.of].material.relaxation.and_then(|own| own.modulus),
    ..MU
};

pub(super) const RELAXATION_TIME: Row = Row {
    owner: Owner::Body,
    path: "material.relaxation.time",
    words: 2,
    measure: Measure::Time,
    bounds: &bounds::RELAXATION_TIME,
    part: Part::BranchTime,
    known: |scene, target, _| scene.bodies[target.of].material.relaxation.and_then(|own| own.time),
    ..MU
};

pub(super) const LOAD: Row = Row {
    owner: Owner::Body,
    path: "load.mass",
    words: 2,
    measure: Measure::Mass,
    bounds: &bounds::LOAD,
    part: Part::Load,
    known: |scene, target, _| scene.bodies[target.of].load.as_ref().and_then(|load| load.mass),
    ..MU
};

pub(super) const VELOCITY: Row = Row {
    owner: Owner::Start,
    path: "velocity",
    measure: Measure::Velocity,
    scale: Scale::Any,
    bounds: &bounds::SPEED,
    part: Part::Motion,
    known: |scene, target, a| Some(scene.bodies[target.of].starts[target.take].velocity[a]),
    ..MU
};

pub(super) const ANGULAR_VELOCITY: Row = Row {
    path: "angular_velocity",
    measure: Measure::AngularVelocity,
    bounds: &bounds::SPIN,
    place: 3,
    known: |scene, target, a| Some(scene.bodies[target.of].starts[target.take].angular_velocity[a]),
    ..VELOCITY
};

pub(super) const START_POSITION: Row = Row {
    path: "pose.position",
    words: 2,
    measure: Measure::Length,
    bounds: &bounds::PLACE,
    part: Part::Place,
    known: |scene, target, a| Some(scene.bodies[target.of].starts[target.take].position()[a]),
    ..VELOCITY
};

pub(super) const COLLIDER_VELOCITY: Row = Row {
    owner: Owner::Collider,
    path: "motion.velocity",
    words: 2,
    part: Part::ColliderMotion,
    known: |scene, target, a| Some(scene.colliders[target.of].velocity[a]),
    ..VELOCITY
};

pub(super) const COLLIDER_ANGULAR_VELOCITY: Row = Row {
    path: "motion.angular_velocity",
    measure: Measure::AngularVelocity,
    bounds: &bounds::SPIN,
    place: 3,
    known: |scene, target, a| Some(scene.colliders[target.of].angular_velocity[a]),
    ..COLLIDER_VELOCITY
};

pub(super) const FRICTION: Row = Row {
    owner: Owner::Collider,
    path: "contact.friction",
    measure: Measure::Ratio,
    scale: Scale::NotNegative,
    bounds: &bounds::FRICTION,
    part: Part::Friction,
    known: |scene, target, _| scene.colliders[target.of].friction(),
    ..MU
};

pub(super) const RESTITUTION: Row = Row {
    path: "restitution",
    bounds: &bounds::RESTITUTION,
    part: Part::Restitution,
    known: |scene, target, _| Some(scene.colliders[target.of].restitution),
    ..FRICTION
};

pub(super) const GRAVITY: Row = Row {
    owner: Owner::Scene,
    path: "gravity",
    measure: Measure::Acceleration,
    scale: Scale::Any,
    bounds: &bounds::GRAVITY,
    part: Part::Gravity,
    known: |scene, _, a| Some(scene.gravity[a]),
    ..MU
};

pub(super) const POSITION: Row = Row {
    owner: Owner::Camera,
    path: "position",
    measure: Measure::Length,
    scale: Scale::Any,
    bounds: &bounds::DISTANCE,
    part: Part::Camera,
    known: |scene, target, a| Some(scene.cameras[target.of].position[a]),
    ..MU
};

pub(super) const LOOK_AT: Row =
    Row { path: "look_at", place: 3, known: |scene, target, a| Some(scene.cameras[target.of].look_at[a]), ..POSITION };

pub(super) const FIELD_OF_VIEW: Row = Row {
    path: "vertical_fov",
    measure: Measure::Angle,
    scale: Scale::NotNegative,
    bounds: &bounds::ANGLE_OF_VIEW,
    place: 6,
    known: |scene, target, _| Some(scene.cameras[target.of].vertical_fov),
    ..POSITION
};

pub(super) const EXPOSURE: Row = Row {
    path: "exposure",
    measure: Measure::Ratio,
    scale: Scale::Factors,
    bounds: &bounds::EXPOSURE,
    place: 7,
    known: |scene, target, _| Some(scene.cameras[target.of].exposure),
    ..POSITION
};

pub(super) const DISTORTION: [Row; 5] = {
    const K1: Row = Row {
        path: "distortion.k1",
        measure: Measure::Ratio,
        bounds: &bounds::DISTORTION,
        place: 8,
        known: |scene, target, _| Some(scene.cameras[target.of].lens.radial[0]),
        ..POSITION
    };
    [
        K1,
        Row {
            path: "distortion.k2",
            place: 9,
            known: |scene, target, _| Some(scene.cameras[target.of].lens.radial[1]),
            ..K1
        },
        Row {
            path: "distortion.k3",
            place: 10,
            known: |scene, target, _| Some(scene.cameras[target.of].lens.radial[2]),
            ..K1
        },
        Row {
            path: "distortion.p1",
            place: 11,
            known: |scene, target, _| Some(scene.cameras[target.of].lens.tangential[0]),
            ..K1
        },
        Row {
            path: "distortion.p2",
            place: 12,
            known: |scene, target, _| Some(scene.cameras[target.of].lens.tangential[1]),
            ..K1
        },
    ]
};
