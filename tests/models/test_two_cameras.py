"""A network of two cameras whose lines arrive in turns, in int8: every step is exact, in whatever way ends pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.plans.decisions import IoOwner
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.plugins import load_named
from tilewright.report.line_buffers import streamed_io
from tilewright.validation.validation import validate, vectors_of

ROWS, COLUMNS = 24, 16
IN_ROWS: Mapping[str, IoOwner] = {"left": "push", "right": "push", "depth": "pull"}
WAYS: tuple[tuple[Mapping[str, IoOwner], str, str], ...] = (  # ends, target, optimize
    (IN_ROWS, "generic", "ram"),
    (IN_ROWS, "generic", "speed"),
    ({**IN_ROWS, "right": "user"}, "generic", "ram"),
    ({**IN_ROWS, "depth": "user"}, "cortex-m4", "ram"),
    (IN_ROWS, "cortex-m4", "speed"),
    (IN_ROWS, "cortex-m55", "ram"),
)


def stereo(folder: Path) -> Path:
    """A convolution of each image, one of both; every value in steps of 1 / 16, as exporters write it."""
    numbers = np.random.default_rng(5)
    constants = [
        numpy_helper.from_array(np.array(1 / 16, np.float32), "step"),
        numpy_helper.from_array(np.array(0, np.int8), "zero"),
    ]
    nodes: list[onnx.NodeProto] = []

    def through(value: str) -> str:
        nodes.append(helper.make_node("QuantizeLinear", [value, "step", "zero"], [f"{value}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{value}_q", "step", "zero"], [f"{value}_d"]))
        return f"{value}_d"

    def conv(value: str, name: str, shape: tuple[int, ...]) -> str:
        constants.append(numpy_helper.from_array(numbers.integers(-3, 4, shape).astype(np.int8), f"{name}_w"))
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_w", "step", "zero"], [f"{name}_v"]))
        nodes.append(helper.make_node("Conv", [value, f"{name}_v"], [name], pads=[1, 1, 1, 1]))
        return through(name)

    both = [conv(through(name), f"seen_{name}", (8, 1, 3, 3)) for name in ("left", "right")]
    nodes.append(helper.make_node("Concat", both, ["both"], axis=1))
    nodes.append(helper.make_node("Identity", [conv(through("both"), "joined", (1, 16, 3, 3))], ["depth"]))
    image = [1, 1, ROWS, COLUMNS]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, image) for name in IN_ROWS]
    graph = helper.make_graph(nodes, "stereo", ends[:2], ends[2:], constants)
    made = folder / "stereo.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), made)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("ends", "target", "optimize"), WAYS)
def test_every_step_is_exact(
    ends: Mapping[str, IoOwner], target: str, optimize: str, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm") if target != "generic" else ():
        tool(one)
    options = Options(optimize=optimize, io_of=ends, io_type="int8")  # type: ignore[arg-type]  # of the table above
    made = Deployment(stereo(tmp_path), target, options)
    runner = made.platform.runners[0]
    ran = validate(
        made, load_named(("runner", runner)).runners[runner], vectors_of(made, None, 2), sanitize=runner == "host"
    )
    assert ran.fault is None and all(step.exact for step in ran.steps)
    assert streamed_io(made.allocated).keys() == {name for name, whose in ends.items() if whose in ("push", "pull")}


def test_both_images_come_in_turns_where_that_costs_no_time(tmp_path: Path) -> None:
    """Even where only speed is asked for: it takes less memory."""
    for optimize in ("speed", "ram"):
        options = Options(optimize=optimize, io_of=IN_ROWS, io_type="int8")  # type: ignore[arg-type]  # of these two
        made = Deployment(stereo(tmp_path), "generic", options)
        rows = streamed_io(made.allocated)
        (note,) = (one for one in made.diagnostics if one.code == "TW5036")
        assert {rows["left"]["turn"], rows["right"]["turn"]} == {1} and note.details == ()


def test_what_memory_has_of_two_images(tmp_path: Path) -> None:
    """Three rows of each, in turns; layer by layer both images, 16 channels of them and the result would be there."""
    made = Deployment(stereo(tmp_path), "generic", Options(optimize="ram", io_of=IN_ROWS, io_type="int8")).allocated
    found = streamed_io(made)
    assert {found[name]["turn"] for name in ("left", "right")} == {1}
    assert all(found[name]["buffered_rows"] == 3 for name in ("left", "right")) and found["depth"]["buffered_rows"] == 1
    assert ram_bytes(made) < 5 * 16 * COLUMNS
