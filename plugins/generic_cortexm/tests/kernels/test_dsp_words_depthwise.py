"""Depthwise layers of 16-bit values on the DSP extension: equal to the reference, edges too, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper, numpy_helper

from tilewright.api.graph import Attribute, MultiplyShift, Requant, Site
from tilewright.api.testing import byte_array, site_of, vocabulary
from tilewright.deployment import Deployment
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright.testing.operator_sites import refusal
from tilewright_cortexm.kernels.dsp_words_depthwise import KERNELS

Array = npt.NDArray[np.generic]
(DEPTHWISE,) = KERNELS
PLAIN = Requant(scale=(2.0**-8,), zero_point=9, low=-(2**15), high=2**15 - 1)
SHIFTED = replace(PLAIN, rounding=MultiplyShift(multiplier=(2**14 + 77,), shift=(23,), bits=64))


def layer(channels: int, kernel: tuple[int, int], **more: Attribute) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(channels)
    x = byte_array(rng, DType.I16, (2, channels, 6, 7), False)
    inputs: list[Array | None] = [x, byte_array(rng, DType.I8, (channels, 1, *kernel), False)]
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0,
        "group": channels, "requant": SHIFTED, "output_type": "i16", **more,
    }  # fmt: skip
    return site_of(vocabulary()["QConv"], inputs, attributes, (1,)), inputs


@pytest.mark.parametrize(
    ("channels", "kernel", "more"),
    [
        (4, (3, 3), {}),
        (9, (3, 3), {"x_zero_point": 40, "pad_value": -7}),
        (6, (3, 2), {"strides": (2, 3), "dilations": (1, 2)}),
        (5, (5, 1), {"requant": PLAIN}),
        (8, (1, 4), {"requant": replace(PLAIN, low=-50, high=7000), "pads": (0, 2, 0, 3)}),
    ],
)
def test_it_is_the_reference(
    channels: int, kernel: tuple[int, int], more: dict[str, Attribute], tmp_path: Path
) -> None:
    site, inputs = layer(channels, kernel, **more)
    assert refusal(DEPTHWISE, site) is None
    layouts = {"X": (0, 2, 3, 1), "Y": (0, 2, 3, 1)}
    (found,) = run_kernel(vocabulary()["QConv"], DEPTHWISE, site, inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QConv"].reference(site, inputs)[0])


def test_what_is_refused() -> None:
    assert "3 channels" in str(refusal(DEPTHWISE, layer(3, (3, 3))[0]))
    assert "up to 49 taps" in str(refusal(DEPTHWISE, layer(4, (8, 7), pads=(4, 4, 4, 4))[0]))
    wide = layer(4, (3, 3), x_zero_point=-(2**29))[0]
    assert "needs 64 bits" in str(refusal(DEPTHWISE, wide))


def test_two_that_differ_stand_in_one_program() -> None:
    """One of them saturates at 0, the other does not: each has functions of its own."""
    held = {
        "s": np.float32(0.01), "z": np.int16(0), "w": np.full((4, 1, 3, 3), 3, np.int8),
        "w_s": np.float32(0.02), "w_z": np.int8(0),
    }  # fmt: skip
    steps = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "group": 4}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q0"]),
        helper.make_node("DequantizeLinear", ["q0", "s", "z"], ["d0"]),
        helper.make_node("DequantizeLinear", ["w", "w_s", "w_z"], ["v"]),
        helper.make_node("Conv", ["d0", "v"], ["c0"], **steps),
        helper.make_node("Relu", ["c0"], ["r0"]),
        helper.make_node("QuantizeLinear", ["r0", "s", "z"], ["q1"]),
        helper.make_node("DequantizeLinear", ["q1", "s", "z"], ["d1"]),
        helper.make_node("Conv", ["d1", "v"], ["c1"], **steps),
        helper.make_node("QuantizeLinear", ["c1", "s", "z"], ["q2"]),
        helper.make_node("DequantizeLinear", ["q2", "s", "z"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, 1, [1, 4, 6, 6]) for name in "xy"]
    constants = [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()]
    graph = helper.make_graph(nodes, "two", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    deployment = Deployment(model.SerializeToString(), "cortex-m4")
    text = b"".join(deployment.compile().files.values()).decode("utf-8", "replace")
    assert len(set(re.findall(r"tw_dsp_words_depthwise_\w+_inside", text))) == 2
