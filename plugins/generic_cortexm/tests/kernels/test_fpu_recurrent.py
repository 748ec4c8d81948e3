"""LSTM and GRU of the scalar float unit, in their C form: inside the error model; refusals, and what steps cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.testing import UBSAN, layers_taken, refusal, result_errors, run_kernel, site_of, vocabulary
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.fpu_recurrent import KERNELS

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
LSTM, GRU = KERNELS


def recurrent(kernel: Kernel, shape: tuple[int, int, int], *, states: bool = False, **changes: Attribute) -> Case:
    """Of steps, sequences and units; with states before the first step, or a bias inside the reset."""
    rng, (steps, batches, hidden) = np.random.default_rng(sum(shape)), shape
    gates = (4 if kernel is LSTM else 3) * hidden
    functions = ("Sigmoid", "Tanh", "Tanh") if kernel is LSTM else ("Sigmoid", "Tanh")
    inside = changes.get("linear_before_reset")

    def floats(*extents: int) -> Array:
        return rng.standard_normal(extents).astype(np.float32)

    inputs: list[Array | None] = [floats(steps, batches, gates), floats(gates, hidden)]
    if inside or states:
        inputs.append(floats(hidden) if inside else None)
    if states:
        inputs += [None, None, floats(batches, hidden), *([floats(batches, hidden)] if kernel is LSTM else [])]
    attributes: dict[str, Attribute] = {
        "activations": functions, "alphas": (0.0,) * len(functions), "betas": (0.0,) * len(functions), "reverse": 0,
        **changes,
    }  # fmt: skip
    return site_of(vocabulary()[kernel.op], inputs, attributes, (1,)), inputs


@pytest.mark.parametrize("hidden", [1, 5, 8])
@pytest.mark.parametrize(
    ("kernel", "changes"),
    [
        (LSTM, {}),
        (LSTM, {"reverse": 1, "states": True, "activations": ("Sigmoid", "Relu", "Tanh")}),
        (GRU, {}),
        (GRU, {"states": True, "reverse": 1}),
        (GRU, {"linear_before_reset": 1, "states": True}),
    ],
    ids=["lstm", "lstm from states, backwards", "gru", "gru from states, backwards", "gru with its bias inside"],
)
def test_steps(kernel: Kernel, changes: dict[str, Attribute], hidden: int, tmp_path: Path) -> None:
    operator = vocabulary()[kernel.op]
    site, inputs = recurrent(kernel, (4, 3, hidden), **changes)  # type: ignore[arg-type]
    layouts = layer_of(operator, kernel, site).required
    results = run_kernel(operator, kernel, site, inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert result_errors(operator, site, inputs, results) == []


def test_layers_that_are_taken(tmp_path: Path) -> None:
    taken = layers_taken(KERNELS, tmp_path)
    assert all(taken[kernel.name] for kernel in KERNELS)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"clip": 1.0}, "limit"),
        ({"cell_limit": 1.0}, "its cell"),
        ({"input_forget": 1}, "forget gate"),
        ({"activations": ("Sigmoid", "Elu", "Tanh")}, "Elu"),
    ],
)
def test_refusals_say_why(changes: dict[str, Attribute], reason: str) -> None:
    assert refusal(LSTM, recurrent(LSTM, (2, 1, 4))[0]) is None
    assert reason in str(refusal(LSTM, recurrent(LSTM, (2, 1, 4), **changes)[0]))  # type: ignore[arg-type]


def test_peepholes_lengths_and_computed_weights_are_refused() -> None:
    site, inputs = recurrent(LSTM, (2, 1, 4))
    operator = vocabulary()["LSTMSteps"]
    peepholes = [*inputs, None, np.zeros(12, np.float32)]
    lengths = [*inputs, None, None, np.ones(1, np.int32)]
    for arrays, constants, reason in (
        (peepholes, (1,), "peepholes"),
        (lengths, (1,), "lengths"),
        (inputs, (), "const"),
    ):
        assert reason in str(refusal(LSTM, site_of(operator, arrays, site.node.attributes, constants)))


def test_a_step_of_many_units_costs_little_beside_its_product() -> None:
    """2.44 instructions for each weight: a value and four weights are loaded for four products and sums."""
    for kernel, gates in ((LSTM, 4), (GRU, 3)):
        layer = layer_of(vocabulary()[kernel.op], kernel, recurrent(kernel, (1, 1, 128))[0])
        assert kernel.instructions is not None
        assert kernel.instructions(layer.whole) < 1.35 * 2.44 * gates * 128 * 128
