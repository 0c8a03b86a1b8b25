//! Triangles in equal pieces: points spread over a surface, each with its share of the area.

use super::{Point, norm, sub};
use crate::error::{Error, Result};

/// Most pieces of an edge of a triangle.
const MOST_PIECES: f64 = 1e3;

/// How many times the edges of a triangle are divided so that none is longer than `edge` \[m\]; `what` is the name of that length.
pub(crate) fn divisions([a, b, c]: [Point; 3], edge: f64, what: &str) -> Result<usize> {
    let longest = norm(sub(b, a)).max(norm(sub(c, a))).max(norm(sub(c, b)));
    let n = (longest / edge * (1.0 - 1e-9)).ceil().max(1.0);
    if n > MOST_PIECES {
        let expected = format!("one that divides the edges of its surface into at most {MOST_PIECES} pieces");
        return Err(Error::invalid(what, edge, expected));
    }
    Ok(n as usize)
}

/// Centres of the `n^2` equal pieces of a triangle whose edges are divided `n` times, as parts of its first and of its last edge from the first corner.
pub(crate) fn centres(n: usize) -> impl Iterator<Item = [f64; 2]> {
    let at = move |i: usize, j: usize, third: f64| [(i as f64 + third) / n as f64, (j as f64 + third) / n as f64];
    (0..n).flat_map(move |i| (0..n - i).map(move |j| (i, j))).flat_map(move |(i, j)| {
        let upside_down = (i + j + 2 <= n).then(|| at(i, j, 2.0 / 3.0));
        std::iter::once(at(i, j, 1.0 / 3.0)).chain(upside_down)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_the_square_and_their_mean_is_the_centre() {
        for n in 1..6 {
            let all: Vec<_> = centres(n).collect();
            assert_eq!(all.len(), n * n);
            for axis in 0..2 {
                let mean = all.iter().map(|c| c[axis]).sum::<f64>() / all.len() as f64;
                assert!((mean - 1.0 / 3.0).abs() < 1e-12, "{n}: {mean}");
            }
        }
    }
}
