"""Toy networks that went through every stage up to a plan: their operators never change with the real ones."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from c_compiler import command_of
from onnx.reference import ReferenceEvaluator

from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.comparison.reference import run
from tilewright.emit import EmitOptions, emit
from tilewright.frontend.load import load
from tilewright.ir.access.index_map import whole
from tilewright.ir.graphs.graph import Graph, Node, Quantization, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Artifact
from tilewright.ir.programs.program import Program
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.operators.families import FAMILIES
from tilewright.runners.host import STRICT
from tilewright.runners.toolchain import Compiler, find_compiler
from tilewright.schedule import schedule
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile
from tilewright.transform import HOOKS, LIFETIMES, CodePass, transform

Array = npt.NDArray[np.generic]


def _same(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _operator(name: str, inputs: tuple[str, ...], compute: Callable[..., Array]) -> Operator:
    def reference(site: Site, arrays: Sequence[Array | None]) -> tuple[Array, ...]:
        return (compute(*arrays),)

    return Operator(
        name=name,
        inputs=inputs,
        outputs=("Y",),
        infer=_same,
        reference=reference,
        access=lambda site: whole(
            {operand: site.input(index).shape for index, operand in enumerate(inputs)}, {"Y": site.output.shape}
        ),
    )


TOY_OPERATORS = {
    "ToyBias": _operator("ToyBias", ("X", "B"), lambda x, b: x + b),
    "ToyReverse": _operator("ToyReverse", ("X",), lambda x: x[..., ::-1]),
    "ToyHalf": _operator("ToyHalf", ("X",), lambda x: x * np.float32(0.5)),
}
TOY_KERNELS = {
    "portable.toy_bias": Kernel(
        name="portable.toy_bias",
        op="ToyBias",
        values=lambda call: {"count": call.operands["Y"].shape[-1]},
        source="""
/* y = x + b, modulo 256. */
TW_KERNEL void tw_toy_bias(int32_t count, const int8_t *x, const int8_t *b, int8_t *y)
{
    for (int32_t i = 0; i < count; ++i) {
        y[i] = (int8_t)(uint8_t)(x[i] + b[i]);
    }
}
""",
        call="tw_toy_bias(${count}, ${X}, ${B}, ${Y});",
    ),
    "acme.toy_reverse": Kernel(
        name="acme.toy_reverse",
        op="ToyReverse",
        licence="MIT",
        scratch_bytes=lambda tile: 8,
        values=lambda call: {"count": call.operands["Y"].shape[-1]},
        source="""
/* The elements from the last to the first. */
TW_KERNEL void tw_toy_reverse(int32_t count, const int8_t *x, int8_t *y, uint8_t *scratch)
{
    scratch[7] = 0;
    for (int32_t i = 0; i < count; ++i) {
        y[i] = x[count - 1 - i];
    }
}
""",
        call="tw_toy_reverse(${count}, ${X}, ${Y}, ${scratch});",
    ),
    "portable.toy_half": Kernel(
        name="portable.toy_half",
        op="ToyHalf",
        includes=("<math.h>", "<stdint.h>"),
        values=lambda call: {"count": call.operands["Y"].shape[-1]},
        source="""
/* y = x / 2 */
TW_KERNEL void tw_toy_half(int32_t count, const float *x, float *y)
{
    for (int32_t i = 0; i < count; ++i) {
        y[i] = ldexpf(x[i], -1);
    }
}
""",
        call="tw_toy_half(${count}, ${X}, ${Y});",
    ),
}
TOY_PLATFORM = Platform(
    name="toy",
    memories=(Memory(name="ram", size_bytes=None), Memory(name="flash", size_bytes=None, kind="const")),
)


def toy_graph(*, names: tuple[str, str] = ("mfcc:0", "scores"), length: int = 10) -> Graph:
    """int8: y = reverse(reverse(x + b) + b)."""
    x, y = names
    scale = Quantization(scale=(0.1,), zero_point=(-3,))
    tensors = {
        name: Tensor(name=name, dtype=DType.I8, shape=(1, length), quantization=scale if name == x else None)
        for name in (x, "b", "biased", "turned", "again", y)
    }
    nodes = (
        Node(name="/bias", op="ToyBias", inputs=(x, "b"), outputs=("biased",), origin=("/bias/Add", "/bias/*/evil")),
        Node(name="/turn", op="ToyReverse", inputs=("biased",), outputs=("turned",)),
        Node(name="/bias2", op="ToyBias", inputs=("turned", "b"), outputs=("again",)),
        Node(name="/turn2", op="ToyReverse", inputs=("again",), outputs=(y,)),
    )
    constant = (np.arange(length, dtype=np.int64) * 37 % 256 - 128).astype(np.int8)[None]
    return Graph(name="toy", inputs=(x,), outputs=(y,), nodes=nodes, tensors=tensors, constants={"b": constant})


def toy_float_graph() -> Graph:
    """float32: y = x / 4, no constants."""
    tensors = {name: Tensor(name=name, dtype=DType.F32, shape=(3, 5)[1:]) for name in ("x", "half", "y")}
    nodes = (
        Node(name="h1", op="ToyHalf", inputs=("x",), outputs=("half",)),
        Node(name="h2", op="ToyHalf", inputs=("half",), outputs=("y",)),
    )
    return Graph(name="floats", inputs=("x",), outputs=("y",), nodes=nodes, tensors=tensors, constants={})


def toy_expected(graph: Graph, x: Array) -> Array:
    """What toy_graph computes."""
    b, start = graph.constants["b"].astype(np.int8), x.astype(np.int8)
    return np.asarray(((start + b)[..., ::-1] + b)[..., ::-1])


def toy_plan(graph: Graph, *, io: str = "pool", platform: Platform = TOY_PLATFORM, **decided: Any) -> Allocated:
    """Every stage up to `allocate`, for real."""
    ends = dict.fromkeys((*graph.inputs, *graph.outputs), io)
    pins = Decisions(io=ends, **decided)
    scheduled = schedule(bind(graph, platform, TOY_OPERATORS, TOY_KERNELS, pins), TOY_OPERATORS, pins)
    plan = allocate(tile(scheduled, TOY_OPERATORS, WholeTiler(), pins), pins, BestFit(), Budget())
    return replace(plan, plan_id=0x5BE0CD19)  # golden files hold it


def toy_program(graph: Graph, prefix: str = "toy", *, io: str = "pool", platform: Platform = TOY_PLATFORM) -> Program:
    """A plan, lowered; no code pass yet."""
    return lower(toy_plan(graph, io=io, platform=platform), TOY_OPERATORS, prefix)


def toy_artifact(
    program: Program, options: EmitOptions | None = None, *, wanted: Sequence[str] = (), passes: Sequence[CodePass] = ()
) -> Artifact:
    """The files, after the built-in code passes. The generator's name is fixed: golden files hold it."""
    changed = transform(program, (HOOKS, LIFETIMES, *passes), wanted)
    return emit(changed, options or EmitOptions(generator="tilewright 0"))


def toy_files(artifact: Artifact, folder: Path) -> Path:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in artifact.files.items():
        (folder / name).write_bytes(content)
    return folder


def toy_build(
    folders: Sequence[Path], main: Path, flags: Sequence[str] = (), *, compiler: Compiler | None = None
) -> Path:
    """Compile everything but self-tests together with `main`, warnings being errors. CalledProcessError if it fails."""
    sources = [path for folder in folders for path in sorted(folder.glob("*.[cS]")) if "_selftest" not in path.name]
    program = main.parent / "program"
    command = [
        *command_of(compiler or find_compiler(), (*STRICT, *flags)),
        *(f"-I{folder}" for folder in folders),
        "-o",
        str(program),
        str(main),
    ]
    subprocess.run([*command, *map(str, sources), "-lm"], check=True, cwd=main.parent)
    return program


class Toy:
    """The functions above, for tests that cannot import this file."""

    operators = TOY_OPERATORS
    platform = TOY_PLATFORM
    graph = staticmethod(toy_graph)
    float_graph = staticmethod(toy_float_graph)
    expected = staticmethod(toy_expected)
    plan = staticmethod(toy_plan)
    program = staticmethod(toy_program)
    artifact = staticmethod(toy_artifact)
    write = staticmethod(toy_files)
    build = staticmethod(toy_build)


@pytest.fixture
def toy() -> type[Toy]:
    """Toy networks and what they compute."""
    return Toy


@pytest.fixture(scope="session", name="beside_onnx")
def _beside_onnx() -> Callable[..., tuple[list[Array], list[Array]]]:
    """The results of one node by the front end and the references of operators, and by onnx's own (`theirs`)."""
    vocabulary = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}

    def computed(
        node: onnx.NodeProto,
        given: Mapping[str, Array],
        constants: Mapping[str, Array] | None = None,
        *,
        opset: int,
        theirs: bool = True,
    ) -> tuple[list[Array], list[Array]]:
        model = one_node(node, given, constants or {}, opset)
        graph = load(model.SerializeToString(), operators=vocabulary).graph
        found = run(graph, {name: given[name] for name in graph.inputs}, vocabulary)
        expected: Any = ReferenceEvaluator(model).run(None, dict(given)) if theirs else ()
        return [found[name] for name in graph.outputs], list(expected)

    return computed


def one_node(
    node: onnx.NodeProto, given: Mapping[str, Array], constants: Mapping[str, Array], opset: int
) -> onnx.ModelProto:
    """A model of one node; its outputs have no declared types."""
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in given.items()
    ]
    outputs = [onnx.helper.make_tensor_value_info(name, 0, None) for name in node.output if name]
    held = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = onnx.helper.make_graph([node], "g", inputs, outputs, held)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10)
