"""Knows the network and the images that come with tilewright, and how they are tried on a target: every image through
the generated code, compared bit for bit with the integer reference. Does not know how that is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from tilewright.comparison.reference import run
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job, Runner
from tilewright.snapshot.atomic_folder import temporary_folder

NETWORK = "digits_int8.onnx"  # handwritten digits of 8 x 8 pixels, trained by examples/digits/train.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstrated:
    """What became of the test images."""

    images: int
    equal: int  # outputs with the very bits of the reference
    correct: int  # digits recognised
    instructions: float | None = None  # of one image, where the runner counts them


def network() -> bytes:
    """The ONNX file."""
    return files("tilewright.front_door").joinpath("digits", NETWORK).read_bytes()


def demonstrated(deployment: Deployment, runner: Runner, most: int | None = None) -> Demonstrated:
    """Build for `runner`, and run the test images, or the first of them. TilewrightError TW7002 for what cannot be
    built or run.
    """
    with files("tilewright.front_door").joinpath("digits", "digits_test.npz").open("rb") as file:
        test = np.load(file)
        images, labels = test["images"][:most, None], test["labels"][:most]  # [N, 1, 1, 8, 8]: batches of one
    sets = tuple({"image": image} for image in images)
    job = Job(artifact=deployment.artifact, plan=deployment.allocated, prefix=deployment.prefix, input_sets=sets)
    with temporary_folder() as folder:
        result = runner.run(job, folder)
    scores = [outputs["scores"] for outputs in result.outputs]
    exact = (run(deployment.graph, inputs, deployment.registry.operators)["scores"] for inputs in sets)
    return Demonstrated(
        images=len(labels),
        equal=sum(np.array_equal(mine, theirs) for mine, theirs in zip(scores, exact, strict=True)),
        correct=sum(int(np.argmax(mine)) == label for mine, label in zip(scores, labels, strict=True)),
        instructions=result.counts.get("instructions"),
    )
