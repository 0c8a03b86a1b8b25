"""W6 in JAX: gather, batched 3x3 algebra, scatter-add; a scan over checkpointed steps. In f64 with JAX_ENABLE_X64=1."""

import time

START = time.perf_counter()
import jax
import jax.numpy as jnp

IMPORT_S = time.perf_counter() - START

import numpy as np

import common


def transposed_inverse(f, det):
    """F^-T by cross products of the columns."""
    a, b, c = f[:, :, 0], f[:, :, 1], f[:, :, 2]
    return jnp.stack([jnp.cross(b, c), jnp.cross(c, a), jnp.cross(a, b)], -1) / det[:, None, None]


class Tets:
    def __init__(self, workload, inputs, sizes):
        real = {name: jnp.asarray(inputs[name], float) for name in ("x0", "dm_inv", "volume", "target")}
        x0, dm_inv, volume, target = real.values()
        tets = jnp.asarray(inputs["tets"])
        free = jnp.asarray(inputs["free"], float)[:, None]
        mass = jnp.asarray(inputs["mass"], float)[:, None]
        gravity = jnp.asarray([0.0, 0.0, -common.GRAVITY])

        def forces(x, material):
            corners = x[tets]
            ds = jnp.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
            f = ds @ dm_inv
            det = (f[:, :, 0] * jnp.cross(f[:, :, 1], f[:, :, 2])).sum(1)
            f_it = transposed_inverse(f, det)
            mu, lam = material[:, 0, None, None], material[:, 1, None, None]
            p = mu * (f - f_it) + lam * jnp.log(det)[:, None, None] * f_it
            h = -volume[:, None, None] * p @ jnp.swapaxes(dm_inv, 1, 2)
            h = jnp.swapaxes(h, 1, 2)
            all_four = jnp.concatenate([-h.sum(1, keepdims=True), h], 1)
            return jnp.zeros_like(x).at[tets].add(all_four)

        def loss(v0, material):
            def step(state, _):
                x, v = state
                v = free * (v + common.TETS_DT * (forces(x, material) / mass + gravity))
                return (x + common.TETS_DT * v, v), None

            (x, _), _ = jax.lax.scan(jax.checkpoint(step), (x0, v0), None, length=sizes["steps"])
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
    common.main("w6", "jax", Tets, jax.__version__, IMPORT_S)
