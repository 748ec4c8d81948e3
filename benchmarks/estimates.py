"""Counts what layers execute on an emulated Cortex-M core, fits the table that estimates are made of, and judges it.
Usage: python benchmarks/estimates.py count --core m4 --seed 0 FILE.json     20 minutes of CPU for all cores
       python benchmarks/estimates.py fit TABLE.json FILE.json ...           layers with even numbers only: --half
           kernels of the target only, of all else what the table has: --kernels
       python benchmarks/estimates.py judge FILE.json ...                    the table that is installed
       python benchmarks/estimates.py networks --core m4                     20 random networks, as planned by default

`fit` takes the counts of seed 0; what `judge` says of seed 1 is of layers that nothing was fitted to. FILE.json has the
core, the seed, and for every layer its kernel and its counts, for portable C and for the kernels of the target.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from cortex_m_layers import RUNNER, portable_only
from estimate_fit import CoreFit, Counted, core_table
from estimate_layers import collection

from tilewright.config.options import Options
from tilewright.ir.graphs.graph import Node
from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.plugins import Registry, load_for, load_named
from tilewright.testing.one_step import vocabulary
from tilewright.testing.random_networks import KINDS, random_network
from tilewright.testing.side_by_side import SideBySide, side_by_side
from tilewright.tile.measure import step_instructions
from tilewright_cortexm.latencies import LATENCIES

FLASH_END = 0x20000000  # of all boards
AT_ONCE = 60  # layers in one program
IMAGES = (
    "Conv", "QConv", "ConvInteger", "ConvTranspose", "MaxPool", "AveragePool", "QAveragePool", "MaxPoolIndices",
)  # fmt: skip
LIKE, FPU_CORES = "m4", {"m7", "m33", "m55"}  # what was not counted on these is as on that one
SAME, OF_INTEGERS = "m33", "cortex-m.dsp."  # a core that has that one's instructions for integers: figures are those
MOVED = "_moved"  # ends the names of Transposes
ROOM = Options(memory={"ram": 3_000_000, "flash": 1_900_000}, optimize="speed")
WITHIN = 0.15


def main() -> int:
    """One of the four."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    counting = commands.add_parser("count")
    counting.add_argument("--core", default="m4", choices=tuple(LATENCIES))
    counting.add_argument("--seed", type=int, default=0)
    counting.add_argument("--every", type=int, default=1, help="only every so manieth layer")
    counting.add_argument("--family", default="", help="only layers whose names have it")
    counting.add_argument("--only", default="", choices=("", "portable", "kernels"))
    counting.add_argument("file", type=Path)
    fitting = commands.add_parser("fit")
    fitting.add_argument("--half", action="store_true")
    fitting.add_argument("--kernels", action="store_true")
    fitting.add_argument("table", type=Path)
    fitting.add_argument("files", type=Path, nargs="+")
    judging = commands.add_parser("judge")
    judging.add_argument("--worst", action="store_true", help="by kernel, with the worst layer of each")
    judging.add_argument("files", type=Path, nargs="+")
    networks = commands.add_parser("networks")
    networks.add_argument("--core", default="m4", choices=tuple(LATENCIES))
    networks.add_argument("--optimize", default="balanced")
    networks.add_argument("--count", type=int, default=20)
    arguments = parser.parse_args()
    return {"count": _count, "fit": _fit, "judge": _judge, "networks": _networks}[arguments.command](arguments)


def _count(arguments: argparse.Namespace) -> int:
    target = f"cortex-{arguments.core}"
    layers = [layer for layer in collection(arguments.seed) if arguments.family in layer.name][:: arguments.every]
    result: list[dict[str, Any]] = []
    for portable in (True, False):
        if arguments.only == ("kernels" if portable else "portable"):
            continue
        registry = portable_only(load_for(target=target), portable)
        for at in range(0, len(layers), AT_ONCE):
            part = layers[at : at + AT_ONCE]
            model = images_by_channels_last(side_by_side([(layer.site, layer.inputs) for layer in part]))
            result += _counted(model, [layer.name for layer in part], target, registry)
    kept = {(layer["name"], layer["kernel"]): layer for layer in result}
    text = json.dumps({"core": arguments.core, "seed": arguments.seed, "layers": list(kept.values())}, indent=0)
    arguments.file.write_text(f"{text}\n", encoding="ascii")
    return 0


def images_by_channels_last(side: SideBySide) -> SideBySide:
    """The same with images that come and go as networks have them inside: by channels last, through views."""
    graph, nodes, feeds = side.graph, list[Node](), dict(side.feeds)
    tensors, inputs, outputs = dict(graph.tensors), list(graph.inputs), list(graph.outputs)
    for node in graph.nodes:
        x, y = node.inputs[0], node.outputs[0]
        rank = len(tensors[x].shape)
        if node.op not in IMAGES or x not in feeds or rank < 3:
            nodes.append(node)
            continue
        last, first = (0, *range(2, rank), 1), (0, rank - 1, *range(1, rank - 1))
        for value in (x, y):
            shape = tuple(tensors[value].shape[axis] for axis in last)
            tensors[f"{value}_last"] = replace(tensors[value], name=f"{value}_last", shape=shape)
        nodes += [_transpose(f"{x}_last", x, first), node, _transpose(y, f"{y}_last", last)]
        feeds[f"{x}_last"] = np.ascontiguousarray(np.transpose(feeds.pop(x), last))
        inputs[inputs.index(x)], outputs[outputs.index(y)] = f"{x}_last", f"{y}_last"
    moved = replace(graph, tensors=tensors, nodes=tuple(nodes), inputs=tuple(inputs), outputs=tuple(outputs))
    return SideBySide(graph=moved, feeds=feeds)


def _transpose(value: str, moved: str, perm: tuple[int, ...]) -> Node:
    return Node(name=f"{moved}{MOVED}", op="Transpose", inputs=(value,), outputs=(moved,), attributes={"perm": perm})


def _counted(side: SideBySide, names: Sequence[str], target: str, registry: Registry) -> Iterator[dict[str, Any]]:
    plan = side.deployment(target, ROOM, registry)
    runner = replace(load_named(("runner", RUNNER)).runners[RUNNER], flash_end=FLASH_END)
    with tempfile.TemporaryDirectory() as folder:
        result = side.run(plan, runner, Path(folder), trace=False)
    nodes = [node for node in side.graph.nodes if not node.name.endswith(MOVED)]
    for name, node in zip(names, nodes, strict=True):
        counts = result.step_counts.get(node.name)  # views are no steps
        if counts is not None:
            kernel = plan.bound.bindings[node.name].kernel.name
            yield {"name": name, "kernel": kernel, "counts": {key: counts[key] for key in sorted(counts)}}


def _read(files: Sequence[Path], half: bool = False) -> dict[str, dict[int, list[Counted]]]:
    """By core and seed."""
    result: dict[str, dict[int, list[Counted]]] = defaultdict(dict)
    for file in files:
        told = json.loads(file.read_text(encoding="ascii"))
        kernels = load_for(target=f"cortex-{told['core']}").kernels
        sites = {layer.name: layer.site for layer in collection(told["seed"])}
        rows = [
            _layer(kernels[layer["kernel"]], sites[layer["name"]], layer, told["core"])
            for layer in (told["layers"][::2] if half else told["layers"])
        ]
        result[told["core"]].setdefault(told["seed"], []).extend(rows)
    return result


def _layer(kernel: Kernel, site: Any, entry: Mapping[str, Any], core: str) -> Counted:
    matched = load_layer(kernel, site)
    return Counted(
        name=entry["name"],
        kernel=kernel,
        tile=matched,
        instructions=entry["counts"]["instructions"],
        cycles=LATENCIES[core].cycles(entry["counts"]),
        stack_bytes=entry["counts"].get("stack_bytes", 0),
    )


def load_layer(kernel: Kernel, site: Any) -> TileShape:
    """The whole of a layer as a kernel sees it."""
    from tilewright.ir.plans.layer import Layer, Layers, layer_key

    layer = Layers(operators=vocabulary()).of(kernel, site, layer_key(site))
    if not isinstance(layer, Layer):
        raise ValueError(f"{kernel.name}: {layer}")
    return layer.whole


def _fit(arguments: argparse.Namespace) -> int:
    known = json.loads(arguments.table.read_text(encoding="ascii"))["cores"] if arguments.table.is_file() else {}
    cores = {
        core: core_table(
            [row for rows in seeds.values() for row in rows if row.kernel.target != "*" or not arguments.kernels]
        )
        for core, seeds in _read(arguments.files, arguments.half).items()
    }
    if arguments.kernels:
        cores = {core: merged(known[core], table) for core, table in cores.items()}
    elif LIKE in cores:
        for core in FPU_CORES & cores.keys():
            cores[core]["executed"] = {**cores[LIKE]["executed"], **cores[core]["executed"]}
    cores = {**known, **cores}
    if LIKE in cores and SAME in cores:
        cores[SAME] = with_integers_of(cores[SAME], cores[LIKE])
    text = json.dumps({"cores": cores}, indent=1, sort_keys=True)
    arguments.table.write_text(f"{text}\n", encoding="ascii")
    return 0


def with_integers_of(table: Mapping[str, Any], like: Mapping[str, Any]) -> dict[str, Any]:
    """A core's table with the kernels of integers as on a core with the same instructions for these."""
    parts = {name: dict(table[name]) for name in ("executed", "cycles_each", "stack")}
    for name, part in parts.items():
        part |= {kernel: figure for kernel, figure in like[name].items() if kernel.startswith(OF_INTEGERS)}
        part |= {kernel: figure for kernel, figure in like[name].items() if kernel not in part}
    return {**table, **parts}


def merged(known: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """A core's table with the figures of some kernels in it; a stack is at least as deep as it was seen."""
    stack = {name: max(depth, known["stack"].get(name, 0)) for name, depth in table["stack"].items()}
    new = {**table, "stack": stack}
    parts = {name: {**known[name], **new[name]} for name in ("executed", "cycles_each", "stack")}
    return {**known, **parts}


def _judge(arguments: argparse.Namespace) -> int:
    print("| core | seed | layers | within 15 % | within 10 % | all together |\n|---|---|---:|---:|---:|---:|")
    for core, seeds in _read(arguments.files).items():
        for seed, rows in seeds.items():
            judged = CoreFit.installed(core)
            errors = {row: judged.error(row) for row in rows}
            print(f"| {core} | {seed} | {len(rows)} | {_verdict(errors)} |")
            if arguments.worst:
                _worst(errors)
    return 0


def _verdict(errors: Mapping[Counted, float]) -> str:
    """How many are within limits, and how far all of them together are off."""
    sizes = np.abs(list(errors.values()))
    said = sum(row.instructions * (1 + error) for row, error in errors.items())
    total = said / sum(row.instructions for row in errors) - 1
    return f"{np.mean(sizes <= WITHIN):.1%} | {np.mean(sizes <= 0.1):.1%} | {total:+.1%}"


def _worst(errors: Mapping[Counted, float]) -> None:
    by_kernel: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for row, error in errors.items():
        by_kernel[row.kind].append((error, row.name))
    for kernel, result in sorted(by_kernel.items()):
        sizes = np.abs([error for error, _ in result])
        if (sizes > WITHIN).any():
            error, name = max(result, key=lambda error_and_name: abs(error_and_name[0]))
            print(f"    {kernel}: {np.sum(sizes > WITHIN)} of {len(result)}; {error:+.0%} {name}")


def _networks(arguments: argparse.Namespace) -> int:
    """Totals: what a plan says, and what is executed."""
    target = f"cortex-{arguments.core}"
    registry = load_for(target=target)
    print("| network | estimate | instructions | error |\n|---|---:|---:|---:|")
    kinds = sorted(KINDS)
    for number in range(arguments.count):
        kind = kinds[number % len(kinds)]
        drawn = random_network(kind, number, registry.operators)
        side = SideBySide(graph=drawn.graph, feeds=drawn.feeds)
        plan = side.deployment(target, Options(optimize=arguments.optimize), registry)
        with tempfile.TemporaryDirectory() as folder:
            result = side.run(plan, load_named(("runner", RUNNER)).runners[RUNNER], Path(folder), trace=False)
        executed = step_instructions(plan.allocated.tiled, registry.operators, plan.allocated.decisions)
        said, counted = round(sum(executed.values())), result.counts["instructions"]
        print(f"| {kind} {number} | {said:,} | {counted:,} | {said / counted - 1:+.1%} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
