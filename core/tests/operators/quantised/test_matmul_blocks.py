"""MatMulNBits: the file's bytes against numbers that were packed, the C in any layout and tile, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.layer import layer_of
from tilewright.operators.quantised.matmul_blocks import MATMUL_BLOCKS, MATMUL_BLOCKS_PORTABLE
from tilewright.operators.shared.packed_weights import limits
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import refusal, site_of

Arrays = dict[str, np.ndarray]


def numbers_of(bits: int, depth: int, columns: int, size: int, seed: int = 3) -> Arrays:
    """Unsigned weights and zero points, scales of blocks, a bias, and what is multiplied."""
    random = np.random.default_rng(seed)
    blocks = -(-depth // size)
    return {
        "weights": random.integers(0, 2**bits, (columns, depth)),
        "zeros": random.integers(0, 2**bits, (columns, blocks)),
        "scales": (random.random((columns, blocks)) * 0.1 + 0.01).astype(np.float32),
        "bias": random.standard_normal(columns).astype(np.float32),
        "x": random.standard_normal((3, depth)).astype(np.float32),
    }


def little(row: np.ndarray, bits: int, size_bytes: int) -> bytes:
    """Numbers as one long one, the first in its lowest bits."""
    return sum(int(one) << (bits * at) for at, one in enumerate(row)).to_bytes(size_bytes, "little")


def network(given: Arrays, bits: int, size: int, **changes: Any) -> Any:
    (columns, depth), blocks = given["weights"].shape, given["scales"].shape[1]
    padded = np.pad(given["weights"], ((0, 0), (0, blocks * size - depth)))
    packed = b"".join(little(block, bits, size * bits // 8) for block in padded.reshape(-1, size))
    zeros = b"".join(little(row, bits, -(-blocks * bits // 8)) for row in given["zeros"])
    constants = {
        "b": np.frombuffer(packed, np.uint8).reshape(columns, blocks, -1),
        "s": given["scales"].reshape(-1),
        "z": np.frombuffer(zeros, np.uint8),
        "g": np.arange(depth, dtype=np.int32) // size,
        "c": given["bias"],
        **changes,
    }
    node = helper.make_node(
        "MatMulNBits", ["x", *constants], ["y"], domain="com.microsoft", K=depth, N=columns, bits=bits, block_size=size
    )
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (3, depth))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (3, columns))],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def loaded(made: Any) -> Graph:
    return load(made.SerializeToString(), operators=vocabulary()).graph


@pytest.mark.parametrize(("bits", "depth", "size"), [(4, 96, 32), (4, 50, 16), (2, 50, 16), (8, 33, 16)])
def test_bytes_of_the_file_are_the_numbers_that_were_packed(bits: int, depth: int, size: int) -> None:
    given = numbers_of(bits, depth, 7, size)
    graph = loaded(network(given, bits, size))
    block = np.arange(depth) // size
    real = (given["weights"] - given["zeros"][:, block]) * given["scales"].astype(np.float64)[:, block]
    expected = (given["x"].astype(np.float64) @ real.T + given["bias"]).astype(np.float32)
    assert np.array_equal(run(graph, {"x": given["x"]}, vocabulary())["y"], expected)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("whole", [False, True])
def test_any_layout_and_tile(bits: int, whole: bool, tmp_path: Path) -> None:
    random, (low, high) = np.random.default_rng(bits), limits(bits)
    weights, zeros = (random.integers(low, high + 1, shape).astype(np.int8) for shape in ((9, 21), (9, 3)))
    scales = random.random((9, 3)).astype(np.float32)
    bias = random.standard_normal(9).astype(np.float32)
    inputs = [random.standard_normal((2, 3, 21)).astype(np.float32), weights, scales]
    inputs += [zeros, bias] if whole else []
    attributes = {"weight_bits": bits, "block_size": 8, **({"clip_low": 0.0} if whole else {})}
    site = site_of(MATMUL_BLOCKS, inputs, attributes, tuple(range(1, len(inputs))))
    assert kernel_errors(MATMUL_BLOCKS, MATMUL_BLOCKS_PORTABLE, site, inputs, random, tmp_path) == []
    packed = layer_of(MATMUL_BLOCKS, MATMUL_BLOCKS_PORTABLE, site).packed
    assert packed["B"].nbytes == 9 * -(-21 * bits // 8) and packed["S"].nbytes == scales.nbytes


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"g": np.arange(31, -1, -1, dtype=np.int32) // 16}, "another order"),
        ({"z": np.zeros((4, 2), np.float32)}, "zero points are float32"),
        ({"z": np.zeros(3, np.uint8)}, "do not hold zero points"),
        ({"s": np.ones(3, np.float32)}, "3 scales for 4 rows of 2 blocks"),
        ({"b": np.zeros((4, 2, 4), np.uint8)}, "do not hold 4 rows of 2 blocks of 16"),
    ],
)
def test_what_does_not_fit_is_refused(changes: Arrays, reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        loaded(network(numbers_of(4, 32, 4, 16), 4, 16, **changes))


def test_numbers_beyond_their_bits_are_refused() -> None:
    inputs = [np.zeros((1, 4), np.float32), np.full((2, 4), 8, np.int8), np.ones((2, 1), np.float32)]
    site = site_of(MATMUL_BLOCKS, inputs, {"weight_bits": 4, "block_size": 4}, (1, 2))
    assert refusal(MATMUL_BLOCKS_PORTABLE, site) == "weights or zero points are beyond -8 .. 7"
