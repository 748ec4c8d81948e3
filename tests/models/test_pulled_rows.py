"""Networks from image to image of which nothing is whole: every step is seen row by row, and is exact."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.plans.decisions import IoOwner
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.plugins import load_named
from tilewright.validation.validation import validate, vectors_of

ROWS, COLUMNS, CHANNELS = 24, 16, 4
ENDS: tuple[tuple[IoOwner, str], ...] = (
    ("push", "generic"), ("user", "generic"), ("push", "cortex-m4"), ("user", "cortex-m55"),
)  # fmt: skip


def denoiser(folder: Path, *, quantised: bool) -> Path:
    """Two convolutions and a shortcut; quantised as exporters do, with steps of 1 / 16 everywhere."""
    numbers = np.random.default_rng(3)
    constants = [
        numpy_helper.from_array(np.array(1 / 16, np.float32), "step"),
        numpy_helper.from_array(np.array(0, np.int8), "zero"),
    ]
    nodes: list[onnx.NodeProto] = []

    def through(value: str) -> str:
        """The value after a pair of QuantizeLinear and DequantizeLinear."""
        if not quantised:
            return value
        nodes.append(helper.make_node("QuantizeLinear", [value, "step", "zero"], [f"{value}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{value}_q", "step", "zero"], [f"{value}_d"]))
        return f"{value}_d"

    def conv(value: str, name: str, shape: tuple[int, ...]) -> str:
        weights = numbers.integers(-3, 4, shape).astype(np.int8)
        if quantised:
            constants.append(numpy_helper.from_array(weights, f"{name}_w"))
            nodes.append(helper.make_node("DequantizeLinear", [f"{name}_w", "step", "zero"], [f"{name}_v"]))
        else:
            constants.append(numpy_helper.from_array(weights.astype(np.float32), f"{name}_v"))
        nodes.append(helper.make_node("Conv", [value, f"{name}_v"], [name], pads=[1, 1, 1, 1]))
        return through(name)

    x = through("x")
    inner = conv(conv(x, "a", (CHANNELS, 1, 3, 3)), "b", (1, CHANNELS, 3, 3))
    nodes.append(helper.make_node("Add", [inner, x], ["sum"]))
    nodes.append(helper.make_node("Identity", [through("sum")], ["y"]))
    image = [1, 1, ROWS, COLUMNS]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, image) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "denoiser", ends[:1], ends[1:], constants)
    made = folder / "denoiser.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), made)
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("whose", "target"), ENDS)
@pytest.mark.parametrize("quantised", [False, True], ids=["float", "int8"])
def test_every_step_of_what_is_nowhere_whole_is_seen(
    whose: IoOwner, target: str, quantised: bool, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm") if target != "generic" else ():
        tool(one)
    options = Options(
        optimize="ram", io_inputs=whose, io_outputs="pull", io_type="int8" if quantised else "float",
    )  # fmt: skip
    made = Deployment(denoiser(tmp_path, quantised=quantised), target, options)
    runner = made.platform.runners[0]
    ran = validate(
        made, load_named(("runner", runner)).runners[runner], vectors_of(made, None, 2), sanitize=runner == "host"
    )
    seen, steps = [step.name for step in ran.steps], [step.name for step in made.scheduled.steps]
    assert ran.fault is None and seen == steps
    assert all(step.exact for step in ran.steps) or not quantised
    whole = ROWS * COLUMNS * (1 if quantised else 4)
    assert ram_bytes(made.allocated) < (CHANNELS + 1) * whole  # what the widest step alone would take


def test_what_is_printed_where_memory_is_short_is_what_was_planned(tmp_path: Path) -> None:
    """`--io user` alone would end that the output is taken in rows."""
    model = denoiser(tmp_path, quantised=True)
    short = Options(io_type="int8", io_outputs="pull", memory={"ram": 400})
    with pytest.raises(TilewrightError, match="TW5001") as caught:
        _ = Deployment(model, "generic", short).allocated
    (used,) = (
        int(found.replace(",", ""))
        for line in caught.value.fix
        for found in re.findall(r"^--io user --io y=pull .*ram ([\d,]+) of 400 B", line)
    )
    typed = replace(short, io_inputs="user", io_outputs="user", io_of={"y": "pull"})
    assert ram_bytes(Deployment(model, "generic", typed).allocated) == used
