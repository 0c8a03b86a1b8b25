//! What of a scene may be wrong that shows only once bodies touch or swing: each as a scene that says it otherwise.

use crate::job::{Simulator, Values};
use crate::program::Physics;
use crate::scene::{Contact, Quantity, Scene, Target};
use diffkern_sim::mpm::Law;

/// By how much a scene says it otherwise: so much that differences are beyond rounding, so little that they are in proportion.
const FRICTION: f64 = 0.2;
const DAMPING: f64 = 0.5;
const STIFFER: f64 = 1.1;
/// Halves of a body so much stiffer and softer that they are too far off for pictures in proportion.
const HALVES: [f64; 2] = [1.0 / 1.35, 1.35];
const FASTER: f64 = 1.03;
/// Frame rates too far off for pictures in proportion, as parts of what the scene says.
const RATES: [f64; 4] = [1.0 / 1.1, 1.0 / 1.05, 1.05, 1.1];
/// Friction of a contact that hardly slides.
const HOLDS: f64 = 1.0;
/// So many times all of it may be more than all only because pictures are not in proportion to it.
const OVER: f64 = 1.5;

/// A suspect that explains this part of what the best one explains cannot be told from it.
pub(super) const ALIKE: f64 = 0.8;

/// What a scene says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Suspect {
    /// The friction of a collider, and by how much it may be another.
    Friction(usize, f64),
    /// What a collider does to what touches it, and what it may do instead.
    Contact(usize, Contact),
    /// That velocities of a body decay as they do.
    Damping(usize),
    /// The law of all bodies, and another.
    Law(Law),
    /// That a body is of one material, and so many times as stiff as that its upper half along an axis may be, its lower one as much softer.
    Homogeneity(usize, usize, f64),
    /// How many frames there are in a second, and how many times as many there may be. What falls shows it before it touches, if it is long in the air.
    FrameRate(f64),
}

/// The same scene with something said otherwise, and the numbers that go with it.
pub(super) struct Alternative {
    pub(super) suspect: Suspect,
    pub(super) scene: Scene,
    pub(super) known: Values,
    pub(super) values: Physics,
}

impl Suspect {
    /// All of a scene of elastic bodies that `simulator` can move otherwise.
    pub(super) fn all(scene: &Scene, simulator: Simulator) -> Vec<Self> {
        if scene.is_rigid() {
            return Vec::new();
        }
        let searched = |of: usize, quantity: Quantity| scene.range(Target::new(of, quantity)).is_some();
        // What is found along is searched for near what the scene says alone.
        let anywhere = |of: usize, quantity: Quantity| {
            scene.range(Target::new(of, quantity)).is_some_and(|range| range.prior.is_none())
        };
        let mut all = Vec::new();
        for (of, collider) in scene.colliders.iter().enumerate() {
            match collider.contact {
                Contact::Friction(_) if anywhere(of, Quantity::Friction) => {}
                Contact::Friction(own) => {
                    all.push(Self::Friction(of, FRICTION));
                    // All of it at once: where a body rolls or stays, a little less makes no difference.
                    all.extend((own > 0.0).then_some(Self::Friction(of, -own)));
                }
                Contact::Sticky | Contact::Slip => all.push(Self::Contact(of, Contact::Friction(0.0))),
            }
            if collider.contact == Contact::Sticky {
                all.push(Self::Contact(of, Contact::Friction(HOLDS)));
            }
        }
        for (of, body) in scene.bodies.iter().enumerate() {
            let damped = simulator == Simulator::Fem && !searched(of, Quantity::Damping);
            all.extend(damped.then_some(Self::Damping(of)));
            let [first, _] = body.material.pair.quantities();
            if !body.fields.contains_key(&first) {
                all.extend((0..3).map(|axis| Self::Homogeneity(of, axis, STIFFER)));
            }
        }
        let own = scene.bodies[0].material.law;
        all.extend(Law::ALL.into_iter().filter(|law| *law != own).map(Self::Law));
        all.push(Self::FrameRate(FASTER));
        all
    }

    /// Those that a step from what the scene says may not reach: other kinds of contact, halves that differ much, and frame rates that are far off.
    pub(super) fn far(scene: &Scene, simulator: Simulator) -> Vec<Self> {
        let mut far = Self::all(scene, simulator);
        far.retain(|suspect| matches!(suspect, Self::Friction(..) | Self::Contact(..) | Self::Homogeneity(..)));
        far = far.into_iter().flat_map(Self::farther).collect();
        far.extend(RATES.into_iter().filter(|_| !scene.is_rigid()).map(Self::FrameRate));
        far
    }

    /// The same farther from what the scene says, both ways, where a step may not reach that.
    fn farther(self) -> Vec<Self> {
        match self {
            Self::Homogeneity(of, axis, _) => HALVES.map(|by| Self::Homogeneity(of, axis, by)).to_vec(),
            near => vec![near],
        }
    }

    /// The same by so many times the amount, where [`Suspect::otherwise`] says amounts by values alone.
    pub(super) fn times(&self, many: f64) -> Option<Self> {
        match *self {
            Self::Homogeneity(of, axis, by) => Some(Self::Homogeneity(of, axis, by.powf(many))),
            Self::Friction(of, by) if by > 0.0 => Some(Self::Friction(of, by * many)),
            _ => None,
        }
    }

    /// The scene that says it otherwise, with values that are else those of the scene.
    pub(super) fn otherwise(self, scene: &Scene, values: &Physics) -> Alternative {
        let mut changed = scene.clone();
        let mut known: Values = scene.targets().map(|target| (scene.name_of(target), values[target])).collect();
        match self {
            Self::Friction(of, by) => {
                let target = Target::new(of, Quantity::Friction);
                let other = (values[target] + by).max(0.0);
                changed.colliders[of].contact = Contact::Friction(other);
                known.insert(scene.name_of(target), other);
            }
            Self::Contact(of, contact) => {
                changed.colliders[of].contact = contact;
                known.remove(&scene.name_of(Target::new(of, Quantity::Friction)));
            }
            Self::Damping(of) => {
                let target = Target::new(of, Quantity::Damping);
                changed.bodies[of].material.damping = values[target] + DAMPING;
                known.insert(scene.name_of(target), values[target] + DAMPING);
            }
            Self::Law(law) => changed.bodies.iter_mut().for_each(|body| body.material.law = law),
            Self::FrameRate(by) => changed.frame_rate *= by,
            Self::Homogeneity(of, axis, stiffer) => {
                let [first, _] = scene.bodies[of].material.pair.quantities();
                let mut cut = [1; 3];
                cut[axis] = 2;
                changed.bodies[of].fields.insert(first, cut);
                let target = Target::new(of, first);
                for (piece, by) in [(0, 1.0 / stiffer), (1, stiffer)] {
                    known.insert(changed.name_of(Target { piece, ..target }), by * values[target]);
                }
            }
        }
        let values = Physics::of(&changed, &known).with_extra(values.extra);
        Alternative { suspect: self, scene: changed, known, values }
    }

    /// Whether it can be wrong by so many times as the alternative says.
    pub(super) fn may_be(&self, scene: &Scene, times: f64) -> bool {
        match *self {
            Self::Friction(_, by) => times > 0.0 && (by > 0.0 || times < OVER),
            Self::Damping(of) => scene.bodies[of].material.damping + DAMPING * times >= 0.0,
            // Nearer to the other than to what the scene says.
            Self::Contact(..) | Self::Law(_) => times > 0.5,
            Self::Homogeneity(..) | Self::FrameRate(_) => true,
        }
    }

    /// In words, of so many times as the alternative says.
    pub(super) fn words(&self, scene: &Scene, times: f64) -> String {
        let body = |of: usize| match scene.bodies.len() {
            1 => "the body".to_owned(),
            _ => scene.bodies[of].name.clone(),
        };
        match *self {
            Self::Friction(of, by) => {
                let by = if by > 0.0 { by * times } else { by * times.min(1.0) };
                format!("the friction of {}, by {by:+.2}", scene.colliders[of].name)
            }
            Self::Contact(of, _) => format!("that bodies cannot slide on {} or leave it", scene.colliders[of].name),
            Self::Damping(of) => format!("the damping of {}, by {:+.2} 1/s", body(of), DAMPING * times),
            Self::Law(law) => format!("the law of the material, which may be {}", law.name()),
            Self::FrameRate(by) => format!("the frame rate, by {:+.1} %", 100.0 * (by.powf(times) - 1.0)),
            Self::Homogeneity(of, axis, stiffer) => {
                let (percent, axis) = (100.0 * (stiffer.powf(2.0 * times) - 1.0), ["x", "y", "z"][axis]);
                format!(
                    "that {} is of one material: its upper half along {axis} may be {percent:+.0} % stiffer",
                    body(of)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Fit, Name};
    use std::path::Path;

    fn sample() -> crate::error::Result<Scene> {
        Scene::read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/jelly_drop_e")))
    }

    #[test]
    fn no_step_leads_to_other_contacts_halves_and_frame_rates() -> crate::error::Result<()> {
        let mut scene = sample()?;
        let rates = || RATES.map(Suspect::FrameRate).to_vec();
        let halves = || (0..3).flat_map(|axis| HALVES.map(|by| Suspect::Homogeneity(0, axis, by))).collect::<Vec<_>>();
        let friction = vec![Suspect::Friction(0, FRICTION)];
        assert_eq!(Suspect::far(&scene, Simulator::Fem), [friction.clone(), halves(), rates()].concat());
        scene.colliders[0].contact = Contact::Sticky;
        let contacts = [0.0, HOLDS].map(|friction| Suspect::Contact(0, Contact::Friction(friction)));
        assert_eq!(Suspect::far(&scene, Simulator::Mpm), [contacts.to_vec(), halves(), rates()].concat());
        // Of two materials already.
        scene.colliders[0].contact = Contact::Friction(0.0);
        scene.bodies[0].fields.insert(Quantity::Mu, [1, 2, 1]);
        assert_eq!(Suspect::far(&scene, Simulator::Fem), [friction, rates()].concat());
        Ok(())
    }

    /// By as many times the logarithm of what halves differ by, and of friction as it is.
    #[test]
    fn some_may_be_so_by_other_amounts() -> crate::error::Result<()> {
        let scene = sample()?;
        let values = Physics::of(&scene, &Values::from([(Name::MU, 4e3), (Name::LAMBDA, 9e3)]));
        let other = |suspect: Option<Suspect>| suspect.map(|suspect| suspect.otherwise(&scene, &values).values);
        let halves = other(Suspect::Homogeneity(0, 1, 1.44).times(0.5)).expect("halves differ by amounts");
        let piece = |piece| halves[Target { piece, ..Target::new(0, Quantity::Mu) }];
        assert!((piece(1) - 1.2 * 4e3).abs() < 1e-9 && (piece(0) - 4e3 / 1.2).abs() < 1e-9, "{halves:?}");
        let friction = other(Suspect::Friction(0, 0.2).times(1.5)).expect("friction has an amount");
        assert!((friction[Target::new(0, Quantity::Friction)] - 0.3).abs() < 1e-12, "{friction:?}");
        // None at all has no amount, and other frame rates are other scenes.
        for suspect in [Suspect::Friction(0, -0.2), Suspect::FrameRate(1.1), Suspect::Damping(0)] {
            assert!(suspect.times(0.5).is_none(), "{suspect:?}");
        }
        Ok(())
    }

    /// It is searched for near what the scene says, and may be far from that.
    #[test]
    fn friction_that_is_found_along_may_be_none() -> crate::error::Result<()> {
        let mut scene = sample()?;
        scene.colliders[0].contact = Contact::Friction(0.4);
        let scene = scene.fitted(&[Fit::Friction])?;
        let none = Suspect::Friction(0, -0.4);
        assert!(Suspect::far(&scene, Simulator::Fem).contains(&none));
        let target = Target::new(0, Quantity::Friction);
        let mut values = Physics::of(&scene, &Values::new());
        values[target] = 0.33;
        let Alternative { scene: other, values, .. } = none.otherwise(&scene, &values);
        assert_eq!((values[target], other.colliders[0].contact), (0.0, Contact::Friction(0.0)));
        Ok(())
    }

    /// Each changes what it names, and nothing else that a run depends on.
    #[test]
    fn an_alternative_says_one_thing_otherwise() -> crate::error::Result<()> {
        let mut scene = sample()?;
        scene.colliders[0].contact = Contact::Friction(0.15);
        let known = Values::from([(Name::MU, 4e3), (Name::LAMBDA, 9e3)]);
        let values = Physics::of(&scene, &known).with_extra(0.7);
        let all = Suspect::all(&scene, Simulator::Fem);
        assert_eq!(all.len(), 2 + 1 + 3 + 2 + 1, "{all:?}");
        for suspect in all {
            let Alternative { suspect, scene: other, values: with, .. } = suspect.otherwise(&scene, &values);
            assert_eq!(with.extra, 0.7);
            let target = |quantity| Target::new(0, quantity);
            match suspect {
                Suspect::Friction(0, by) => assert_eq!(with[target(Quantity::Friction)], 0.15 + by),
                Suspect::Damping(0) => assert_eq!(with[target(Quantity::Damping)], DAMPING),
                Suspect::Law(law) => assert!(other.bodies[0].material.law == law && with == values),
                Suspect::FrameRate(by) => assert!(other.frame_rate == by * scene.frame_rate && with == values),
                Suspect::Homogeneity(0, axis, _) => {
                    let piece = |piece| with[Target { piece, ..target(Quantity::Mu) }];
                    assert_eq!([piece(0), piece(1)], [4e3 / STIFFER, 4e3 * STIFFER]);
                    assert_eq!(other.pieces(0, Quantity::Mu), 2);
                    assert_eq!(other.cut(0, Quantity::Mu).map(|cut| cut[axis]), Some(2));
                }
                other => panic!("{other:?}"),
            }
            for quantity in [Quantity::Lambda, Quantity::Density, Quantity::Velocity(1), Quantity::Gravity(2)] {
                assert_eq!(with[target(quantity)], values[target(quantity)], "{suspect:?} {quantity:?}");
            }
            // What was taken from what the scene says can be taken as far as it goes.
            assert_eq!(
                suspect.may_be(&scene, -0.8),
                matches!(suspect, Suspect::Homogeneity(..) | Suspect::FrameRate(_)),
                "{suspect:?}"
            );
            assert!(suspect.may_be(&scene, 0.8));
        }
        Ok(())
    }
}
