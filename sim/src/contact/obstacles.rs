//! All colliders of a model, and what they do to vertices in a step.

use super::kernels::{Touch, contact_force, friction_force, pack_contacts, project_velocity};
use super::list::with_contact;
use super::{Collider, Contact};
use crate::collision::{Pose, Solid, Solids, move_poses};
use crate::error::{Error, Result, non_negative};
use crate::params::parameters;
use crate::step::Tick;
use diffkern::arith;
use diffkern::prelude::*;

/// Speed below which friction by forces fades \[m/s\]: the `slip` of [`coulomb`](super::coulomb).
pub(crate) const SLIP_SPEED: f64 = 1e-4;

/// The colliders of a model of vertices, on a device: the constant part.
#[derive(Clone, Debug)]
pub struct Obstacles<F: Float> {
    pub(super) colliders: Vec<Collider>,
    pub(super) solids: Solids<F>,
    widths: Array<F>,
    radius: Array<F>,
}

/// What may be identified of the colliders. Arrays have one element for all of them or one for each, but for the poses: one each.
#[derive(Clone, Debug)]
pub struct Contacts<F: Float> {
    /// Force per depth \[N/m\], of [`Hertz`](super::Hertz) \[N/m^(3/2)\].
    pub stiffness: Array<F>,
    /// Damping by the speed of approach \[s/m\], of [`KelvinVoigt`](super::KelvinVoigt) \[N s/m\].
    pub damping: Array<F>,
    /// Coulomb's coefficient. Bodies by finite elements ([`fem::lattice`](crate::fem::lattice)) rub where a collider was made with friction, or a coefficient here is not 0 or is one whose gradient
    /// is asked for: of one that is computed to be 0, of colliders without friction, there is no gradient.
    pub friction: Array<F>,
    /// Where they are at time 0, and how they move.
    pub poses: Array<Pose<F>>,
}

/// [`Obstacles`] with their parameters.
#[derive(Clone, Debug)]
pub(crate) struct BoundObstacles<F: Float> {
    pub(super) obstacles: Obstacles<F>,
    pub(super) laws: Array<Vec4<F>>,
    poses: Array<Pose<F>>,
}

/// Vertices of a step, as contacts see them.
pub(crate) struct Vertices<'a, F: Float> {
    pub(crate) x: &'a Array<Vec3<F>>,
    pub(crate) v: &'a Array<Vec3<F>>,
    pub(crate) mass: &'a Array<F>,
}

/// Vertices of a step after all its forces but friction.
pub(crate) struct Ahead<'a, F: Float> {
    /// Where they are when the forces act \[m\].
    pub(crate) x: &'a Array<Vec3<F>>,
    /// How they move \[m/s\].
    pub(crate) v: &'a Array<Vec3<F>>,
    /// What of that the pushes of colliders have changed \[m/s\].
    pub(crate) pushed: &'a Array<Vec3<F>>,
}

/// What colliders do to vertices but for friction.
pub(crate) struct Pushes<F: Float> {
    poses: Array<Pose<F>>,
    pub(crate) each: Vec<Push<F>>,
}

/// The forces of a collider on vertices along its normals, and these with the distances.
pub(crate) struct Push<F: Float> {
    pub(crate) gap: Array<Vec4<F>>,
    /// From which gap on it does nothing \[m\].
    pub(crate) reach: f64,
    force: Array<Vec3<F>>,
    touch: Touch<F>,
}

/// A collider that acts by forces, as points see it.
pub(crate) struct Facing<'a, F: Float> {
    solids: &'a Solids<F>,
    /// Its number.
    pub(crate) collider: u32,
    pub(crate) contact: Contact,
    /// Whether it is all below a plane.
    pub(crate) is_plane: bool,
    /// Where the colliders are.
    pub(crate) poses: &'a Array<Pose<F>>,
    /// Stiffness, damping, width and friction of each.
    pub(crate) laws: &'a Array<Vec4<F>>,
}

impl<F: Float> Facing<'_, F> {
    /// `(normal, distance)` of each point.
    pub(crate) fn gap(&self, x: &Array<Vec3<F>>) -> diffkern::Result<Array<Vec4<F>>> {
        self.solids.gaps(self.collider as usize, x, self.poses)
    }
}

parameters! {
    impl [F: Float] for Contacts<F> {
        stiffness: "contact.stiffness", "N/m", NonNegative;
        damping: "contact.damping", "s/m", NonNegative;
        friction: "contact.friction", "", NonNegative;
        poses: "contact.poses", "SI", Finite;
    }
}

impl<F: Float> Obstacles<F> {
    /// On `device`; at least one.
    ///
    /// # Errors
    /// When there is none, a value of a collider is out of its range, or memory is short.
    pub fn new(device: &Device, colliders: &[Collider]) -> Result<Obstacles<F>> {
        if colliders.is_empty() {
            return Err(Error::invalid("number of colliders", 0, "at least 1"));
        }
        colliders.iter().enumerate().try_for_each(|(k, c)| c.check(k))?;
        let solids: Vec<_> = colliders.iter().map(|c| &c.solid).collect();
        let widths = colliders.iter().map(|c| F::from_f64(c.contact.numbers().map_or(1.0, |n| n[2])));
        Ok(Obstacles {
            solids: Solids::new(device, &solids)?,
            widths: device.array(&widths.collect::<Vec<_>>())?,
            colliders: colliders.to_vec(),
            radius: device.zeros(1)?,
        })
    }

    /// The same touched by round things of this radius \[m\] in place of points; by forces only.
    ///
    /// # Errors
    /// When it is negative.
    pub fn with_radius(self, radius: f64) -> Result<Obstacles<F>> {
        let radius = F::from_f64(non_negative("radius of what touches", radius)?);
        let radius = self.widths.device().array(&[radius])?;
        Ok(self.with_radii(radius))
    }

    /// The same with a radius for each of the vertices.
    pub(crate) fn with_radii(self, radius: Array<F>) -> Obstacles<F> {
        Obstacles { radius, ..self }
    }

    /// The parameters as the colliders have them.
    ///
    /// # Errors
    /// When memory is short.
    pub fn contacts(&self, device: &Device) -> Result<Contacts<F>> {
        let each = |of: &dyn Fn(&Collider) -> f64| -> Result<Array<F>> {
            let values: Vec<F> = self.colliders.iter().map(|c| F::from_f64(of(c))).collect();
            Ok(device.array(&values)?)
        };
        let poses: Vec<Pose<F>> = self.colliders.iter().map(Collider::pose).collect();
        Ok(Contacts {
            stiffness: each(&|c| c.contact.numbers().map_or(0.0, |n| n[0]))?,
            damping: each(&|c| c.contact.numbers().map_or(0.0, |n| n[1]))?,
            friction: each(&|c| c.friction)?,
            poses: device.array(&poses)?,
        })
    }

    /// The colliders.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// The obstacles of a model with these parameters, or those of the colliders.
    pub(crate) fn bind(
        obstacles: Option<&Obstacles<F>>,
        given: Option<&Contacts<F>>,
        device: &Device,
    ) -> Result<Option<BoundObstacles<F>>> {
        match (obstacles, given) {
            (Some(obstacles), Some(contacts)) => obstacles.with(contacts).map(Some),
            (Some(obstacles), None) => obstacles.with(&obstacles.contacts(device)?).map(Some),
            (None, Some(_)) => {
                Err(Error::invalid("contact of the parameters", "given", "none: there are no colliders"))
            }
            (None, None) => Ok(None),
        }
    }

    /// Whether colliders may rub with these parameters, or those of their own: where none was made with friction and none is asked for, there is none.
    ///
    /// # Errors
    /// When memory is short.
    pub(crate) fn rub(&self, given: Option<&Contacts<F>>) -> Result<bool> {
        let made = self.colliders.iter().any(|c| c.contact.numbers().is_some() && c.friction > 0.0);
        let Some(Contacts { friction, .. }) = given else { return Ok(made) };
        let asked = || Ok::<_, Error>(friction.to_vec()?.iter().any(|f| *f != F::zero()));
        Ok(made || friction.as_any().needs_grad() || asked()?)
    }

    fn with(&self, contacts: &Contacts<F>) -> Result<BoundObstacles<F>> {
        let (count, device) = (self.colliders.len(), contacts.poses.device());
        let Contacts { stiffness, damping, friction, poses } = contacts;
        for (what, len) in [("stiffness", stiffness.len()), ("damping", damping.len()), ("friction", friction.len())] {
            if len != 1 && len != count {
                let expected = format!("1 or {count}, one a collider");
                return Err(Error::invalid(format!("length of contact.{what}"), len, expected));
            }
        }
        if poses.len() != count {
            return Err(Error::invalid("number of poses of colliders", poses.len(), count.to_string()));
        }
        let laws = device.uninit(count)?;
        pack_contacts(count, stiffness, damping, friction, &self.widths, &laws)?;
        Ok(BoundObstacles { obstacles: self.clone(), laws, poses: poses.clone() })
    }
}

impl<F: Float> BoundObstacles<F> {
    /// The colliders, where the parameters have them. Reads these to the host.
    pub(crate) fn colliders(&self) -> Result<Vec<Collider>> {
        let vec3 = |v: Vec3<F>| Vec3::from_array(v.to_array().map(F::to_f64));
        let placed = |(collider, pose): (&Collider, Pose<F>)| {
            let rotation = Quat::from_array(pose.rotation.to_array().map(F::to_f64));
            let (centre, velocity, spin) = (vec3(pose.centre), vec3(pose.velocity), vec3(pose.spin));
            Collider { pose: Pose { centre, rotation, velocity, spin }, ..collider.clone() }
        };
        Ok(self.obstacles.colliders.iter().zip(self.poses.to_vec()?).map(placed).collect())
    }

    /// Whether there are contacts by forces.
    pub(crate) fn act_by_forces(&self) -> bool {
        self.obstacles.colliders.iter().any(|c| c.contact.numbers().is_some())
    }

    /// Whether forces of contact depend on how fast what touches comes nearer.
    pub(crate) fn are_damped(&self) -> bool {
        self.obstacles.colliders.iter().any(|c| c.contact.is_damped())
    }

    /// Whether there are contacts by forces with other things than what is below a plane.
    pub(crate) fn are_more_than_planes(&self) -> bool {
        let other = |c: &Collider| c.contact.numbers().is_some() && !is_plane(c);
        self.obstacles.colliders.iter().any(other)
    }

    /// Whether there are contacts that act on velocities.
    pub(crate) fn act_on_velocities(&self) -> bool {
        self.obstacles.colliders.iter().any(|c| c.contact.numbers().is_none())
    }

    /// Adds the forces of contact to `force`.
    pub(crate) fn add_forces(&self, at: &Vertices<'_, F>, force: &Array<Vec3<F>>, tick: Tick) -> diffkern::Result<()> {
        self.each_by_forces(tick, |facing| {
            self.add_force(&facing, at, &facing.gap(at.x)?, force, touch(&facing, tick, 1))
        })
    }

    fn add_force(
        &self,
        Facing { contact, poses, laws, .. }: &Facing<'_, F>,
        &Vertices { x, v, mass }: &Vertices<'_, F>,
        gap: &Array<Vec4<F>>,
        force: &Array<Vec3<F>>,
        touch: Touch<F>,
    ) -> diffkern::Result<()> {
        let radius = &self.obstacles.radius;
        with_contact!(*contact, L => {
            contact_force::<F, L>(x.len(), x, v, mass, gap, poses, laws, radius, force, touch)?;
        });
        Ok(())
    }

    /// The forces of contact without friction.
    pub(crate) fn pushes(&self, at: &Vertices<'_, F>, tick: Tick) -> diffkern::Result<Pushes<F>> {
        let mut pushes = Pushes { poses: self.poses(tick.time)?, each: Vec::new() };
        self.each_by_forces(tick, |facing| {
            let (gap, force, touch) = (facing.gap(at.x)?, at.x.device().zeros(at.x.len())?, touch(&facing, tick, 0));
            self.add_force(&facing, at, &gap, &force, touch)?;
            pushes.each.push(Push { gap, reach: facing.contact.reach(), force, touch });
            Ok(())
        })?;
        Ok(pushes)
    }

    /// Adds the friction that goes with `pushes` to `force`.
    pub(crate) fn add_friction(
        &self,
        ahead: &Ahead<'_, F>,
        pushes: &Pushes<F>,
        force: &Array<Vec3<F>>,
    ) -> diffkern::Result<()> {
        let Ahead { x, v, pushed } = ahead;
        pushes.each.iter().try_for_each(|Push { gap, force: push, touch, .. }| {
            friction_force(x.len(), x, v, pushed, push, gap, &pushes.poses, &self.laws, force, *touch)
        })
    }

    /// Goes through the colliders that act by forces.
    pub(crate) fn each_by_forces(
        &self,
        tick: Tick,
        mut act: impl FnMut(Facing<'_, F>) -> diffkern::Result<()>,
    ) -> diffkern::Result<()> {
        if !self.act_by_forces() {
            return Ok(());
        }
        let poses = self.poses(tick.time)?;
        for (k, collider) in self.obstacles.colliders.iter().enumerate() {
            if collider.contact.numbers().is_none() {
                continue;
            }
            act(Facing {
                solids: &self.obstacles.solids,
                collider: k as u32,
                contact: collider.contact,
                is_plane: is_plane(collider),
                poses: &poses,
                laws: &self.laws,
            })?;
        }
        Ok(())
    }

    /// The velocities `v` at `x` as the contacts that act on velocities leave them.
    pub(crate) fn project(
        &self,
        x: &Array<Vec3<F>>,
        v: Array<Vec3<F>>,
        held: &Array<u32>,
        tick: Tick,
    ) -> diffkern::Result<Array<Vec3<F>>> {
        if !self.act_on_velocities() {
            return Ok(v);
        }
        let (mut v, poses) = (v, self.poses(tick.time)?);
        for (k, collider) in self.obstacles.colliders.iter().enumerate() {
            let Some(kind) = collider.contact.projection() else { continue };
            let gap = self.obstacles.solids.gaps(k, x, &poses)?;
            let projected = x.device().uninit(x.len())?;
            project_velocity(x.len(), x, &v, &gap, &poses, &self.laws, held, &projected, k as u32, kind)?;
            v = projected;
        }
        Ok(v)
    }

    /// Where the colliders are at a time; also of those at rest, whose velocity may have a gradient.
    pub(super) fn poses(&self, time: f64) -> diffkern::Result<Array<Pose<F>>> {
        let moved = self.poses.device().uninit(self.poses.len())?;
        move_poses(moved.len(), &self.poses, &moved, F::from_f64(time))?;
        Ok(moved)
    }

    /// Largest stiffness of a contact \[N/m\].
    pub(crate) fn stiffness(&self) -> Result<f64> {
        let laws = self.laws.to_vec()?;
        Ok(laws.iter().map(|q| q.x.to_f64()).fold(0.0, f64::max))
    }
}

impl<F: Float> Pushes<F> {
    /// Adds them to `force`.
    pub(crate) fn add(&self, force: &Array<Vec3<F>>) -> diffkern::Result<()> {
        self.each.iter().try_for_each(|push| arith::add_scaled(&push.force, F::one(), force))
    }
}

fn touch<F: Float>(facing: &Facing<'_, F>, tick: Tick, rubs: u32) -> Touch<F> {
    let [dt, slip] = [tick.dt, SLIP_SPEED].map(F::from_f64);
    Touch { collider: facing.collider, dt, slip, rubs }
}

fn is_plane(collider: &Collider) -> bool {
    matches!(collider.solid, Solid::HalfSpace {})
}
