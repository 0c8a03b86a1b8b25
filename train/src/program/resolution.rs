//! How fine a grid, from the shapes of the bodies.

use crate::job::Simulator;
use diffkern_sim::scene::BodyShape;

/// Particles of the final stage: what two cores run through half a second of video in a few seconds.
const FINE: f64 = 7_000.0;
/// Particles of the search for a start.
const COARSE: f64 = 1_000.0;
/// Fewer cells across the thinnest side bend wrongly whatever the material is.
const LEAST_CELLS: [usize; 2] = [2, 4];
/// Cells of finite elements for each body in the search for a start, in that for the answer and where the answer is refined; one costs what eight particles do.
const ELEMENTS: [f64; 3] = [150.0, 600.0, 2_400.0];
/// How much finer the grid of a refined answer is than that of its search.
pub(crate) const FINER: f64 = 1.6;
/// Fewer across the thinnest side do not bend, whatever the material is.
const LEAST_ELEMENTS: usize = 3;
/// How far the number of particles may be from the one wanted.
const BAND: (f64, f64) = (0.62, 1.25);
/// Share of a particle spacing that counts as much as a factor of e in the number of particles.
const COUNT_WEIGHT: f64 = 0.01;

/// Grid cells across the thinnest side, for the stages of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resolution {
    /// For the search.
    pub(crate) coarse: usize,
    /// For the final stage.
    pub(crate) fine: usize,
    /// On which the answer is refined; none where it is not.
    pub(crate) refined: Option<usize>,
}

impl Resolution {
    /// For these bodies.
    pub(crate) fn of_bodies(shapes: &[&BodyShape], simulator: Simulator) -> Self {
        match simulator {
            Simulator::Fem => return Self::of_elements(shapes),
            // Not cut at all: so many times the fewest steps.
            Simulator::Rigid => return Self { coarse: 1, fine: 2, refined: None },
            Simulator::Mpm | Simulator::Tlmpm => {}
        }
        if let [block @ BodyShape::Block { .. }] = shapes {
            return Self::of(block.sides());
        }
        let thinnest = thinnest(shapes);
        let volume: f64 = shapes.iter().map(|shape| shape.volume() / thinnest.powi(3)).sum();
        let cells = |wanted: f64| ((wanted / volume).cbrt() / 2.0).round() as usize;
        let [coarse_least, fine_least] = LEAST_CELLS;
        let coarse = cells(COARSE).max(coarse_least);
        Self { coarse, fine: cells(FINE).max(fine_least).max(coarse), refined: None }
    }

    /// The same with so many cells on the last grid, and no finer one than that of the search unless it `refines`.
    pub(crate) fn ending(self, cells: Option<usize>, refines: bool) -> Self {
        let Self { coarse, fine, refined } = self;
        let refined = refined.filter(|_| refines);
        let (fine, refined) = match (cells, refined) {
            (Some(last), Some(_)) => {
                (((last as f64 / FINER).round() as usize).max(LEAST_ELEMENTS).min(last), Some(last))
            }
            (Some(last), None) => (last, None),
            (None, refined) => (fine, refined),
        };
        Self { coarse: coarse.min(fine), fine, refined: refined.filter(|refined| *refined > fine) }
    }

    /// That of the last grid.
    pub(crate) fn last(&self) -> usize {
        self.refined.unwrap_or(self.fine)
    }

    /// For bodies cut into finite elements, cubes but for those of a box, which fit it.
    fn of_elements(shapes: &[&BodyShape]) -> Self {
        let thinnest = thinnest(shapes);
        let volume: f64 = shapes.iter().map(|shape| shape.volume() / thinnest.powi(3)).sum();
        let bodies = shapes.len() as f64;
        let [coarse, fine, refined] =
            ELEMENTS.map(|wanted| ((bodies * wanted / volume).cbrt().round() as usize).max(LEAST_ELEMENTS));
        Self { coarse, fine, refined: Some(refined) }
    }

    /// For a block with these sides \[m\]; only their ratios count, so that no volume is too large or too small for a real.
    pub(crate) fn of(sides: [f64; 3]) -> Self {
        let thinnest = sides.iter().fold(f64::INFINITY, |m, &s| m.min(s));
        let sides = sides.map(|s| s / thinnest);
        let [coarse_least, fine_least] = LEAST_CELLS;
        let coarse = cells(sides, COARSE).max(coarse_least);
        Self { coarse, fine: cells(sides, FINE).max(fine_least).max(coarse), refined: None }
    }
}

/// The thinnest side of the boxes around bodies \[m\].
pub(crate) fn thinnest(shapes: &[&BodyShape]) -> f64 {
    shapes.iter().flat_map(|shape| shape.sides()).fold(f64::INFINITY, f64::min)
}

/// Two particles a cell and axis: the number of cells that gives about `wanted` particles, preferring one that fits
/// the sides in whole particle spacings, because unequal spacings bend differently along different axes.
fn cells(sides: [f64; 3], wanted: f64) -> usize {
    let thinnest = sides.iter().fold(f64::INFINITY, |m, &s| m.min(s));
    let volume: f64 = sides.iter().product();
    let plain = ((wanted / volume).cbrt() * thinnest / 2.0).round().max(1.0) as usize;
    let score = |cells: usize| {
        let h = thinnest / (2 * cells) as f64;
        let counts = sides.map(|s| (s / h).round());
        let particles: f64 = counts.iter().product();
        let ratio = particles / wanted;
        let misfit = sides.iter().zip(counts).map(|(s, n)| (s / h / n).ln().powi(2)).sum::<f64>().sqrt();
        (BAND.0..=BAND.1).contains(&ratio).then_some(misfit + COUNT_WEIGHT * ratio.ln().abs())
    };
    let fits = (1..=2 * plain + 2).filter_map(|cells| score(cells).map(|s| (s, cells)));
    fits.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(plain, |(_, cells)| cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beam_whose_sides_are_whole_cells_keeps_them() {
        let sides = [0.125, 0.046875, 0.026_041_666_666_666_664];
        assert_eq!(Resolution::of(sides).fine, 5);
    }

    #[test]
    fn the_size_of_the_scene_does_not_matter() {
        for scale in [1e-150, 1e-3, 1.0, 1e3, 1e150] {
            assert_eq!(Resolution::of([0.14, 0.12, 0.1].map(|s| s * scale)), Resolution::of([0.14, 0.12, 0.1]));
        }
    }

    #[test]
    fn particle_counts_are_near_what_is_wanted() {
        for sides in [[1.0, 1.0, 1.0], [3.0, 1.0, 1.0], [2.0, 1.7, 1.1]] {
            let h = 1.0 / f64::from(2 * Resolution::of(sides).fine as u32) * sides.iter().copied().fold(9.0, f64::min);
            let particles: f64 = sides.iter().map(|s| (s / h).round()).product();
            assert!((0.6 * FINE..1.3 * FINE).contains(&particles), "{sides:?} {particles}");
        }
    }

    #[test]
    fn finite_elements_are_about_as_many_for_every_shape() {
        let block = |sides: [f64; 3]| BodyShape::Block { min: [0.0; 3], max: sides };
        for sides in [[1.0, 1.0, 1.0], [0.2, 0.15, 0.1], [3.0, 1.0, 1.0]] {
            let Resolution { coarse, fine, refined } = Resolution::of_bodies(&[&block(sides)], Simulator::Fem);
            let thinnest = sides.iter().copied().fold(9.0, f64::min);
            let cells = sides.map(|s| (s / thinnest * fine as f64).round()).iter().product::<f64>();
            assert!((0.6..1.6).contains(&(cells / ELEMENTS[1])) && coarse < fine, "{sides:?} {coarse} {fine}");
            assert!(refined.is_some_and(|refined| (1.3..1.9).contains(&(refined as f64 / fine as f64))), "{refined:?}");
        }
        assert_eq!(Resolution::of_bodies(&[&block([1.0, 1.0, 0.01])], Simulator::Fem).fine, LEAST_ELEMENTS);
    }

    #[test]
    fn the_last_grid_is_the_one_that_is_asked_for() {
        let block = BodyShape::Block { min: [0.0; 3], max: [0.2, 0.15, 0.1] };
        let of = |simulator, cells, refines| Resolution::of_bodies(&[&block], simulator).ending(cells, refines);
        for cells in [1, 2, 3, 4, 8, 30] {
            for (simulator, refines) in [(Simulator::Fem, true), (Simulator::Fem, false), (Simulator::Mpm, true)] {
                let resolution = of(simulator, Some(cells), refines);
                let Resolution { coarse, fine, refined } = resolution;
                assert_eq!(resolution.last(), cells);
                assert!(coarse <= fine && refined.is_none_or(|refined| fine < refined), "{resolution:?}");
                assert_eq!(refined.is_some(), simulator == Simulator::Fem && refines && cells > LEAST_ELEMENTS);
            }
        }
        assert_eq!(of(Simulator::Fem, None, false).last(), of(Simulator::Fem, None, true).fine);
    }

    #[test]
    fn a_sheet_gets_the_least_that_bends() {
        assert_eq!(Resolution::of([1.0, 1.0, 0.01]).fine, 4);
    }
}
