//! Models with their parameters, and how long their steps may be.

use super::between::BoundNeighbours;
use super::impact::Bounced;
use super::joints::Jointed;
use super::model::Model;
use super::params::Params;
use super::properties::Properties;
use super::solver::Solver;
use super::springs::Sprung;
use super::state::State;
use crate::contact::Obstacles;
use crate::error::{Error, Result, positive};
use diffkern::prelude::*;

/// Part of the longest step that linear theory allows which is taken.
const CAUTION: f64 = 0.5;

impl<F: Float> Model<F> {
    /// A solver with these parameters for states like `state`. Call it where the tape records, so that gradients reach them.
    ///
    /// # Errors
    /// When a parameter or the state has the wrong length, or there are parameters of what the model does not have.
    pub fn solver(&self, params: &Params<F>, state: &State<F>) -> Result<Solver<F>> {
        let n = self.geometry.bodies.len();
        if state.len() != n {
            return Err(Error::invalid("number of bodies", state.len(), format!("{n}, as in the model")));
        }
        for (what, len) in [("gravity", params.gravity.len()), ("contact.grip", params.grip.len())] {
            if len != 1 {
                return Err(Error::invalid(format!("length of {what}"), len, "1"));
            }
        }
        let properties = Properties::of(self.properties(params)?)?;
        let points = self.geometry.points.packed(&params.vertices, &properties.all)?;
        Ok(Solver {
            bounced: self.bounced(params, &points, &properties)?,
            pairs: self.pair_restitution(params)?,
            jointed: self.jointed(params, &properties)?,
            neighbours: self.neighbours(params)?,
            sprung: self.sprung(params)?,
            model: self.clone(),
            properties,
            vertices: params.vertices.clone(),
            points,
            gravity: params.gravity.clone(),
            grip: params.grip.clone(),
            obstacles: Obstacles::bind(self.obstacles.as_ref(), params.contact.as_ref(), &self.device)?,
        })
    }

    fn bounced(
        &self,
        params: &Params<F>,
        points: &Array<Vec4<F>>,
        properties: &Properties<F>,
    ) -> Result<Option<Bounced<F>>> {
        let Some(impacts) = &self.impacts else {
            return match params.impact {
                None => Ok(None),
                Some(_) => {
                    let expected = "none: the model has no planes to bounce off";
                    Err(Error::invalid("impact of the parameters", "given", expected))
                }
            };
        };
        let given = match &params.impact {
            Some(given) => given.clone(),
            None => impacts.params(&self.device)?,
        };
        let gravity = params.gravity.to_vec()?[0].norm().to_f64();
        Bounced::new(impacts, &given, &self.geometry, points, properties, gravity).map(Some)
    }

    fn neighbours(&self, params: &Params<F>) -> Result<Option<BoundNeighbours<F>>> {
        let Some(neighbours) = &self.neighbours else {
            return match params.between {
                None => Ok(None),
                Some(_) => {
                    Err(Error::invalid("between of the parameters", "given", "none: bodies do not touch each other"))
                }
            };
        };
        // Solids would stay behind.
        let own = &self.geometry.vertices;
        if params.vertices.as_any().is_differentiated() || params.vertices.to_vec()? != own.to_vec()? {
            let expected = "those of the model and no gradient to them, as others touch solids that do not follow them";
            return Err(Error::invalid("surface.vertices of bodies that touch each other", "changed", expected));
        }
        match &params.between {
            Some(given) => neighbours.bind(given).map(Some),
            None => neighbours.bind(&neighbours.params()?).map(Some),
        }
    }

    fn jointed(&self, params: &Params<F>, properties: &Properties<F>) -> Result<Option<Jointed<F>>> {
        match (&self.joints, &params.joints) {
            (Some(joints), Some(given)) => Jointed::new(joints, given, properties).map(Some),
            (Some(joints), None) => Jointed::new(joints, &joints.params(&self.device)?, properties).map(Some),
            (None, Some(_)) => Err(Error::invalid("joints of the parameters", "given", "none: the model has none")),
            (None, None) => Ok(None),
        }
    }

    fn sprung(&self, params: &Params<F>) -> Result<Option<Sprung<F>>> {
        match (&self.springs, &params.springs) {
            (Some(springs), Some(given)) => springs.bind(given).map(Some),
            (Some(springs), None) => springs.bind(&springs.params()?).map(Some),
            (None, Some(_)) => Err(Error::invalid("springs of the parameters", "given", "none: the model has none")),
            (None, None) => Ok(None),
        }
    }

    fn pair_restitution(&self, params: &Params<F>) -> Result<Option<Array<F>>> {
        match (&self.pairs, &params.pairs) {
            (Some(_), Some(e)) if e.len() == 1 => Ok(Some(e.clone())),
            (Some(_), Some(e)) => Err(Error::invalid("length of pairs.restitution", e.len(), "1")),
            (Some(pairs), None) => Ok(Some(self.device.array(&[F::from_f64(pairs.restitution)])?)),
            (None, Some(_)) => {
                Err(Error::invalid("pairs of the parameters", "given", "none: balls of the model do not collide"))
            }
            (None, None) => Ok(None),
        }
    }
}

impl<F: Float> crate::step::Model for Model<F> {
    type State = State<F>;
    type Params = Params<F>;
    type Control = super::loads::Control<F>;
    type Step = Solver<F>;

    fn bind(&self, params: &Params<F>, state: &State<F>) -> Result<Solver<F>> {
        self.solver(params, state)
    }

    /// Half of what linear theory allows where all points of a body touch at once, each with the stiffness of the stiffest collider
    /// and the grip of friction, and beside them all points of two bodies each other, and all springs; and half a radian of turning. Damping of contacts is not in it.
    fn max_dt(&self, params: &Params<F>, state: &State<F>) -> Result<f64> {
        let solver = self.solver(params, state)?;
        let stiffness = solver.obstacles.as_ref().map_or(Ok(0.0), |o| o.stiffness())?;
        let between = solver.neighbours.as_ref().map_or(Ok(0.0), BoundNeighbours::stiffness)?;
        let grip = params.grip.to_vec()?[0].to_f64();
        let mut limit = f64::INFINITY;
        let (properties, counts) = (solver.properties.all.to_vec()?, &self.geometry.points.counts);
        let mut compliances = Vec::with_capacity(counts.len());
        for (b, (body, l)) in properties.iter().zip(state.l.to_vec()?).enumerate() {
            let centre = Vec3::from_array(body.centre.to_array().map(F::to_f64));
            compliances.push(body.compliance(self.geometry.bodies[b].reach(centre)));
            limit = limit.min(1.0 / (body.turning() * l.norm().to_f64()));
        }
        let springs = match &solver.sprung {
            Some(sprung) => sprung.rates(&properties, &state.x.to_vec()?, &state.q.to_vec()?)?,
            None => vec![[0.0; 2]; properties.len()],
        };
        for (b, (compliance, [elastic, viscous])) in compliances.iter().zip(springs).enumerate() {
            let alone = counts[b] as f64 * compliance;
            let pair = |a: usize| (counts[a] + counts[b]) as f64 * (compliances[a] + compliance);
            let others = (0..counts.len()).filter(|&a| a != b).map(pair).fold(0.0, f64::max);
            let square = elastic + stiffness * alone + between * others;
            let rate =
                viscous + grip * (if stiffness > 0.0 { alone } else { 0.0 } + if between > 0.0 { others } else { 0.0 });
            limit = limit.min(2.0 / square.sqrt()).min(2.0 / rate);
        }
        positive("stable time step", CAUTION * limit.min(f64::MAX))
    }
}
