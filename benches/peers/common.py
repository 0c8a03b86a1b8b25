"""Workloads W6 (tets) and W7 (boxes): their inputs, reference gradients and the command line of every peer script.

A peer is a class that is made from (workload, inputs, sizes) and has

    set_inputs(a, b)      overwrite both differentiated inputs (NumPy, f64)
    forward()             the loss, nothing kept for gradients
    forward_backward()    the loss, and gradients for grads()
    grads()               (dL/da, dL/db) as NumPy arrays
    final()               the state that the loss is made of
"""

import argparse
import json
import os
import resource
import statistics
import time
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
THREADS = int(os.environ.get("THREADS", "2"))
GRAVITY = 9.8

NAMES = {"w6": "tets", "w7": "boxes"}
FULL = {
    "w6": dict(particles=5000, grid=10, steps=1000),
    "w7": dict(particles=1000, grid=0, steps=1000),
}
SMALL = {
    "w6": dict(particles=135, grid=3, steps=200),
    "w7": dict(particles=20, grid=0, steps=200),
}
# Losses of the full cases in f64; the gradients are files beside those of the small cases.
FULL_LOSS = {"w6": 0.05503964340053831, "w7": 0.05533133836489123}

# ---- W6: explicit linear tetrahedra ----

TETS_H = 0.02
TETS_DT = 1e-4
TETS_DENSITY = 1000.0
TETS_YOUNG, TETS_POISSON = 2e5, 0.3
TETS_TARGET = (0.15, 0.1, 0.3)

# The five tets of a cube, by its corners: corner abc (at i+a, j+b, k+c) has the number 4a + 2b + c. The first table is
# for cubes with even i+j+k, the second for odd ones, so that the diagonals of faces meet. All volumes are positive.
CORNERS = (
    ((0, 6, 3, 5), (4, 0, 5, 6), (2, 0, 6, 3), (1, 0, 3, 5), (7, 6, 5, 3)),
    ((4, 2, 1, 7), (0, 4, 2, 1), (6, 4, 7, 2), (5, 4, 1, 7), (3, 2, 7, 1)),
)


def tets_inputs(sizes):
    """A block of grid^3 cubes, five tets each, held at its bottom."""
    cubes = sizes["grid"]
    assert sizes["particles"] == 5 * cubes**3, "particles must be 5 grid^3"
    side = np.arange(cubes + 1)
    lattice = np.stack(np.meshgrid(side, side, side, indexing="ij"), -1).reshape(-1, 3)
    x0 = lattice * TETS_H

    tets = []
    for i, j, k in np.ndindex(cubes, cubes, cubes):
        for corners in CORNERS[(i + j + k) % 2]:
            place = [(i + (c >> 2), j + (c >> 1 & 1), k + (c & 1)) for c in corners]
            tets.append([(a * (cubes + 1) + b) * (cubes + 1) + c for a, b, c in place])
    tets = np.array(tets, np.int32)

    # Columns of Dm are the edges from a tet's first vertex.
    dm = np.stack([x0[tets[:, c]] - x0[tets[:, 0]] for c in (1, 2, 3)], -1)
    volume = np.linalg.det(dm) / 6
    assert (volume > 0).all()
    mass = np.zeros(len(x0))
    np.add.at(mass, tets, (TETS_DENSITY * volume / 4)[:, None])

    free = (lattice[:, 2] > 0).astype(float)
    height = cubes * TETS_H
    x, z = x0[:, 0] / height, x0[:, 2] / height
    v0 = np.stack([0.5 * np.sin(0.5 * np.pi * z), 0.3 * z * np.cos(np.pi * x), -0.2 * z], 1) * free[:, None]

    e = np.arange(len(tets))
    mu = TETS_YOUNG / (2 * (1 + TETS_POISSON))
    lam = TETS_YOUNG * TETS_POISSON / ((1 + TETS_POISSON) * (1 - 2 * TETS_POISSON))
    material = np.stack([mu * (1 + 0.05 * (e % 5 - 2)), lam * (1 + 0.05 * (e % 3 - 1))], 1)
    return dict(
        a=v0,
        b=material,
        x0=x0,
        free=free,
        mass=mass,
        tets=tets,
        dm_inv=np.linalg.inv(dm),
        volume=volume,
        target=np.broadcast_to(TETS_TARGET, x0.shape),
    )


# ---- W7: rigid boxes on a plane ----

BOX_DT = 1e-3
BOX_DENSITY = 500.0
BOX_STIFFNESS = 2000.0
BOX_DAMPING = 0.5
BOX_FRICTION = 0.4
BOX_GRIP = 100.0
BOX_SLIDE_EPS = 1e-8
BOX_LIFT = 1.25
BOX_SHIFT = (0.3, 0.05, -0.05)
# Below this angle [rad] the exponential of a rotation vector is a series.
SMALL_ANGLE = 1e-4


def quaternion_exp(r):
    """Unit quaternions (w, x, y, z) of rotation vectors."""
    angle = np.linalg.norm(r, axis=1, keepdims=True)
    return np.concatenate([np.cos(angle / 2), 0.5 * np.sinc(angle / (2 * np.pi)) * r], 1)


def rotation(q):
    """Matrices of unit quaternions (w, x, y, z)."""
    w, x, y, z = q.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, 1) for row in rows], 1)


def boxes_inputs(sizes):
    """Boxes that fall a little, slide and settle, none touching another."""
    b = np.arange(sizes["particles"])
    half = np.array([0.10, 0.08, 0.06]) * (1 + 0.05 * (b % 5 - 2))[:, None]
    turn = np.stack([0.10 + 0.02 * (b % 7 - 3), -0.08 + 0.02 * (b % 4 - 1.5), 0.3 * (b % 11)], 1)
    q0 = quaternion_exp(turn)
    x0 = np.stack([0.5 * (b % 32), 0.5 * (b // 32), BOX_LIFT * half[:, 2] + 0.02 * (1 + b % 3)], 1)
    v0 = np.stack([0.8 - 0.1 * (b % 3), 0.2 * (b % 4 - 1.5), np.full(len(b), -0.3)], 1)
    spin = np.stack([0.2 * (b % 3 - 1), np.full(len(b), 0.3), 0.5 * (b % 5 - 2)], 1)

    mass = BOX_DENSITY * 8 * half.prod(1)
    square = half**2
    inertia = (square.sum(1, keepdims=True) - square) / 3  # of a unit mass, along the body's axes
    r0 = rotation(q0)
    lowest = x0[:, 2] - (np.abs(r0[:, 2]) * half).sum(1)
    assert (lowest > 0).all(), "a corner starts below the plane"
    # Of a unit mass; times the mass, which is differentiated, it is the angular momentum at the start.
    l0 = np.einsum("bij,bj,bkj,bk->bi", r0, inertia, r0, spin)
    return dict(a=v0, b=mass, x0=x0, q0=q0, l0=l0, half=half, inertia=inertia, lowest=lowest, target=x0 + BOX_SHIFT)


# ---- reference gradients ----


def make_inputs(workload, sizes):
    return {"w6": tets_inputs, "w7": boxes_inputs}[workload](sizes)


def directions(workload, inputs):
    """Directions for central differences of the loss; that of `b` is in proportion to `b`."""
    a, b = inputs["a"], inputs["b"]
    da = np.sin(0.37 * np.arange(a.size) + 0.2).reshape(a.shape) + 0.5
    if workload == "w6":
        da = da * inputs["free"][:, None]
    db = b * (1 + 0.5 * np.cos(0.61 * np.arange(b.size)).reshape(b.shape))
    return da, db


def loss_of(final, inputs):
    """The loss in f64 of a final state."""
    return float(((np.asarray(final, np.float64) - inputs["target"]) ** 2).sum(1).mean())


def read_small(workload):
    """(loss, dL/da, dL/db) of the small case; None where the file is missing."""
    path = GOLDEN / f"{workload}_small.txt"
    if not path.exists():
        return None
    loss, groups, name = None, {}, None
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == "loss":
            loss = float(words[1])
        elif words[0] in ("ga", "gb", "final"):
            name = words[0]
            groups[name] = []
        else:
            groups[name] += map(float, words)
    return loss, np.array(groups["ga"]), np.array(groups["gb"])


def read_full(workload):
    """(loss, dL/da, dL/db) of the full case; None where a file is missing."""
    paths = [GOLDEN / f"{workload}_full_{name}.f64" for name in ("ga", "gb")]
    if FULL_LOSS[workload] is None or not all(path.exists() for path in paths):
        return None
    return FULL_LOSS[workload], *(np.fromfile(path, "<f8") for path in paths)


def compare(found, reference):
    """Relative errors; those of gradients in the Euclidean norm."""

    def relative(x, y):
        return float(np.linalg.norm(np.ravel(x).astype(np.float64) - y) / np.linalg.norm(y))

    loss, ga, gb = reference
    return dict(
        golden_loss_rel=abs(float(found[0]) - loss) / abs(loss),
        golden_a_rel=relative(found[1], ga),
        golden_b_rel=relative(found[2], gb),
    )


def check(workload, peer_class):
    """The small case against its reference."""
    inputs = make_inputs(workload, SMALL[workload])
    peer = peer_class(workload, inputs, SMALL[workload])
    peer.set_inputs(inputs["a"], inputs["b"])
    plain = float(peer.forward())
    loss = float(peer.forward_backward())
    result = dict(check_loss=loss, check_forward_loss=plain, check_final_loss=loss_of(peer.final(), inputs))
    reference = read_small(workload)
    if reference:
        result |= compare((loss, *peer.grads()), reference)
    return result


# ---- timing and the command line ----


def machine_busy():
    """CPU seconds of everything on the machine, in ticks of 10 ms; 0 where the system does not say."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    return sum(int(fields[i]) for i in (0, 1, 2, 5, 6)) / os.sysconf("SC_CLK_TCK")


def own_cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime, usage.ru_stime


def wait_for_quiet(limit):
    """Wait, `limit` seconds at most, until others use less than 15 % of a core."""
    deadline = time.perf_counter() + limit
    window = 0.15
    while time.perf_counter() < deadline:
        machine, own = machine_busy(), sum(own_cpu())
        time.sleep(window)
        if machine_busy() - machine - (sum(own_cpu()) - own) < 0.15 * window:
            return


def sample(function, quiet=0.0):
    """One call: wall time, user and system CPU [s], cores that others used meanwhile."""
    if quiet:
        wait_for_quiet(quiet)
    machine, (user, system), start = machine_busy(), own_cpu(), time.perf_counter()
    function()
    wall = time.perf_counter() - start
    user, system = (after - before for after, before in zip(own_cpu(), (user, system)))
    others = max(0.0, machine_busy() - machine - user - system) / wall
    return wall, user, system, others


def peak_rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(workload, peer_class, sizes, reps, quiet):
    """Times forward and forward plus backward in turn; the fields of the JSON line, and the samples."""
    inputs = make_inputs(workload, sizes)
    rss_before = peak_rss_mb()
    start = time.perf_counter()
    peer = peer_class(workload, inputs, sizes)
    peer.set_inputs(inputs["a"], inputs["b"])
    build_s = time.perf_counter() - start
    first = sample(peer.forward)[0] + sample(peer.forward_backward)[0]
    peer.forward()
    peer.forward_backward()
    forward, both = [], []
    for _ in range(reps):
        forward.append(sample(peer.forward, quiet))
        both.append(sample(peer.forward_backward, quiet))

    def median(samples, column):
        return statistics.median(s[column] for s in samples)

    def span(samples):
        return [min(s[0] for s in samples), max(s[0] for s in samples)]

    forward_s, both_s = median(forward, 0), median(both, 0)
    loss = float(peer.forward_backward())
    ga, gb = peer.grads()
    line = dict(
        forward_s=forward_s,
        forward_backward_s=both_s,
        ratio=both_s / forward_s,
        peak_rss_mb=peak_rss_mb(),
        rss_before_mb=rss_before,
        compile_s=max(0.0, build_s + first - forward_s - both_s),
        forward_user_cpu_s=median(forward, 1),
        forward_backward_user_cpu_s=median(both, 1),
        forward_min_max=span(forward),
        forward_backward_min_max=span(both),
        sys_cpu_s=[median(forward, 2), median(both, 2)],
        other_cores=[median(forward, 3), median(both, 3)],
        build_s=build_s,
        loss=loss,
        grad_norm_a=float(np.linalg.norm(np.asarray(ga, np.float64))),
        grad_norm_b=float(np.linalg.norm(np.asarray(gb, np.float64))),
        sizes=sizes,
    )
    reference = read_full(workload)
    if sizes == FULL[workload] and reference:
        line["full_vs_golden"] = compare((loss, ga, gb), reference)
    return line, forward, both


def main(workload, peer, peer_class, version, import_s=0.0, note=None):
    full = FULL[workload]
    parser = argparse.ArgumentParser()
    for name in ("particles", "steps", "grid"):
        parser.add_argument(f"--{name}", type=int, default=full[name])
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="compare the small case with its reference, nothing else")
    parser.add_argument("--no-check", action="store_true", help="leave that comparison out")
    parser.add_argument("--quiet", type=float, default=0.0, help="wait this long [s] for a quiet machine")
    parser.add_argument("--raw", action="store_true", help="print the samples too")
    args = parser.parse_args()
    if args.check:
        print("\n" + json.dumps(check(workload, peer_class)), flush=True)
        return

    sizes = {name: getattr(args, name) for name in ("particles", "grid", "steps")}
    line = dict(workload=NAMES[workload], id=workload, peer=peer, version=version)
    fields, forward, both = measure(workload, peer_class, sizes, args.reps, args.quiet)
    line |= fields | dict(import_s=import_s)
    if note:
        line["note"] = note
    if args.raw:
        line |= dict(raw_f=forward, raw_fb=both)
    line["grad_rel_err"] = None
    if not args.no_check:
        line["check"] = check(workload, peer_class)
        errors = [line["check"].get(f"golden_{group}_rel") for group in "ab"]
        line["grad_rel_err"] = None if None in errors else max(errors)
    print("\n" + json.dumps(line), flush=True)
