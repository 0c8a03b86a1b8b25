"""Pinhole camera, shading, and the binding of draw.cpp's rasteriser."""

import ctypes
from ctypes import c_double, c_int, c_void_p

import numpy as np

from native import doubles, pointer

SAMPLES = 4  # per side of a pixel
INTENSITY, AMBIENT = 0.85, 0.15
BACKGROUND = (0.08, 0.09, 0.11)
UP = (0.0, 0.0, 1.0)


class PictureInput(ctypes.Structure):
    _fields_ = [
        ("width", c_int),
        ("height", c_int),
        ("samples", c_int),
        ("to_light", 3 * c_double),
        ("intensity", c_double),
        ("ambient", c_double),
        ("background", 3 * c_double),
    ]


def project(camera, points):
    """(points, 3): u right and v down in pixels from the top left corner, and inverse depth in 1/m."""
    position = np.array(camera.position)
    forward = np.array(camera.look_at) - position
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, UP)
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    scale = camera.height / 2 / np.tan(np.radians(camera.vertical_fov) / 2)
    seen = points - position
    depth = seen @ forward
    u = camera.width / 2 + scale * (seen @ right) / depth
    v = camera.height / 2 - scale * (seen @ up) / depth
    return np.stack([u, v, 1 / depth], -1)


def corner_normals(positions, triangles, sides):
    """(triangles, 3, 3): sums of the area-weighted normals around each corner, over triangles of the same side."""
    first, second, third = (positions[triangles[:, corner]] for corner in range(3))
    normals = np.cross(second - first, third - first)
    group = sides[:, None] * len(positions) + triangles
    sums = np.zeros((len(positions) * (sides.max() + 1), 3))
    for corner in range(3):
        for axis in range(3):
            sums[:, axis] += np.bincount(group[:, corner], normals[:, axis], len(sums))
    return sums[group]


def draw(library, scene, part, positions):
    """Silhouette (height, width) and shaded picture (height, width, 3), uint8, of a part's surface at `positions`."""
    camera = scene.camera
    to_light = np.array(scene.to_light) / np.linalg.norm(scene.to_light)
    vector = 3 * c_double
    picture = PictureInput(
        camera.width, camera.height, SAMPLES, vector(*to_light), INTENSITY, AMBIENT, vector(*BACKGROUND)
    )
    corners = doubles(project(camera, positions)[part.triangles])
    normals = doubles(corner_normals(positions, part.triangles, part.sides))
    albedo = doubles(part.albedo)
    coverage = np.zeros((camera.height, camera.width))
    colour = np.zeros((camera.height, camera.width, 3))
    library.rasterise(
        len(part.triangles),
        *map(c_void_p, map(pointer, (corners, normals, albedo))),
        ctypes.byref(picture),
        *map(c_void_p, map(pointer, (coverage, colour))),
    )
    return _to_bytes(coverage), _to_bytes(colour)


def _to_bytes(values):
    return np.floor(255 * values + 0.5).astype(np.uint8)
