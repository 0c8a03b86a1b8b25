"""Binding of simulate.cpp: the stable time step, the run, and checks of what comes out."""

import ctypes
from ctypes import c_double, c_int, c_void_p
from dataclasses import dataclass

import numpy as np

from native import integers, pointer

FLOOR_KINDS = {None: 0, "penalty": 1, "exact": 2}
FLOOR_STIFFNESS = 1e8  # of the penalty, Pa/m: pressure per depth on the area of a surface node
POWER_ITERATIONS = 80
# Parts of the stability limit 2 / omega: of the elements, with exact contact too (its impacts excite the highest
# frequencies), and of a surface node on the penalty alone.
ELEMENT_PART = {None: 0.45, "penalty": 0.45, "exact": 0.2}
PENALTY_PART = 0.2

STATISTICS = np.dtype(
    [
        ("kinetic", "f8"),
        ("elastic", "f8"),
        ("potential", "f8"),
        ("contact", "f8"),
        ("momentum", "f8", 3),
        ("centre", "f8", 3),
        ("angular_momentum", "f8", 3),
        ("smallest_J", "f8"),
        ("lowest_z", "f8"),
        ("floor_impulse", "f8", 3),
        ("deepest_pair", "f8"),
    ]
)


class ElementsInput(ctypes.Structure):
    _fields_ = [
        ("node_count", c_int),
        ("element_count", c_int),
        ("nodes_per_element", c_int),
        ("rest_positions", c_void_p),
        ("connectivity", c_void_p),
        ("mu", c_void_p),
        ("lame_lambda", c_void_p),
        ("mass", c_void_p),
    ]


class FloorInput(ctypes.Structure):
    _fields_ = [("kind", c_int), ("stiffness", c_double), ("friction", c_double), ("areas", c_void_p)]


class PairInput(ctypes.Structure):
    _fields_ = [
        ("first_node_count", c_int),
        ("first_triangle_count", c_int),
        ("first_triangles", c_void_p),
        ("second_triangle_count", c_int),
        ("second_triangles", c_void_p),
        ("stiffness", c_double),
    ]


class ScheduleInput(ctypes.Structure):
    _fields_ = [
        ("frame_count", c_int),
        ("steps_per_frame", c_int),
        ("time_step", c_double),
        ("gravity", 3 * c_double),
    ]


@dataclass
class Run:
    """`frames` (frames, nodes, 3) in m, `statistics` (frames,) of dtype STATISTICS, `time_step` in s."""

    frames: np.ndarray
    statistics: np.ndarray
    time_step: float


def simulate(library, scene, model):
    """Runs the scene; raises RuntimeError when it becomes unstable or an element turns inside out."""
    whole = model.whole
    elements = ElementsInput(
        len(whole.positions),
        len(whole.tetrahedra),
        whole.tetrahedra.shape[1],
        *map(pointer, (whole.positions, whole.tetrahedra, whole.mu, whole.lame_lambda, whole.masses)),
    )
    highest_frequency = library.highest_frequency(ctypes.byref(elements), POWER_ITERATIONS)
    steps_per_frame = _steps_per_frame(scene, model, highest_frequency)
    time_step = 1 / scene.frame_rate / steps_per_frame
    schedule = ScheduleInput(scene.frames, steps_per_frame, time_step, (3 * c_double)(*scene.gravity))
    floor = FloorInput(FLOOR_KINDS[scene.floor], FLOOR_STIFFNESS, scene.friction, pointer(whole.areas))
    pair, triangles = _pair(scene, model)  # `triangles` owns what `pair` points to
    frames = np.zeros((scene.frames, len(whole.positions), 3))
    statistics = np.zeros(scene.frames, STATISTICS)
    stable = library.simulate(
        ctypes.byref(elements),
        *map(c_void_p, map(pointer, (whole.velocities, model.fixed))),
        *map(ctypes.byref, (floor, pair, schedule)),
        *map(c_void_p, map(pointer, (frames, statistics))),
    )
    smallest = statistics["smallest_J"].min()
    if not stable or not np.isfinite(frames).all() or not smallest > 0:
        raise RuntimeError(f"unstable with a time step of {time_step:.3e} s: smallest det F of a frame {smallest}")
    return Run(frames, statistics, time_step)


def _steps_per_frame(scene, model, highest_frequency):
    """The fewest equal steps per frame below the parts of the stability limits."""
    limits = [ELEMENT_PART[scene.floor] * 2 / highest_frequency]
    stiffness = max(FLOOR_STIFFNESS if scene.floor == "penalty" else 0, scene.pair_stiffness)
    if stiffness > 0:
        touching = model.whole.areas > 0
        frequency = np.sqrt((stiffness * model.whole.areas[touching] / model.whole.masses[touching]).max())
        limits.append(PENALTY_PART * 2 / frequency)
    return int(np.ceil(1 / scene.frame_rate / min(limits)))


def _pair(scene, model):
    """PairInput and the arrays of triangles that it points to; without triangles where there is one body."""
    if len(scene.bodies) == 1:
        return PairInput(model.node_counts[0], 0, None, 0, None, 0.0), ()
    triangles = [integers(part) for part in np.split(model.whole.triangles, model.triangle_counts[:1])]
    first, second = triangles
    pair = PairInput(
        model.node_counts[0], len(first), pointer(first), len(second), pointer(second), scene.pair_stiffness
    )
    return pair, triangles


def checks(scene, model, run):
    """Figures that show mistakes, as a dict: momentum balance [N s], free fall [m/s^2], energies [J], depths [m]."""
    state = run.statistics
    times = np.arange(scene.frames) / scene.frame_rate
    weight = model.whole.masses.sum() * np.array(scene.gravity)
    total = state["kinetic"] + state["elastic"] + state["potential"] + state["contact"]
    figures = {
        "energy_start": total[0],
        "energy_end": total[-1],
        "greatest_gain_of_energy": (total - total[0]).max(),
        "smallest_J": state["smallest_J"].min(),
        "lowest_z": state["lowest_z"].min(),
    }
    if not scene.clamp:
        balance = state["momentum"] - state["momentum"][0] - state["floor_impulse"] - weight * times[:, None]
        figures["momentum_residual"] = np.abs(balance).max()
    touched = np.flatnonzero(state["floor_impulse"][:, 2] > 1e-12)
    free = int(touched[0]) if len(touched) else scene.frames
    if scene.floor and len(scene.bodies) == 1 and free > 3:
        figures["first_contact_frame"] = free
        figures["free_fall"] = (2 * np.polyfit(times[:free], state["centre"][:free], 2)[0]).tolist()
    if len(scene.bodies) == 2:
        figures["deepest_pair"] = state["deepest_pair"].max()
    return {name: value if isinstance(value, (int, list)) else float(value) for name, value in figures.items()}
