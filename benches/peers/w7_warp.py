"""W7 in Warp: one kernel launch for each step, differentiated by wp.Tape.

Both the forward pass and forward plus backward are captured as graphs once and replayed, which leaves Python out of
the timed calls. WARP_MODE=tape launches and records anew each time instead. Without fast math it takes 1.3 times as
long.
"""

import os
import tempfile
import time

START = time.perf_counter()
import warp as wp

IMPORT_S = time.perf_counter() - START

import numpy as np

import common

CAPTURE = os.environ.get("WARP_MODE", "graph") == "graph"
wp.config.quiet = True
wp.config.cpu_compiler_flags += " -ffast-math -w"
CACHE = tempfile.TemporaryDirectory(prefix="warp")
wp.config.kernel_cache_dir = CACHE.name

DT = wp.constant(wp.float32(common.BOX_DT))
STIFFNESS = wp.constant(wp.float32(common.BOX_STIFFNESS))
DAMPING = wp.constant(wp.float32(common.BOX_DAMPING))
FRICTION = wp.constant(wp.float32(common.BOX_FRICTION))
GRIP = wp.constant(wp.float32(common.BOX_GRIP))
SLIDE_EPS = wp.constant(wp.float32(common.BOX_SLIDE_EPS))
SMALL_SQUARE = wp.constant(wp.float32(common.SMALL_ANGLE**2))
GRAVITY = wp.constant(wp.vec3(0.0, 0.0, -common.GRAVITY))


@wp.func
def quaternion_exp(r: wp.vec3):
    square = wp.dot(r, r)
    scalar = 1.0 - square / 8.0
    factor = 0.5 - square / 48.0
    if square > SMALL_SQUARE:
        angle = wp.sqrt(square)
        scalar = wp.cos(0.5 * angle)
        factor = wp.sin(0.5 * angle) / angle
    return wp.quat(factor * r[0], factor * r[1], factor * r[2], scalar)


@wp.func
def angular_velocity(r: wp.mat33, inertia: wp.vec3, l: wp.vec3):
    return r * wp.cw_div(wp.transpose(r) * l, inertia)


@wp.func
def contact(height: float, arm: wp.vec3, v: wp.vec3, w: wp.vec3):
    """Force of the plane on a corner."""
    depth = wp.max(0.0, -(height + arm[2]))
    u = v + wp.cross(w, arm)
    push = STIFFNESS * depth * wp.max(0.0, 1.0 - DAMPING * u[2])
    speed = wp.sqrt(u[0] * u[0] + u[1] * u[1] + SLIDE_EPS)
    friction = -wp.min(GRIP * speed, FRICTION * push) / speed
    return wp.vec3(friction * u[0], friction * u[1], push)


@wp.kernel
def start(mass: wp.array(dtype=float), unit_l0: wp.array(dtype=wp.vec3), l: wp.array(dtype=wp.vec3)):
    b = wp.tid()
    l[b] = mass[b] * unit_l0[b]


@wp.kernel
def advance(
    x: wp.array(dtype=wp.vec3),
    q: wp.array(dtype=wp.quat),
    v: wp.array(dtype=wp.vec3),
    l: wp.array(dtype=wp.vec3),
    mass: wp.array(dtype=float),
    unit_inertia: wp.array(dtype=wp.vec3),
    half: wp.array(dtype=wp.vec3),
    x_next: wp.array(dtype=wp.vec3),
    q_next: wp.array(dtype=wp.quat),
    v_next: wp.array(dtype=wp.vec3),
    l_next: wp.array(dtype=wp.vec3),
):
    b = wp.tid()
    x0 = x[b]
    q0 = q[b]
    v0 = v[b]
    l0 = l[b]
    m = mass[b]
    inertia = m * unit_inertia[b]
    r = wp.quat_to_matrix(q0)
    w = angular_velocity(r, inertia, l0)
    h = half[b]
    force = wp.vec3()
    torque = wp.vec3()
    # Warp unrolls this loop. The adjoint of one that is not unrolled would be wrong, as its sum is used afterwards.
    for c in range(8):
        sx = 2.0 * float((c >> 2) & 1) - 1.0
        sy = 2.0 * float((c >> 1) & 1) - 1.0
        sz = 2.0 * float(c & 1) - 1.0
        arm = r * wp.vec3(sx * h[0], sy * h[1], sz * h[2])
        f = contact(x0[2], arm, v0, w)
        force += f
        torque += wp.cross(arm, f)
    v1 = v0 + DT * (force / m + GRAVITY)
    l1 = l0 + DT * torque
    q_half = quaternion_exp(0.5 * DT * angular_velocity(r, inertia, l1)) * q0
    q1 = quaternion_exp(DT * angular_velocity(wp.quat_to_matrix(q_half), inertia, l1)) * q0
    v_next[b] = v1
    l_next[b] = l1
    x_next[b] = x0 + DT * v1
    q_next[b] = wp.normalize(q1)


@wp.kernel
def add_loss(x: wp.array(dtype=wp.vec3), target: wp.array(dtype=wp.vec3), count: float, loss: wp.array(dtype=float)):
    b = wp.tid()
    d = x[b] - target[b]
    wp.atomic_add(loss, 0, wp.dot(d, d) / count)


class Boxes:
    def __init__(self, workload, inputs, sizes):
        wp.init()
        self._steps, self._boxes = sizes["steps"], len(inputs["x0"])
        with wp.ScopedDevice("cpu"):
            # One array for all steps, so that a single call clears its gradients.
            history = lambda dtype: wp.zeros((self._steps + 1, self._boxes), dtype=dtype, requires_grad=True)
            self._history = [history(dtype) for dtype in (wp.vec3, wp.quat, wp.vec3, wp.vec3)]
            self._states = [[array[step] for array in self._history] for step in range(self._steps + 1)]
            real = lambda name: wp.array(inputs[name].astype(np.float32), dtype=wp.vec3)
            self._unit_l0, self._target = real("l0"), real("target")
            self._constants = real("inertia"), real("half")
            self._mass = wp.zeros(self._boxes, dtype=float, requires_grad=True)
            self._loss = wp.zeros(1, dtype=float, requires_grad=True)
        x, q, self._v0, self._l0 = self._states[0]
        x.assign(inputs["x0"].astype(np.float32))
        q.assign(np.roll(inputs["q0"], -1, axis=1).astype(np.float32))
        self._graphs = {}

    def set_inputs(self, a, b):
        self._v0.assign(np.asarray(a, np.float32))
        self._mass.assign(np.asarray(b, np.float32))

    def _simulate(self, keep):
        launch = lambda kernel, inputs, outputs: wp.launch(kernel, self._boxes, inputs, outputs, device="cpu")
        self._loss.zero_()
        launch(start, [self._mass, self._unit_l0], [self._l0])
        # Without history the first states take turns, but for the start, which stays.
        states = [self._states[step if keep or step == 0 else 1 + step % 2] for step in range(self._steps + 1)]
        for now, after in zip(states, states[1:]):
            launch(advance, [*now, self._mass, *self._constants], after)
        self._last = states[-1][0]
        launch(add_loss, [self._last, self._target, float(self._boxes)], [self._loss])

    def _differentiate(self):
        tape = wp.Tape()
        with tape:
            self._simulate(True)
        for array in (*self._history, self._mass):
            array.grad.zero_()
        tape.backward(self._loss)

    def _run(self, name, function):
        if not CAPTURE:
            function()
        elif name not in self._graphs:
            wp.load_module(device="cpu")
            with wp.ScopedCapture(device="cpu") as capture:
                function()
            self._graphs[name] = capture.graph, self._last
        if CAPTURE:
            graph, self._last = self._graphs[name]
            wp.capture_launch(graph)
        return float(self._loss.numpy()[0])

    def forward(self):
        return self._run("forward", lambda: self._simulate(False))

    def forward_backward(self):
        return self._run("both", self._differentiate)

    def grads(self):
        return self._v0.grad.numpy(), self._mass.grad.numpy()

    def final(self):
        return self._last.numpy()


if __name__ == "__main__":
    peer = "warp" if CAPTURE else "warp-tape"
    common.main("w7", peer, Boxes, wp.__version__, IMPORT_S, note="one CPU thread, as all of Warp's CPU kernels")
