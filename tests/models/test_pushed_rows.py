"""Networks whose input arrives in rows, and is nowhere whole: in the bytes that were planned, exact either way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper, numpy_helper

from networks import network_file, vectors_file
from tilewright.comparison.reference import run
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.plans.decisions import IoOwner
from tilewright.ir.programs.runner import Job
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.plugins import load_named
from tilewright.runners.host import HostRunner
from tilewright.validation.validation import validate, vectors_of

BYTES: tuple[tuple[str, str, IoOwner, int], ...] = (  # network, target, where the input is, at most so many
    ("resnet8_int8", "generic", "push", 13_000),
    ("kws_int8", "generic", "push", 5_950),
    ("vww_int8", "generic", "push", 15_150),
    ("resnet8_int8", "generic", "user", 12_700),
    ("kws_int8", "generic", "user", 5_850),
    ("vww_int8", "generic", "user", 14_300),
    ("resnet8_int8", "cortex-m4", "push", 16_600),
    ("kws_int8", "cortex-m4", "push", 6_300),
    ("vww_int8", "cortex-m4", "push", 16_500),
)
RUNS = (("resnet8_int8", "generic"), ("kws_int8", "generic"), ("resnet8_int8", "cortex-m4"), ("kws_int8", "cortex-m55"))


@cache
def deployment(name: str, target: str, whose: IoOwner) -> Deployment:
    end = network_file(name)
    ends = Deployment(end, target).imported.graph
    io_of: dict[str, IoOwner] = {ends.inputs[0]: whose, ends.outputs[0]: "user"}
    return Deployment(end, target, Options(optimize="ram", io_of=io_of))


def vectors(name: str, direction: str) -> tuple[dict[str, npt.NDArray[np.generic]], ...]:
    """Two sets of inputs ("in"), or what they give ("out")."""
    with np.load(vectors_file(name)) as archive:
        heads = [f"set{number}/{direction}/" for number in range(2)]
        return tuple(
            {key.removeprefix(head): archive[key] for key in archive.files if key.startswith(head)} for head in heads
        )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target", "whose", "most"), BYTES)
def test_what_is_left_in_the_plan(name: str, target: str, whose: IoOwner, most: int) -> None:
    assert ram_bytes(deployment(name, target, whose).allocated) <= most


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), RUNS)
def test_rows_and_the_whole_give_the_expected_outputs(
    name: str, target: str, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """The runners push the first set of inputs in rows, and hand over the second at once."""
    for one in ("arm-none-eabi-gcc", "qemu-system-arm") if target != "generic" else ():
        tool(one)
    made = deployment(name, target, "push")
    sets, wanted = vectors(name, "in"), vectors(name, "out")
    runner = made.platform.runners[0]
    job = Job(
        artifact=made.artifact,
        plan=made.allocated,
        prefix=made.prefix,
        input_sets=sets,
        trace=True,
        sanitize=runner == "host",
    )
    result = load_named(("runner", runner)).runners[runner].run(job, tmp_path)
    for given, got, expected in zip(sets, result.outputs, wanted, strict=True):
        known = run(made.graph, given, made.registry.operators)
        for output, array in got.items():
            np.testing.assert_array_equal(array, known[output])
            assert int(np.argmax(array)) == int(np.argmax(expected[output]))


def test_pixels_that_become_channels_on_the_way_in(tmp_path: Path) -> None:
    """As `PixelUnshuffle` is exported: a Reshape, a Transpose and a Reshape before the first convolution."""
    shapes = {"split": [1, 2, 6, 2, 5, 2], "joined": [1, 8, 6, 5]}
    constants = [numpy_helper.from_array(np.array(shape, np.int64), name) for name, shape in shapes.items()]
    constants.append(numpy_helper.from_array(np.ones((3, 8, 3, 3), np.float32), "w"))
    nodes = [
        helper.make_node("Reshape", ["x", "split"], ["a"]),
        helper.make_node("Transpose", ["a"], ["b"], perm=[0, 1, 3, 5, 2, 4]),
        helper.make_node("Reshape", ["b", "joined"], ["c"]),
        helper.make_node("Conv", ["c", "w"], ["y"], pads=[1, 1, 1, 1]),
    ]
    ends = [helper.make_tensor_value_info(*one) for one in (("x", 1, [1, 2, 12, 10]), ("y", 1, [1, 3, 6, 5]))]
    graph = helper.make_graph(nodes, "unshuffled", ends[:1], ends[1:], constants)
    (tmp_path / "net.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    made = Deployment(tmp_path / "net.onnx", "generic", Options(io_of={"x": "push"}))
    assert validate(made, HostRunner(), vectors_of(made, None, 1)).passed
