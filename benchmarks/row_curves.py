"""Memory against multiply-accumulates, beside the published curves of msf-CNN (arXiv 2505.11483), on its networks.

    python benchmarks/row_curves.py [--target generic] [--network NAME] [--validate] [--svg FILE] [--save FOLDER]

The networks are defined here from the layer tables of MobileNetV2 (0.35, at 144), MCUNetV2-VWW5 (at 80) and MCUNet-320K
(at 176), as msf-CNN measures them: int8, without shortcuts, with the pointwise convolution of the first bottleneck.
Weights are random. What follows the last convolution is a pool over the image. They fuse blocks of layers and compute
rows again. We compute every product once by default, with the input in the plan, in the caller's memory, or arriving in
rows; with --recompute, and the input in the caller's memory, we compute columns again. They count neither the input nor
the output of the network.

Prints two tables in Markdown. The multiply-accumulates must be those that msf-CNN gives, or the script ends. With
--validate every step is compared with its reference on this machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.plans.decisions import IoOwner
from tilewright.plan.line_buffers.plan_costs import times_computed
from tilewright.plan.proposals.planner import ram_bytes

SEPARABLE = 0  # expansion of a block that has no pointwise convolution before the depthwise one
RECOMPUTE = (1.05, 1.1, 1.2, 1.4, 1.8)  # times the products, at most
INPUTS: tuple[tuple[IoOwner, str], ...] = (("pool", "in the plan"), ("user", "the caller's"), ("push", "in rows"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Blocks are (expansion, kernel, stride, channels). `published`: (times the products, bytes), their best points."""

    name: str
    title: str
    size: int
    stem: int
    blocks: tuple[tuple[int, int, int, int], ...]
    last: int  # channels of a pointwise convolution behind the blocks; 0: none
    macs: int
    published: tuple[tuple[float, int], ...]


def repeated(expansion: int, stride: int, channels: int, times: int) -> tuple[tuple[int, int, int, int], ...]:
    """Bottlenecks of 3x3 taps, of which the first has the stride."""
    return ((expansion, 3, stride, channels), *((expansion, 3, 1, channels),) * (times - 1))


NETWORKS = (
    Network(
        name="mobilenetv2",
        title="MobileNetV2 0.35 at 144",
        size=144,
        stem=11,
        blocks=(
            *repeated(1, 1, 5, 1), *repeated(6, 2, 8, 2), *repeated(6, 2, 11, 3), *repeated(6, 2, 22, 4),
            *repeated(6, 1, 33, 3), *repeated(6, 2, 56, 3), *repeated(6, 1, 112, 1),
        ),
        last=448,
        macs=18_909_490,
        published=((1.00, 181_440), (1.02, 83_133), (1.10, 67_996), (1.25, 25_803), (1.30, 21_389), (1.38, 15_199),
                   (1.56, 14_132), (1.68, 8_560)),
    ),
    Network(
        name="mcunetv2_vww5",
        title="MCUNetV2-VWW5 at 80",
        size=80,
        stem=16,
        blocks=(
            (SEPARABLE, 3, 1, 8), (6, 3, 2, 16), (3, 3, 1, 16), (3, 3, 1, 16), (3, 7, 2, 24), (6, 3, 1, 24),
            (5, 5, 1, 24), (6, 7, 2, 40), (6, 7, 1, 40), (6, 3, 1, 48), (4, 3, 1, 48), (5, 5, 2, 96), (5, 3, 1, 96),
            (4, 3, 1, 96), (3, 7, 1, 160),
        ),
        last=0,
        macs=11_578_496,
        published=((1.00, 89_600), (1.02, 45_283), (1.11, 26_240), (1.30, 20_568), (1.35, 17_904), (1.96, 15_368)),
    ),
    Network(
        name="mcunet_320k",
        title="MCUNet-320K at 176",
        size=176,
        stem=16,
        blocks=(
            (SEPARABLE, 3, 1, 8), (3, 7, 2, 16), (5, 3, 1, 16), (5, 7, 1, 16), (4, 5, 1, 16), (5, 5, 2, 24),
            (5, 5, 1, 24), (5, 5, 1, 24), (5, 3, 2, 40), (6, 7, 1, 40), (4, 5, 1, 40), (5, 5, 1, 48), (5, 7, 1, 48),
            (5, 3, 1, 48), (6, 3, 2, 96), (5, 7, 1, 96), (4, 3, 1, 96), (5, 7, 1, 160),
        ),
        last=0,
        macs=81_625_520,
        published=((1.00, 247_808), (1.04, 217_891), (1.37, 156_864), (1.45, 94_224), (2.02, 63_456), (2.69, 51_164)),
    ),
)  # fmt: skip


# --- the networks as ONNX


class Draft:
    """A chain of quantised convolutions."""

    def __init__(self, network: Network) -> None:
        self.numbers = np.random.default_rng(len(network.blocks))
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.channels = 3
        self.value = "pixels"
        self.nodes.append(helper.make_node("Transpose", ["image"], [self.value], perm=[0, 3, 1, 2]))

    def constant(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def convolved(self, channels: int, kernel: int, stride: int, *, depthwise: bool = False) -> None:
        """Same padding; clipped at zero by the output's zero point."""
        inside = 1 if depthwise else self.channels
        w = self.numbers.integers(-127, 128, (channels, inside, kernel, kernel)).astype(np.int8)
        spread = float(np.sqrt(w[0].size) * 74 * 60)
        numbers = (np.float32(1), np.int8(-128), w, np.float32(1), np.int8(0), np.float32(spread / 64), np.int8(-128))
        bias = self.numbers.integers(-2000, 2000, channels).astype(np.int32)
        made = f"v{len(self.nodes)}"
        inputs = [self.value, *map(self.constant, (*numbers, bias))]
        around = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [kernel // 2] * 4}
        group = channels if depthwise else 1
        self.nodes.append(helper.make_node("QLinearConv", inputs, [made], name=made, group=group, **around))
        self.value, self.channels = made, channels

    def pooled(self) -> str:
        scale, zero = self.constant(np.float32(1)), self.constant(np.int8(-128))
        self.nodes.append(helper.make_node("DequantizeLinear", [self.value, scale, zero], ["real"]))
        self.nodes.append(helper.make_node("GlobalAveragePool", ["real"], ["mean"]))
        self.nodes.append(helper.make_node("QuantizeLinear", ["mean", scale, zero], ["features"]))
        return "features"


def model_of(network: Network) -> bytes:
    """The network as ONNX, the same bytes every time."""
    draft = Draft(network)
    draft.convolved(network.stem, 3, 2)
    for expansion, kernel, stride, channels in network.blocks:
        hidden = draft.channels * expansion if expansion else draft.channels
        if expansion:
            draft.convolved(hidden, 1, 1)
        draft.convolved(hidden, kernel, stride, depthwise=True)
        draft.convolved(channels, 1, 1)
    if network.last:
        draft.convolved(network.last, 1, 1)
    features = draft.pooled()
    image = helper.make_tensor_value_info("image", TensorProto.INT8, [1, network.size, network.size, 3])
    output = helper.make_tensor_value_info(features, TensorProto.INT8, [1, draft.channels, 1, 1])
    graph = helper.make_graph(draft.nodes, network.name, [image], [output], draft.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


# --- what we take


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Bytes of RAM, everything included: layer by layer with the input in the plan, and by rows.

    `again`: with the caller's input, and columns computed again: (times the products, bytes).
    """

    network: Network
    layers: int
    rows: dict[IoOwner, int]
    again: tuple[tuple[float, int], ...]


def measured(network: Network, file: Path, target: str, *, validated: bool) -> Measured:
    """Plans, and what they take. SystemExit where the network is not the one that was published, or is wrong."""
    plan = Deployment(file, target, Options(tiler="whole"))
    if plan.number_of_ops != network.macs:
        raise SystemExit(f"{network.name}: {plan.number_of_ops:,} multiply-accumulates, not {network.macs:,}")
    result: dict[IoOwner, int] = {}
    for whose, _ in INPUTS:
        rows = Deployment(file, target, Options(optimize="ram", io_of={"image": whose}))
        result[whose] = ram_bytes(rows.allocated)
        if validated:
            demand_right(rows, f"{network.name}, input {whose}")
    points = [(1.0, result["user"])]
    for times in RECOMPUTE:
        rows = Deployment(file, target, Options(optimize="ram", io_of={"image": "user"}, recompute=times))
        point = (times_computed(rows.allocated, rows.registry.operators), ram_bytes(rows.allocated))
        if point[1] < points[-1][1]:
            points.append(point)
            if validated:
                demand_right(rows, f"{network.name}, {point[0]:.2f} times")
    return Measured(network=network, layers=ram_bytes(plan.allocated), rows=result, again=tuple(points))


def demand_right(deployment: Deployment, what: str) -> None:
    """SystemExit where a step is not what its reference says."""
    from tilewright.runners.host import HostRunner
    from tilewright.validation.validation import validate, vectors_of

    shown = validate(deployment, HostRunner(), vectors_of(deployment, None, 1))
    if not shown.passed:
        raise SystemExit(f"{what}: {shown}")
    print(f"{what}: {len(shown.steps)} steps exact", file=sys.stderr)


def table(results: Sequence[Measured]) -> Iterator[str]:
    """Their points and ours."""
    inputs = " | ".join(f"by rows, input {word}" for _, word in INPUTS)
    yield f"| network | msf-CNN: RAM at times the products | layer by layer | {inputs} |"
    yield f"|---|---|---|{'---|' * len(INPUTS)}"
    for result in results:
        theirs = ", ".join(f"{size:,} at {times:.2f}" for times, size in result.network.published)
        ours = " | ".join(f"{result.rows[whose]:,}" for whose, _ in INPUTS)
        yield f"| {result.network.title} | {theirs} | {result.layers:,} | {ours} |"
    yield ""
    yield "| network | columns computed again, input the caller's: RAM at times the products |"
    yield "|---|---|"
    for result in results:
        yield f"| {result.network.title} | {', '.join(f'{size:,} at {times:.2f}' for times, size in result.again)} |"


# --- the plot

WIDE, HIGH, LEFT, TOP, GAP = 250, 230, 62, 40, 74
COLOURS = {"theirs": "#c2553f", "pool": "#8d99ae", "user": "#3f7fb5", "push": "#2f9e6f"}
STYLE = (
    "text{font-family:system-ui,sans-serif;font-size:11px;fill:#3a4150}.head{font-size:13px;font-weight:600}"
    ".grid{stroke:#e6e9ef}.theirs{fill:none;stroke:#c2553f;stroke-width:1.6}"
    ".ours{fill:none;stroke:#3f7fb5;stroke-width:1.6}"
)


def plot(results: Sequence[Measured]) -> str:
    """Bytes, on a logarithmic scale, over times the products: one panel for each network."""
    width, height = LEFT + len(results) * (WIDE + GAP), TOP + HIGH + 66
    parts = [panel(result, LEFT + number * (WIDE + GAP)) for number, result in enumerate(results)]
    words = (("theirs", "msf-CNN"), *((whose, f"tilewright, input {word}") for whose, word in INPUTS))
    legend = "".join(
        f'<circle cx="{LEFT + 200 * at}" cy="{height - 14}" r="4" fill="{COLOURS[key]}"/>'
        f'<text x="{LEFT + 200 * at + 10}" y="{height - 10}">{word}</text>'
        for at, (key, word) in enumerate(words)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
        f'<style>{STYLE}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n'
        + "\n".join((*parts, legend))
        + "\n</svg>\n"
    )


def panel(curve: Measured, left: int) -> str:
    sizes = [size for _, size in (*curve.network.published, *curve.again)] + list(curve.rows.values())
    low, high = 0.8 * min(sizes), 1.15 * max(sizes)
    most = max(times for times, _ in curve.network.published) + 0.1

    def place(times: float, size: float) -> tuple[float, float]:
        share = (np.log(high) - np.log(size)) / (np.log(high) - np.log(low))
        return left + (times - 0.9) / (most - 0.9) * WIDE, TOP + float(share) * HIGH

    parts = [f'<text class="head" x="{left}" y="{TOP - 16}">{curve.network.title}</text>']
    for size in (4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000):
        if low <= size <= high:
            _, y = place(1, size)
            parts.append(f'<line class="grid" x1="{left}" x2="{left + WIDE}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{size:,}</text>')
    for times in (1.0, 1.5, 2.0, 2.5):
        if times <= most:
            x, _ = place(times, low)
            parts.append(f'<text x="{x:.1f}" y="{TOP + HIGH + 16}" text-anchor="middle">{times:g}</text>')
    parts.append(f'<text x="{left + WIDE}" y="{TOP + HIGH + 32}" text-anchor="end">times the products</text>')
    points = [place(*point) for point in curve.network.published]
    again = [place(*point) for point in curve.again]
    for name, line in (("theirs", points), ("ours", again)):
        parts.append(f'<polyline class="{name}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in line)}"/>')
    ours = [(place(1, curve.rows[whose]), COLOURS[whose]) for whose, _ in INPUTS]
    ours.extend((point, COLOURS["user"]) for point in again)
    for (x, y), colour in (*((point, COLOURS["theirs"]) for point in points), *ours):
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
    return "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="generic")
    parser.add_argument("--network", action="append", choices=[known.name for known in NETWORKS])
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--save", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.save or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = []
        for network in NETWORKS:
            if arguments.network and network.name not in arguments.network:
                continue
            file = folder / f"{network.name}.onnx"
            file.write_bytes(model_of(network))
            results.append(measured(network, file, arguments.target, validated=arguments.validate))
    print("\n".join(table(results)))
    if arguments.svg:
        arguments.svg.write_text(plot(results), encoding="utf-8")


if __name__ == "__main__":
    main()
