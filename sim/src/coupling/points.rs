//! What a model has to give so that points of it press on bodies of another.

use crate::step::Step;
use diffkern::prelude::*;

/// Points in a step.
#[derive(Clone, Debug)]
pub struct Spread<F: Float> {
    /// Where they are \[m\].
    pub place: Array<Vec3<F>>,
    /// How they move \[m/s\].
    pub speed: Array<Vec3<F>>,
}

/// A step of bodies with points that touch others. Forces act where the points are at the beginning of a step.
pub trait ContactPoints<F: Float>: Step {
    /// Which points.
    type Points: Clone + 'static;

    /// What each stands for \[m^2\].
    fn areas(points: &Self::Points) -> &Array<F>;

    /// The points in a step from `state`.
    ///
    /// # Errors
    /// When a launch fails.
    fn spread(&self, state: &Self::State, points: &Self::Points) -> diffkern::Result<Spread<F>>;

    /// What friction as large as these normal forces \[N\] on the points would accelerate each by \[m/s^2\], at most: it says which speeds one step of friction stops.
    ///
    /// # Errors
    /// When a launch fails.
    fn yielding(
        &self,
        state: &Self::State,
        points: &Self::Points,
        place: &Array<Vec3<F>>,
        normal: &Array<F>,
    ) -> diffkern::Result<Array<F>>;

    /// What acts from outside, and these forces \[N\] on the points.
    ///
    /// # Errors
    /// When a launch fails.
    fn push(
        &self,
        state: &Self::State,
        points: &Self::Points,
        place: &Array<Vec3<F>>,
        force: &Array<Vec3<F>>,
        outer: Self::Control,
    ) -> diffkern::Result<Self::Control>;
}
