//! An implicit operation on the tape. With `F` the step that was recorded at the solution:
//!
//! ```text
//! fixed point   x = F(x, p)       (I - J) dx = F_p dp           (I - J^T) w = x_bar    p_bar += F_p^T w
//! root          F(x, p) = 0       J dx = -F_p dp                J^T w = x_bar          p_bar -= F_p^T w
//! linear        F(x, p) = b       J dx = db - F_p dp            J^T w = x_bar          p_bar -= F_p^T w, b_bar += w
//! ```
//! `J = dF/dx` and its transpose are walks over the tape of the step. The tangents of the adjoints solve the same
//! systems: `(I - J^T) dw = dx_bar + dJ^T w`, and so on.

use std::any::Any;
use std::rc::Rc;

use super::vectors::{add_scaled, difference, gather, scaled, scatter};
use super::{Solver, krylov};
use crate::array::AnyArray;
use crate::error::{Error, Result};
use crate::report::{Entry, Graph};
use crate::rollout::StepTape;
use crate::tape::{Bars, Dots, Kept, Ledger, Node, Replay, Shape, forward, second};

pub(super) enum Equation {
    FixedPoint,
    Root,
    /// With the arrays of the right-hand side and whether they have a gradient.
    Linear(Vec<(Shape, bool)>),
}

pub(super) struct Implicit {
    pub(super) equation: Equation,
    pub(super) solver: Solver,
    pub(super) tape: StepTape,
    /// The arrays of the solution.
    pub(super) ends: Vec<Shape>,
    /// What the step reads from outside.
    pub(super) captured: Vec<u64>,
    pub(super) ledger: Rc<Ledger>,
}

type Parts = Vec<Option<Kept>>;

/// By direction, the tangents of the solution and of what the step reads.
struct Tangents {
    solution: Vec<Parts>,
    outer: Vec<Vec<(u64, Kept)>>,
}

fn take(bars: &mut Bars, shapes: &[Shape]) -> Parts {
    shapes.iter().map(|shape| bars.take(shape.id)).collect()
}

fn add(bars: &mut Bars, shapes: &[Shape], parts: Parts) -> Result<()> {
    shapes.iter().zip(parts).try_for_each(|(shape, part)| part.map_or(Ok(()), |part| bars.add(shape, part)))
}

fn again(parts: &Parts) -> Parts {
    parts.iter().map(|part| part.as_ref().map(Kept::again)).collect()
}

impl Implicit {
    fn what(&self) -> [&'static str; 2] {
        match self.equation {
            Equation::FixedPoint => ["tangent of a fixed point", "adjoint of a fixed point"],
            Equation::Root => ["tangent of a root", "adjoint of a root"],
            Equation::Linear(_) => ["tangent of a linear system", "adjoint of a linear system"],
        }
    }

    /// `v` and the image of `v` under `J` or its transpose make the image under the matrix of the system.
    fn system(&self, v: &AnyArray, image: AnyArray) -> Result<AnyArray> {
        match self.equation {
            Equation::FixedPoint => difference(v, &image),
            Equation::Root | Equation::Linear(_) => Ok(image),
        }
    }

    fn sign(&self) -> f64 {
        match self.equation {
            Equation::FixedPoint => 1.0,
            Equation::Root | Equation::Linear(_) => -1.0,
        }
    }

    /// Tangents of what the step returns, for tangents of the solution and of what it reads.
    pub(super) fn push(&self, solution: Parts, outer: &[(u64, Kept)]) -> Result<AnyArray> {
        let mut dots = [self.table(solution, outer)];
        forward(&self.tape.nodes, &mut dots, false)?;
        let after: Parts = self.tape.outputs.iter().map(|shape| dots[0].keep(shape.id)).collect();
        gather(&self.tape.outputs, &after)
    }

    fn table(&self, solution: Parts, outer: &[(u64, Kept)]) -> Dots {
        let mut dots = Dots::new(&self.ledger);
        outer.iter().for_each(|(id, dot)| dots.set(*id, Some(dot.again())));
        self.tape.inputs.iter().zip(solution).for_each(|(shape, dot)| dots.set(shape.id, dot));
        dots
    }

    /// `J^T w`.
    fn pull(&self, w: &AnyArray) -> Result<AnyArray> {
        let mut bars = Bars::new(&self.ledger);
        add(&mut bars, &self.tape.outputs, scatter(&self.tape.outputs, w, &self.ledger)?)?;
        self.tape.nodes.iter().rev().try_for_each(|node| node.backward(&mut bars))?;
        gather(&self.tape.inputs, &take(&mut bars, &self.tape.inputs))
    }

    fn solve_transposed(&self, right: &AnyArray) -> Result<AnyArray> {
        let mut apply = |w: &AnyArray| self.system(w, self.pull(w)?);
        krylov::solve(self.what()[1], (&self.solver, true), &mut apply, right)
    }

    /// The tangent of the solution: `right` is that of the right-hand side of a linear system.
    pub(super) fn tangent(&self, outer: &[(u64, Kept)], right: Option<AnyArray>) -> Result<AnyArray> {
        let none = || self.tape.inputs.iter().map(|_| None).collect();
        let constant = scaled(&self.push(none(), outer)?, self.sign())?;
        if let Some(right) = right {
            add_scaled(&constant, 1.0, &right)?;
        }
        let mut apply = |v: &AnyArray| self.system(v, self.push(scatter(&self.tape.inputs, v, &self.ledger)?, &[])?);
        krylov::solve(self.what()[0], (&self.solver, false), &mut apply, &constant)
    }

    /// The arrays of the right-hand side.
    pub(super) fn right(&self) -> Option<Vec<Shape>> {
        match &self.equation {
            Equation::FixedPoint | Equation::Root => None,
            Equation::Linear(right) => Some(right.iter().map(|(shape, _)| shape.clone()).collect()),
        }
    }

    /// Adds `w` to the adjoint of the right-hand side, where it has one.
    fn add_right(&self, bars: &mut Bars, w: &AnyArray) -> Result<()> {
        let Equation::Linear(right) = &self.equation else { return Ok(()) };
        let parts = scatter(&self.ends, w, &self.ledger)?;
        for ((shape, tracked), part) in right.iter().zip(parts) {
            let Some(part) = part.filter(|_| *tracked) else { continue };
            match shape.is_whole() {
                true => bars.add(shape, part)?,
                false => bars.add_part(shape, part.buffer(), 0)?,
            }
        }
        Ok(())
    }

    /// Gives the step `w` as the adjoint of what it returns.
    fn seed(&self, bars: &mut Bars, w: &AnyArray) -> Result<()> {
        let seed = scaled(w, self.sign())?;
        add(bars, &self.tape.outputs, scatter(&self.tape.outputs, &seed, &self.ledger)?)
    }

    /// `dJ^T w` per direction: the tangents of the adjoints of the solution when only the solution and what the step reads
    /// move.
    fn turned(&self, tangents: &Tangents, w: &AnyArray) -> Result<Vec<AnyArray>> {
        let mut tables = self.tables(tangents);
        let trails = forward(&self.tape.nodes, &mut tables, true)?;
        let mut bars = Bars::new(&self.ledger);
        self.seed(&mut bars, w)?;
        let mut bar_dots: Vec<Bars> = tables.iter().map(|_| Bars::new(&self.ledger)).collect();
        second(&self.tape.nodes, trails, &mut bars, &mut bar_dots)?;
        bar_dots.iter_mut().map(|bars| gather(&self.tape.inputs, &take(bars, &self.tape.inputs))).collect()
    }

    fn tables(&self, tangents: &Tangents) -> Vec<Dots> {
        let both = tangents.solution.iter().zip(&tangents.outer);
        both.map(|(solution, outer)| self.table(again(solution), outer)).collect()
    }
}

impl Replay for Implicit {
    fn backward(&self, bars: &mut Bars) -> Result<()> {
        let ends = take(bars, &self.ends);
        if ends.iter().all(Option::is_none) {
            return Ok(());
        }
        let w = self.solve_transposed(&gather(&self.ends, &ends)?)?;
        self.add_right(bars, &w)?;
        self.seed(bars, &w)?;
        self.tape.nodes.iter().rev().try_for_each(|node| node.backward(bars))?;
        take(bars, &self.tape.inputs);
        Ok(())
    }

    fn describe(&self) -> Entry {
        let parts = |shapes: &[Shape]| shapes.iter().map(Shape::part).collect();
        let (schedule, starts) = match &self.equation {
            Equation::FixedPoint => ("fixed point, not recorded", Vec::new()),
            Equation::Root => ("root, not recorded", Vec::new()),
            Equation::Linear(_) => ("linear system, not recorded", parts(&self.right().unwrap_or_default())),
        };
        let entries = self.tape.nodes.iter().filter_map(Node::describe).collect();
        Entry::Rollout {
            steps: 1,
            schedule: schedule.to_owned(),
            starts,
            ends: parts(&self.ends),
            inputs: parts(&self.tape.inputs),
            outputs: parts(&self.tape.outputs),
            step: Graph { entries },
        }
    }

    fn visit(&self, see: &mut dyn FnMut(&Shape, Option<&Kept>)) {
        self.ends.iter().for_each(|shape| see(shape, None));
        self.tape.nodes.iter().for_each(|node| node.visit(see));
    }

    fn forward(&self, dots: &mut [Dots], _keep: bool) -> Result<Box<dyn Any>> {
        let mut tangents = Tangents { solution: Vec::new(), outer: Vec::new() };
        for dots in dots {
            let outer: Vec<(u64, Kept)> = self.captured.iter().filter_map(|&id| Some((id, dots.keep(id)?))).collect();
            let right = self.right().map(|right| {
                let parts: Parts = right.iter().map(|shape| dots.keep(shape.id)).collect();
                gather(&right, &parts)
            });
            let moved = self.tangent(&outer, right.transpose()?)?;
            let parts = scatter(&self.ends, &moved, &self.ledger)?;
            self.ends.iter().zip(again(&parts)).for_each(|(shape, dot)| dots.set(shape.id, dot));
            tangents.solution.push(parts);
            tangents.outer.push(outer);
        }
        Ok(Box::new(tangents))
    }

    fn second(&self, trail: Box<dyn Any>, bars: &mut Bars, bar_dots: &mut [Bars]) -> Result<()> {
        let foreign = |_| Error::Schedule("the walk of another operation".to_owned());
        let tangents = trail.downcast::<Tangents>().map_err(foreign)?;
        let ends = take(bars, &self.ends);
        let end_dots: Vec<Parts> = bar_dots.iter_mut().map(|bars| take(bars, &self.ends)).collect();
        if ends.iter().chain(end_dots.iter().flatten()).all(Option::is_none) {
            return Ok(());
        }
        let w = self.solve_transposed(&gather(&self.ends, &ends)?)?;
        self.add_right(bars, &w)?;
        self.seed(bars, &w)?;
        let turned = self.turned(&tangents, &w)?;
        for ((bars, end_dots), turned) in bar_dots.iter_mut().zip(&end_dots).zip(turned) {
            let right = gather(&self.ends, end_dots)?;
            // The seed of a linear system is `-w`, so that what turned is `-dJ^T w` already.
            add_scaled(&right, 1.0, &turned)?;
            let w_dot = self.solve_transposed(&right)?;
            self.add_right(bars, &w_dot)?;
            self.seed(bars, &w_dot)?;
        }
        let trails = forward(&self.tape.nodes, &mut self.tables(&tangents), true)?;
        second(&self.tape.nodes, trails, bars, bar_dots)?;
        take(bars, &self.tape.inputs);
        bar_dots.iter_mut().for_each(|bars| drop(take(bars, &self.tape.inputs)));
        Ok(())
    }
}
