"""Accuracy counts what it says, and losses name values of the float network."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import onnx
import pytest

from tilewright.quantize.accuracy import _compare, accuracy, largest_losses
from tilewright.quantize.samples import Samples, read_samples
from tilewright.quantize.static import Recipe, inputs_of, prepare, quantise, session


def test_a_network_beside_itself_loses_nothing(network: Path, samples: Path) -> None:
    given = read_samples(samples, inputs_of(network))
    found = accuracy(network, network, given)
    (output,) = found.outputs
    assert (output.name, output.samples, output.same_argmax) == ("y", 20, 20)
    assert (output.sqnr_db, output.largest_difference) == (None, 0.0)
    assert (found.labelled, found.right_float) == (20, found.right_quantised)


def test_what_is_counted_is_what_numpy_counts(network: Path, samples: Path, tmp_path: Path) -> None:
    given = read_samples(samples, inputs_of(network))
    other = onnx.load(network)
    weights = next(one for one in other.graph.initializer if one.name == "v")
    moved = onnx.numpy_helper.to_array(weights) + 0.05 * np.eye(144, 5, dtype=np.float32)
    weights.CopyFrom(onnx.numpy_helper.from_array(moved.astype(np.float32), "v"))
    onnx.save(other, tmp_path / "other.onnx")
    (output,) = accuracy(network, tmp_path / "other.onnx", given).outputs
    runs = [
        np.stack([session(file).run(None, dict(one))[0] for one in given.inputs])
        for file in (network, tmp_path / "other.onnx")
    ]
    noise = np.sum((runs[0] - runs[1]).astype(np.float64) ** 2)
    assert output.largest_difference == pytest.approx(np.max(np.abs(runs[0] - runs[1])))
    assert output.sqnr_db == pytest.approx(10 * math.log10(np.sum(runs[0].astype(np.float64) ** 2) / noise), abs=0.1)
    assert output.same_argmax == np.sum(runs[0].argmax(-1) == runs[1].argmax(-1))


@pytest.mark.parametrize(
    ("before", "after", "largest", "ratio"),
    [
        ([math.inf, math.nan, 1.0], [math.inf, math.nan, 1.0], 0.0, None),
        ([math.inf, 1.0, 1.0], [math.inf, 1.0, 0.5], 0.5, 9.0),
        ([math.inf, 1.0, 1.0], [9.0, 1.0, 1.0], sys.float_info.max, -3079.5),
        ([math.nan, 1.0, 1.0], [0.0, 1.0, 1.0], sys.float_info.max, -3079.5),
        ([0.0, 0.0, 0.0], [0.0, 1.0, 0.0], 1.0, -3076.5),
    ],
)
def test_infinities_and_networks_of_zeros_are_counted_and_no_error(
    before: list[float], after: list[float], largest: float, ratio: float | None
) -> None:
    found = _compare("y", [np.array(before, np.float32)], [np.array(after, np.float32)])
    assert (found.largest_difference, found.sqnr_db) == (largest, ratio)
    json.dumps(asdict(found), allow_nan=False)


def test_labels_are_compared_with_the_argmax(network: Path, samples: Path) -> None:
    given = read_samples(samples, inputs_of(network))
    right = [int(session(network).run(None, dict(one))[0].argmax()) for one in given.inputs]
    found = accuracy(network, network, Samples(inputs=given.inputs, labels=(*right[:15], *(9 for _ in right[15:]))))
    assert (found.labelled, found.right_float, found.right_quantised) == (20, 15, 15)


def test_losses_are_values_of_the_network_worst_first(network: Path, samples: Path, tmp_path: Path) -> None:
    given = read_samples(samples, inputs_of(network))
    prepare(network, tmp_path / "float.onnx")
    quantise(tmp_path / "float.onnx", tmp_path / "int8.onnx", given.inputs, Recipe())
    losses = largest_losses(tmp_path / "float.onnx", tmp_path / "int8.onnx", given.inputs[:5], 3, tmp_path)
    assert {one.name for one in losses} <= {"x", "c", "r", "f", "y"}
    assert len(losses) == 3
    assert [one.sqnr_db for one in losses] == sorted(one.sqnr_db for one in losses)
    assert all(15 < one.sqnr_db < 80 for one in losses)
