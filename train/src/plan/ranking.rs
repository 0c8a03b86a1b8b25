//! Which design tells most.

use super::designs::{Design, Designs};
use crate::error::Error;
use crate::identify::{Information, Together, Told};
use crate::program::{Failure, Outcome};
use crate::scene::Scene;

/// A design with what it would tell.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    /// Which.
    pub(crate) design: Design,
    /// How well it would tell each unknown.
    pub(crate) told: Vec<Told>,
    /// What it would tell of pairs alone.
    pub(crate) together: Vec<Together>,
    /// How much narrower intervals are than by the scene as it is: the geometric mean over the unknowns.
    pub(crate) gain: f64,
}

/// All designs: the scene as it is, then the others, the best first.
#[derive(Debug, Clone)]
pub(crate) struct Ranking(pub(crate) Vec<Ranked>);

impl Ranking {
    /// Of `designs`, whose document is `scene`.
    ///
    /// # Errors
    /// When nothing finite is shown.
    pub(crate) fn of(designs: &Designs, scene: &Scene, information: &Information) -> Outcome<Self> {
        let place = |name: &String| scene.films.iter().position(|film| film.name == *name);
        let own: Vec<usize> = designs.own.iter().filter_map(place).collect();
        let tracks = scene.films.len()..scene.films.len() + scene.tracks.len();
        let mut all: Vec<Ranked> = Vec::new();
        for design in &designs.all {
            let mut parts: Vec<usize> = design.films.iter().filter_map(place).collect();
            if design.adds {
                parts.extend(&own);
            }
            if design.tracks {
                parts.extend(tracks.clone());
            }
            let told = information
                .told(&parts)
                .ok_or_else(|| Failure::Fatal(Error::Compute(format!("what {} tells is not finite", design.about))))?;
            let base = all.first().map_or(&told, |base| &base.told);
            let narrower = |(base, own): (&Told, &Told)| (base.half / own.half).ln();
            let gain = (base.iter().zip(&told).map(narrower).sum::<f64>() / told.len().max(1) as f64).exp();
            all.push(Ranked { design: design.clone(), told, together: information.together(&parts), gain });
        }
        all.get_mut(1..).unwrap_or_default().sort_by(|a, b| b.gain.total_cmp(&a.gain));
        Ok(Self(all))
    }

    /// The best in place of the scene's film, and the best beside it.
    pub(crate) fn best(&self) -> Vec<&Ranked> {
        let others = || self.0.iter().skip(1);
        [others().find(|one| !one.design.adds), others().find(|one| one.design.adds)].into_iter().flatten().collect()
    }
}
