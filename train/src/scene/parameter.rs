//! The parameters of a scene.

use super::quantity::Quantity;
use super::row::Owner;
use super::{Collider, Name, Range, Scene, Surface, Weight};

/// A parameter: a quantity, and what it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The body, collider or camera, by its place in the scene; 0 for quantities that are of none.
    pub of: usize,
    /// What it is.
    pub quantity: Quantity,
    /// The take, by its place in the scene; 0 for what is the same in all.
    pub take: usize,
    /// The piece of the body, by its number; 0 for what is the same in all.
    pub piece: usize,
}

impl Target {
    /// Of a body, collider or camera, in the first take and of the first piece.
    pub fn new(of: usize, quantity: Quantity) -> Self {
        Self { of, quantity, take: 0, piece: 0 }
    }
}

impl Scene {
    /// Every parameter that the scene has.
    pub fn targets(&self) -> impl Iterator<Item = Target> {
        let owners =
            (0..self.bodies.len()).flat_map(|of| [Owner::Material, Owner::Body, Owner::Start].map(|owner| (owner, of)));
        let colliders = (0..self.colliders.len()).map(|of| (Owner::Collider, of));
        let cameras = (0..self.cameras.len()).map(|of| (Owner::Camera, of));
        let all = owners.chain(colliders).chain([(Owner::Scene, 0)]).chain(cameras);
        all.flat_map(|(owner, of)| self.targets_of(owner, of))
    }

    fn targets_of(&self, owner: Owner, of: usize) -> impl Iterator<Item = Target> {
        let pair = (owner == Owner::Material).then(|| self.bodies[of].material.pair.quantities());
        let varying = (owner == Owner::Material).then(|| self.varying(of));
        let rigid = self.is_rigid();
        let loaded = owner == Owner::Body && self.bodies[of].load.is_some();
        let relaxes = owner == Owner::Body && self.bodies[of].material.relaxation.is_some();
        let collider = (owner == Owner::Collider).then(|| &self.colliders[of]);
        let bounces = collider.is_some() && self.bounces(of);
        let has = move |quantity: &Quantity| {
            let there = match quantity {
                Quantity::Density | Quantity::Mass => varying.is_some_and(|own| own.contains(quantity)),
                Quantity::Viscosity | Quantity::Damping => !rigid,
                Quantity::Load => loaded,
                Quantity::RelaxationModulus | Quantity::RelaxationTime => relaxes,
                Quantity::Restitution => bounces,
                Quantity::Mu | Quantity::Lambda | Quantity::Young | Quantity::Poisson => {
                    !rigid && pair.is_some_and(|pair| pair.contains(quantity))
                }
                Quantity::Friction => collider.is_some_and(|collider| collider.friction().is_some()),
                Quantity::ColliderVelocity(_) | Quantity::ColliderAngularVelocity(_) => {
                    collider.is_some_and(|collider| !collider.is_still())
                }
                // What is clamped stays where it is.
                Quantity::StartPosition(_) => self.clamp.is_none(),
                Quantity::Velocity(_) | Quantity::AngularVelocity(_) | Quantity::Gravity(_) => true,
                Quantity::Position(_) | Quantity::LookAt(_) | Quantity::FieldOfView => true,
                Quantity::Exposure | Quantity::Distortion(_) => true,
            };
            quantity.row().owner == owner && there
        };
        let quantities = Quantity::ALL.into_iter().filter(has);
        quantities.flat_map(move |quantity| {
            let takes = if owner == Owner::Start { self.takes.len() } else { 1 };
            let pieces = self.pieces(of, quantity);
            let each = (0..takes).flat_map(move |take| (0..pieces).map(move |piece| (take, piece)));
            each.map(move |(take, piece)| Target { of, quantity, take, piece })
        })
    }

    /// How many values a quantity of a body or camera has, in each take.
    pub fn pieces(&self, of: usize, quantity: Quantity) -> usize {
        self.cut(of, quantity).map_or(1, |[x, y, z]| x * y * z)
    }

    /// How many pieces a body is cut into along each axis for a quantity, if it varies.
    pub fn cut(&self, of: usize, quantity: Quantity) -> Option<[usize; 3]> {
        let body = self.bodies.get(of).filter(|_| quantity.may_vary())?;
        body.fields.get(&quantity).copied()
    }

    /// The quantity that a body has in a part that varies inside of bodies.
    pub(crate) fn varying(&self, body: usize) -> [Quantity; 4] {
        let [first, second] = self.bodies[body].material.pair.quantities();
        let weight = match self.bodies[body].rigid {
            Some(Weight::Mass(_)) => Quantity::Mass,
            Some(Weight::Density(_)) | None => Quantity::Density,
        };
        [first, second, weight, Quantity::Viscosity]
    }

    /// The elastic parameters of all bodies.
    pub fn elastic(&self) -> impl Iterator<Item = Target> {
        self.targets().filter(|target| target.quantity.is_elastic())
    }

    /// What a name means here; of what varies from piece to piece all of it, unless it says a piece.
    ///
    /// # Errors
    /// Says which names there are.
    pub fn all(&self, name: &Name) -> Result<Vec<Target>, String> {
        let quantity = name.quantity();
        let fits = |target: &Target| {
            target.quantity == quantity
                && name.of().is_none_or(|of| of == self.owner(*target))
                && name
                    .take()
                    .is_none_or(|take| take == self.takes[target.take] && target.quantity.row().owner == Owner::Start)
                && name.piece().is_none_or(|piece| piece == target.piece && self.varies(*target))
        };
        let found: Vec<Target> = self.targets().filter(fits).collect();
        let one = |target: &Target| (target.of, target.take);
        match found.first() {
            Some(first) if found.iter().all(|target| one(target) == one(first)) => Ok(found),
            first => {
                let mut names: Vec<Name> = Vec::new();
                for target in self.targets().filter(|target| target.quantity == quantity) {
                    let name = self.short(Target { piece: 0, ..target }, false);
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                let expected = match names.is_empty() {
                    true => match quantity {
                        Quantity::ColliderVelocity(_) | Quantity::ColliderAngularVelocity(_) => {
                            "where no collider has a motion, or one that is to be found".to_owned()
                        }
                        Quantity::RelaxationModulus | Quantity::RelaxationTime => {
                            "where no material has a relaxation, expected one in it, {} where both numbers are unknown"
                                .to_owned()
                        }
                        Quantity::StartPosition(_) => "where a clamp holds the body in its place".to_owned(),
                        Quantity::Mu | Quantity::Lambda | Quantity::Young | Quantity::Poisson if !self.is_rigid() => {
                            "where a body has mu and lambda, or young and poisson if one of these is unknown".to_owned()
                        }
                        _ => "it has no such parameter".to_owned(),
                    },
                    false => format!("expected {}", names.iter().map(Name::key).collect::<Vec<_>>().join(" or ")),
                };
                let what = if first.is_none() { "is not in the scene" } else { "is of several" };
                Err(format!("{name} {what}, {expected}"))
            }
        }
    }

    /// What a name of one number means here.
    ///
    /// # Errors
    /// Says which names there are.
    pub fn target(&self, name: &Name) -> Result<Target, String> {
        match self.all(name)?.as_slice() {
            [target] => Ok(*target),
            pieces => {
                Err(format!("{name} has {} pieces, expected {name}[0] to {name}[{}]", pieces.len(), pieces.len() - 1))
            }
        }
    }

    /// What a parameter is of, by its name in the scene.
    fn owner(&self, target: Target) -> &str {
        match target.quantity.row().owner {
            Owner::Material | Owner::Body | Owner::Start => &self.bodies[target.of].name,
            Owner::Collider => &self.colliders[target.of].name,
            Owner::Camera => &self.cameras[target.of].name,
            Owner::Scene => "",
        }
    }

    fn varies(&self, target: Target) -> bool {
        self.cut(target.of, target.quantity).is_some()
    }

    /// The name of a parameter: as the scene writes it where it is unknown, else a short one.
    pub fn name_of(&self, target: Target) -> Name {
        let written = self.unknowns.iter().find(|range| range.target == target);
        written.map_or_else(|| self.short(target, true), |range| range.name.clone())
    }

    fn short(&self, target: Target, with_piece: bool) -> Name {
        let owner = target.quantity.row().owner;
        let several = match owner {
            Owner::Material | Owner::Body | Owner::Start => self.bodies.len() > 1,
            Owner::Collider => match target.quantity {
                Quantity::ColliderVelocity(_) | Quantity::ColliderAngularVelocity(_) => {
                    self.colliders.iter().filter(|collider| !collider.is_still()).count() > 1
                }
                _ => self.slides().count() > 1,
            },
            Owner::Camera => self.cameras.len() > 1,
            Owner::Scene => false,
        };
        let take = (owner == Owner::Start && self.takes.len() > 1).then(|| self.takes[target.take].as_str());
        let piece = (with_piece && self.varies(target)).then_some(target.piece);
        Name::new(take, several.then(|| self.owner(target)), target.quantity, piece)
    }

    /// The range of a parameter that may be searched for.
    pub fn range(&self, target: Target) -> Option<&Range> {
        self.unknowns.iter().find(|range| range.target == target)
    }

    /// The value that the scene gives.
    pub fn known(&self, target: Target) -> Option<f64> {
        let row = target.quantity.row();
        (row.known)(self, target, row.component.unwrap_or(0))
    }

    /// The colliders on which bodies slide with a coefficient of friction, by their places in the scene.
    pub fn slides(&self) -> impl Iterator<Item = usize> {
        let with = |(of, collider): (usize, &Collider)| collider.friction().map(|_| of);
        self.colliders.iter().enumerate().filter_map(with)
    }

    /// Whether its bodies are rigid.
    pub fn is_rigid(&self) -> bool {
        self.bodies.iter().any(|body| body.rigid.is_some())
    }

    /// Whether bodies bounce off a collider: rigid ones off half-spaces that stand still.
    pub(crate) fn bounces(&self, collider: usize) -> bool {
        let collider = &self.colliders[collider];
        self.is_rigid() && collider.is_still() && matches!(collider.surface, Surface::HalfSpace { .. })
    }

    /// What the file calls the field at `path`.
    pub fn field<'a>(&'a self, path: &'a str) -> &'a str {
        self.fields.get(path).map_or(path, String::as_str)
    }

    /// The path of a quantity of a body.
    pub fn path(&self, body: usize, quantity: &str) -> String {
        format!("bodies.{}.{quantity}", self.bodies[body].name)
    }
}
