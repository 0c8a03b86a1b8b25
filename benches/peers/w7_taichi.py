"""W7 in Taichi: states with a time axis, one kernel for each step, the steps reversed by hand."""

import time

START = time.perf_counter()
import taichi as ti

IMPORT_S = time.perf_counter() - START

import numpy as np

import common


@ti.func
def quaternion_exp(r):
    """Unit quaternion (w, x, y, z) of a rotation vector. Both branches are evaluated, so neither divides by zero."""
    square = r.dot(r)
    small = square < common.SMALL_ANGLE**2
    angle = ti.sqrt(ti.select(small, 1.0, square))
    scalar = ti.select(small, 1 - square / 8, ti.cos(0.5 * angle))
    factor = ti.select(small, 0.5 - square / 48, ti.sin(0.5 * angle) / angle)
    return ti.Vector([scalar, factor * r[0], factor * r[1], factor * r[2]])


@ti.func
def times(p, q):
    return ti.Vector(
        [
            p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
            p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] + p[2] * q[0] + p[3] * q[1] - p[1] * q[3],
            p[0] * q[3] + p[3] * q[0] + p[1] * q[2] - p[2] * q[1],
        ]
    )


@ti.func
def rotation(q):
    w, x, y, z = q[0], q[1], q[2], q[3]
    return ti.Matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@ti.func
def angular_velocity(r, inertia, l):
    return r @ ((r.transpose() @ l) / inertia)


@ti.func
def contact(height, arm, v, w):
    """Force of the plane on a corner."""
    depth = ti.max(0.0, -(height + arm[2]))
    u = v + w.cross(arm)
    push = common.BOX_STIFFNESS * depth * ti.max(0.0, 1 - common.BOX_DAMPING * u[2])
    speed = ti.sqrt(u[0] * u[0] + u[1] * u[1] + common.BOX_SLIDE_EPS)
    friction = -ti.min(common.BOX_GRIP * speed, common.BOX_FRICTION * push) / speed
    return ti.Vector([friction * u[0], friction * u[1], push])


class Boxes:
    def __init__(self, workload, inputs, sizes):
        ti.init(
            arch=ti.cpu, cpu_max_num_threads=common.THREADS, default_fp=ti.f32, offline_cache=False, log_level=ti.ERROR
        )
        steps, boxes = sizes["steps"], len(inputs["x0"])
        history = lambda n: ti.Vector.field(n, ti.f32, shape=(steps + 1, boxes), needs_grad=True)
        x, q, v, l = history(3), history(4), history(3), history(3)
        mass, loss = (ti.field(ti.f32, shape=shape, needs_grad=True) for shape in (boxes, ()))
        unit_l0, unit_inertia, half, target = (ti.Vector.field(3, ti.f32, shape=boxes) for _ in range(4))
        for field, name in ((unit_l0, "l0"), (unit_inertia, "inertia"), (half, "half"), (target, "target")):
            field.from_numpy(inputs[name].astype(np.float32))
        vectors, quaternions = (ti.types.ndarray(dtype=t, ndim=1) for t in (ti.math.vec3, ti.math.vec4))
        dt, gravity = common.BOX_DT, ti.Vector([0.0, 0.0, -common.GRAVITY])

        @ti.kernel
        def start():
            for b in range(boxes):
                l[0, b] = mass[b] * unit_l0[b]

        @ti.kernel
        def advance(step: ti.i32):
            for b in range(boxes):
                x0, q0, v0, l0, m, h = x[step, b], q[step, b], v[step, b], l[step, b], mass[b], half[b]
                inertia = m * unit_inertia[b]
                r = rotation(q0)
                w = angular_velocity(r, inertia, l0)
                force, torque = ti.Vector.zero(ti.f32, 3), ti.Vector.zero(ti.f32, 3)
                for c in ti.static(range(8)):
                    signs = ti.Vector([2.0 * (c >> 2 & 1) - 1, 2.0 * (c >> 1 & 1) - 1, 2.0 * (c & 1) - 1])
                    arm = r @ (signs * h)
                    f = contact(x0[2], arm, v0, w)
                    force += f
                    torque += arm.cross(f)
                v1 = v0 + dt * (force / m + gravity)
                l1 = l0 + dt * torque
                q_half = times(quaternion_exp(0.5 * dt * angular_velocity(r, inertia, l1)), q0)
                q1 = times(quaternion_exp(dt * angular_velocity(rotation(q_half), inertia, l1)), q0)
                v[step + 1, b] = v1
                l[step + 1, b] = l1
                x[step + 1, b] = x0 + dt * v1
                q[step + 1, b] = q1 / ti.sqrt(q1.dot(q1))

        @ti.kernel
        def add_loss():
            for b in range(boxes):
                d = x[steps, b] - target[b]
                loss[None] += d.dot(d) / boxes

        @ti.kernel
        def clear_grads():
            for step, b in ti.ndrange(steps + 1, boxes):
                x.grad[step, b] = ti.Vector.zero(ti.f32, 3)
                q.grad[step, b] = ti.Vector.zero(ti.f32, 4)
                v.grad[step, b] = ti.Vector.zero(ti.f32, 3)
                l.grad[step, b] = ti.Vector.zero(ti.f32, 3)
            for b in mass:
                mass.grad[b] = 0.0

        @ti.kernel
        def put(x0: vectors, q0: quaternions, v0: vectors):
            for b in range(boxes):
                x[0, b] = x0[b]
                q[0, b] = q0[b]
                v[0, b] = v0[b]

        @ti.kernel
        def result(x_out: vectors, v0_bar: vectors):
            for b in range(boxes):
                x_out[b] = x[steps, b]
                v0_bar[b] = v.grad[0, b]

        def forward():
            start()
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
                advance.grad(step)
            start.grad()
            ti.sync()
            return value

        self.forward, self.forward_backward = forward, forward_backward
        self._x0, self._q0 = inputs["x0"].astype(np.float32), inputs["q0"].astype(np.float32)
        self._mass, self._put, self._result = mass, put, result

    def set_inputs(self, a, b):
        self._put(self._x0, self._q0, np.asarray(a, np.float32))
        self._mass.from_numpy(np.asarray(b, np.float32))

    def _results(self):
        x, v0_bar = np.empty_like(self._x0), np.empty_like(self._x0)
        self._result(x, v0_bar)
        return x, v0_bar

    def grads(self):
        return self._results()[1], self._mass.grad.to_numpy()

    def final(self):
        return self._results()[0]


if __name__ == "__main__":
    common.main("w7", "taichi", Boxes, ".".join(map(str, ti.__version__)), IMPORT_S)
