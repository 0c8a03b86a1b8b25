//! How rigid bodies are stepped, from the scene alone.

use super::super::setup::{self, GridOptions};
use super::shapes::Form;
use crate::error::Result;
use crate::job::Values;
use crate::scene::{At, Body, Quantity, Scene, Target};
use diffkern::Vec3;
use diffkern_sim::contact::{Collider, Contact};

/// Fewest steps from one frame to the next.
const LEAST_STEPS: f64 = 4.0;
/// Longest step in units of the time in which a body falls by about its own thinnest side, in which it moves so far, and in which it turns by a radian.
const FALLING: f64 = 0.02;
const MOVING: f64 = 0.1;
const TURNING: f64 = 0.05;
/// Longest step of several bodies in units of the time in which one, at the speed that it may have at the end, moves by its own thinnest side: the deeper what meets so fast gets.
const MEETING: f64 = 0.01;
/// Part of its thinnest side by which a body sinks into a collider of contact by forces on which it lies.
const SUNK: f64 = 5e-3;

/// What a run takes, from the scene alone.
pub(super) struct Spec {
    pub(super) forms: Vec<Form>,
    pub(super) steps_per_frame: usize,
    /// Time from one frame to the next \[s\].
    pub(super) frame: f64,
    /// The most that anything in the scene makes a body \[m/s\], but for what bodies do to each other.
    pub(super) top_speed: f64,
    /// Whether there is a collider or another body.
    pub(super) meets: bool,
}

/// What a [`Plan`](super::Plan) knows of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RigidPlan {
    pub(super) steps_per_frame: f64,
    /// Points that touch.
    pub(super) points: f64,
    pub(super) vertices: f64,
}

impl Spec {
    pub(super) fn new(scene: &Scene, take: usize, known: &Values, options: &GridOptions) -> Result<Self> {
        let several = scene.bodies.len() > 1;
        let form = |body: &Body| Form::new(&body.starts[take].shape, several);
        let forms = scene.bodies.iter().map(form).collect::<Result<Vec<_>>>()?;
        let frame = 1.0 / scene.frame_rate;
        let steps = forms.iter().enumerate().map(|(body, form)| step(scene, take, known, body, form));
        let step = steps.fold(frame / LEAST_STEPS, f64::min) / options.cells as f64;
        let speeds = forms.iter().enumerate().map(|(body, form)| top_speed(scene, take, known, body, form));
        let top_speed = speeds.fold(0.0, f64::max);
        Ok(Self {
            steps_per_frame: (frame / step - 1e-6).ceil() as usize,
            frame,
            top_speed,
            meets: !scene.colliders.is_empty() || forms.len() > 1,
            forms,
        })
    }

    pub(super) fn plan(&self) -> RigidPlan {
        let sum = |of: &dyn Fn(&Form) -> usize| self.forms.iter().map(of).sum::<usize>() as f64;
        RigidPlan {
            steps_per_frame: self.steps_per_frame as f64,
            // Of several bodies the points are looked at in the solid of each.
            points: sum(&Form::points) * self.forms.len() as f64,
            vertices: sum(&|form| form.mesh.vertices().len()),
        }
    }
}

/// The least mass \[kg\] of a body that may be tried.
pub(super) fn lightest(scene: &Scene, known: &Values, body: usize, form: &Form) -> f64 {
    let quantity = scene.varying(body)[2];
    let least = setup::range(scene, known, Target::new(body, quantity))[0];
    if quantity == Quantity::Mass { least } else { least * form.volume }
}

/// The most of what a body begins with and of what acts on it.
struct Most {
    /// Acceleration \[m/s^2\].
    gravity: f64,
    /// Speed that it begins with, and that all pushes give it \[m/s\].
    speed: f64,
    pushed: f64,
    /// Angular velocity by both \[rad/s\].
    spin: f64,
}

impl Most {
    fn of(scene: &Scene, take: usize, known: &Values, body: usize, form: &Form) -> Self {
        let largest = |of: &dyn Fn(usize) -> Target| -> f64 {
            let ends = [0, 1, 2].map(|a| setup::range(scene, known, of(a)));
            setup::norm(ends.map(|[low, high]| low.abs().max(high.abs())))
        };
        let gravity = largest(&|a| Target::new(0, Quantity::Gravity(a)));
        let speed = largest(&|a| Target { take, ..Target::new(body, Quantity::Velocity(a)) });
        let spin = largest(&|a| Target { take, ..Target::new(body, Quantity::AngularVelocity(a)) });
        // What is pushed is thought to turn as the lightest that may be tried does about its weakest axis.
        let mass = lightest(scene, known, body, form);
        let pushes = || scene.pushes.iter().filter(|push| push.body == body);
        // Of an impulse one.
        let lasting = |[begin, end]: [f64; 2]| if begin == end { 1.0 } else { end - begin };
        let turned = pushes().map(|push| {
            let arm = match push.at {
                At::Centre(arm) => setup::norm(arm),
                At::Body(point) => setup::norm([0, 1, 2].map(|a| point[a] - form.centroid[a])),
            };
            arm * setup::norm(push.vector) * lasting(push.interval) * form.looseness / mass
        });
        let spin = spin + turned.sum::<f64>();
        let pushed = pushes().map(|push| setup::norm(push.vector) * lasting(push.interval) / mass);
        Self { gravity, speed, pushed: pushed.sum(), spin }
    }
}

/// The most that anything in the scene makes a body \[m/s\]: as it begins, where it rolls off as it spins, by pushes, by falling for as long as the
/// film lasts, and off colliders that move, which throw it at up to twice their speed.
fn top_speed(scene: &Scene, take: usize, known: &Values, body: usize, form: &Form) -> f64 {
    let Most { gravity, speed, pushed, spin } = Most::of(scene, take, known, body, form);
    let fallen = gravity * scene.num_frames as f64 / scene.frame_rate;
    let centre = Vec3::from_array(form.at([0.0; 3]));
    let thrown = (0..scene.colliders.len()).map(|of| {
        let Collider { solid, pose, .. } = setup::fastest(scene, known, of, scene.colliders[of].rigid(Contact::Sticky));
        let arm = ((centre - pose.centre).norm() + form.reach).min(solid.radius());
        2.0 * (pose.velocity.norm() + pose.spin.norm() * arm)
    });
    speed + pushed + spin * form.reach + fallen + thrown.fold(0.0, f64::max)
}

/// Longest step of the fewest that a body moves well with \[s\].
fn step(scene: &Scene, take: usize, known: &Values, body: usize, form: &Form) -> f64 {
    let Most { gravity, speed, pushed, spin } = Most::of(scene, take, known, body, form);
    let side = form.thinnest;
    let meeting = match scene.bodies.len() {
        1 => f64::INFINITY,
        _ => MEETING * side / (speed + pushed + gravity * scene.num_frames as f64 / scene.frame_rate),
    };
    let limits = [FALLING * (side / gravity).sqrt(), MOVING * side / speed, TURNING / spin, meeting];
    let sinking = (0..scene.colliders.len()).any(|k| !scene.bounces(k));
    let soft = if sinking { (SUNK * side / (gravity * form.compliance())).sqrt() } else { f64::INFINITY };
    limits.into_iter().fold(soft, f64::min)
}
