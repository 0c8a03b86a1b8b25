"""From a scene to arrays: meshes, masses, velocities and drawn triangles of all its bodies."""

import functools
from dataclasses import dataclass, fields

import numpy as np

import mesh
from native import doubles, integers
from scenes import Solid, rotation

AXES = "xyz"


@dataclass
class Part:
    """One body, or all bodies one after another: n nodes, m tetrahedra, t surface triangles."""

    positions: np.ndarray  # (n, 3) at rest and at t = 0, m
    tetrahedra: np.ndarray  # (m, 4 or 10) int32
    triangles: np.ndarray  # (t, 3)
    sides: np.ndarray  # (t,) number of the smooth group for shading
    albedo: np.ndarray  # (t, 3)
    masses: np.ndarray  # (n,) kg
    areas: np.ndarray  # (n,) m^2
    velocities: np.ndarray  # (n, 3) m/s
    mu: np.ndarray  # (m,) Pa
    lame_lambda: np.ndarray  # (m,) Pa


@dataclass
class Model:
    """All bodies in one `whole`; `node_counts` and `triangle_counts` tell them apart.

    `resolution` per body: (x, y, z) cells of a block, mesh size of a solid in m.
    """

    whole: Part
    node_counts: list
    triangle_counts: list
    fixed: np.ndarray  # (n,) uint8
    resolution: list


def discretise(scene, coarser=1.0):
    """The model, with edges of the elements longer by the factor `coarser` (as near as whole cells allow)."""
    parts, resolution = [], []
    for number, body in enumerate(scene.bodies):
        if isinstance(body, Solid):
            resolution.append(body.mesh_size * coarser)
            parts.append(_solid(body, resolution[-1]))
        else:
            resolution.append(_coarse_cells(body, scene.clamp, coarser))
            parts.append(_block(body, resolution[-1], first_side=6 * number))
    whole = _join(parts)
    fixed = np.zeros(len(whole.positions), np.uint8)
    if scene.clamp:
        fixed[whole.positions[:, AXES.index(scene.clamp.axis)] <= scene.clamp.plane + 1e-9] = 1
    node_counts = [len(part.positions) for part in parts]
    triangle_counts = [len(part.triangles) for part in parts]
    return Model(whole, node_counts, triangle_counts, fixed, resolution)


def _coarse_cells(body, clamp, coarser):
    """Cells of a block, at least 2 a side. Along the clamp's axis a layer of nodes lies in the clamp's plane."""
    cells = [max(2, round(count / coarser)) for count in body.cells]
    if clamp:
        axis = AXES.index(clamp.axis)
        part = (clamp.plane - body.lower[axis]) / (body.upper[axis] - body.lower[axis])
        fitting = [n for n in range(2, 2 * body.cells[axis]) if abs(n * part - round(n * part)) < 1e-9]
        cells[axis] = min(fitting, key=lambda count: abs(count - body.cells[axis] / coarser))
    return tuple(cells)


def _block(body, cells, first_side):
    positions, tetrahedra = mesh.block(body.lower, body.upper, cells)
    triangles = mesh.surface(tetrahedra)
    if body.quadratic:
        positions, tetrahedra, triangles = mesh.quadratic(positions, tetrahedra)
    sides = mesh.block_sides(positions, triangles, body.lower, body.upper) + first_side
    return _part(body, positions, tetrahedra, triangles, sides)


def _solid(body, mesh_size):
    """Coordinates are rounded to the 8 decimals of body.obj, so that the file holds the simulated surface exactly."""
    positions, tetrahedra = mesh.solid(body.add_shape, mesh_size)
    centred = positions - centre_of_mass(positions, mesh.lumped_masses(positions, tetrahedra, 1.0))
    turned = functools.reduce(np.matmul, [rotation(*turn) for turn in body.rotations])
    positions = doubles(np.round(centred @ turned.T + np.array(body.centre), 8))
    triangles = mesh.surface(tetrahedra)
    return _part(body, positions, tetrahedra, triangles, np.zeros(len(triangles), int))


def _part(body, positions, tetrahedra, triangles, sides):
    masses = mesh.lumped_masses(positions, tetrahedra, body.density)
    arms = positions - centre_of_mass(positions, masses)
    return Part(
        positions=positions,
        tetrahedra=tetrahedra,
        triangles=triangles,
        sides=sides,
        albedo=np.tile(body.albedo, (len(triangles), 1)),
        masses=masses,
        areas=mesh.node_areas(positions, triangles),
        velocities=doubles(np.array(body.velocity) + np.cross(np.array(body.angular_velocity), arms)),
        mu=np.full(len(tetrahedra), body.mu, float),
        lame_lambda=np.full(len(tetrahedra), body.lame_lambda, float),
    )


def centre_of_mass(positions, masses):
    """(3,), m."""
    return (masses[:, None] * positions).sum(0) / masses.sum()


def _join(parts):
    """The parts' arrays one after another, node numbers shifted accordingly."""
    offsets = np.cumsum([0] + [len(part.positions) for part in parts])
    joined = {}
    for field in fields(Part):
        arrays = [getattr(part, field.name) for part in parts]
        if field.name in ("tetrahedra", "triangles"):
            arrays = [array + offset for array, offset in zip(arrays, offsets)]
        joined[field.name] = np.concatenate(arrays)
    joined["tetrahedra"] = integers(joined["tetrahedra"])
    return Part(**joined)
