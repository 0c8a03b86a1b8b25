"""Compares two videos frame by frame: python compare.py FOLDER FOLDER, of silhouettes. Prints one line of JSON.

grey: mean absolute difference of a frame's pixels, 0..255. iou: sum of the lesser coverage over sum of the greater.
The longer video's further frames are left out.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from files import read_pictures


def differences(first, second):
    """Two lists, one number per frame: grey levels and IoU of pictures (frames, height, width)."""
    count = min(len(first), len(second))
    first, second = first[:count].reshape(count, -1), second[:count].reshape(count, -1)
    grey = np.abs(first - second).mean(1)
    iou = np.minimum(first, second).sum(1) / np.maximum(first, second).sum(1)
    return grey, iou


def main():
    parser = argparse.ArgumentParser(description="Compares the silhouettes of two videos.")
    parser.add_argument("folders", nargs=2, type=Path, metavar="FOLDER", help="of a video, or its silhouette/")
    folders = [path / "silhouette" if (path / "silhouette").is_dir() else path for path in parser.parse_args().folders]
    first, second = map(read_pictures, folders)
    if first.shape[1:] != second.shape[1:]:
        raise SystemExit(f"pictures of different shapes: {first.shape[1:]} and {second.shape[1:]}")
    grey, iou = differences(first, second)
    figures = {
        "grey_mean": round(float(grey.mean()), 3),
        "grey_worst": round(float(grey.max()), 3),
        "iou_mean": round(float(iou.mean()), 4),
        "iou_worst": round(float(iou.min()), 4),
        "grey_by_frame": grey.round(3).tolist(),
        "iou_by_frame": iou.round(4).tolist(),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
