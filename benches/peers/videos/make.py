"""Makes videos of the scenes: python make.py NAME.. --out DIR [options]. Prints one line of JSON per video.

--coarser longer edges of the elements, --frames only the first ones, --contact another floor than the scene's: the
difference of two such videos (compare.py) is an estimate of how far either can be trusted.
"""

import argparse
import dataclasses
import json
import shutil
import time
from pathlib import Path

import draw
import files
import mesh
import native
from model import discretise
from scenes import SCENES
from simulate import checks, simulate


def parse_arguments():
    parser = argparse.ArgumentParser(description="Makes videos of soft bodies with known material.")
    parser.add_argument("names", nargs="+", choices=SCENES, metavar="NAME", help=", ".join(SCENES))
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="gets one folder per video")
    parser.add_argument("--coarser", type=float, default=1.0, metavar="FACTOR", help="longer edges by this factor")
    parser.add_argument("--frames", type=int, metavar="N", help="fewer frames than the scene's")
    parser.add_argument("--contact", choices=("penalty", "exact"), help="the floor's contact instead of the scene's")
    parser.add_argument("--build", type=Path, default=native.DEFAULT_BUILD, metavar="DIR", help="of the C++ library")
    arguments = parser.parse_args()
    if arguments.coarser <= 0:
        parser.error(f"--coarser {arguments.coarser} is not positive")
    if arguments.frames is not None and arguments.frames < 1:
        parser.error(f"--frames {arguments.frames} is below 1")
    for name in arguments.names:
        if arguments.contact and not SCENES[name].floor:
            parser.error(f"--contact {arguments.contact}: {name} has no floor")
        if (arguments.out / name).exists():
            parser.error(f"{arguments.out / name} exists; remove it or choose another --out")
    return arguments


def changed(scene, arguments):
    """The scene with the options' frames and contact."""
    if arguments.frames:
        scene = dataclasses.replace(scene, frames=min(arguments.frames, scene.frames))
    if arguments.contact:
        scene = dataclasses.replace(scene, floor=arguments.contact)
    return scene


def make(library, name, scene, coarser, out):
    """Simulates and draws a scene into `out`/`name`, which appears when it is complete. Returns figures for a check."""
    start = time.monotonic()
    model = discretise(scene, coarser)
    mesh.enclosed_volume(model.whole.positions, model.whole.triangles)
    run = simulate(library, scene, model)
    pictures = [draw.draw(library, scene, model.whole, positions) for positions in run.frames]
    silhouettes, shaded = zip(*pictures)

    partial = out / f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    files.write_pictures(partial / "silhouette", silhouettes)
    files.write_pictures(partial / "shaded", shaded)
    files.write_json(partial / "scene.json", files.describe_scene(name, scene))
    files.write_json(partial / "truth.json", files.describe_truth(name, scene, model, run))
    if files.is_solid(scene):
        files.write_surface(partial / "body.obj", model.whole.positions, model.whole.triangles)
    partial.rename(out / name)

    cut_off = [number for number, picture in enumerate(silhouettes) if touches_border(picture)]
    seconds = round(time.monotonic() - start, 1)
    return {"name": name, "seconds": seconds, "frames_at_border": cut_off} | checks(scene, model, run)


def touches_border(picture):
    return any(edge.any() for edge in (picture[0], picture[-1], picture[:, 0], picture[:, -1]))


def main():
    arguments = parse_arguments()
    library = native.load(arguments.build)
    for name in arguments.names:
        scene = changed(SCENES[name], arguments)
        print(json.dumps(make(library, name, scene, arguments.coarser, arguments.out)), flush=True)


if __name__ == "__main__":
    main()
