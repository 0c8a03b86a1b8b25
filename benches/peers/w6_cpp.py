"""W6 in C++ with a hand-written adjoint (w6_ref.cpp), built anew into a temporary folder.

THREADS=1 uses one thread, F64=1 computes in double, CXX and CXXFLAGS choose the compiler and its options.
"""

import ctypes
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import common

SOURCE = Path(__file__).with_name("w6_ref.cpp")
COMPILER = os.environ.get("CXX", "g++")
FLAGS = shlex.split(os.environ.get("CXXFLAGS", "-O3 -march=native -ffast-math"))
SUFFIX = "f64" if os.environ.get("F64") == "1" else "f32"


def load():
    """Builds and loads the library."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "w6_ref.so"
        command = [COMPILER, "-std=c++17", *FLAGS, "-fopenmp", "-shared", "-fPIC", SOURCE, "-o", library]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


class Tets:
    library = None

    def __init__(self, workload, inputs, sizes):
        if Tets.library is None:
            Tets.library = load()
        names = ("x0", "tets", "dm_inv", "volume", "mass", "free", "target")
        arrays = [np.ascontiguousarray(inputs[name]) for name in names]
        constants = ctypes.c_double(common.TETS_DT), ctypes.c_double(common.GRAVITY)
        counts = len(inputs["x0"]), len(inputs["tets"]), sizes["steps"], common.THREADS
        self._function("new").restype = ctypes.c_void_p
        self._function("run").restype = ctypes.c_double
        self._tets = ctypes.c_void_p(self._function("new")(*counts, *constants, *map(pointer, arrays)))
        self._out = [np.zeros_like(inputs[name]) for name in ("x0", "a", "b")]

    def __del__(self):
        self._function("delete")(self._tets)

    def _function(self, name):
        return getattr(Tets.library, f"tets_{name}_{SUFFIX}")

    def set_inputs(self, a, b):
        arrays = np.ascontiguousarray(a, float), np.ascontiguousarray(b, float)
        self._function("set")(self._tets, *map(pointer, arrays))

    def forward(self):
        return self._function("run")(self._tets, 0)

    def forward_backward(self):
        return self._function("run")(self._tets, 1)

    def _get(self):
        self._function("get")(self._tets, *map(pointer, self._out))
        return self._out

    def grads(self):
        return tuple(self._get()[1:])

    def final(self):
        return self._get()[0]


if __name__ == "__main__":
    version = subprocess.run([COMPILER, "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    peer = "cpp" + ("-1t" if common.THREADS == 1 else "") + ("-f64" if SUFFIX == "f64" else "")
    common.main("w6", peer, Tets, f"{COMPILER} {version}", note=f"{common.THREADS} threads, {' '.join(FLAGS)}")
