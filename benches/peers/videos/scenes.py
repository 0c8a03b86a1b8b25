"""The eight scenes: bodies, motion, material (the true values), camera, light. SI units, z up, the floor at z = 0."""

from dataclasses import dataclass

import numpy as np

GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True, kw_only=True)
class Body:
    """What blocks and solids share. `mu` and `lame_lambda` in Pa are the truth; `name` only beside other bodies."""

    density: float
    velocity: tuple = (0.0, 0.0, 0.0)
    angular_velocity: tuple = (0.0, 0.0, 0.0)  # about the centre of mass, rad/s
    mu: float
    lame_lambda: float
    albedo: tuple
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Block(Body):
    """A box along the axes, of `cells` hexahedra; `quadratic` takes P2 tetrahedra instead of P1."""

    lower: tuple
    upper: tuple
    cells: tuple
    quadratic: bool = False


@dataclass(frozen=True, kw_only=True)
class Solid(Body):
    """A shape of gmsh, `add_shape(gmsh.model.occ)`, rotated about its centre of mass, which is put at `centre`.

    `mesh_size` in m.
    """

    add_shape: object
    mesh_size: float
    rotations: tuple  # (axis, degrees); the last is applied first
    centre: tuple


@dataclass(frozen=True)
class Camera:
    """Pinhole camera; picture sides in pixels, vertical field of view in degrees."""

    position: tuple
    look_at: tuple
    vertical_fov: float
    width: int
    height: int


@dataclass(frozen=True)
class Clamp:
    """Holds all nodes whose rest position on `axis` ("x", "y" or "z") is at most `plane`."""

    axis: str
    plane: float


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One or two bodies. `floor`: "penalty", "exact", or None where there is none; ranges of the unknowns in Pa."""

    bodies: tuple
    floor: str | None
    friction: float = 0.0
    pair_stiffness: float = 0.0  # between the bodies, Pa/m
    clamp: Clamp | None = None
    gravity: tuple = GRAVITY
    frame_rate: int
    frames: int
    camera: Camera
    to_light: tuple
    mu_range: tuple
    lambda_range: tuple


def rotation(axis, degrees):
    """Matrix (3, 3) by Rodrigues' formula."""
    x, y, z = np.array(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def add_l_shape(occ):
    """Legs of 160 mm and 144 mm, 85 mm wide, 95 mm deep."""
    occ.addBox(0, 0, 0, 0.16, 0.095, 0.085)
    occ.addBox(0, 0, 0, 0.085, 0.095, 0.16 * 0.9)
    occ.fuse([(3, 1)], [(3, 2)])
    occ.removeAllDuplicates()


def add_cylinder(occ):
    occ.addCylinder(0, 0, -0.075, 0, 0, 0.15, 0.057)


def add_ellipsoid(occ):
    """Semi-axes of 70, 98 and 56 mm."""
    occ.addSphere(0, 0, 0, 1)
    occ.dilate([(3, 1)], 0, 0, 0, 0.07, 0.098, 0.056)


def add_cross(occ):
    """Two bars of 170 mm, 90 mm wide, 80 mm deep, at right angles."""
    length, width, depth = 0.17, 0.09, 0.08
    occ.addBox(-length / 2, -depth / 2, -width / 2, length, depth, width)
    occ.addBox(-width / 2, -depth / 2, -length / 2, width, depth, length)
    occ.fuse([(3, 1)], [(3, 2)])


SCENES = {
    "n_lshape": Scene(
        bodies=(
            Solid(
                add_shape=add_l_shape,
                mesh_size=0.0048,
                rotations=(((0, 0, 1), 25), ((0, 1, 0), -33), ((1, 0, 0), 8)),
                centre=(-0.07, 0.03, 0.19),
                density=1060.0,
                velocity=(0.24, -0.09, 0.0),
                angular_velocity=(0.9, 1.6, -1.1),
                mu=26640.0,
                lame_lambda=60870.0,
                albedo=(0.55, 0.7, 0.85),
            ),
        ),
        floor="penalty",
        frame_rate=36,
        frames=32,
        camera=Camera((0.34, -1.05, 0.55), (0.01, 0.0, 0.125), 25.5, 128, 128),
        to_light=(0.35, -0.6, 0.75),
        mu_range=(4000.0, 90000.0),
        lambda_range=(4000.0, 200000.0),
    ),
    "n_block_stiff": Scene(
        bodies=(
            Block(
                lower=(-0.19, -0.02, 0.15),
                upper=(0.01, 0.08, 0.25),
                cells=(48, 24, 24),
                density=1120.0,
                velocity=(0.38, -0.12, 0.1),
                angular_velocity=(0.5, 2.6, 0.9),
                mu=31200.0,
                lame_lambda=163800.0,
                albedo=(0.85, 0.7, 0.3),
            ),
        ),
        floor="penalty",
        frame_rate=40,
        frames=36,
        camera=Camera((0.62, 0.92, 0.38), (0.05, 0.0, 0.125), 29.0, 144, 112),
        to_light=(0.5, 0.6, 0.6),
        mu_range=(5000.0, 100000.0),
        lambda_range=(5000.0, 500000.0),
    ),
    "n_cylinder": Scene(
        bodies=(
            Solid(
                add_shape=add_cylinder,
                mesh_size=0.0038,
                rotations=(((0, 0, 1), -30), ((1, 0, 0), 62)),
                centre=(0.1, 0.04, 0.17),
                density=940.0,
                velocity=(-0.3, -0.06, 0.0),
                angular_velocity=(-0.6, 0.8, 1.4),
                mu=8210.0,
                lame_lambda=10390.0,
                albedo=(0.8, 0.5, 0.75),
            ),
        ),
        floor="exact",
        frame_rate=34,
        frames=32,
        camera=Camera((-0.25, -0.9, 0.74), (-0.045, 0.0, 0.095), 25.0, 160, 120),
        to_light=(-0.4, -0.5, 0.75),
        mu_range=(1500.0, 30000.0),
        lambda_range=(1500.0, 50000.0),
    ),
    "n_fric": Scene(
        bodies=(
            Block(
                lower=(-0.36, -0.1, 0.07),
                upper=(-0.2, 0.03, 0.17),
                cells=(35, 29, 22),
                density=1010.0,
                velocity=(1.35, 0.18, -0.15),
                mu=9320.0,
                lame_lambda=18150.0,
                albedo=(0.5, 0.8, 0.45),
            ),
        ),
        floor="penalty",
        friction=0.25,
        frame_rate=32,
        frames=32,
        camera=Camera((-0.28, -1.1, 0.4), (-0.025, -0.01, 0.085), 31.0, 160, 120),
        to_light=(-0.3, -0.7, 0.65),
        mu_range=(1500.0, 35000.0),
        lambda_range=(1500.0, 75000.0),
    ),
    "n_beam": Scene(
        bodies=(
            Block(
                lower=(-0.03, -0.016, -0.02),
                upper=(0.15, 0.016, 0.02),
                cells=(36, 8, 10),
                quadratic=True,
                density=980.0,
                mu=33700.0,
                lame_lambda=54900.0,
                albedo=(0.4, 0.75, 0.6),
            ),
        ),
        floor=None,
        clamp=Clamp("x", 0.0),
        gravity=(0.0, 2.3, -9.5366),
        frame_rate=32,
        frames=32,
        camera=Camera((0.2, -0.46, 0.12), (0.062, 0.0, -0.032), 25.0, 128, 128),
        to_light=(0.3, -0.7, 0.6),
        mu_range=(5000.0, 100000.0),
        lambda_range=(5000.0, 200000.0),
    ),
    "n_ellipsoid": Scene(
        bodies=(
            Solid(
                add_shape=add_ellipsoid,
                mesh_size=0.0044,
                rotations=(((0, 0, 1), 40), ((1, 0.3, 0), 35)),
                centre=(-0.12, -0.02, 0.19),
                density=1150.0,
                velocity=(0.36, 0.1, 0.0),
                angular_velocity=(1.4, -0.6, 2.2),
                mu=5430.0,
                lame_lambda=19240.0,
                albedo=(0.9, 0.5, 0.4),
            ),
        ),
        floor="exact",
        frame_rate=38,
        frames=34,
        camera=Camera((-0.4, 1.0, 0.5), (0.03, 0.02, 0.085), 24.5, 128, 112),
        to_light=(-0.5, 0.6, 0.7),
        mu_range=(1000.0, 25000.0),
        lambda_range=(1500.0, 80000.0),
    ),
    "n_cross": Scene(
        bodies=(
            Solid(
                add_shape=add_cross,
                mesh_size=0.0044,
                rotations=(((0, 0, 1), 20), ((1, 0, 0), 12), ((0, 1, 0), 32)),
                centre=(0.08, -0.03, 0.16),
                density=900.0,
                velocity=(-0.22, 0.08, 0.0),
                angular_velocity=(-0.5, -0.9, 0.7),
                mu=33500.0,
                lame_lambda=31050.0,
                albedo=(0.45, 0.65, 0.9),
            ),
        ),
        floor="penalty",
        frame_rate=36,
        frames=26,
        camera=Camera((0.5, -0.95, 0.3), (0.005, 0.0, 0.11), 24.0, 120, 120),
        to_light=(0.35, -0.6, 0.75),
        mu_range=(5000.0, 110000.0),
        lambda_range=(5000.0, 120000.0),
    ),
    "n_two": Scene(
        bodies=(
            Block(
                name="left",
                lower=(-0.23, -0.05, 0.13),
                upper=(-0.12, 0.05, 0.25),
                cells=(20, 18, 22),
                density=930.0,
                velocity=(0.5, 0.05, 0.35),
                mu=9240.0,
                lame_lambda=13350.0,
                albedo=(0.85, 0.55, 0.35),
            ),
            Block(
                name="right",
                lower=(0.02, -0.04, 0.14),
                upper=(0.15, 0.08, 0.23),
                cells=(24, 22, 17),
                density=1090.0,
                velocity=(-0.35, -0.05, 0.4),
                mu=6380.0,
                lame_lambda=14920.0,
                albedo=(0.35, 0.6, 0.85),
            ),
        ),
        floor="exact",
        pair_stiffness=2e7,
        frame_rate=36,
        frames=24,
        camera=Camera((-0.3, -1.05, 0.48), (-0.05, 0.0, 0.115), 39.0, 128, 128),
        to_light=(0.35, -0.6, 0.75),
        mu_range=(1500.0, 40000.0),
        lambda_range=(1500.0, 60000.0),
    ),
}
