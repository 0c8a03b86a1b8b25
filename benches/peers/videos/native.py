"""Builds and loads the C++ part, and passes NumPy arrays to it.

CXX and CXXFLAGS choose the compiler and its options.
"""

import ctypes
import os
import shlex
import subprocess
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
SOURCES = [FOLDER / "simulate.cpp", FOLDER / "draw.cpp"]
HEADERS = [FOLDER / name for name in ("elements.hpp", "floor.hpp", "pair.hpp")]
COMPILER = os.environ.get("CXX", "g++")
FLAGS = shlex.split(os.environ.get("CXXFLAGS", "-O3 -march=native"))
DEFAULT_BUILD = Path("out/videos-build")


def load(build=DEFAULT_BUILD):
    """The library, compiled into the folder `build` unless a newer one than its sources is there."""
    library = Path(build).resolve() / "videos.so"
    changed = max(path.stat().st_mtime for path in SOURCES + HEADERS)
    if not library.exists() or library.stat().st_mtime < changed:
        library.parent.mkdir(parents=True, exist_ok=True)
        partial = library.with_suffix(f".{os.getpid()}.so")
        command = [COMPILER, "-std=c++17", *FLAGS, "-shared", "-fPIC", *SOURCES, "-o", partial]
        subprocess.run(command, check=True)
        partial.replace(library)
    loaded = ctypes.CDLL(str(library))
    loaded.highest_frequency.restype = ctypes.c_double
    loaded.simulate.restype = ctypes.c_int
    loaded.rasterise.restype = None
    return loaded


def pointer(array):
    """Address of a C-contiguous array, or null of None. The caller keeps the array alive."""
    if array is None:
        return None
    assert array.flags.c_contiguous
    return array.ctypes.data


def doubles(values):
    return np.ascontiguousarray(values, dtype=np.float64)


def integers(values):
    return np.ascontiguousarray(values, dtype=np.int32)
