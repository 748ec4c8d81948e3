"""What comes in the wheel: the network of the examples, and its images."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from row_networks import ONE_MEMORY
from tilewright.deployment import Deployment
from tilewright.front_door.demonstration import demonstrated, network
from tilewright.runners.host import HostRunner
from tilewright.testing.cluster import registry_for

EXAMPLES = Path(__file__).parents[3] / "examples" / "digits"


@pytest.mark.parametrize("name", ["digits_int8.onnx", "digits_test.npz"])
def test_it_is_the_network_of_the_examples(name: str) -> None:
    mine = files("tilewright.front_door").joinpath("digits", name).read_bytes()
    assert mine == (EXAMPLES / name).read_bytes()


class Wrong(HostRunner):
    """Changes one bit of the first image's scores."""

    def run(self, job: Any, folder: Path) -> Any:
        result = super().run(job, folder)
        scores = result.outputs[0]["scores"].copy()
        scores.view(np.int32).flat[0] ^= 1
        return replace(result, outputs=({"scores": scores}, *result.outputs[1:]))


@pytest.mark.slow
def test_every_image_is_compared_bit_for_bit() -> None:
    deployment = Deployment(network(), ONE_MEMORY.name, None, registry_for(ONE_MEMORY))
    right, wrong = (demonstrated(deployment, runner, 9) for runner in (HostRunner(), Wrong()))
    assert (right.images, right.equal, wrong.equal, right.instructions) == (9, 9, 8, None)
    assert right.correct >= 8
