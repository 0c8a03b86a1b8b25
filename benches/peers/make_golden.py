"""Writes the reference losses and gradients of W6 and W7, in f64 by JAX, and checks them by central differences.

    python make_golden.py w6 w7 [--folder FOLDER] [--small-only]

For each workload: `w6_small.txt` (loss, dL/da, dL/db, final positions as text), `w6_full_ga.f64`, `w6_full_gb.f64`
(little-endian doubles). The losses of the full cases are printed, and kept in common.py.
"""

import argparse
import json
import os
from pathlib import Path

os.environ["JAX_ENABLE_X64"] = "1"

import numpy as np

import common
import w6_jax
import w7_jax

CLASSES = {"w6": w6_jax.Tets, "w7": w7_jax.Boxes}
# Steps of the differences: of `a` in its unit, of `b` in proportion to it. Among the 1000 boxes of the full W7 a longer
# step takes some corner across a kink (d = 0, stick to slip); for the small one a shorter step meets rounding.
STEPS = {("w6", "small"): 1e-4, ("w6", "full"): 1e-4, ("w7", "small"): 1e-5, ("w7", "full"): 1e-7}


def difference_errors(workload, inputs, peer, grads, step):
    """Relative errors of both gradients along a direction each."""
    a, b = inputs["a"], inputs["b"]

    def loss(a, b):
        peer.set_inputs(a, b)
        return peer.forward()

    errors = {}
    for group, direction, grad in zip("ab", common.directions(workload, inputs), grads):
        da, db = (step * direction, 0) if group == "a" else (0, step * direction)
        difference = (loss(a + da, b + db) - loss(a - da, b - db)) / (2 * step)
        gradient = float((grad * direction).sum())
        errors[f"fd_err_{group}"] = abs(difference - gradient) / max(abs(difference), abs(gradient))
        errors[f"slope_{group}"] = gradient
    peer.set_inputs(a, b)
    return errors


def text(loss, **groups):
    lines = [f"loss {loss:.17g}"]
    for name, values in groups.items():
        table = values.reshape(len(values), -1)
        lines.append("{} {} {}".format(name, *table.shape))
        lines += [" ".join(f"{value:.17g}" for value in row) for row in table]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workloads", nargs="*", default=["w6", "w7"])
    parser.add_argument("--folder", type=Path, default=common.GOLDEN)
    parser.add_argument("--small-only", action="store_true")
    args = parser.parse_args()
    for workload in args.workloads:
        for case in ("small",) if args.small_only else ("small", "full"):
            sizes = (common.SMALL if case == "small" else common.FULL)[workload]
            inputs = common.make_inputs(workload, sizes)
            peer = CLASSES[workload](workload, inputs, sizes)
            peer.set_inputs(inputs["a"], inputs["b"])
            loss = peer.forward_backward()
            ga, gb = peer.grads()
            if case == "small":
                (args.folder / f"{workload}_small.txt").write_text(text(loss, ga=ga, gb=gb, final=peer.final()))
            else:
                ga.astype("<f8").tofile(args.folder / f"{workload}_full_ga.f64")
                gb.astype("<f8").tofile(args.folder / f"{workload}_full_gb.f64")
            line = dict(id=workload, case=case, loss=loss)
            line |= dict(grad_norm_a=float(np.linalg.norm(ga)), grad_norm_b=float(np.linalg.norm(gb)))
            line |= dict(sum_a=ga.sum(0).tolist(), last_a=ga[-1].tolist(), sum_b=gb.sum(0).tolist())
            line |= difference_errors(workload, inputs, peer, (ga, gb), STEPS[workload, case])
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
