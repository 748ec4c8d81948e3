"""What every stage makes of three tiny graphs and of kws, on two targets: read a pass by what it changes here.

`python tools/regenerate.py golden` writes the files anew: review the difference. `golden/GRAPH/TARGET/STAGE.txt` is
what `tilewright compile --dump-after STAGE` prints; the program is shown as its tree, without the C in it. Of kws only
what is short is here: the steps, their tiles, the memory map.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from networks import network_file
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.programs.program import Program
from tilewright.ir.programs.statements import (
    ByteRange,
    Charge,
    CopyStart,
    CopyWait,
    Declare,
    For,
    Hook,
    If,
    KernelCall,
    KernelWait,
    Mark,
    PartCall,
    Statement,
    StepCall,
)
from tilewright.snapshot.dump import dump_text

GOLDEN = Path(__file__).with_name("golden")
STAGES = ("imported", "rewritten", "bound", "scheduled", "tiled", "allocated", "program")
JOINED = re.compile(r"([\w/]+)(?:;[\w/]+?)+((?:_prequant)?)(?![\w/]|;\w)")  # names of kws: of many, the first
COMPACT = ("scheduled", "tiled", "allocated")
PLAIN = Options(allocator="best-fit")  # of the core: `auto` would ask another where a package brings one
TARGETS = {"generic": PLAIN, "siracusa": replace(PLAIN, memory={"l1": 3 << 10})}  # so little that tiny steps have tiles
KWS_OPTIONS = {
    "generic": PLAIN,
    "siracusa": replace(PLAIN, memory={"l1": 16 << 10}),
}  # so little that steps are grouped


class Draft:
    """An ONNX model that is being written down."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.constants: list[object] = []
        self.chance = np.random.default_rng(7)

    def constant(self, array: np.ndarray) -> str:
        """An initialiser."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def floats(self, *shape: int) -> str:
        """A float initialiser: quarters, so that no sum depends on the order."""
        return self.constant(self.chance.integers(-4, 5, shape).astype(np.float32) / 4)

    def node(self, op: str, *inputs: str, name: str = "", **attributes: object) -> str:
        """A node of one output, which is named after it."""
        name = name or f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], f"/{name}", **attributes))
        return name

    def quantised(self, value: str, scale: float, zero_point: int = 0) -> str:
        """Through int8 and back, as quantised models have it."""
        numbers = self.constant(np.float32(scale)), self.constant(np.int8(zero_point))
        return self.node("DequantizeLinear", self.node("QuantizeLinear", value, *numbers), *numbers)

    def weights(self, *shape: int) -> str:
        """Constant bytes, dequantised."""
        numbers = self.constant(np.float32(0.125)), self.constant(np.int8(0))
        return self.node("DequantizeLinear", self.constant(self.chance.integers(-9, 9, shape, np.int8)), *numbers)

    def model(self, shape: tuple[int, ...], result: str, out: tuple[int, ...]) -> bytes:
        """From the input "x" to `result`, both float."""
        ends = [helper.make_tensor_value_info(*end) for end in (("x", TensorProto.FLOAT, shape),)]
        last = [helper.make_tensor_value_info(result, TensorProto.FLOAT, out)]
        graph = helper.make_graph(self.nodes, "tiny", ends, last, self.constants)
        return bytes(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
        )


def residual() -> bytes:
    """Float: a convolution with BatchNormalization and Relu, another, and their sum."""
    draft = Draft()
    x = draft.node("Conv", "x", draft.floats(8, 4, 3, 3), name="first", pads=[1, 1, 1, 1])
    ones = [draft.constant(np.full(8, number, np.float32)) for number in (0.5, 0.25, 0.0, 1.0)]
    y = draft.node("Relu", draft.node("BatchNormalization", x, *ones, epsilon=0.0), name="relu")
    z = draft.node("Conv", y, draft.floats(8, 8, 1, 1), draft.floats(8), name="second")
    return draft.model((1, 4, 12, 12), draft.node("Add", y, z, name="sum"), (1, 8, 12, 12))


def quantised() -> bytes:
    """int8 as QDQ: a convolution with Relu, a depthwise one, a mean over the image, a dense layer."""
    draft = Draft()
    x = draft.quantised("x", 0.5, -3)
    x = draft.node("Relu", draft.node("Conv", x, draft.weights(8, 2, 3, 3), name="first", strides=[2, 2]))
    x = draft.quantised(x, 0.25, -128)
    x = draft.node("Conv", x, draft.weights(8, 1, 3, 3), name="depthwise", group=8, pads=[1, 1, 1, 1])
    x = draft.quantised(draft.node("GlobalAveragePool", draft.quantised(x, 0.5), name="mean"), 0.25)
    x = draft.node("Gemm", draft.node("Flatten", x), draft.weights(8, 5), name="dense")
    return draft.model((1, 2, 17, 17), draft.quantised(x, 0.5), (1, 5))


def attention() -> bytes:
    """Float: scores of places by places, softmax, and what they weigh, with Reshape and Transpose around."""
    draft = Draft()
    query, value = (draft.node("MatMul", "x", draft.floats(8, 8), name=name) for name in ("query", "value"))
    scores = draft.node("MatMul", query, draft.node("Transpose", "x", perm=[0, 2, 1]), name="scores")
    mixed = draft.node("MatMul", draft.node("Softmax", scores, axis=-1, name="softmax"), value, name="mixed")
    flat = draft.node("Reshape", mixed, draft.constant(np.array([1, 96])), name="flat")
    return draft.model((1, 12, 8), draft.node("Gemm", flat, draft.floats(96, 3), name="dense"), (1, 3))


GRAPHS: dict[str, Callable[[], bytes]] = {"residual": residual, "quantised": quantised, "attention": attention}


def _bytes(region: ByteRange) -> str:
    return f"{region.buffer}[{region.offset_bytes}..{region.offset_bytes + region.size_bytes}]"


def _line(statement: Statement) -> str:
    match statement:
        case For():
            return f"for {statement.variable}"
        case If():
            return "if"
        case KernelCall():
            ends = (" ".join(map(_bytes, regions)) for regions in (statement.reads, statement.writes))
            return f"kernel {statement.kernel}: {' -> '.join(ends)}"
        case KernelWait():
            return f"wait for kernel {statement.kernel}"
        case CopyStart():
            return f"copy {statement.transfer}: {_bytes(statement.source)} -> {_bytes(statement.target)}"
        case CopyWait():
            return f"wait for copy {statement.transfer}"
        case Mark():
            return f"{statement.event} {statement.buffer}"
        case PartCall():
            return f"call {statement.function} ({statement.role})"
        case StepCall():
            return f"step {statement.step}"
        case Hook():
            return f"hook {statement.phase} of step {statement.step}"
    return type(statement).__name__.lower()


def _tree(body: tuple[Statement, ...], indent: int) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, (Charge, Declare)):
            continue  # names of C
        yield " " * indent + _line(statement)
        if isinstance(statement, (For, If)):
            yield from _tree(statement.body, indent + 4)
        if isinstance(statement, If) and statement.otherwise:
            yield " " * indent + "else"
            yield from _tree(statement.otherwise, indent + 4)


def program_text(program: Program) -> str:
    """Memories, ends, and the statements of every step: their kinds and the bytes that they touch."""
    lines = ["# program"]
    for pool in (*program.pools, *program.constants):
        lines.append(f"pool    {pool.memory}: {pool.size_bytes:,} B aligned {pool.align}")
    for kind, ports in (("input", program.inputs), ("output", program.outputs)):
        lines += [f"{kind:7} {port.value} in {port.pool or 'the caller'} at {port.offset_bytes}" for port in ports]
    lines += ["run", *_tree(program.body, 4)]
    for step in program.steps:
        lines.append(f"step    {step.function}({', '.join(item.name for item in step.parameters)})")
        for part in step.parts:
            lines += [f"    part {part.function} ({part.role})", *_tree(part.body, 8)]
        lines += _tree(step.body, 4)
    return "\n".join(lines) + "\n"


def stage_text(deployment: Deployment, stage: str) -> str:
    """One stage, without the plan's number: it counts bytes of constants that nobody can read here."""
    value = getattr(deployment, stage)
    if isinstance(value, Program):
        return program_text(value)
    text = dump_text(value.graph if stage in ("imported", "rewritten") else value)
    return JOINED.sub(r"\1\2", "".join(line for line in text.splitlines(True) if not line.startswith("plan id ")))


def compare(deployment: Deployment, stages: tuple[str, ...], folder: Path) -> None:
    """Against the files in `folder`, of which there are no others; or write them."""
    texts = {f"{stage}.txt": stage_text(deployment, stage) for stage in stages}
    if os.environ.get("UPDATE_GOLDEN"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    assert sorted(texts) == sorted(path.name for path in folder.iterdir())
    for name, text in texts.items():
        assert text == (folder / name).read_text(encoding="utf-8"), f"{folder.name}/{name}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_every_stage_is_as_reviewed(graph: str, target: str) -> None:
    compare(Deployment(GRAPHS[graph](), target, TARGETS[target]), STAGES, GOLDEN / graph / target)


@pytest.mark.parametrize("target", TARGETS)
def test_the_plan_of_kws_is_as_reviewed(target: str) -> None:
    compare(Deployment(network_file("kws_int8"), target, KWS_OPTIONS[target]), COMPACT, GOLDEN / "kws" / target)


def test_files_are_short_enough_to_be_read() -> None:
    assert [path for path in GOLDEN.rglob("*.txt") if len(path.read_text(encoding="utf-8").splitlines()) > 200] == []
