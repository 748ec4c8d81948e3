"""Kernels of Siracusa in parts, on the twin: layers whose reductions are cut by hand, networks in very little L1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from layer_programs import Case, network
from networks import network_file, vectors_file
from tilewright.allocate.best_fit import BestFit
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, emit
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, Region, SplitReduction, Tiles, key_of
from tilewright.ir.programs.runner import Job
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.plugins import load_for
from tilewright.runners.twin import RACE, TwinRunner
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import Sample
from tilewright.tile.strategies import StepTiler
from tilewright.transform import HOOKS, LIFETIMES, transform

Array = npt.NDArray[np.generic]
NUMBERS = np.random.default_rng(7)


@dataclass(frozen=True)
class Pinned:
    """A layer, the kernel that it is for, the loops that are cut, and what is copied: operand -> (level, buffers)."""

    layer: Sample
    kernel: str
    nest: tuple[tuple[str, int], ...]
    copies: Mapping[str, tuple[int, int]]

    def region(self, step: str) -> Region:
        copies = {key_of(step, name): Copy(level=at, buffers=buffers) for name, (at, buffers) in self.copies.items()}
        nest = tuple(Cut(*cut) for cut in self.nest)
        split = tuple(cut.loop for cut in nest if cut.loop in REDUCTIONS)
        sums = SplitReduction(loops=split, dtype=DType.I32 if self.layer.op.startswith("Q") else DType.F32)
        hop = Hop(outer="l2", inner="l1", nest=nest, copies=copies)
        return Region(steps=(step,), schedule=Tiles(hops=(hop,)), sums={step: sums})


def windows(kernel: tuple[int, int], pads: tuple[int, ...], stride: int = 1, dilation: int = 1) -> dict[str, Attribute]:
    return {
        "kernel_shape": kernel, "strides": (stride, stride), "dilations": (dilation, dilation), "pads": pads,
        "ceil_mode": 0, "group": 1,
    }  # fmt: skip


def some_bytes(*shape: int) -> Array:
    return NUMBERS.integers(-128, 128, shape).astype(np.int8)


def floats(*shape: int) -> Array:
    return NUMBERS.standard_normal(shape).astype(np.float32)


def requant(outputs: int) -> Requant:
    return Requant(scale=(2.0**-10.3,) * outputs, zero_point=3, low=-128, high=127)


def qconv(kind: str, x: Array, w: Array, attributes: Mapping[str, Attribute]) -> Sample:
    more: dict[str, Attribute] = {
        "x_zero_point": -5, "pad_value": 7, "w_zero_point": (0,), "requant": requant(len(w)), "output_type": "i8",
    }  # fmt: skip
    bias = NUMBERS.integers(-900, 900, len(w)).astype(np.int32)
    return Sample(op="QConv", kind=kind, inputs=(x, w, bias), attributes={**attributes, **more}, constants=(1, 2))


def conv(kind: str, x: Array, w: Array, attributes: Mapping[str, Attribute]) -> Sample:
    return Sample(op="Conv", kind=kind, inputs=(x, w, floats(len(w))), attributes=attributes, constants=(1, 2))


SAME, WIDE = (1, 1, 1, 1), (2, 1, 3, 2)
REDUCTIONS = ("c", "y", "k")
QGEMM: dict[str, Attribute] = {"a_zero_point": 1, "b_zero_point": (0,)}
CUTS = (
    Pinned(
        qconv("channels", some_bytes(1, 20, 9, 7), some_bytes(10, 20, 3, 3), windows((3, 3), SAME)),
        "siracusa.qconv",
        (("h", 4), ("o", 8), ("c", 8)),
        {"X": (3, 2), "W": (3, 1), "P": (2, 2), "Z": (3, 1), "Y": (2, 2)},
    ),
    Pinned(
        qconv("rows and channels", some_bytes(1, 16, 9, 8), some_bytes(6, 16, 3, 3), windows((3, 3), WIDE)),
        "siracusa.qconv",
        (("w", 5), ("h", 2), ("y", 1), ("c", 8)),
        {"X": (4, 2), "W": (4, 2), "P": (0, 1), "Z": (0, 1), "Y": (2, 1)},
    ),
    Pinned(
        qconv("one operand stays", some_bytes(1, 24, 6, 6), some_bytes(5, 24, 3, 2), windows((3, 2), SAME, 2, 2)),
        "siracusa.qconv",
        (("h", 2), ("c", 16)),
        {"X": (1, 1), "W": (2, 2), "P": (0, 1), "Z": (2, 2), "Y": (1, 1)},
    ),
    Pinned(
        Sample(
            op="QGemm",
            inputs=(some_bytes(5, 44), some_bytes(44, 10), None),
            attributes={**QGEMM, "requant": requant(10)},
            constants=(1,),
        ),
        "siracusa.qgemm",
        (("n", 8), ("k", 16)),
        {"A": (2, 2), "W": (2, 1), "P": (1, 1), "Y": (1, 2)},
    ),
    Pinned(
        Sample(
            op="QGemm",
            kind="row",
            inputs=(some_bytes(1, 44), some_bytes(44, 11), None),
            attributes={**QGEMM, "requant": requant(11)},
            constants=(1,),
        ),
        "siracusa.qgemm_row",
        (("n", 7), ("k", 24)),
        {"A": (0, 1), "W": (2, 2), "P": (1, 1), "Y": (1, 2)},
    ),
    Pinned(
        Sample(
            op="QMatMul",
            inputs=(some_bytes(2, 9, 30), some_bytes(2, 30, 7)),
            attributes={"a_zero_point": 3, "b_zero_point": (-4,), "requant": requant(1)},
        ),
        "siracusa.qmatmul",
        (("_lead0", 1), ("m", 4), ("k", 8)),
        {"A": (3, 2), "B": (3, 1), "Y": (2, 2)},
    ),
    Pinned(
        conv("channels", floats(1, 20, 9, 7), floats(6, 20, 3, 3), windows((3, 3), SAME)),
        "siracusa.conv_f32",
        (("h", 4), ("o", 4), ("c", 8)),
        {"X": (3, 2), "W": (3, 1), "B": (2, 2), "Z": (3, 1), "Y": (2, 2)},
    ),
    Pinned(
        conv("rows", floats(1, 12, 9, 8), floats(6, 12, 3, 3), windows((3, 3), WIDE)),
        "siracusa.conv_f32",
        (("h", 2), ("y", 2)),
        {"X": (2, 2), "W": (2, 2), "B": (0, 1), "Z": (0, 1), "Y": (1, 1)},
    ),
    Pinned(
        Sample(op="Gemm", inputs=(floats(5, 44), floats(44, 10), floats(10)), constants=(1, 2)),
        "siracusa.gemm_f32",
        (("n", 4), ("k", 16)),
        {"A": (2, 2), "B": (2, 1), "C": (1, 1), "Y": (1, 2)},
    ),
    Pinned(
        Sample(op="MatMul", inputs=(floats(2, 9, 30), floats(2, 30, 7))),
        "siracusa.matmul_f32",
        (("m", 4), ("k", 8)),
        {"A": (2, 2), "B": (2, 1), "Y": (1, 2)},
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("runner", [TwinRunner(seeds=(0, 2)), RACE], ids=["twin", "race"])
def test_layers_cut_by_hand(runner: TwinRunner, tmp_path: Path) -> None:
    """Last parts with fewer trips, padding around and beside parts, operands that stay while others are cut."""
    registry, operators = load_for(target="siracusa"), vocabulary()
    cases = [Case(layer=cut.layer, room_bytes=0, buffering="auto", number=at) for at, cut in enumerate(CUTS)]
    graph, inputs = network(cases)
    pins = Decisions(
        kernels={case.name: cut.kernel for case, cut in zip(cases, CUTS, strict=True)},
        tiles={case.name: cut.region(case.name) for case, cut in zip(cases, CUTS, strict=True)},
    )
    planner = Planner(
        operators=operators, kernels=registry.kernels, tiler=StepTiler(name="auto", summary=""), allocator=BestFit(),
        pins=pins, longest=1,
    )  # fmt: skip
    plan = planner.carry_out(planner.bind(graph, registry.platforms["siracusa"]), pins)
    code = emit(transform(lower(plan, operators, "layers"), (HOOKS, LIFETIMES), ("lifetimes",)), EmitOptions())
    job = Job(artifact=code, plan=plan, prefix="layers", input_sets=(inputs,), trace=True)
    result = runner.run(job, tmp_path)
    verdicts = judge_steps(plan.tiled.scheduled.bound.graph, [case.name for case in cases], operators, (inputs,),
                           result.values)  # fmt: skip
    assert {verdict.name for verdict in verdicts} == {case.name for case in cases}
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []


@pytest.mark.parametrize(
    ("name", "scratchpad_bytes"), [("resnet8_int8", 4352), pytest.param("resnet8_f32", 6144, marks=pytest.mark.long)]
)
def test_networks_in_very_little_memory(name: str, scratchpad_bytes: int, tmp_path: Path) -> None:
    plan = Deployment(
        network_file(name),
        "siracusa",
        Options(memory={"l1": scratchpad_bytes}, groups=1),
        load_for(target="siracusa"),
    )
    bound = plan.scheduled.bound
    cut = []
    for group in plan.tiled.groups:
        layer = bound.layers[group.name]
        reductions = {loop.name for loop in layer.access.loops if loop.kind == "reduce"}
        if any(loop in reductions for hop in group.region.hops for loop, _ in hop.nest):
            cut.append(layer.kernel.target)
    assert "siracusa" in cut
    program = lower(plan.allocated, plan.registry.operators, plan.prefix)
    code = emit(transform(program, tuple(plan.registry.code_passes.values()), ("lifetimes",)), EmitOptions())
    with np.load(vectors_file(name)) as archive:
        inputs = {tensor: archive[f"set0/in/{tensor}"] for tensor in plan.inputs}
    job = Job(artifact=code, plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=True)
    result = TwinRunner(seeds=(0,)).run(job, tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    verdicts = judge_steps(bound.graph, executed, plan.registry.operators, (inputs,), result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
