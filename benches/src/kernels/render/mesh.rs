//! From projected triangles to pixels, and their shading.

use diffkern::prelude::*;
use diffkern_render::depth::{inverse_depths, split_depths};
use diffkern_render::raster::rasterize;
use diffkern_render::shade::{gather_normals, lambert, turn_to_camera};
use diffkern_render::silhouette::silhouette;

use super::scene::scene;
use crate::kernels::Kernel;

pub fn kernels() -> Vec<Kernel> {
    vec![
        kernel!(silhouette: scene => |s| "pixels" s.pixels, (
            (s.side, s.side), &s.projected, &s.corners, &s.start, &s.list, &s.coverage, 1.0, s.tiles_x, false,
        ), writes [s.coverage => 1.0]),
        kernel!(rasterize: scene => |s| "pixels" s.pixels, (
            (s.side, s.side), &s.projected, &s.corners, &s.colors, &s.start, &s.list, &s.layers, 1.0, s.tiles_x, s.most,
            false,
        ), writes [s.layers => Vec4::new(1.0, 1.0, 1.0, 1.0)]),
        kernel!(inverse_depths: scene => |s| "normals" s.groups, (
            s.groups, &s.projected, &s.group_vertex, &s.shaded,
        ), writes [s.shaded => Vec3::new(1.0, 1.0, 1.0)]),
        kernel!(split_depths: scene => |s| "pixels" s.pixels, (
            s.pixels, &s.drawn, &s.coverage, &s.inverse,
        ), writes [s.coverage => 1.0, s.inverse => 1.0]),
        kernel!(gather_normals: scene => |s| "triangles" s.triangles, (
            s.triangles, &s.projected, &s.corners, &s.gathered,
        ), writes [s.gathered => Vec3::new(1.0, 1.0, 1.0)]),
        kernel!(turn_to_camera: scene => |s| "normals" s.groups, (
            s.groups, &s.normals, &s.projected, &s.group_vertex, &s.position, &s.turned,
        ), writes [s.turned => Vec3::new(1.0, 1.0, 1.0)]),
        kernel!(lambert: scene => |s| "normals" s.groups, (
            s.groups, &s.normals, &s.group_vertex, &s.albedo, &s.direction, &s.intensity, &s.ambient, &s.shaded, true,
        ), writes [s.shaded => Vec3::new(1.0, 1.0, 1.0)]),
    ]
}
