"""W6 in Warp: a kernel over elements and one over vertices each step, differentiated by wp.Tape.

Both the forward pass and forward plus backward are captured as graphs once and replayed, which leaves Python out of
the timed calls. WARP_MODE=tape launches and records anew each time instead. Fast math, and F^-T by cross products in
place of wp.inverse and wp.determinant, each gain some percent.
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

DT = wp.constant(wp.float32(common.TETS_DT))
GRAVITY = wp.constant(wp.vec3(0.0, 0.0, -common.GRAVITY))
TARGET = wp.constant(wp.vec3(*common.TETS_TARGET))


@wp.kernel
def add_forces(
    x: wp.array(dtype=wp.vec3),
    tets: wp.array(dtype=wp.vec4i),
    dm_inv: wp.array(dtype=wp.mat33),
    volume: wp.array(dtype=float),
    material: wp.array(dtype=wp.vec2),
    force: wp.array(dtype=wp.vec3),
):
    e = wp.tid()
    t = tets[e]
    x0 = x[t[0]]
    ds = wp.matrix_from_cols(x[t[1]] - x0, x[t[2]] - x0, x[t[3]] - x0)
    b = dm_inv[e]
    f = ds * b
    c0 = wp.vec3(f[0, 0], f[1, 0], f[2, 0])
    c1 = wp.vec3(f[0, 1], f[1, 1], f[2, 1])
    c2 = wp.vec3(f[0, 2], f[1, 2], f[2, 2])
    c12 = wp.cross(c1, c2)
    det = wp.dot(c0, c12)
    f_it = wp.matrix_from_cols(c12, wp.cross(c2, c0), wp.cross(c0, c1)) * (1.0 / det)
    m = material[e]
    p = m[0] * (f - f_it) + (m[1] * wp.log(det)) * f_it
    h = -volume[e] * p * wp.transpose(b)
    h1 = wp.vec3(h[0, 0], h[1, 0], h[2, 0])
    h2 = wp.vec3(h[0, 1], h[1, 1], h[2, 1])
    h3 = wp.vec3(h[0, 2], h[1, 2], h[2, 2])
    wp.atomic_add(force, t[1], h1)
    wp.atomic_add(force, t[2], h2)
    wp.atomic_add(force, t[3], h3)
    wp.atomic_sub(force, t[0], h1 + h2 + h3)


@wp.kernel
def advance(
    x: wp.array(dtype=wp.vec3),
    v: wp.array(dtype=wp.vec3),
    force: wp.array(dtype=wp.vec3),
    mass: wp.array(dtype=float),
    free: wp.array(dtype=float),
    x_next: wp.array(dtype=wp.vec3),
    v_next: wp.array(dtype=wp.vec3),
):
    p = wp.tid()
    u = free[p] * (v[p] + DT * (force[p] / mass[p] + GRAVITY))
    v_next[p] = u
    x_next[p] = x[p] + DT * u


@wp.kernel
def add_loss(x: wp.array(dtype=wp.vec3), count: float, loss: wp.array(dtype=float)):
    d = x[wp.tid()] - TARGET
    wp.atomic_add(loss, 0, wp.dot(d, d) / count)


class Tets:
    def __init__(self, workload, inputs, sizes):
        wp.init()
        self._steps = sizes["steps"]
        self._vertices, self._elements = len(inputs["x0"]), len(inputs["tets"])
        with wp.ScopedDevice("cpu"):
            # One array for all steps, so that a single call clears its gradients.
            history = lambda count: wp.zeros((count, self._vertices), dtype=wp.vec3, requires_grad=True)
            self._history = x, v, force = history(self._steps + 1), history(self._steps + 1), history(self._steps)
            self._x, self._v, self._force = ([array[i] for i in range(len(array))] for array in self._history)
            real = lambda name, dtype: wp.array(inputs[name].astype(np.float32), dtype=dtype)
            self._constants = wp.array(inputs["tets"], dtype=wp.vec4i), real("dm_inv", wp.mat33), real("volume", float)
            self._mass, self._free = real("mass", float), real("free", float)
            self._material = wp.zeros(self._elements, dtype=wp.vec2, requires_grad=True)
            self._loss = wp.zeros(1, dtype=float, requires_grad=True)
        self._x[0].assign(inputs["x0"].astype(np.float32))
        self._graphs = {}

    def set_inputs(self, a, b):
        self._v[0].assign(np.asarray(a, np.float32))
        self._material.assign(np.asarray(b, np.float32))

    def _simulate(self, keep):
        launch = lambda kernel, dim, inputs, outputs: wp.launch(kernel, dim, inputs, outputs, device="cpu")
        self._loss.zero_()
        if keep:
            self._history[2].zero_()
        # Without history the first two states take turns, but for the start, which stays.
        place = lambda step: step if keep or step == 0 else 1 + step % 2
        for step in range(self._steps):
            now, after = place(step), place(step + 1)
            force = self._force[step if keep else 0]
            if not keep:
                force.zero_()
            launch(add_forces, self._elements, [self._x[now], *self._constants, self._material], [force])
            state = [self._x[now], self._v[now], force, self._mass, self._free]
            launch(advance, self._vertices, state, [self._x[after], self._v[after]])
        self._last = self._x[place(self._steps)]
        launch(add_loss, self._vertices, [self._last, float(self._vertices)], [self._loss])

    def _differentiate(self):
        tape = wp.Tape()
        with tape:
            self._simulate(True)
        for array in (*self._history, self._material):
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
        return self._v[0].grad.numpy(), self._material.grad.numpy()

    def final(self):
        return self._last.numpy()


if __name__ == "__main__":
    peer = "warp" if CAPTURE else "warp-tape"
    common.main("w6", peer, Tets, wp.__version__, IMPORT_S, note="one CPU thread, as all of Warp's CPU kernels")
