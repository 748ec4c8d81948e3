"""Knows how layers are counted here and by CMSIS-NN in one run, how results are compared, and what is printed.
Does not know which layers there are (`cmsis_nn_layers`), nor how CMSIS-NN is called and built.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cmsis_nn
import numpy as np
from cmsis_nn_layers import compared
from cortex_m_layers import RUNNER, Layer
from estimates import AT_ONCE, MOVED, ROOM, images_by_channels_last

from tilewright.plugins import load_for, load_named
from tilewright.testing.one_step import vocabulary
from tilewright.testing.side_by_side import side_by_side

CLOSE = 1e-4  # of floats, of the largest result


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """One layer on one core."""

    layer: str
    core: str
    operations: int
    kernel: str
    ours: int
    theirs: int
    cycles: int
    their_cycles: int
    estimate: int
    right: bool  # what its reference says
    equal: str  # what CMSIS-NN gives: "yes", or how far that is off

    @property
    def ratio(self) -> float:
        """Below 1: fewer instructions than CMSIS-NN."""
        return self.ours / self.theirs


def beside(arguments: argparse.Namespace) -> int:
    """The table, and a line that sums it up."""
    layers = [layer for layer in compared() if arguments.only in layer.name]
    if not layers:
        sys.exit(f"no layer has {arguments.only!r} in its name")
    with tempfile.TemporaryDirectory() as folder:
        kept = (arguments.kept or Path(folder)).resolve()
        lines = [
            line
            for core in arguments.cores.split(",")
            for line in of_core(layers, core, arguments.cmsis_nn.resolve(), kept)
        ]
    lines.sort(key=lambda line: -line.ratio)
    told = {"layers": len(layers), "lines": [{**asdict(line), "ratio": round(line.ratio, 3)} for line in lines]}
    if arguments.json:
        arguments.json.write_text(f"{json.dumps(told, indent=1)}\n", encoding="ascii")
    print("| layer | core | operations | kernel | instructions | CMSIS-NN | ratio | of modelled cycles | equal |")
    print("|---|---|---:|---|---:|---:|---:|---:|---|")
    for line in lines:
        row = (
            line.layer, line.core, f"{line.operations:,}", line.kernel, f"{line.ours:,}", f"{line.theirs:,}",
            f"{line.ratio:.2f}", f"{line.cycles / line.their_cycles:.2f}",
            line.equal if line.right else f"{line.equal} WRONG",
        )  # fmt: skip
        print(f"| {' | '.join(row)} |")
    print("\n| core | values | layers | median | worst | behind |\n|---|---|---:|---:|---:|---:|")
    for summed in summary(lines):
        print(f"| {' | '.join(summed)} |")
    return int(any(not line.right for line in lines))


def summary(lines: Sequence[Beside]) -> Iterator[tuple[str, ...]]:
    """Of every core and kind of values."""
    kinds = {"int8": "", "16-bit": "16-bit", "4-bit weights": "4-bit", "float": "float"}
    named = tuple(word for word in kinds.values() if word)
    for core in dict.fromkeys(line.core for line in lines):
        for kind, word in {**kinds, "all": "all"}.items():
            ratios = [
                line.ratio
                for line in lines
                if line.core == core
                and (word == "all" or (line.layer.startswith(word) if word else not line.layer.startswith(named)))
            ]
            if ratios:
                behind = sum(ratio > 1 for ratio in ratios)
                numbers = (str(len(ratios)), f"{np.median(ratios):.2f}", f"{max(ratios):.2f}", str(behind))
                yield (core, kind, *numbers)


def of_core(layers: Sequence[Layer], core: str, source: Path, kept: Path) -> Iterator[Beside]:
    """Every layer that CMSIS-NN has a function for."""
    theirs = list(cmsis_nn.measured(layers, core, source, kept))
    for layer in (layer for layer, peer in zip(layers, theirs, strict=True) if peer is None):
        sys.exit(f"{layer.name}: no function of CMSIS-NN is known to compute it")
    for at in range(0, len(layers), AT_ONCE):
        part = layers[at : at + AT_ONCE]
        for layer, peer, mine in zip(part, theirs[at : at + AT_ONCE], ours(part, core), strict=True):
            assert peer is not None
            kernel, estimate, counts, output = mine
            (said,) = vocabulary()[layer.site.node.op].reference(layer.site, layer.inputs)
            yield Beside(
                layer=layer.name, core=core, operations=layer.work, kernel=kernel, ours=counts["instructions"],
                theirs=peer.instructions, cycles=counts["modelled_cycles"], their_cycles=peer.cycles,
                estimate=round(estimate), right=apart(output, said) == "yes", equal=nearest(output, peer.outputs),
            )  # fmt: skip


def ours(layers: Sequence[Layer], core: str) -> Iterator[tuple[str, float, dict[str, int], Any]]:
    """The kernel, its estimated instructions, what was counted, and the result, of layers in one program."""
    target = f"cortex-{core}"
    count = images_by_channels_last(side_by_side([(layer.site, layer.inputs) for layer in layers]))
    plan = count.deployment(target, ROOM, load_for(target=target))
    runner = load_named(("runner", RUNNER)).runners[RUNNER]
    with tempfile.TemporaryDirectory() as folder:
        result = count.run(plan, runner, Path(folder), trace=False)
    outputs = result.outputs[0]
    for node in count.graph.nodes:
        if node.name.endswith(MOVED):
            continue
        found = outputs.get(node.outputs[0])
        if found is None:
            found = np.moveaxis(outputs[f"{node.outputs[0]}_last"], -1, 1)
        binding = plan.bound.bindings[node.name]
        counts = result.step_counts[node.name]
        yield binding.kernel.name, binding.candidates[0].cycles, dict(counts), found


def nearest(ours: Any, theirs: Sequence[Any]) -> str:
    """How far a result is from the nearest of several."""
    return min((apart(ours, their) for their in theirs), key=lambda far: far != "yes")


def apart(ours: Any, other: Any) -> str:
    """How far results are from others; floats may be as far apart as their rounding is."""
    far = np.abs(ours.astype(np.float64) - other.astype(np.float64)).max(initial=0)
    if ours.dtype.kind == "f":
        far /= np.abs(other).max(initial=0) or 1
        return "yes" if far <= CLOSE else f"{far:.1e}"
    return "yes" if far == 0 else f"{far:.0f}"
