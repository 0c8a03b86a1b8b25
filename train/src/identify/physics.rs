//! The numbers that a run of a scene depends on.

use crate::job::Values;
use crate::scene::{Quantity, Scene, Target};

/// Numbers that the program takes in one array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// One a body, as the three that follow.
    Mu,
    Lambda,
    Density,
    Viscosity,
    /// Velocity and angular velocity of each body, six numbers.
    Motion,
    Friction,
    Gravity,
    Camera,
}

impl Part {
    pub(super) const ALL: [Self; 8] = [
        Self::Mu,
        Self::Lambda,
        Self::Density,
        Self::Viscosity,
        Self::Motion,
        Self::Friction,
        Self::Gravity,
        Self::Camera,
    ];

    /// How many numbers there are for so many bodies.
    fn len(self, bodies: usize) -> usize {
        match self {
            Self::Mu | Self::Lambda | Self::Density | Self::Viscosity => bodies,
            Self::Motion => 6 * bodies,
            Self::Friction => 1,
            Self::Gravity | Self::Camera => 3,
        }
    }
}

/// Where a parameter is: in which part, and its place there.
pub(super) fn slot(target: Target) -> (Part, usize) {
    let body = target.body;
    match target.quantity {
        Quantity::Mu => (Part::Mu, body),
        Quantity::Lambda => (Part::Lambda, body),
        Quantity::Density => (Part::Density, body),
        Quantity::Viscosity => (Part::Viscosity, body),
        Quantity::Velocity(a) => (Part::Motion, 6 * body + a),
        Quantity::AngularVelocity(a) => (Part::Motion, 6 * body + 3 + a),
        Quantity::Friction => (Part::Friction, 0),
        Quantity::Gravity(a) => (Part::Gravity, a),
        Quantity::Camera(a) => (Part::Camera, a),
    }
}

/// A value of each number, or a derivative by something of each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Physics {
    parts: [Vec<f64>; Part::ALL.len()],
    /// Viscosity beside that of every body \[Pa s\].
    pub(super) extra: f64,
}

impl Physics {
    /// Nothing but zeros.
    pub(super) fn zero(bodies: usize) -> Self {
        Self { parts: Part::ALL.map(|part| vec![0.0; part.len(bodies)]), extra: 0.0 }
    }

    /// What `values` say, else the scene; what neither knows is in the middle of its range. No viscosity beside.
    pub(super) fn of(scene: &Scene, values: &Values) -> Self {
        let mut all = Self::zero(scene.bodies.len());
        for target in scene.targets() {
            let given = values.get(&scene.name_of(target)).copied();
            let searched = scene.range(target).map(|range| middle(target.quantity, [range.min, range.max]));
            all[target] = given.or(scene.known(target)).or(searched).unwrap_or(0.0);
        }
        all
    }

    /// The same with a viscosity beside that of every body \[Pa s\].
    pub(super) fn with_extra(self, extra: f64) -> Self {
        Self { extra, ..self }
    }

    /// The numbers at a distance along a direction.
    pub(super) fn plus(&self, by: f64, direction: &Self) -> Self {
        let mut moved = self.clone();
        let along = direction.parts.iter().flatten();
        moved.parts.iter_mut().flatten().zip(along).for_each(|(x, d)| *x += by * d);
        moved.extra += by * direction.extra;
        moved
    }

    /// The numbers of a part, the viscosity beside included.
    pub(super) fn part(&self, part: Part) -> Vec<f64> {
        let extra = if part == Part::Viscosity { self.extra } else { 0.0 };
        self.parts[part as usize].iter().map(|x| x + extra).collect()
    }

    /// The numbers of a part without it.
    pub(super) fn own(&self, part: Part) -> &[f64] {
        &self.parts[part as usize]
    }
}

impl std::ops::Index<Target> for Physics {
    type Output = f64;

    fn index(&self, target: Target) -> &f64 {
        let (part, index) = slot(target);
        &self.parts[part as usize][index]
    }
}

impl std::ops::IndexMut<Target> for Physics {
    fn index_mut(&mut self, target: Target) -> &mut f64 {
        let (part, index) = slot(target);
        &mut self.parts[part as usize][index]
    }
}

/// The middle of a range: of logarithms, where values differ by factors.
pub(super) fn middle(quantity: Quantity, [low, high]: [f64; 2]) -> f64 {
    if quantity.is_positive() { (low * high).sqrt() } else { 0.5 * (low + high) }
}
