//! A bumpy sphere that fills most of a square image, with the candidates of its tiles.

use diffkern::prelude::*;
use diffkern_render::Mesh;
use diffkern_render::bin::bin;

use crate::kernels::Size;
use crate::kernels::random::Random;

pub struct Scene<F: Float> {
    /// Pixels per row, and rows.
    pub side: usize,
    pub pixels: usize,
    pub triangles: usize,
    pub groups: usize,
    pub tiles_x: u32,
    pub most: u32,
    pub projected: Array<Vec3<F>>,
    pub corners: Array<u32>,
    pub group_vertex: Array<u32>,
    pub start: Array<u32>,
    pub list: Array<u32>,
    pub colors: Array<Vec3<F>>,
    pub coverage: Array<F>,
    pub layers: Array<Vec4<F>>,
    /// What was drawn of reciprocals of depth, and their sum.
    pub drawn: Array<Vec4<F>>,
    pub inverse: Array<F>,
    /// Normal of each group.
    pub normals: Array<Vec3<F>>,
    pub gathered: Array<Vec3<F>>,
    pub turned: Array<Vec3<F>>,
    pub shaded: Array<Vec3<F>>,
    pub position: Array<Vec3<F>>,
    pub albedo: Array<Vec3<F>>,
    pub direction: Array<Vec3<F>>,
    pub intensity: Array<F>,
    pub ambient: Array<F>,
}

/// 3,968 triangles over 128 by 128 pixels, or 120 over 20 by 20.
pub fn scene<F: Float>(d: &Device, size: Size) -> Result<Scene<F>> {
    let (side, rings) = size.pick((128, 32), (20, 6));
    let (triangles, vertices) = sphere(rings);
    let radius = 0.38 * side as f64;
    let host: Vec<[f64; 3]> = vertices
        .iter()
        .map(|[x, y, z]| [0.485 * side as f64 + radius * x, 0.445 * side as f64 - radius * z, 3.0 + y])
        .collect();
    let mesh = Mesh::smooth(triangles, vertices.len())?;
    let bins = bin(&host, &mesh, (side, side), 1.0, 0.1)?;
    let corners: Vec<u32> =
        mesh.triangles().iter().zip(mesh.groups()).flat_map(|(t, g)| t.iter().chain(g)).copied().collect();
    let projected: Vec<Vec3<F>> = host.iter().map(|p| Vec3::from_array(p.map(F::from_f64))).collect();
    let (groups, pixels) = (mesh.group_vertex().len(), side * side);
    let mut r = Random(3);
    Ok(Scene {
        side,
        pixels,
        triangles: mesh.triangles().len(),
        groups,
        tiles_x: bins.tiles_x,
        most: bins.most,
        projected: d.array(&projected)?.requires_grad(),
        corners: d.array(&corners)?,
        group_vertex: d.array(mesh.group_vertex())?,
        start: d.array(&bins.start)?,
        list: d.array(&bins.list)?,
        colors: r.array(d, groups, |r| r.vec3(0.1, 0.9))?,
        coverage: d.zeros(pixels)?,
        layers: d.zeros(pixels)?,
        drawn: r.array(d, pixels, |r| Vec4::new(r.between(0.1, 0.9), F::zero(), F::zero(), F::one()))?,
        inverse: d.zeros(pixels)?,
        normals: r.array(d, groups, |r| r.vec3(0.2, 1.0))?,
        gathered: d.zeros(groups)?,
        turned: d.zeros(groups)?,
        shaded: d.zeros(groups)?,
        position: r.array(d, 1, |r| r.vec3(50.0, 60.0))?,
        albedo: r.array(d, vertices.len(), |r| r.vec3(0.1, 0.6))?,
        direction: r.array(d, 1, |r| r.vec3(0.2, 1.0))?,
        intensity: r.array(d, 1, |r| r.between(0.6, 0.8))?,
        ambient: r.array(d, 1, |r| r.between(0.1, 0.2))?,
    })
}

/// Faces outwards, `rings` by `2 rings` squares, closed at the poles; bumpy so that nothing is symmetric.
fn sphere(rings: u32) -> (Vec<[u32; 3]>, Vec<[f64; 3]>) {
    let turns = 2 * rings;
    let vertex = |i: u32, j: u32| {
        let theta = std::f64::consts::PI * f64::from(i) / f64::from(rings);
        let phi = std::f64::consts::TAU * f64::from(j) / f64::from(turns) + 0.1;
        let r = 1.0 + 0.08 * (3.0 * phi).sin() * theta.sin() + 0.05 * (2.0 * theta).cos();
        [r * theta.sin() * phi.cos(), r * theta.sin() * phi.sin(), r * theta.cos()]
    };
    let vertices = (0..=rings).flat_map(|i| (0..turns).map(move |j| (i, j))).map(|(i, j)| vertex(i, j)).collect();
    let at = |i: u32, j: u32| i * turns + if i == 0 || i == rings { 0 } else { j % turns };
    let mut triangles = Vec::new();
    for (i, j) in (0..rings).flat_map(|i| (0..turns).map(move |j| (i, j))) {
        let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
        if i > 0 {
            triangles.push([a, b, d]);
        }
        if i + 1 < rings {
            triangles.push([b, c, d]);
        }
    }
    (triangles, vertices)
}
