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
from tilewright.ir.plans.region import FlattenedRows
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.plugins import load_named
from tilewright.validation.validation import validate, vectors_of

IMAGE = (28, 28)
SIGNAL = (112,)  # without columns, and so without stripes, which would take less memory


def network(extents: tuple[int, ...]) -> ModelProto:
    """Two convolutions and pools, a Flatten, two Gemms."""
    chance, kernel = np.random.default_rng(3), (3,) * len(extents)
    flat = 64 * int(np.prod([((extent - 2) // 2 - 2) // 2 for extent in extents]))
    shapes = {"w": (32, 1, *kernel), "v": (64, 32, *kernel), "fw": (flat, 12), "fb": (12,), "gw": (12, 10)}
    arrays = {
        name: (chance.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        for name, shape in shapes.items()
    }
    pool = {"kernel_shape": [2] * len(extents), "strides": [2] * len(extents)}
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
    ends = (("x", [1, 1, *extents]), ("y", [1, 10]))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends)
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "net", [x], [y], initializer=constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


class _Samples:
    """Calibration data."""

    def __init__(self, extents: tuple[int, ...]) -> None:
        self.left = self._drawn(extents)

    def _drawn(self, extents: tuple[int, ...]) -> Iterator[dict[str, npt.NDArray[np.float32]]]:
        chance = np.random.default_rng(4)
        yield from ({"x": chance.standard_normal((1, 1, *extents)).astype(np.float32)} for _ in range(4))

    def get_next(self) -> dict[str, npt.NDArray[np.float32]] | None:
        return next(self.left, None)


def written(form: str, folder: Path, extents: tuple[int, ...]) -> Path:
    """The network in one of its forms."""
    source, made = folder / "float.onnx", folder / "int8.onnx"
    source.write_bytes(network(extents).SerializeToString())
    if form == "float":
        return source
    quantization = pytest.importorskip("onnxruntime.quantization")
    given = {"activation_type": quantization.QuantType.QInt8, "weight_type": quantization.QuantType.QInt8}
    quantization.quantize_static(source, made, _Samples(extents), quant_format=quantization.QuantFormat[form], **given)
    return made


def judged(form: str, target: str, folder: Path, extents: tuple[int, ...]) -> Deployment:
    """The deployment in the least memory, of which every step was found exact."""
    made = Deployment(written(form, folder, extents), target, Options(optimize="ram", io_of={"x": "user"}))
    runner = made.platform.runners[0]
    ran = validate(
        made, load_named(("runner", runner)).runners[runner], vectors_of(made, None, 2), sanitize=runner == "host"
    )
    assert ran.fault is None and not ran.verdict.inner
    return made


@pytest.mark.slow
@pytest.mark.parametrize("form", ["float", "QDQ", "QOperator"])
def test_the_signal_that_is_flattened_exists_nowhere_whole(form: str, tmp_path: Path) -> None:
    plan = judged(form, "generic", tmp_path, SIGNAL).allocated
    flattened = [rows for _, schedule in plan.tiled.line_buffered for rows in schedule.flattened.values()]
    assert FlattenedRows(runs=1, length=64) in flattened  # rows of as many channels, which are stored last


@pytest.mark.parametrize(("form", "most"), [("float", 14_400), ("QDQ", 3_700)])
def test_an_image_in_stripes_takes_less_than_parts_of_its_product(form: str, most: int, tmp_path: Path) -> None:
    plan = judged(form, "generic", tmp_path, IMAGE).allocated
    assert any(region.line_buffers.stripes for region in plan.tiled.regions if region.line_buffers)
    assert ram_bytes(plan) <= most  # in parts 18,620 and 4,798


@pytest.mark.parametrize(
    ("form", "target", "extents", "most"),
    [
        ("float", "cortex-m4", SIGNAL, 1_550), ("float", "cortex-m55", SIGNAL, 1_550),
        ("QDQ", "cortex-m4", SIGNAL, 439), ("QDQ", "cortex-m55", SIGNAL, 439),
    ],
)  # fmt: skip
def test_parts_of_a_product_are_exact_on_cortex_m(
    form: str, target: str, extents: tuple[int, ...], most: int, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(one)
    plan = judged(form, target, tmp_path, extents).allocated
    assert any(rows.length > 1 for _, schedule in plan.tiled.line_buffered for rows in schedule.flattened.values())
    assert ram_bytes(plan) <= most


@pytest.mark.parametrize(("target", "most"), [("cortex-m4", 4_842), ("cortex-m55", 4_266)])
def test_an_image_in_stripes_is_exact_on_cortex_m(
    target: str, most: int, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(one)
    plan = judged("QDQ", target, tmp_path, IMAGE).allocated
    assert any(region.line_buffers.stripes for region in plan.tiled.regions if region.line_buffers)
    assert ram_bytes(plan) <= most  # in parts of the product 6,536 and 5,384, with the image whole 7,664 and 6,512
