//! Second derivatives over a tape: tangents walk it forwards, adjoints and their tangents walk it back.
//!
//! With `f` the loss, `x` the inputs and `v` a direction, the walk back carries `x_bar = grad f` and, per direction, its
//! tangent `x_bar_dot = (H v)`: forward over reverse (Griewank and Walther 2008, chapter 5).

use std::any::Any;
use std::time::Instant;

use super::bars::Bars;
use super::dots::Dots;
use super::ledger::Kept;
use super::node::{KeptArg, KeptArray, LaunchNode, Node, Target};
use crate::error::{Error, Result};
use crate::kernel::{Access, Which};
use crate::launch::access;
use crate::tangent::{Elements, Pushed, Tangents};

/// What the walk forwards leaves at an entry for the walk back.
pub(crate) enum Trail {
    Nothing,
    /// By direction; none where no tangent reaches the launch.
    Launch(Vec<Option<KeptDots>>),
    Replay(Box<dyn Any>),
}

/// By slot, the tangent of an array that the adjoint reads.
pub(crate) type KeptDots = Box<[Option<Kept>]>;

/// Carries tangents through `nodes`; with `keep`, says for each what the walk back needs.
pub(crate) fn forward(nodes: &[Node], dots: &mut [Dots], keep: bool) -> Result<Vec<Trail>> {
    let mut trails = Vec::with_capacity(if keep { nodes.len() } else { 0 });
    for node in nodes {
        let trail = node.forward(dots, keep)?;
        if keep {
            trails.push(trail);
        }
    }
    for node in nodes {
        if let Node::Again(launch) = node
            && let Some(launch) = launch.upgrade()
        {
            launch.forget();
        }
    }
    Ok(trails)
}

/// Walks `nodes` back: adjoints, and per direction their tangents.
pub(crate) fn second(nodes: &[Node], trails: Vec<Trail>, bars: &mut Bars, bar_dots: &mut [Bars]) -> Result<()> {
    nodes.iter().zip(trails).rev().try_for_each(|(node, trail)| node.second(trail, bars, bar_dots))
}

impl Node {
    fn forward(&self, dots: &mut [Dots], keep: bool) -> Result<Trail> {
        match self {
            Node::Launch(launch) => Ok(Trail::Launch(launch.forward(dots, keep)?)),
            Node::Overwrite { to } => {
                dots.iter_mut().try_for_each(|dots| dots.write(to, None))?;
                Ok(Trail::Nothing)
            }
            Node::Copy { to, from, .. } => {
                for dots in dots {
                    let source = from.as_ref().and_then(|from| Some((dots.get(from)?, from.byte_range().0)));
                    dots.write(to, source.as_ref().map(|(buffer, at)| (buffer, *at)))?;
                }
                Ok(Trail::Nothing)
            }
            Node::Rollout(replay) => Ok(Trail::Replay(replay.forward(dots, keep)?)),
            Node::Again(_) | Node::Detour(_) => Ok(Trail::Nothing),
        }
    }

    fn second(&self, trail: Trail, bars: &mut Bars, bar_dots: &mut [Bars]) -> Result<()> {
        match (self, trail) {
            (Node::Launch(launch), Trail::Launch(kept)) => launch.second(&kept, bars, bar_dots),
            (Node::Rollout(replay), Trail::Replay(trail)) => replay.second(trail, bars, bar_dots),
            // Linear: the tangents of the adjoints go the way of the adjoints.
            (node, _) => {
                node.backward(bars)?;
                bar_dots.iter_mut().try_for_each(|bar_dots| node.backward(bar_dots))
            }
        }
    }
}

impl LaunchNode {
    /// Runs the tangents, along the directions that reach it.
    fn forward(&self, dots: &mut [Dots], keep: bool) -> Result<Vec<Option<KeptDots>>> {
        let real = || self.arrays().filter(|array| array.shape.elem.is_real());
        let reached = |dots: &Dots| real().any(|array| dots.has(array.shape.id));
        if !dots.iter().any(reached) {
            return Ok(dots.iter().map(|_| None).collect());
        }
        for (arg, param) in self.args.iter().zip(self.def.tangent.params) {
            if let (KeptArg::Array(KeptArray { kept: None, .. }), Access::Read) = (arg, access(param)) {
                return Err(Error::Tape(format!(
                    "the tangent of kernel `{}` reads `{}`, which the tape does not keep",
                    self.def.name, param.name
                )));
            }
        }
        let contents = self.contents()?;
        let LaunchNode { def, native, domain, ref device, .. } = *self;
        let arrays = real().map(|array| (&array.shape, array.access)).collect();
        let pushed = Pushed { def, native, domain, device, args: self.bound(&contents), arrays };
        let mut trail = Vec::with_capacity(dots.len());
        for dots in dots {
            if !reached(dots) {
                trail.push(None);
                continue;
            }
            // Before the launch, whose adjoint reads them as they were.
            let kept = |array: &KeptArray| match keep && array.kept.is_some() {
                true => dots.keep(array.shape.id),
                false => None,
            };
            let kept: KeptDots = self.args.iter().map(|arg| arg.array().and_then(kept)).collect();
            pushed.along(dots)?;
            trail.push(Some(kept));
        }
        Ok(trail)
    }

    fn second(&self, kept: &[Option<KeptDots>], bars: &mut Bars, bar_dots: &mut [Bars]) -> Result<()> {
        let written = |bars: &Bars| self.arrays().any(|a| a.access.writes() && a.tracked && bars.has(a.shape.id));
        let moves = |k: &usize| written(&bar_dots[*k]) || (written(bars) && kept[*k].is_some());
        let active: Vec<usize> = (0..bar_dots.len()).filter(moves).collect();
        match active.split_last() {
            None if written(bars) => self.run_adjoint(bars)?,
            None => {}
            // Each run writes the bars; those of all but the last are thrown away.
            Some((&last, others)) => {
                for &k in others {
                    self.run_second(kept[k].as_ref(), bars, &mut bar_dots[k], true)?;
                }
                self.run_second(kept[last].as_ref(), bars, &mut bar_dots[last], false)?;
            }
        }
        for array in self.arrays().filter(|a| a.retire) {
            bars.take(array.shape.id);
            bar_dots.iter_mut().for_each(|bars| drop(bars.take(array.shape.id)));
        }
        Ok(())
    }

    /// Runs the adjoint and its tangent along one direction. `aside`: the bars stay as they are.
    fn run_second(&self, kept: Option<&KeptDots>, bars: &mut Bars, bar_dots: &mut Bars, aside: bool) -> Result<()> {
        let program = Which::Second.of(self.def)?;
        let body = self.native.second.ok_or_else(|| Which::missing(self.def))?;
        let mut targets = self.targets(bars, &[])?;
        let dot_targets = self.targets(bar_dots, &[])?;
        if aside {
            let first = self.args.len();
            for (target, param) in targets.iter_mut().zip(&program.params[first..]) {
                target.set_aside(access(param))?;
            }
        }
        let real = self.args.iter().enumerate().filter_map(|(slot, arg)| Some((slot, arg.array()?)));
        let dots = real.filter(|(_, array)| array.shape.elem.is_real()).map(|(slot, array)| {
            let dot = kept.and_then(|kept| kept[slot].as_ref());
            array.shape.within(dot.map(|dot| &**dot.buffer()))
        });
        let contents = self.contents()?;
        let mut args = self.bound(&contents);
        args.extend(targets.iter().map(Target::bound));
        args.extend(dots);
        args.extend(dot_targets.iter().map(Target::bound));
        let start = Instant::now();
        self.device.run((self.def, Which::Second, body), self.native.scalar, self.domain, &args)?;
        // Second derivatives never run on lanes.
        bars.ledger.backward(self.def, None, start.elapsed().as_secs_f64());
        if let Some(clear) = self.native.clear {
            // By hand: its tangent leaves the bars alone, and clears nothing.
            let mut args = self.bound(&contents);
            args.extend(dot_targets.iter().map(Target::bound));
            self.device.run((self.def, Which::Clear, clear), self.native.scalar, self.domain, &args)?;
            if !aside {
                self.run_adjoint(bars)?;
            }
        } else if !aside {
            self.add_apart(&targets, bars)?;
        }
        self.add_apart(&dot_targets, bar_dots)
    }
}

impl Target<'_> {
    /// Takes memory of its own, or none, in place of the adjoint that a run shall leave alone.
    fn set_aside(&mut self, access: Access) -> Result<()> {
        self.buffer = match (self.buffer.take(), access) {
            (Some(bar), Access::Take | Access::Update) => {
                let (shape, bytes) = (&self.array.shape, self.array.shape.base_bytes());
                let copy = shape.device.alloc(bytes)?;
                shape.device.copy(&bar, 0, &copy, 0, bytes)?;
                Some(copy)
            }
            (bar, Access::Read) => bar,
            _ => None,
        };
        Ok(())
    }
}
