"""LSTM, GRU and RNN: the C against the reference in any layout, all activations, lengths, and memories that stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.recurrent.activations import KINDS
from tilewright.operators.recurrent.recurrent import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_layers import recurrent_layer, recurrent_layers
from tilewright.testing.operator_sites import Sample, site_of

BY_NAME = {operator.name: (operator, kernel) for operator, kernel in zip(OPERATORS, KERNELS, strict=True)}
LAYERS = {layer.name: layer for layer in recurrent_layers(np.random.default_rng(1))}


def errors(layer: Sample, folder: Path, seed: int = 0) -> list[str]:
    operator, kernel = BY_NAME[layer.op]
    site = site_of(operator, layer.inputs, layer.attributes)
    return kernel_errors(operator, kernel, site, layer.inputs, np.random.default_rng(seed), folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_any_layout_and_tile(name: str, tmp_path: Path) -> None:
    assert errors(LAYERS[name], tmp_path, len(name)) == []


@pytest.mark.parametrize("function", sorted(KINDS))
def test_every_activation(function: str, tmp_path: Path) -> None:
    layer = recurrent_layer(
        np.random.default_rng(2),
        "LSTM",
        optional=True,
        shape=(2, 3, 4),
        activations=("Sigmoid", function, function),
        alphas=(0.0, 0.75, 0.75),
        betas=(0.0, 0.5, 0.5),
    )
    assert errors(layer, tmp_path) == []


def test_a_forget_gate_from_the_input_gate(tmp_path: Path) -> None:
    assert errors(recurrent_layer(np.random.default_rng(3), "LSTM", optional=False, input_forget=1), tmp_path) == []


def test_a_cell_stays_within_its_limit(tmp_path: Path) -> None:
    layer = recurrent_layer(np.random.default_rng(3), "LSTM", optional=False, cell_limit=0.125)
    operator, _ = BY_NAME[layer.op]
    _, cell, _ = operator.reference(site_of(operator, layer.inputs, layer.attributes), layer.inputs)
    assert np.abs(cell).max() == 0.125 and errors(layer, tmp_path) == []


def test_steps_after_the_end_are_0_and_the_state_is_the_last_ones() -> None:
    layer = recurrent_layer(np.random.default_rng(4), "GRU", optional=True, shape=(5, 2, 3), reverse=0)
    inputs = [*layer.inputs]
    inputs[4] = np.array([3, 0], np.int32)
    operator, _ = BY_NAME[layer.op]
    last, every = operator.reference(site_of(operator, inputs, layer.attributes), inputs)
    assert np.all(every[3:, 0] == 0) and np.all(every[:, 1] == 0)
    assert np.array_equal(last[0], every[2, 0]) and np.array_equal(last[1], inputs[5][1])


def test_large_weights_stay_where_they_are() -> None:
    for hidden, stays in ((16, ()), (64, ("R",))):
        layer = recurrent_layer(np.random.default_rng(5), "LSTM", optional=False, shape=(1, 1, hidden))
        operator, kernel = BY_NAME[layer.op]
        site = site_of(operator, layer.inputs, layer.attributes)
        assert kernel.stays(site) == stays


def test_operands_that_do_not_fit() -> None:
    operator, _ = BY_NAME["RNNSteps"]
    with pytest.raises(TilewrightError, match=r"R must be \[3, 3\]|G must be"):
        site_of(operator, [np.zeros((2, 1, 4), np.float32), np.zeros((3, 3), np.float32)])
