//! Bodies of tetrahedra.

use crate::error::{Error, Result};
use crate::fem::tets::least_height;
use crate::mesh::kuhn::{self, TETS};
use diffkern::memory::collect;
use diffkern::prelude::*;

/// Vertices at rest and the tetrahedra between them, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct TetMesh {
    vertices: Vec<[f64; 3]>,
    tets: Vec<[u32; 4]>,
}

impl TetMesh {
    /// Tetrahedra by the indices of their corners, in the order of a right hand, over `vertices` \[m\].
    ///
    /// # Errors
    /// By its index, on a tetrahedron with an index out of range, one that is flat or inverted, and on a vertex that is not finite or that no
    /// tetrahedron has: it would have no mass.
    pub fn new(vertices: Vec<[f64; 3]>, tets: Vec<[u32; 4]>) -> Result<TetMesh> {
        if tets.is_empty() {
            return Err(Error::invalid("number of tetrahedra", 0, "at least 1"));
        }
        let infinite = |v: &[f64; 3]| v.iter().any(|x| !x.is_finite());
        if let Some(k) = vertices.iter().position(infinite) {
            return Err(Error::invalid(format!("vertex {k}"), format!("{:?}", vertices[k]), "finite numbers"));
        }
        let mut used = vec![false; vertices.len()];
        for (k, tet) in tets.iter().enumerate() {
            least_height(&vertices, k, tet)?;
            tet.iter().for_each(|&i| used[i as usize] = true);
        }
        match used.iter().position(|used| !used) {
            Some(k) => Err(Error::invalid(format!("number of tetrahedra at vertex {k}"), 0, "at least 1")),
            None => Ok(TetMesh { vertices, tets }),
        }
    }

    /// A box from `low` of the given `size` \[m\], of so many cells along each axis, with six tetrahedra a cell.
    ///
    /// ```
    /// use diffkern_sim::diffsim::TetMesh;
    ///
    /// let mesh = TetMesh::block([2, 3, 1], [0.0, 0.1, 0.0], [0.2, 0.3, 0.1])?;
    /// assert_eq!((mesh.vertices().len(), mesh.tets().len()), (24, 36));
    /// # Ok::<(), diffkern_sim::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there are no cells, or too many to number, or a size is not positive.
    pub fn block(cells: [usize; 3], low: [f64; 3], size: [f64; 3]) -> Result<TetMesh> {
        let count = cells.iter().try_fold(1usize, |n, &cells| n.checked_mul(cells.checked_add(1)?));
        if cells.contains(&0) || count.is_none_or(|n| n > u32::MAX as usize / 8) {
            return Err(Error::invalid(
                "number of cells",
                format!("{cells:?}"),
                "at least 1 along each axis, 2^29 vertices at most",
            ));
        }
        let [nx, ny, nz] = cells;
        let place = |k: usize| {
            let at = [k / ((ny + 1) * (nz + 1)), k / (nz + 1) % (ny + 1), k % (nz + 1)];
            [0, 1, 2].map(|a| low[a] + size[a] * at[a] as f64 / cells[a] as f64)
        };
        let corner = |[x, y, z]: [usize; 3]| ((x * (ny + 1) + y) * (nz + 1) + z) as u32;
        let cell = |k: usize| [k / (ny * nz), k / nz % ny, k % nz];
        let tets = collect((0..TETS * nx * ny * nz).map(|k| kuhn::tet(cell(k / TETS), k % TETS, corner)))?;
        TetMesh::new(collect((0..count.unwrap_or(0)).map(place))?, tets)
    }

    /// Vertices at rest \[m\].
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// Corners of the tetrahedra.
    pub fn tets(&self) -> &[[u32; 4]] {
        &self.tets
    }

    /// Indices of the vertices for whose places at rest `wanted` holds.
    ///
    /// ```
    /// use diffkern_sim::diffsim::TetMesh;
    ///
    /// let mesh = TetMesh::block([1, 2, 1], [0.0; 3], [0.1, 0.2, 0.1])?;
    /// assert_eq!(mesh.vertices_where(|[_, y, _]| y > 0.19).len(), 4);
    /// # Ok::<(), diffkern_sim::Error>(())
    /// ```
    pub fn vertices_where(&self, wanted: impl Fn([f64; 3]) -> bool) -> Vec<u32> {
        (0..).zip(&self.vertices).filter(|(_, at)| wanted(**at)).map(|(k, _)| k).collect()
    }

    /// The mesh as arrays of a device.
    ///
    /// # Errors
    /// When memory is short.
    pub fn on<F: Float>(&self, device: &Device) -> Result<DeviceMesh<F>> {
        let rest: Vec<_> = collect(self.vertices.iter().map(|v| Vec3::from_array(v.map(F::from_f64))))?;
        Ok(DeviceMesh { rest: device.array(&rest)?, tets: device.array(self.tets.as_flattened())? })
    }
}

/// A [`TetMesh`] on a device.
#[derive(Clone, Debug)]
pub struct DeviceMesh<F: Float> {
    /// Places at rest \[m\], one a vertex; differentiable.
    pub rest: Array<Vec3<F>>,
    /// Corners of the tetrahedra, four each.
    pub tets: Array<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    #[test]
    fn what_is_no_body_is_refused_by_index() {
        let right = [0, 1, 2, 3];
        assert!(TetMesh::new(CORNERS.to_vec(), vec![right]).is_ok());
        let flat = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
        let none = [CORNERS.to_vec(), vec![[2.0; 3]]].concat();
        let nan = [&CORNERS[..3], &[[0.0, f64::NAN, 1.0]]].concat();
        for (vertices, tets, expected) in [
            (CORNERS.to_vec(), vec![right, [0, 1, 2, 4]], "vertex of tetrahedron 1 is 4, expected an index below 4"),
            (CORNERS.to_vec(), vec![right, [0, 2, 1, 3]], "volume of tetrahedron 1 is -0.16666666666666666"),
            (flat.to_vec(), vec![right], "volume of tetrahedron 0 is 0, expected a positive one"),
            (CORNERS.to_vec(), vec![], "number of tetrahedra is 0"),
            (none, vec![right], "number of tetrahedra at vertex 4 is 0"),
            (nan, vec![right], "vertex 3 is [0.0, NaN, 1.0], expected finite numbers"),
        ] {
            let error = TetMesh::new(vertices, tets).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}, expected {expected}");
        }
    }

    #[test]
    fn a_block_is_filled_by_its_tetrahedra() {
        let mesh = TetMesh::block([3, 2, 4], [-0.1, 0.2, 0.3], [0.3, 0.5, 0.7]).unwrap();
        let volume: f64 = mesh
            .tets()
            .iter()
            .map(|t| {
                let [a, b, c, d] = t.map(|i| Vec3::from_array(mesh.vertices()[i as usize]));
                (b - a).cross(c - a).dot(d - a) / 6.0
            })
            .sum();
        assert!((volume - 0.3 * 0.5 * 0.7).abs() < 1e-14, "{volume}");
        assert_eq!(mesh.vertices()[0], [-0.1, 0.2, 0.3]);
        for (cells, size) in [([0, 1, 1], [1.0; 3]), ([1, 1, 1], [1.0, 0.0, 1.0]), ([usize::MAX, 2, 1], [1.0; 3])] {
            assert!(TetMesh::block(cells, [0.0; 3], size).is_err(), "{cells:?}, {size:?}");
        }
    }
}
