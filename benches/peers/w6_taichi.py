"""W6 in Taichi: positions and velocities with a time axis, a kernel of two loops a step, steps reversed by hand.

The forward pass gathers the forces at each vertex, which takes little more than half the time of adding them
atomically. Taichi 1.7.4 crashes on the gradient of that kernel (an inner loop with a sum), so the reverse pass
differentiates the same step written with atomic additions; it reads positions, velocities and material, and no forces.
"""

import time

START = time.perf_counter()
import taichi as ti

IMPORT_S = time.perf_counter() - START

import numpy as np

import common


class Tets:
    def __init__(self, workload, inputs, sizes):
        ti.init(
            arch=ti.cpu, cpu_max_num_threads=common.THREADS, default_fp=ti.f32, offline_cache=False, log_level=ti.ERROR
        )
        steps, vertices, elements = sizes["steps"], len(inputs["x0"]), len(inputs["tets"])
        vector = lambda *shape, n=3: ti.Vector.field(n, ti.f32, shape=shape, needs_grad=True)
        x, v, force = vector(steps + 1, vertices), vector(steps + 1, vertices), vector(vertices)
        material, loss = vector(elements, n=2), ti.field(ti.f32, shape=(), needs_grad=True)
        tets = ti.Vector.field(4, ti.i32, shape=elements)
        dm_inv = ti.Matrix.field(3, 3, ti.f32, shape=elements)
        volume, mass, free = (ti.field(ti.f32, shape=n) for n in (elements, vertices, vertices))
        for field, name in ((dm_inv, "dm_inv"), (volume, "volume"), (mass, "mass"), (free, "free")):
            field.from_numpy(inputs[name].astype(np.float32))
        tets.from_numpy(inputs["tets"])
        # The corners of tets at each vertex: (tet, corner), those of vertex p from first[p] on.
        corner = ti.Vector.field(3, ti.f32, shape=(elements, 4))
        order = np.argsort(inputs["tets"].ravel(), kind="stable")
        at, first = ti.Vector.field(2, ti.i32, shape=len(order)), ti.field(ti.i32, shape=vertices + 1)
        at.from_numpy(np.stack([order // 4, order % 4], 1).astype(np.int32))
        first.from_numpy(np.searchsorted(inputs["tets"].ravel()[order], np.arange(vertices + 1)).astype(np.int32))
        vectors = ti.types.ndarray(dtype=ti.math.vec3, ndim=1)
        dt, target = common.TETS_DT, ti.Vector(common.TETS_TARGET)
        gravity = ti.Vector([0.0, 0.0, -common.GRAVITY])

        @ti.func
        def corner_forces(step, e):
            t = tets[e]
            x0 = x[step, t[0]]
            ds = ti.Matrix.cols([x[step, t[1]] - x0, x[step, t[2]] - x0, x[step, t[3]] - x0])
            f = ds @ dm_inv[e]
            c0 = ti.Vector([f[0, 0], f[1, 0], f[2, 0]])
            c1 = ti.Vector([f[0, 1], f[1, 1], f[2, 1]])
            c2 = ti.Vector([f[0, 2], f[1, 2], f[2, 2]])
            c12 = c1.cross(c2)
            det = c0.dot(c12)
            f_it = ti.Matrix.cols([c12, c2.cross(c0), c0.cross(c1)]) * (1.0 / det)
            p = material[e][0] * (f - f_it) + material[e][1] * ti.log(det) * f_it
            # By rows: the forces on corners 1 to 3.
            return -volume[e] * dm_inv[e] @ p.transpose()

        @ti.func
        def move(step, p, f):
            u = free[p] * (v[step, p] + dt * (f / mass[p] + gravity))
            v[step + 1, p] = u
            x[step + 1, p] = x[step, p] + dt * u

        @ti.kernel
        def advance(step: ti.i32):
            for e in range(elements):
                h = corner_forces(step, e)
                h1, h2, h3 = h[0, :], h[1, :], h[2, :]
                corner[e, 0], corner[e, 1], corner[e, 2], corner[e, 3] = -(h1 + h2 + h3), h1, h2, h3
            for p in range(vertices):
                f = ti.Vector.zero(ti.f32, 3)
                for i in range(first[p], first[p + 1]):
                    f += corner[at[i][0], at[i][1]]
                move(step, p, f)

        @ti.kernel
        def advance_by_scatter(step: ti.i32):
            for p in range(vertices):
                force[p] = ti.Vector.zero(ti.f32, 3)
            for e in range(elements):
                h = corner_forces(step, e)
                t = tets[e]
                h1, h2, h3 = h[0, :], h[1, :], h[2, :]
                force[t[0]] += -(h1 + h2 + h3)
                force[t[1]] += h1
                force[t[2]] += h2
                force[t[3]] += h3
            for p in range(vertices):
                move(step, p, force[p])

        @ti.kernel
        def add_loss():
            for p in range(vertices):
                d = x[steps, p] - target
                loss[None] += d.dot(d) / vertices

        @ti.kernel
        def clear_grads():
            for step, p in ti.ndrange(steps + 1, vertices):
                x.grad[step, p] = ti.Vector.zero(ti.f32, 3)
                v.grad[step, p] = ti.Vector.zero(ti.f32, 3)
            for e in material:
                material.grad[e] = ti.Vector.zero(ti.f32, 2)

        @ti.kernel
        def start(x0: vectors, v0: vectors):
            for p in range(vertices):
                x[0, p] = x0[p]
                v[0, p] = v0[p]

        @ti.kernel
        def result(x_out: vectors, v0_bar: vectors):
            for p in range(vertices):
                x_out[p] = x[steps, p]
                v0_bar[p] = v.grad[0, p]

        def forward():
            for step in range(steps):
                advance(step)
            loss[None] = 0.0
            add_loss()
            return loss[None]

        def forward_backward():
            value = forward()
            clear_grads()
            loss.grad[None] = 1.0
            add_loss.grad()
            for step in reversed(range(steps)):
                advance_by_scatter.grad(step)
            ti.sync()
            return value

        self.forward, self.forward_backward = forward, forward_backward
        self._x0, self._material = inputs["x0"].astype(np.float32), material
        self._start, self._result = start, result

    def set_inputs(self, a, b):
        self._start(self._x0, np.asarray(a, np.float32))
        self._material.from_numpy(np.asarray(b, np.float32))

    def _results(self):
        x, v0_bar = np.empty_like(self._x0), np.empty_like(self._x0)
        self._result(x, v0_bar)
        return x, v0_bar

    def grads(self):
        return self._results()[1], self._material.grad.to_numpy()

    def final(self):
        return self._results()[0]


if __name__ == "__main__":
    common.main("w6", "taichi", Tets, ".".join(map(str, ti.__version__)), IMPORT_S)
