"""Tetrahedral meshes: structured blocks, solids by gmsh, P2 nodes, surfaces, lumped masses, areas.

Arrays: `positions` (nodes, 3) float64 in m; `tetrahedra` (elements, 4 or 10) int32, corners positively oriented;
`triangles` (triangles, 3) int, outward.
"""

import itertools

import numpy as np

from native import doubles, integers

EDGES = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]  # of a tetrahedron, in the order of the P2 nodes 4 to 9
GMSH_TETRAHEDRON = 4  # gmsh's number of the element with 4 nodes


def block(lower, upper, cells):
    """A box from corner `lower` to `upper` of (x, y, z) `cells`, six P1 tetrahedra each.

    Each cell is a Kuhn split, mirrored in every other cell of each axis, so that the mesh prefers no diagonal.
    """
    axes = [np.linspace(lower[axis], upper[axis], cells[axis] + 1) for axis in range(3)]
    positions = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    cell = np.stack(np.meshgrid(*map(np.arange, cells), indexing="ij"), -1).reshape(-1, 3)
    mirrored = cell % 2 == 1

    def node(corner):
        i, j, k = (cell + np.where(mirrored, 1 - corner, corner)).T
        return (i * (cells[1] + 1) + j) * (cells[2] + 1) + k

    tetrahedra = []
    for path in itertools.permutations(range(3)):
        corner = np.zeros(3, int)
        nodes = [node(corner)]
        for axis in path:
            corner[axis] = 1
            nodes.append(node(corner))
        tetrahedra.append(np.stack(nodes, 1))
    return orient(positions, np.stack(tetrahedra, 1).reshape(-1, 4))


def solid(add_shape, size):
    """P1 mesh of the gmsh model that `add_shape(gmsh.model.occ)` builds, of edges of about `size` m."""
    import gmsh  # here, because blocks do without it

    gmsh.initialize()
    options = {
        "General.Verbosity": 1,
        "General.NumThreads": 1,  # the same mesh each time
        "Mesh.MeshSizeMin": size,
        "Mesh.MeshSizeMax": size,
        "Mesh.MeshSizeFromCurvature": 0,
        "Mesh.Optimize": 1,
        "Mesh.OptimizeNetgen": 1,
        "Mesh.RandomSeed": 1,
    }
    for name, value in options.items():
        gmsh.option.setNumber(name, value)
    gmsh.model.add("solid")
    add_shape(gmsh.model.occ)
    gmsh.model.occ.synchronize()
    gmsh.model.mesh.generate(3)
    gmsh.model.mesh.optimize("Netgen")
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    _, nodes = gmsh.model.mesh.getElementsByType(GMSH_TETRAHEDRON)
    gmsh.finalize()
    row = np.zeros(int(max(tags)) + 1, int)
    row[np.array(tags, int)] = np.arange(len(tags))
    return renumber(np.array(coordinates).reshape(-1, 3), row[np.array(nodes, int).reshape(-1, 4)])


def volumes(positions, tetrahedra):
    """Signed volumes (elements,), m^3."""
    origin = positions[tetrahedra[:, 0]]
    first, second, third = (positions[tetrahedra[:, corner]] - origin for corner in (1, 2, 3))
    return np.einsum("ij,ij->i", np.cross(first, second), third) / 6


def orient(positions, tetrahedra):
    """The mesh with two corners of each negative tetrahedron exchanged."""
    tetrahedra = np.array(tetrahedra)
    negative = volumes(positions, tetrahedra) < 0
    tetrahedra[negative] = tetrahedra[negative][:, [0, 2, 1, 3]]
    return doubles(positions), integers(tetrahedra)


def renumber(positions, tetrahedra):
    """The used nodes along a Morton curve and the tetrahedra by their first node, for locality in memory."""
    used = np.unique(tetrahedra)
    points = positions[used] - positions[used].min(0)
    cell = (points / np.ptp(points, axis=0).max() * 1023).astype(np.int64)

    def spread(value):
        """Bit b of each value at place 3 b."""
        return sum(((value >> bit) & 1) << (3 * bit) for bit in range(10))

    code = spread(cell[:, 0]) | spread(cell[:, 1]) << 1 | spread(cell[:, 2]) << 2
    order = np.argsort(code, kind="stable")
    row = np.full(len(positions), -1)
    row[used[order]] = np.arange(len(used))
    tetrahedra = row[tetrahedra]
    return orient(positions[used[order]], tetrahedra[np.argsort(tetrahedra.min(1), kind="stable")])


def surface(tetrahedra):
    """Triangles of the boundary: the faces of one tetrahedron only."""
    faces = np.concatenate([tetrahedra[:, face] for face in ([0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2])])
    low, middle, high = np.sort(faces, 1).astype(np.int64).T
    _, first, count = np.unique(low << 42 | middle << 21 | high, return_index=True, return_counts=True)
    return faces[np.sort(first[count == 1])]


def quadratic(positions, tetrahedra):
    """P2 mesh of a P1 mesh, and its surface: each P1 triangle becomes four, through the midpoints of its edges."""
    ends = np.sort(np.stack([tetrahedra[:, list(edge)] for edge in EDGES], 1).reshape(-1, 2), 1)
    edges, number = np.unique(ends, axis=0, return_inverse=True)
    midpoints = 0.5 * (positions[edges[:, 0]] + positions[edges[:, 1]])
    nodes = np.concatenate([tetrahedra, np.reshape(number, (-1, len(EDGES))) + len(positions)], 1)
    midpoint = {tuple(edge): len(positions) + k for k, edge in enumerate(edges.tolist())}
    triangles = []
    for a, b, c in surface(tetrahedra).tolist():
        ab, bc, ca = (midpoint[min(pair), max(pair)] for pair in ((a, b), (b, c), (c, a)))
        triangles += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return doubles(np.concatenate([positions, midpoints])), integers(nodes), np.array(triangles)


def lumped_masses(positions, tetrahedra, density):
    """Masses (nodes,), kg: P1 a quarter of the element each; P2 by HRZ, 1/36 for corners and 4/27 for midpoints."""
    mass = np.zeros(len(positions))
    element = volumes(positions, tetrahedra) * density
    linear = tetrahedra.shape[1] == 4
    for place in range(tetrahedra.shape[1]):
        part = element / 4 if linear else element / 36 if place < 4 else element * 4 / 27
        np.add.at(mass, tetrahedra[:, place], part)
    return mass


def node_areas(positions, triangles):
    """A third of each triangle's area (nodes,), m^2; 0 at nodes inside."""
    first, second, third = (positions[triangles[:, corner]] for corner in range(3))
    part = 0.5 * np.linalg.norm(np.cross(second - first, third - first), axis=1) / 3
    area = np.zeros(len(positions))
    for corner in range(3):
        np.add.at(area, triangles[:, corner], part)
    return area


def block_sides(positions, triangles, lower, upper):
    """Number 0 to 5 of the box's side on which each triangle lies."""
    centres = positions[triangles].mean(1)
    sides = np.full(len(triangles), -1)
    for axis in range(3):
        sides[np.abs(centres[:, axis] - lower[axis]) < 1e-9] = 2 * axis
        sides[np.abs(centres[:, axis] - upper[axis]) < 1e-9] = 2 * axis + 1
    assert (sides >= 0).all(), "a surface triangle on no side of the block"
    return sides


def enclosed_volume(positions, triangles):
    """Volume in m^3 inside a surface; raises ValueError unless the surface is closed and points outward."""
    directed = {(a, b) for triangle in triangles.tolist() for a, b in zip(triangle, triangle[1:] + triangle[:1])}
    if len(directed) != 3 * len(triangles) or any((b, a) not in directed for a, b in directed):
        raise ValueError("the surface is not closed: an edge is not shared by two triangles of opposite direction")
    first, second, third = (positions[triangles[:, corner]] for corner in range(3))
    volume = np.einsum("ij,ij->i", np.cross(first, second), third).sum() / 6
    if volume <= 0:
        raise ValueError(f"the surface points inward: its volume is {volume} m^3")
    return volume
