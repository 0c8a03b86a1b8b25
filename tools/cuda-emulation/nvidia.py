"""Puts CUDA texts through NVIDIA's own compilers, without a GPU: NVRTC, then ptxas, then nvdisasm for what came out.

    nvidia.py check TEXTS ARCH..               every text compiles, or the errors are listed
    nvidia.py table TEXTS FILE SOURCES..       the same for sm_80 and sm_90a, and a table of the kernels in SOURCES

TEXTS is a folder of .cu files that the emulated compiler kept. The packages are those of requirements.txt, found beside
this Python; `compile` installs them.
"""

import concurrent.futures
import ctypes
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

PACKAGES = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
PTXAS = PACKAGES / "cuda_nvcc/bin/ptxas"
INCLUDES = [PACKAGES / "cuda_runtime/include", PACKAGES / "cuda_nvcc/include"]
ARCHITECTURES = ["sm_80", "sm_90a"]
FORMS = ["primal", "adjoint", "tangent", "second"]


def nvdisasm():
    """Newer packages have one folder for a major version of CUDA."""
    return next(iter(sorted(PACKAGES.glob("*/bin/nvdisasm"))), None)


class Nvrtc:
    """The functions of libnvrtc that compile a text."""

    def __init__(self):
        self.library = ctypes.CDLL(str(next((PACKAGES / "cuda_nvrtc/lib").glob("libnvrtc.so.*"))))
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def _text(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, buffer)
        return buffer.value

    def ptx(self, text, arch):
        """The PTX; or raises what the compiler says. With the options of cubecl-cuda 0.10."""
        options = [f"--gpu-architecture={arch}", "-lineinfo"] + [f"--include-path={path}" for path in INCLUDES]
        options = [option.encode() for option in options]
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(ctypes.byref(program), text, None, 0, None, None)
        try:
            if self.library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
                raise ValueError("NVRTC: " + self._text(program, "ProgramLog").decode())
            return self._text(program, "PTX")
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))


@dataclass
class Cost:
    """What ptxas and the machine code say of a text. Numbers of instructions are those in the code, not those executed."""

    registers: int
    stack: int
    spills: int
    instructions: int = 0
    loads: int = 0
    stores: int = 0
    atomics: int = 0


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


def cost(nvrtc, path, arch, count):
    """Compiles a text to machine code and, if asked, counts what is in it; raises what a compiler says against it."""
    ptx = nvrtc.ptx(path.read_bytes(), arch)
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "text.ptx", Path(folder) / "text.cubin"
        source.write_bytes(ptx)
        done = subprocess.run([PTXAS, "-v", f"-arch={arch}", source, "-o", cubin], capture_output=True, text=True)
        if done.returncode:
            raise ValueError("ptxas: " + done.stderr)
        said = done.stderr
        spills = number(r"(\d+) bytes spill stores", said) + number(r"(\d+) bytes spill loads", said)
        found = Cost(number(r"Used (\d+) registers", said), number(r"(\d+) bytes stack frame", said), spills)
        if count and nvdisasm():
            code = subprocess.run([nvdisasm(), "-c", cubin], capture_output=True, text=True, check=True).stdout
            # `/*0010*/  @!P0 LDG.E R2, [R2.64] ;`
            names = re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)", code, re.MULTILINE)
            found.instructions = sum(name != "NOP" for name in names)
            found.loads = sum(name.startswith(("LDG", "LD.")) for name in names)
            found.stores = sum(name.startswith(("STG", "ST.")) for name in names)
            found.atomics = sum(name.startswith(("RED", "ATOM")) for name in names)
        return found


def costs(paths, archs, count=True):
    """The cost of each text for each architecture; ends the program with the errors where there are some."""
    nvrtc = Nvrtc()
    jobs = [(path, arch) for path in paths for arch in archs]
    found, errors = {}, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = {pool.submit(cost, nvrtc, *job, count): job for job in jobs}
        for future in concurrent.futures.as_completed(futures):
            path, arch = futures[future]
            try:
                found[path, arch] = future.result()
            except ValueError as error:
                errors.append(f"{path} for {arch}: {error}")
    spilled = sum(cost.spills > 0 for cost in found.values())
    print(f"NVRTC {nvrtc.version} and ptxas: {len(paths)} texts for {', '.join(archs)}; "
          f"{len(errors)} errors, {spilled} with spilled registers")
    if errors:
        sys.exit("\n".join(errors))
    return found


def kernels(sources):
    """Crate and name of each kernel in the sources, in their order."""
    declared = re.compile(r"#\[diff_kernel[^\]]*\]\s*(?:(?:#\[[^\]]*\]|//[^\n]*)\s*)*(?:pub(?:\([^)]*\))?\s+)?fn (\w+)")
    return [(Path(source).parent.name, name)
            for source in sources for file in sorted(Path(source).rglob("*.rs"))
            for name in declared.findall(file.read_text())]


def parts(path):
    """Kernel, form and scalar of a text, from its name: kernel_project_adjoint-f64-0123456789abcdef.cu"""
    name, scalar, _ = path.stem.rsplit("-", 2)
    name = name.removeprefix("kernel_")
    form = next((form for form in FORMS if name.endswith("_" + form)), "primal")
    return name.removesuffix("_" + form), form, scalar


def table(texts, file, sources):
    wanted = kernels(sources)
    groups = defaultdict(list)
    for path in sorted(Path(texts).glob("*.cu")):
        groups[parts(path)].append(path)
    names = {name for _, name in wanted}
    paths = [path for key, group in groups.items() if key[0] in names for path in group]
    found = costs(paths, ARCHITECTURES)
    if not nvdisasm():
        sys.exit("nvdisasm is missing, which the table needs")
    lines = []
    for crate, name in wanted:
        for scalar in ["f32", "f64"]:
            for form in FORMS:
                group = groups[name, form, scalar]
                if not group:
                    continue
                largest = max(group, key=lambda path: found[path, ARCHITECTURES[0]].instructions)
                columns = [[getattr(found[largest, arch], field) for arch in ARCHITECTURES]
                           for field in ["registers", "stack", "spills", "instructions", "loads", "stores", "atomics"]]
                shown = [str(a) if a == b else f"{a}, {b}" for a, b in columns]
                lines.append("| " + " | ".join([crate, f"`{name}`", form, scalar, str(len(group))] + shown) + " |")
    missing = sorted(names - {name for name, _, _ in groups})
    Path(file).write_text(HEAD.format(version=Nvrtc().version) + "\n".join(lines) + "\n" + left_out(missing))
    print(f"wrote {file}: {len(lines)} rows")


def left_out(missing):
    return f"\nNo text, as no device suite launches them: {', '.join(f'`{name}`' for name in missing)}.\n" if missing else ""


HEAD = """# What CUDA kernels compile to

Written by `tools/cuda-emulation/compile table`; no GPU is needed. The texts are those that the device suites of `sim` and `render`
launch, as CubeCL gives them to NVRTC; NVRTC {version} and ptxas compile them with CubeCL's options, nvdisasm shows the machine code.

A kernel has several texts where launches differ in what is bound to it or in `comptime` parameters; the row is the largest text of
so many. Where sm_80 (A100) and sm_90a (H100, H200) differ, both stand, in this order. Stack and spills are in bytes of a thread,
spills are stores and loads together; the others are instructions in the code, each counted once, however often loops run it:
accesses to global memory, and atomic ones of these.

| crate | kernel | form | scalar | texts | registers | stack | spills | instructions | loads | stores | atomics |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def main(arguments):
    match arguments:
        case ["check", texts, *archs] if archs:
            every = sorted(Path(texts).glob("*.cu"))
            # In steps through all of them, where fewer are asked for.
            most = int(os.environ.get("CUDA_TEXTS_AT_MOST", len(every)))
            costs(every[:: max(1, -(-len(every) // max(1, most)))], archs, count=False)
        case ["table", texts, file, *sources] if sources:
            table(texts, file, sources)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
