//! The numbers that a run of a scene depends on.

use crate::job::Values;
use crate::scene::{Part, Quantity, Scene, Target};
use std::sync::Arc;

/// Where the table has what.
#[derive(Debug, PartialEq)]
struct Layout {
    /// Of each part that varies inside of bodies, where the pieces of each body begin, and how many there are in all.
    pieces: [Vec<usize>; 4],
    bodies: usize,
    takes: usize,
    cameras: usize,
    colliders: usize,
}

/// Numbers of the motion of a body or collider, of the place of a body, and of a camera.
const MOTION: usize = 6;
const PLACE: usize = 3;
pub(crate) const CAMERA: usize = 13;

impl Layout {
    fn of(scene: &Scene) -> Self {
        let begins = |part: usize| {
            let mut next = 0;
            let mut begins = vec![0];
            begins.extend((0..scene.bodies.len()).map(|body| {
                next += scene.pieces(body, scene.varying(body)[part]);
                next
            }));
            begins
        };
        Self {
            pieces: [0, 1, 2, 3].map(begins),
            bodies: scene.bodies.len(),
            takes: scene.takes.len(),
            cameras: scene.cameras.len(),
            colliders: scene.colliders.len(),
        }
    }

    fn len(&self, part: Part) -> usize {
        match part {
            Part::Mu | Part::Lambda | Part::Density | Part::Viscosity => self.pieces[part as usize][self.bodies],
            Part::Damping | Part::BranchModulus | Part::BranchTime | Part::Load => self.bodies,
            Part::Motion => MOTION * self.bodies * self.takes,
            Part::Place => PLACE * self.bodies * self.takes,
            // Arrays have at least one element.
            Part::ColliderMotion => MOTION * self.colliders.max(1),
            Part::Friction | Part::Restitution => self.colliders.max(1),
            Part::Gravity => 3,
            Part::Camera => CAMERA * self.cameras,
        }
    }

    /// Where a parameter is: in which part, and its place there.
    fn slot(&self, target: Target) -> (Part, usize) {
        let row = target.quantity.row();
        let place = match row.part {
            Part::Mu | Part::Lambda | Part::Density | Part::Viscosity => {
                self.pieces[row.part as usize][target.of] + target.piece
            }
            Part::Damping | Part::BranchModulus | Part::BranchTime | Part::Load => target.of,
            Part::Motion => MOTION * (self.bodies * target.take + target.of) + row.place,
            Part::Place => PLACE * (self.bodies * target.take + target.of) + row.place,
            Part::ColliderMotion => MOTION * target.of + row.place,
            Part::Friction | Part::Restitution => target.of,
            Part::Gravity => row.place,
            Part::Camera => CAMERA * target.of + row.place,
        };
        (row.part, place)
    }

    /// The numbers of a part that a take depends on.
    fn seen(&self, part: Part, take: usize) -> std::ops::Range<usize> {
        match part {
            Part::Motion => MOTION * self.bodies * take..MOTION * self.bodies * (take + 1),
            Part::Place => PLACE * self.bodies * take..PLACE * self.bodies * (take + 1),
            Part::Mu | Part::Lambda | Part::Density | Part::Viscosity | Part::ColliderMotion => 0..self.len(part),
            Part::Damping | Part::BranchModulus | Part::BranchTime | Part::Load => 0..self.len(part),
            Part::Friction | Part::Restitution | Part::Gravity | Part::Camera => 0..self.len(part),
        }
    }
}

/// A value of each number, or a derivative by something of each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Physics {
    layout: Arc<Layout>,
    parts: [Vec<f64>; Part::ALL.len()],
    /// Viscosity beside that of every body \[Pa s\].
    pub(crate) extra: f64,
}

impl Physics {
    /// Nothing but zeros, for a scene.
    pub(crate) fn zero(scene: &Scene) -> Self {
        let layout = Layout::of(scene);
        Self { parts: Part::ALL.map(|part| vec![0.0; layout.len(part)]), layout: Arc::new(layout), extra: 0.0 }
    }

    /// Nothing but zeros, of the same kind.
    pub(crate) fn zeroed(&self) -> Self {
        Self { layout: self.layout.clone(), parts: self.parts.each_ref().map(|part| vec![0.0; part.len()]), extra: 0.0 }
    }

    /// What `values` say, else the scene; what neither knows is in the middle of its range. No viscosity beside.
    pub(crate) fn of(scene: &Scene, values: &Values) -> Self {
        let mut all = Self::zero(scene);
        // A body without a branch has one of no modulus, and times divide.
        all.parts[Part::BranchTime as usize].fill(1.0);
        for target in scene.targets() {
            let given = values.get(&scene.name_of(target)).copied();
            let searched = scene.range(target).map(|range| middle(target.quantity, [range.min, range.max]));
            all[target] = given.or(scene.known(target)).or(searched).unwrap_or(0.0);
        }
        all
    }

    /// The same with a viscosity beside that of every body \[Pa s\].
    pub(crate) fn with_extra(self, extra: f64) -> Self {
        Self { extra, ..self }
    }

    /// The numbers at a distance along a direction.
    pub(crate) fn plus(&self, by: f64, direction: &Self) -> Self {
        let mut moved = self.clone();
        let along = direction.parts.iter().flatten();
        moved.parts.iter_mut().flatten().zip(along).for_each(|(x, d)| *x += by * d);
        moved.extra += by * direction.extra;
        moved
    }

    /// The numbers of a part that a take depends on, the viscosity beside included.
    pub(crate) fn part(&self, part: Part, take: usize) -> Vec<f64> {
        let extra = if part == Part::Viscosity { self.extra } else { 0.0 };
        self.own(part, take).iter().map(|x| x + extra).collect()
    }

    /// The numbers of a part that a take depends on, without it.
    pub(crate) fn own(&self, part: Part, take: usize) -> &[f64] {
        &self.parts[part as usize][self.layout.seen(part, take)]
    }

    /// Where a take has a parameter: in which part, and its place among the numbers of that part which the take depends on. None if
    /// it does not depend on it.
    pub(crate) fn slot(&self, target: Target, take: usize) -> Option<(Part, usize)> {
        let (part, place) = self.layout.slot(target);
        let seen = self.layout.seen(part, take);
        seen.contains(&place).then(|| (part, place - seen.start))
    }

    /// Where the pieces of a body begin in a part that varies.
    pub(crate) fn pieces(&self, part: Part, body: usize) -> usize {
        self.layout.pieces[part as usize][body]
    }
}

impl std::ops::Index<Target> for Physics {
    type Output = f64;

    fn index(&self, target: Target) -> &f64 {
        let (part, index) = self.layout.slot(target);
        &self.parts[part as usize][index]
    }
}

impl std::ops::IndexMut<Target> for Physics {
    fn index_mut(&mut self, target: Target) -> &mut f64 {
        let (part, index) = self.layout.slot(target);
        &mut self.parts[part as usize][index]
    }
}

/// The middle of a range: of logarithms, where values differ by factors.
pub(crate) fn middle(quantity: Quantity, [low, high]: [f64; 2]) -> f64 {
    if quantity.is_positive() { (low * high).sqrt() } else { 0.5 * (low + high) }
}
