"""Images that are flattened for a product, computed row by row: float, QDQ and QLinear form, exact at every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.plan.planner import ram_bytes
from tilewright.plugins import load_named
from tilewright.verification.validation import validate, vectors_of


def network() -> ModelProto:
    """Two convolutions and pools, a Flatten, two Gemms."""
    chance = np.random.default_rng(3)
    shapes = {"w": (32, 1, 3, 3), "v": (64, 32, 3, 3), "fw": (1600, 12), "fb": (12,), "gw": (12, 10)}
    arrays = {
        name: (chance.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        for name, shape in shapes.items()
    }
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "c"),
        helper.make_node("Relu", ["c"], ["r"], "r"),
        helper.make_node("MaxPool", ["r"], ["p"], "p", **pool),
        helper.make_node("Conv", ["p", "v"], ["d"], "d"),
        helper.make_node("MaxPool", ["d"], ["q"], "q", **pool),
        helper.make_node("Flatten", ["q"], ["f"], "f"),
        helper.make_node("Gemm", ["f", "fw", "fb"], ["g"], "g"),
        helper.make_node("Gemm", ["g", "gw"], ["y"], "y"),
    ]
    ends = (("x", [1, 1, 28, 28]), ("y", [1, 10]))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends)
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "net", [x], [y], initializer=constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


class _Samples:
    """Calibration data."""

    def __init__(self) -> None:
        self.left = self._drawn()

    def _drawn(self) -> Iterator[dict[str, npt.NDArray[np.float32]]]:
        chance = np.random.default_rng(4)
        yield from ({"x": chance.standard_normal((1, 1, 28, 28)).astype(np.float32)} for _ in range(4))

    def get_next(self) -> dict[str, npt.NDArray[np.float32]] | None:
        return next(self.left, None)


def written(form: str, folder: Path) -> Path:
    """The network in one of its forms."""
    source, made = folder / "float.onnx", folder / "int8.onnx"
    source.write_bytes(network().SerializeToString())
    if form == "float":
        return source
    quantization = pytest.importorskip("onnxruntime.quantization")
    kind = quantization.QuantType.QInt8
    form_ = quantization.QuantFormat[form]
    quantization.quantize_static(source, made, _Samples(), quant_format=form_, activation_type=kind, weight_type=kind)
    return made


def judged(form: str, target: str, folder: Path) -> Deployment:
    """The deployment in the least memory, of which every step was found exact."""
    made = Deployment(written(form, folder), target, Options(optimize="ram", io_of={"x": "user"}))
    runner = made.platform.runners[0]
    ran = validate(
        made, load_named(("runner", runner)).runners[runner], vectors_of(made, None, 2), sanitize=runner == "host"
    )
    assert ran.fault is None and not ran.verdict.inner
    return made


@pytest.mark.parametrize("form", ["float", "QDQ", "QOperator"])
def test_the_image_that_is_flattened_exists_nowhere_whole(form: str, tmp_path: Path) -> None:
    plan = judged(form, "generic", tmp_path).allocated
    parts = [(sums.runs, sums.length) for region in plan.tiled.regions for sums in region.sums.values()]
    assert (1, 320) in parts  # rows of 5 x 64, channels stored last


@pytest.mark.parametrize(
    ("form", "target", "most"),
    [("float", "cortex-m4", 24_000), ("QDQ", "cortex-m4", 6_600), ("QDQ", "cortex-m55", 5_450)],
)
def test_parts_of_a_product_are_exact_on_cortex_m(
    form: str, target: str, most: int, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(one)
    plan = judged(form, target, tmp_path).allocated
    assert any(sums.length > 1 for region in plan.tiled.regions for sums in region.sums.values())
    assert ram_bytes(plan) <= most  # with the image whole 7,664 and 6,512 B in int8
