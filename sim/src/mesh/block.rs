//! The boundary of a block of particles as a triangle mesh.
//!
//! Particles sit at the cell centres of a lattice, vertices at its corners. A vertex is a weighted mean of particles,
//! the product over the axes of `1/2, 1/2` between two particles, and `3/2, -1/2` at a side, which continues the line
//! through the outer two by half a spacing. So a vertex is linear in the particles and follows every affine motion
//! exactly; its gradient is the constant weights.

use diffkern::memory::{collect, filled, with_room};

/// A block-shaped lattice of particles; the last axis runs fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockLattice {
    /// Corner with the smallest coordinates \[m\].
    pub min: [f64; 3],
    /// Distance of neighbouring particles on each axis \[m\].
    pub spacing: [f64; 3],
    /// Particles on each axis; at least 1, and 2 where the block should deform.
    pub counts: [usize; 3],
}

/// Topology and weights of a block's boundary.
pub(super) struct Boundary {
    pub triangles: Vec<[u32; 3]>,
    pub sides: Vec<u32>,
    /// Eight a vertex.
    pub particles: Vec<u32>,
    pub weights: Vec<f64>,
}

impl BlockLattice {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.counts.iter().product()
    }

    /// Whether it has no particles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Volume of one particle at rest \[m^3\].
    pub fn particle_volume(&self) -> f64 {
        self.spacing.iter().product()
    }

    /// Centres of the cells \[m\].
    ///
    /// # Errors
    /// When memory is short.
    pub fn positions(&self) -> diffkern::Result<Vec<[f64; 3]>> {
        let at = |k: usize, i: usize| self.min[k] + (i as f64 + 0.5) * self.spacing[k];
        collect(indices(self.counts).map(|[i, j, k]| [at(0, i), at(1, j), at(2, k)]))
    }

    /// The boundary with every corner of the lattice as a vertex, or only every `stride`-th and the last.
    pub(super) fn boundary(&self, stride: usize) -> diffkern::Result<Boundary> {
        let knots: [Vec<usize>; 3] = self.counts.map(|n| knots(n, stride.max(1)));
        let sizes = [knots[0].len(), knots[1].len(), knots[2].len()];
        let on_side = |[i, j, k]: [usize; 3]| [i, j, k].iter().zip(sizes).any(|(&i, n)| i == 0 || i + 1 == n);
        let mut number = filled(sizes.iter().product(), u32::MAX)?;
        let flat = |[i, j, k]: [usize; 3]| (i * sizes[1] + j) * sizes[2] + k;
        let vertices = sizes.iter().product::<usize>() - sizes.map(|n| n.saturating_sub(2)).iter().product::<usize>();
        let (mut particles, mut weights, mut count) = (with_room(8 * vertices)?, with_room(8 * vertices)?, 0);
        for at in indices(sizes).filter(|&at| on_side(at)) {
            number[flat(at)] = count;
            count += 1;
            self.vertex([0, 1, 2].map(|a| knots[a][at[a]]), &mut particles, &mut weights);
        }
        // Two triangles a quad, and by Euler's formula two quads fewer than vertices.
        let (mut triangles, mut sides) = (with_room(2 * vertices)?, with_room(2 * vertices)?);
        for side in 0..6 {
            for quad in quads(side, sizes) {
                let [a, b, c, d] = quad.map(|at| number[flat(at)]);
                triangles.extend([[a, b, c], [a, c, d]]);
                sides.extend([side as u32; 2]);
            }
        }
        Ok(Boundary { triangles, sides, particles, weights })
    }

    /// The particles around the lattice corner `at` and their weights.
    fn vertex(&self, at: [usize; 3], particles: &mut Vec<u32>, weights: &mut Vec<f64>) {
        let [x, y, z] = [0, 1, 2].map(|a| pair(at[a], self.counts[a]));
        for [i, j, k] in indices([2, 2, 2]) {
            particles.push(((x[i].0 * self.counts[1] + y[j].0) * self.counts[2] + z[k].0) as u32);
            weights.push(x[i].1 * y[j].1 * z[k].1);
        }
    }
}

/// All index triples below `counts`, the last fastest.
pub(crate) fn indices([a, b, c]: [usize; 3]) -> impl ExactSizeIterator<Item = [usize; 3]> {
    (0..a * b * c).map(move |n| [n / (b * c), n / c % b, n % c])
}

/// Corners that become vertices: every `stride`-th of `0..=n`, and `n`.
fn knots(n: usize, stride: usize) -> Vec<usize> {
    (0..n).step_by(stride).chain([n]).collect()
}

/// The two particles of a row of `n` from which its corner `i` follows, and their weights.
fn pair(i: usize, n: usize) -> [(usize, f64); 2] {
    match (i, n) {
        (_, 1) => [(0, 1.0), (0, 0.0)],
        (0, _) => [(0, 1.5), (1, -0.5)],
        (i, n) if i == n => [(n - 1, 1.5), (n - 2, -0.5)],
        _ => [(i - 1, 0.5), (i, 0.5)],
    }
}

/// Quads of a side, counter-clockwise from outside. Sides: -x, +x, -y, +y, -z, +z.
pub(crate) fn quads(side: usize, sizes: [usize; 3]) -> impl Iterator<Item = [[usize; 3]; 4]> {
    let (axis, upper) = (side / 2, side % 2 == 1);
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let fixed = if upper { sizes[axis] - 1 } else { 0 };
    let corner = move |i: usize, j: usize| {
        let mut at = [0; 3];
        (at[axis], at[u], at[v]) = (fixed, i, j);
        at
    };
    let rows = sizes[v] - 1;
    (0..(sizes[u] - 1) * rows).map(move |n| {
        let (i, j) = (n / rows, n % rows);
        let [a, b, c, d] = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
        if upper { [a, b, c, d] } else { [a, d, c, b] }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATTICE: BlockLattice = BlockLattice { min: [-1.0, 2.0, 0.5], spacing: [0.5, 0.25, 1.0], counts: [4, 3, 2] };

    fn vertices(stride: usize) -> (Boundary, Vec<[f64; 3]>) {
        let (b, x) = (LATTICE.boundary(stride).unwrap(), LATTICE.positions().unwrap());
        let mean = |(p, w): (&[u32], &[f64])| {
            [0, 1, 2].map(|a| p.iter().zip(w).map(|(&p, w)| w * x[p as usize][a]).sum::<f64>())
        };
        let at = b.particles.chunks(8).zip(b.weights.chunks(8)).map(mean).collect();
        (b, at)
    }

    #[test]
    fn encloses_the_volume_of_the_block_with_outward_triangles() {
        for stride in [1, 2, 5] {
            let (b, x) = vertices(stride);
            let volume: f64 = b.triangles.iter().map(|t| signed_volume(t.map(|i| x[i as usize]))).sum();
            assert!((volume - 2.0 * 0.75 * 2.0).abs() < 1e-12, "stride {stride}: {volume}");
        }
    }

    #[test]
    fn is_closed() {
        let (b, _) = vertices(1);
        let mut edges = std::collections::HashMap::new();
        for t in &b.triangles {
            for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
                *edges.entry((a.min(b), a.max(b))).or_insert(0) += if a < b { 1 } else { -1 };
            }
        }
        assert!(edges.values().all(|&n| n == 0));
        assert_eq!(b.triangles.len(), b.sides.len());
    }

    #[test]
    fn corners_are_the_blocks() {
        let (_, x) = vertices(3);
        assert!(x.contains(&LATTICE.min));
        assert!(x.contains(&[1.0, 2.75, 2.5]));
    }

    fn signed_volume([a, b, c]: [[f64; 3]; 3]) -> f64 {
        let n = [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]];
        (a[0] * n[0] + a[1] * n[1] + a[2] * n[2]) / 6.0
    }
}
