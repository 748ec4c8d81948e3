"""Noise and drop are what numpy says they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from tilewright.quantize.output_noise import apart, outputs_of, reference, squared
from tilewright.quantize.samples import Samples, read_samples
from tilewright.quantize.static import inputs_of


@pytest.fixture
def other(network: Path) -> Path:
    """The network with other weights."""
    model = onnx.load(network)
    weights = next(one for one in model.graph.initializer if one.name == "v")
    array = onnx.numpy_helper.to_array(weights)
    weights.CopyFrom(onnx.numpy_helper.from_array(array + np.float32(0.2) * np.sign(array), "v"))
    file = network.with_name("other.onnx")
    onnx.save(model, file)
    return file


def test_noise_is_the_squared_difference_as_a_share_of_the_signal(network: Path, other: Path, samples: Path) -> None:
    given = read_samples(samples, inputs_of(network))
    held = reference(network, given)
    before, after = (np.stack([run[0] for run in outputs_of(file, given.inputs)[1]]) for file in (network, other))
    assert held.noise(network) == 0
    assert held.noise(other) == pytest.approx(np.sum((before - after) ** 2) / np.sum(before**2), rel=1e-5)


def test_drop_is_of_labels_where_there_are_some_and_else_of_the_outputs(
    network: Path, other: Path, samples: Path
) -> None:
    given = read_samples(samples, inputs_of(network))
    before, after = ([int(run[0].argmax()) for run in outputs_of(file, given.inputs)[1]] for file in (network, other))
    held = reference(network, Samples(inputs=given.inputs, labels=tuple(before)))
    lost = sum(left != right for left, right in zip(before, after, strict=True))
    assert lost > 0
    assert held.drop(other) == pytest.approx(lost / len(before))
    assert reference(other, Samples(inputs=given.inputs, labels=tuple(before))).drop(network) == -lost / len(before)
    bare = reference(network, Samples(inputs=given.inputs))
    assert bare.drop(other) == pytest.approx(bare.noise(other) ** 0.5)


def test_infinities_are_counted_and_no_error() -> None:
    first, second = np.array([np.inf, np.nan, 1.0]), np.array([np.inf, 0.0, 3.0])
    found = apart(first, second)
    assert (found[0], found[2]) == (0, 2) and found[1] > 1e300
    assert np.isfinite(squared(found))
