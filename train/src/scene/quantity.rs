//! What can be unknown: one row each.

use super::row::{
    ANGULAR_VELOCITY, COLLIDER_ANGULAR_VELOCITY, COLLIDER_VELOCITY, DAMPING, DENSITY, DISTORTION, EXPOSURE,
    FIELD_OF_VIEW, FRICTION, GRAVITY, LAMBDA, LOAD, LOOK_AT, MASS, MU, Owner, POISSON, POSITION, RELAXATION_MODULUS,
    RELAXATION_TIME, RESTITUTION, Row, START_POSITION, Scale, VELOCITY, VISCOSITY, YOUNG,
};

/// What a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// Shear modulus, first Lamé parameter of the energy.
    Mu,
    /// Second Lamé parameter.
    Lambda,
    /// Young's modulus, of a body whose elastic parameters are this and Poisson's ratio.
    Young,
    /// Poisson's ratio.
    Poisson,
    /// Density at rest.
    Density,
    /// Mass of what hangs on a body.
    Load,
    /// Mass of a rigid body.
    Mass,
    /// Newtonian viscosity.
    Viscosity,
    /// Rate at which velocities of a body decay.
    Damping,
    /// Shear modulus of the Maxwell branch of a body.
    RelaxationModulus,
    /// Relaxation time of a body.
    RelaxationTime,
    /// Component of the velocity of the centre of mass at t = 0.
    Velocity(usize),
    /// Component of the angular velocity about the centre of mass at t = 0.
    AngularVelocity(usize),
    /// Component of where a body is at t = 0: of the origin of its shape.
    StartPosition(usize),
    /// Component of the velocity of a collider.
    ColliderVelocity(usize),
    /// Component of the angular velocity of a collider.
    ColliderAngularVelocity(usize),
    /// Coulomb's coefficient of a collider.
    Friction,
    /// Coefficient of restitution of a collider.
    Restitution,
    /// Component of gravity.
    Gravity(usize),
    /// Component of a camera's position.
    Position(usize),
    /// Component of the point that a camera looks at.
    LookAt(usize),
    /// Vertical field of view of a camera.
    FieldOfView,
    /// Exposure of a camera.
    Exposure,
    /// Coefficient of the distortion by the lens of a camera: k1, k2, k3, p1 or p2.
    Distortion(usize),
}

/// Names of the components of a vector.
pub(super) const AXES: [&str; 3] = ["x", "y", "z"];

impl Quantity {
    /// Every quantity.
    pub const ALL: [Self; 44] = {
        use Quantity::*;
        [
            Mu,
            Lambda,
            Young,
            Poisson,
            Density,
            // Before what its path ends with.
            Load,
            Mass,
            Viscosity,
            Damping,
            RelaxationModulus,
            RelaxationTime,
            Velocity(0),
            Velocity(1),
            Velocity(2),
            AngularVelocity(0),
            AngularVelocity(1),
            AngularVelocity(2),
            StartPosition(0),
            StartPosition(1),
            StartPosition(2),
            ColliderVelocity(0),
            ColliderVelocity(1),
            ColliderVelocity(2),
            ColliderAngularVelocity(0),
            ColliderAngularVelocity(1),
            ColliderAngularVelocity(2),
            Friction,
            Restitution,
            Gravity(0),
            Gravity(1),
            Gravity(2),
            Position(0),
            Position(1),
            Position(2),
            LookAt(0),
            LookAt(1),
            LookAt(2),
            FieldOfView,
            Exposure,
            Distortion(0),
            Distortion(1),
            Distortion(2),
            Distortion(3),
            Distortion(4),
        ]
    };

    /// All that is to be known of it.
    pub(crate) const fn row(self) -> Row {
        const fn component(row: Row, axis: usize) -> Row {
            Row { component: Some(axis), place: row.place + axis, ..row }
        }
        match self {
            Self::Mu => MU,
            Self::Lambda => LAMBDA,
            Self::Young => YOUNG,
            Self::Poisson => POISSON,
            Self::Density => DENSITY,
            Self::Mass => MASS,
            Self::Viscosity => VISCOSITY,
            Self::Damping => DAMPING,
            Self::RelaxationModulus => RELAXATION_MODULUS,
            Self::RelaxationTime => RELAXATION_TIME,
            Self::Load => LOAD,
            Self::Velocity(axis) => component(VELOCITY, axis),
            Self::AngularVelocity(axis) => component(ANGULAR_VELOCITY, axis),
            Self::StartPosition(axis) => component(START_POSITION, axis),
            Self::ColliderVelocity(axis) => component(COLLIDER_VELOCITY, axis),
            Self::ColliderAngularVelocity(axis) => component(COLLIDER_ANGULAR_VELOCITY, axis),
            Self::Friction => FRICTION,
            Self::Restitution => RESTITUTION,
            Self::Gravity(axis) => component(GRAVITY, axis),
            Self::Position(axis) => component(POSITION, axis),
            Self::LookAt(axis) => component(LOOK_AT, axis),
            Self::FieldOfView => FIELD_OF_VIEW,
            Self::Exposure => EXPOSURE,
            Self::Distortion(k) => DISTORTION[k],
        }
    }

    /// Last words of its path.
    pub fn key(self) -> String {
        let Row { path, words, component, .. } = self.row();
        let last = path.rmatch_indices('.').nth(words - 1).map_or(path, |(dot, _)| &path[dot + 1..]);
        component.map_or_else(|| last.to_owned(), |axis| format!("{last}.{}", AXES[axis]))
    }

    /// SI unit.
    pub fn unit(self) -> &'static str {
        self.row().measure.unit()
    }

    /// Whether it is an elastic parameter, without which nothing runs.
    pub fn is_elastic(self) -> bool {
        matches!(self, Self::Mu | Self::Lambda | Self::Young | Self::Poisson)
    }

    /// Whether its values are positive, and differ by factors.
    pub fn is_positive(self) -> bool {
        self.row().scale == Scale::Factors
    }

    /// What was expected in place of a value that is beyond all that there is.
    pub(crate) fn too_large(self, value: f64) -> Option<String> {
        let bounds = self.row().bounds;
        (value.abs() > bounds.most).then(|| bounds.expected())
    }

    /// Whether it may have a value of its own in each piece of a body.
    pub fn may_vary(self) -> bool {
        self.row().owner == Owner::Material
    }
}
