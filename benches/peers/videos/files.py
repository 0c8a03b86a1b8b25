"""What a video's folder holds: scene.json, truth.json, body.obj, silhouette/ and shaded/."""

import json

import numpy as np
from PIL import Image

import draw
from scenes import Solid

CONVENTIONS = {
    "units": "SI (m, kg, s, N, Pa)",
    "axes": "right-handed, z up",
    "frame_times": "frame k is the state at t = k / frame_rate; frame_0000 is t = 0",
    "pixel_convention": (
        "continuous image coordinates (u right, v down), origin at the top-left corner of the image; pixel (row i, "
        "col j) covers [j,j+1]x[i,i+1], centre at (j+0.5, i+0.5). forward=normalize(look_at-position), "
        "right=normalize(forward x up), camup=right x forward; k=(height/2)/tan(vertical_fov/2); "
        "u=width/2+k*x_right/depth, v=height/2-k*y_camup/depth (square pixels)"
    ),
    "antialiasing": (
        "point-sampled at 4x4 sub-pixel centres per pixel, then box filtered (mean), then round(255*value); "
        "no gamma, no noise"
    ),
    "silhouette": "8-bit grey, object 255, background 0, values between are coverage",
    "shaded": (
        "8-bit RGB, linear: rgb = clip(albedo_rgb*(ambient + light_intensity*max(0, n.l)),0,1); l = unit vector to "
        "the light; no shadows, no floor drawn"
    ),
}
MATERIAL = {
    "model": "compressible neo-Hookean",
    "energy_density": "mu/2*(tr(F^T F)-3) - mu*ln(J) + lambda/2*ln(J)^2, J=det F",
    "kirchhoff_stress": "mu*(F F^T - I) + lambda*ln(J)*I",
    "damping": "none",
}
NORMALS_OF_BLOCKS = (
    "smooth: area-weighted vertex normals inside each of the six sides of the block, hard edges between sides"
)
NORMALS_OF_SOLIDS = "smooth: area-weighted vertex normals of the whole closed surface"
FLOOR_NOTES = {
    None: None,
    "penalty": "penalty 1e+08 Pa/m on the area of surface nodes",
    "exact": "exact unilateral (Moreau)",
}


def is_solid(scene):
    return isinstance(scene.bodies[0], Solid)


def describe_scene(name, scene):
    """scene.json: everything that a solver may know."""
    camera = scene.camera
    description = {
        "name": name,
        "kind": "soft_body",
        "conventions": CONVENTIONS,
        "duration": scene.frames / scene.frame_rate,
        "frame_rate": scene.frame_rate,
        "num_frames": scene.frames,
        "gravity": scene.gravity,
        "camera": {
            "model": "pinhole",
            "position": camera.position,
            "look_at": camera.look_at,
            "up": draw.UP,
            "vertical_fov_deg": camera.vertical_fov,
            "width": camera.width,
            "height": camera.height,
            "near": 0.05,
            "far": 20.0,
        },
        "shading": {
            "light_direction_to_light": scene.to_light,
            "light_intensity": draw.INTENSITY,
            "ambient": draw.AMBIENT,
            "albedo_rgb": scene.bodies[0].albedo,
            "background_rgb": draw.BACKGROUND,
            "normals": NORMALS_OF_SOLIDS if is_solid(scene) else NORMALS_OF_BLOCKS,
        },
    }
    if len(scene.bodies) == 1:
        description["object"] = _describe_body(scene.bodies[0])
    else:
        description["objects"] = [
            _describe_body(body) | {"name": body.name, "albedo_rgb": body.albedo} for body in scene.bodies
        ]
        description["contact_between_objects"] = "frictionless"
    description["material"] = MATERIAL
    description["floor"] = scene.floor and {
        "point": (0.0, 0.0, 0.0),
        "normal": (0.0, 0.0, 1.0),
        "contact": {"friction": scene.friction} if scene.friction else "frictionless",
    }
    if scene.clamp:
        axis, plane = scene.clamp.axis, scene.clamp.plane
        description["clamp"] = {
            "axis": axis,
            "plane": plane,
            "description": (
                f"all material with rest position {axis} <= {plane:g} is held fixed (zero displacement) for all t; "
                "it is drawn too"
            ),
        }
    description["unknowns"] = {}
    for body in scene.bodies:
        for parameter, meaning, interval in (
            ("mu", "first Lame parameter of the energy (shear modulus)", scene.mu_range),
            ("lambda", "second Lame parameter", scene.lambda_range),
        ):
            key = _key(body, parameter)
            description["unknowns"][key] = {"unit": "Pa", "meaning": meaning, "range": interval}
    return description


def _key(body, parameter):
    return f"{body.name}.{parameter}" if body.name else parameter


def _describe_body(body):
    motion = {
        "density": body.density,
        "initial_velocity": body.velocity,
        "initial_angular_velocity": body.angular_velocity,
        "initial_deformation": "none (stress free)",
    }
    if isinstance(body, Solid):
        note = (
            "closed outward-oriented triangle surface at t = 0, world coordinates; the video draws these triangles, "
            "deformed"
        )
        return {"type": "mesh", "mesh": "body.obj", "mesh_note": note} | motion
    shape = {"type": "block", "block_min": body.lower, "block_max": body.upper}
    return shape | motion | {"rendered_surface": "the deformed boundary of the block"}


def describe_truth(name, scene, model, run):
    """truth.json: the parameters, how they were simulated, and the path of the centres of mass and the energies."""
    parameters, derived, trajectory = {}, {}, {"t": (np.arange(scene.frames) / scene.frame_rate).tolist()}
    starts = np.cumsum([0] + model.node_counts)
    for body, start, count in zip(scene.bodies, starts, model.node_counts):
        mu, lame_lambda = body.mu, body.lame_lambda
        parameters[_key(body, "mu")] = mu
        parameters[_key(body, "lambda")] = lame_lambda
        derived[_key(body, "E")] = mu * (3 * lame_lambda + 2 * mu) / (lame_lambda + mu)
        derived[_key(body, "nu")] = lame_lambda / (2 * (lame_lambda + mu))
        masses = model.whole.masses[start : start + count]
        centres = np.einsum("n,fnc->fc", masses, run.frames[:, start : start + count]) / masses.sum()
        trajectory[f"com_{body.name}" if body.name else "com"] = centres.round(6).tolist()
    energies = np.stack([run.statistics[kind] for kind in ("kinetic", "elastic", "potential")], 1)
    trajectory["energy_kin_el_pot"] = energies.round(6).tolist()
    return {
        "name": name,
        "parameters": parameters,
        "derived": derived,
        "discretisation": _describe_discretisation(scene, model, run),
        "trajectory": trajectory,
    }


def _describe_discretisation(scene, model, run):
    contact = FLOOR_NOTES[scene.floor]
    if scene.friction:
        contact += "; Coulomb, never reversing a slip"
    if len(scene.bodies) == 2:
        contact += f"; bodies: symmetric node-to-surface penalty {scene.pair_stiffness:g} Pa/m, frictionless"
    mesh_note = "gmsh mesh" if is_solid(scene) else "structured mesh, 6 tets a cell, mirrored"
    return {
        "simulator": f"explicit tetrahedral FEM (leapfrog, lumped masses), C++, f64, {mesh_note}",
        "element": "P1" if model.whole.tetrahedra.shape[1] == 4 else "P2, HRZ mass",
        "size" if is_solid(scene) else "cells": model.resolution[0] if len(scene.bodies) == 1 else model.resolution,
        "tets": len(model.whole.tetrahedra),
        "dt": run.time_step,
        "contact": contact,
    }


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1))


def write_surface(path, positions, triangles):
    """Wavefront OBJ of a part's surface; nodes inside are left out."""
    used = np.unique(triangles)
    row = np.full(len(positions), -1)
    row[used] = np.arange(len(used))
    lines = ["v {:.8f} {:.8f} {:.8f}\n".format(*point) for point in positions[used]]
    lines += ["f {} {} {}\n".format(*triangle) for triangle in row[triangles] + 1]
    path.write_text("".join(lines))


def write_pictures(folder, pictures):
    """frame_0000.png and so on."""
    folder.mkdir()
    for number, picture in enumerate(pictures):
        Image.fromarray(picture).save(folder / f"frame_{number:04d}.png")


def read_pictures(folder):
    """(frames, height, width) or (frames, height, width, 3), float64 in 0..255."""
    paths = sorted(folder.glob("frame_*.png"))
    if not paths:
        raise SystemExit(f"no frame_*.png in {folder}")
    return np.stack([np.array(Image.open(path)) for path in paths]).astype(float)
