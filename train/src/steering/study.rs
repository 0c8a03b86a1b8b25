//! Searches from several seeds, with impacts at their time and for whole steps.

use super::descent::Descended;
use super::plan::Steering;
use super::scene::Twin;
use crate::error::Result;
use serde::Serialize;

/// A search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// How its impacts are taken.
    pub twin: Twin,
    /// Number of the controls from which it began.
    pub seed: u64,
    /// The outcome before the search and after each of its evaluations, in the unit of the scene.
    pub outcome: Vec<f64>,
    /// The outcome of the best controls.
    pub best: f64,
    /// These controls.
    pub controls: Vec<f64>,
    /// What these controls lead to with impacts at their time.
    pub true_outcome: f64,
}

/// All searches of a scene.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// The scene.
    pub plan: Steering,
    /// One for each twin and seed.
    pub curves: Vec<Curve>,
}

impl Study {
    /// `tell` gets the part that is done.
    ///
    /// # Errors
    /// When a launch fails or `tell` ends it.
    pub fn new(name: &str, plan: &Steering, tell: &mut dyn FnMut(f64) -> Result<()>) -> Result<Self> {
        let twins = plan.twins();
        let (mut done, all) = (0.0, (twins.len() as u64 * plan.seeds) as f64 * plan.iterations as f64);
        let mut curves = Vec::new();
        let right = plan.scene(Twin::TimeOfImpact)?;
        for &twin in twins {
            let scene = plan.scene(twin)?;
            for seed in 0..plan.seeds {
                let mut count = || {
                    done += 1.0;
                    tell((done / all).min(1.0))
                };
                let Descended { controls, curve, best } =
                    plan.descent.run(scene.as_ref(), plan.begin(seed), plan.iterations, &mut count)?;
                let true_outcome = right.evaluate(&controls)?.outcome;
                curves.push(Curve { twin, seed, outcome: curve, best, controls, true_outcome });
            }
        }
        Ok(Self { name: name.to_owned(), plan: plan.clone(), curves })
    }

    /// Those of a twin.
    pub(super) fn of(&self, twin: Twin) -> impl Iterator<Item = &Curve> {
        self.curves.iter().filter(move |curve| curve.twin == twin)
    }
}
