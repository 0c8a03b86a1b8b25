//! Kernels of normals and of Lambert shading.

use diffkern::prelude::*;

/// Adds every triangle's normal, its length twice the area \[m^2\], to the groups of its corners.
#[diff_kernel]
pub fn gather_normals<F: Float>(x: &Array<Vec3<F>>, corners: &Array<u32>, normal: &mut Array<Vec3<F>>) {
    let t = 6 * ABSOLUTE_POS;
    let a = x[corners[t] as usize];
    let b = x[corners[t + 1] as usize];
    let c = x[corners[t + 2] as usize];
    let n = (b - a).cross(c - a);
    normal[corners[t + 3] as usize] += n;
    normal[corners[t + 4] as usize] += n;
    normal[corners[t + 5] as usize] += n;
}

/// Turns the normals of a sheet to the side of the camera; the sign is constant to the derivative.
#[diff_kernel]
pub fn turn_to_camera<F: Float>(
    normal: &Array<Vec3<F>>,
    x: &Array<Vec3<F>>,
    group_vertex: &Array<u32>,
    position: &Array<Vec3<F>>,
    turned: &mut Array<Vec3<F>>,
) {
    let g = ABSOLUTE_POS;
    let towards = detach((position[0] - x[group_vertex[g] as usize]).dot(normal[g]));
    turned[g] = normal[g] * select(towards < 0.0, F::new(-1.0), F::new(1.0));
}

/// Lambert's law at every normal group: `clip(albedo * (ambient + sum of intensity * max(0, n.l)))`, over the lights.
///
/// One-sided where `n.l = 0` and where a component is clipped.
#[diff_kernel]
pub fn lambert<F: Float>(
    normal: &Array<Vec3<F>>,
    group_vertex: &Array<u32>,
    albedo: &Array<Vec3<F>>,
    direction: &Array<Vec3<F>>,
    intensity: &Array<F>,
    ambient: &Array<F>,
    color: &mut Array<Vec3<F>>,
    #[comptime] albedo_per_vertex: bool,
) {
    let g = ABSOLUTE_POS;
    let n = normal[g];
    // A group of triangles without area has no normal; the floor keeps its light finite.
    let length = n.dot(n).max(1e-30).sqrt();
    let mut light = ambient[0];
    for k in 0..direction.len() {
        let cosine = n.dot(direction[k].normalize()) / length;
        light += intensity[k] * cosine.max(0.0);
    }
    let mut vertex = 0usize;
    if albedo_per_vertex {
        vertex = group_vertex[g] as usize;
    }
    let c = albedo[vertex] * light;
    color[g] = Vec3::new(c.x.clamp(0.0, 1.0), c.y.clamp(0.0, 1.0), c.z.clamp(0.0, 1.0));
}
