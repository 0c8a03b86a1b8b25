"""W7 in JAX: all boxes at once, a scan over checkpointed steps. In f64 with JAX_ENABLE_X64=1."""

import time

START = time.perf_counter()
import jax
import jax.numpy as jnp

IMPORT_S = time.perf_counter() - START

import numpy as np

import common


def quaternion_exp(r):
    """Unit quaternions (w, x, y, z) of rotation vectors; differentiable at zero too."""
    square = (r * r).sum(1, keepdims=True)
    small = square < common.SMALL_ANGLE**2
    angle = jnp.sqrt(jnp.where(small, 1.0, square))
    scalar = jnp.where(small, 1 - square / 8, jnp.cos(angle / 2))
    factor = jnp.where(small, 0.5 - square / 48, jnp.sin(angle / 2) / angle)
    return jnp.concatenate([scalar, factor * r], 1)


def times(p, q):
    """Products of quaternions."""
    pw, qw, pv, qv = p[:, :1], q[:, :1], p[:, 1:], q[:, 1:]
    return jnp.concatenate([pw * qw - (pv * qv).sum(1, keepdims=True), pw * qv + qw * pv + jnp.cross(pv, qv)], 1)


def rotation(q):
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return jnp.stack([jnp.stack(row, 1) for row in rows], 1)


class Boxes:
    def __init__(self, workload, inputs, sizes):
        real = {name: jnp.asarray(inputs[name], float) for name in ("x0", "q0", "l0", "half", "inertia", "target")}
        x0, q0, l0, half, unit_inertia, target = real.values()
        signs = jnp.asarray([[2 * (c >> s & 1) - 1 for s in (2, 1, 0)] for c in range(8)], float)
        corners = half[:, None] * signs
        gravity = jnp.asarray([0.0, 0.0, -common.GRAVITY])
        dt = common.BOX_DT

        def angular_velocity(r, l, inertia):
            return jnp.einsum("bij,bj,bkj,bk->bi", r, 1 / inertia, r, l)

        def contact(x, r, v, w):
            """Force and torque of the plane on each box."""
            arm = jnp.einsum("bij,bcj->bci", r, corners)
            depth = jnp.maximum(0.0, -(x[:, None] + arm)[:, :, 2])
            u = v[:, None] + jnp.cross(w[:, None], arm)
            push = common.BOX_STIFFNESS * depth * jnp.maximum(0.0, 1 - common.BOX_DAMPING * u[:, :, 2])
            slide = u[:, :, :2]
            speed = jnp.sqrt((slide**2).sum(2) + common.BOX_SLIDE_EPS)
            friction = jnp.minimum(common.BOX_GRIP * speed, common.BOX_FRICTION * push)
            force = jnp.concatenate([-slide * (friction / speed)[:, :, None], push[:, :, None]], 2)
            return force.sum(1), jnp.cross(arm, force).sum(1)

        def loss(v0, mass):
            inertia = mass[:, None] * unit_inertia

            def step(state, _):
                x, q, v, l = state
                r = rotation(q)
                force, torque = contact(x, r, v, angular_velocity(r, l, inertia))
                v = v + dt * (force / mass[:, None] + gravity)
                l = l + dt * torque
                x = x + dt * v
                q_half = times(quaternion_exp(0.5 * dt * angular_velocity(r, l, inertia)), q)
                q = times(quaternion_exp(dt * angular_velocity(rotation(q_half), l, inertia)), q)
                q = q / jnp.linalg.norm(q, axis=1, keepdims=True)
                return (x, q, v, l), None

            start = (x0, q0, v0, mass[:, None] * l0)
            (x, *_), _ = jax.lax.scan(jax.checkpoint(step), start, None, length=sizes["steps"])
            return ((x - target) ** 2).sum(1).mean(), x

        self._forward = jax.jit(loss)
        self._both = jax.jit(jax.value_and_grad(loss, argnums=(0, 1), has_aux=True))

    def set_inputs(self, a, b):
        self._a, self._b = jnp.asarray(a, float), jnp.asarray(b, float)

    def forward(self):
        loss, self._final = self._forward(self._a, self._b)
        return float(loss)

    def forward_backward(self):
        (loss, self._final), self._grads = self._both(self._a, self._b)
        jax.block_until_ready(self._grads)
        return float(loss)

    def grads(self):
        return tuple(np.asarray(g) for g in self._grads)

    def final(self):
        return np.asarray(self._final)


if __name__ == "__main__":
    common.main("w7", "jax", Boxes, jax.__version__, IMPORT_S)
