//! Constant topology of a triangle mesh.

use crate::error::{Error, Result};

/// Constant topology of a triangle mesh; the positions of its vertices come with each image.
///
/// Triangles run counter-clockwise seen from outside. Every corner belongs to a smoothing group, which lies at one
/// vertex and has one normal: corners that share a group are shaded smoothly, corners at one vertex in different
/// groups have a hard edge between them.
///
/// ```
/// use diffkern_render::Mesh;
///
/// // Two sides of a roof over the same four vertices: smooth, and with an edge between them.
/// let triangles = vec![[0, 1, 2], [0, 2, 3]];
/// let smooth = Mesh::smooth(triangles.clone(), 4)?;
/// let edged = Mesh::with_sides(triangles, &[0, 1], 4)?;
/// assert_eq!((smooth.group_vertex().len(), edged.group_vertex().len()), (4, 6));
/// # Ok::<(), diffkern_render::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    triangles: Vec<[u32; 3]>,
    groups: Vec<[u32; 3]>,
    group_vertex: Vec<u32>,
    vertices: usize,
    two_sided: bool,
}

impl Mesh {
    /// A mesh with one smoothing group per corner: `groups[t][k]` belongs to `triangles[t][k]`, counted from 0 without
    /// gaps.
    ///
    /// # Errors
    /// An empty mesh, an index out of range, a triangle that names a vertex twice, or a group at two vertices.
    pub fn new(triangles: Vec<[u32; 3]>, groups: Vec<[u32; 3]>, vertices: usize) -> Result<Self> {
        if triangles.is_empty() {
            return Err(Error::Mesh("there are no triangles; expected at least one".into()));
        }
        if groups.len() != triangles.len() {
            return Err(Error::Mesh(format!(
                "{} triangles but normal groups for {}; expected three groups per triangle",
                triangles.len(),
                groups.len()
            )));
        }
        check_triangles(&triangles, vertices)?;
        let group_vertex = vertex_of_each_group(&triangles, &groups)?;
        Ok(Self { triangles, groups, group_vertex, vertices, two_sided: false })
    }

    /// Smooth inside each side, hard edges between: `side[t]` is the side of triangle `t`, any number.
    ///
    /// # Errors
    /// As [`Mesh::new`], and when `side` has another length than `triangles`.
    pub fn with_sides(triangles: Vec<[u32; 3]>, side: &[u32], vertices: usize) -> Result<Self> {
        if side.len() != triangles.len() {
            return Err(Error::Mesh(format!("{} triangles but the sides of {}", triangles.len(), side.len())));
        }
        let mut known = std::collections::BTreeMap::new();
        let groups = triangles
            .iter()
            .zip(side)
            .map(|(triangle, &side)| {
                triangle.map(|vertex| {
                    let next = known.len() as u32;
                    *known.entry((side, vertex)).or_insert(next)
                })
            })
            .collect();
        Self::new(triangles, groups, vertices)
    }

    /// One normal per triangle.
    ///
    /// # Errors
    /// As [`Mesh::new`].
    pub fn flat(triangles: Vec<[u32; 3]>, vertices: usize) -> Result<Self> {
        let side: Vec<u32> = (0..triangles.len() as u32).collect();
        Self::with_sides(triangles, &side, vertices)
    }

    /// One normal per vertex.
    ///
    /// # Errors
    /// As [`Mesh::new`].
    pub fn smooth(triangles: Vec<[u32; 3]>, vertices: usize) -> Result<Self> {
        let side = vec![0; triangles.len()];
        Self::with_sides(triangles, &side, vertices)
    }

    /// Draws triangles from both sides and turns normals towards the camera: for sheets, which enclose no volume.
    #[must_use]
    pub fn two_sided(mut self) -> Self {
        self.two_sided = true;
        self
    }

    /// Vertex indices, three per triangle.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Smoothing groups, three per triangle.
    pub fn groups(&self) -> &[[u32; 3]] {
        &self.groups
    }

    /// The vertex at which each smoothing group lies.
    pub fn group_vertex(&self) -> &[u32] {
        &self.group_vertex
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertices
    }

    /// Whether both sides are drawn.
    pub fn is_two_sided(&self) -> bool {
        self.two_sided
    }
}

fn check_triangles(triangles: &[[u32; 3]], vertices: usize) -> Result<()> {
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        if let Some(v) = [a, b, c].into_iter().find(|&v| v as usize >= vertices) {
            return Err(Error::Mesh(format!("triangle {t} names vertex {v}, but there are {vertices} vertices")));
        }
        if a == b || b == c || c == a {
            return Err(Error::Mesh(format!("triangle {t} has corners {a}, {b}, {c}; expected three different ones")));
        }
    }
    Ok(())
}

fn vertex_of_each_group(triangles: &[[u32; 3]], groups: &[[u32; 3]]) -> Result<Vec<u32>> {
    const NONE: u32 = u32::MAX;
    let corners = || groups.iter().flatten().zip(triangles.iter().flatten());
    let count = corners().map(|(&g, _)| g as usize + 1).max().unwrap_or(0);
    if count > 3 * triangles.len() {
        return Err(Error::Mesh(format!(
            "normal group {} of {} corners; expected groups counted from 0 without gaps",
            count - 1,
            3 * triangles.len()
        )));
    }
    let mut vertex = vec![NONE; count];
    for (&g, &v) in corners() {
        let known = &mut vertex[g as usize];
        if *known != NONE && *known != v {
            return Err(Error::Mesh(format!("normal group {g} lies at vertices {known} and {v}; expected one")));
        }
        *known = v;
    }
    match vertex.iter().position(|&v| v == NONE) {
        Some(g) => Err(Error::Mesh(format!("normal group {g} has no corner; expected groups without gaps"))),
        None => Ok(vertex),
    }
}
