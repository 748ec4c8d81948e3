"""CPU seconds in which long networks are planned by rows.

    python benchmarks/row_scale.py [--layers 50,100,200,400] [--shapes chain,residual,bottleneck] [--optimize ram]
           [--io pool] [--target generic]

int8 in QDQ form, 3x3 convolutions of 64x64 images, drawn from a seed: a plain `chain` of 8 channels with a stride now
and then; `residual` blocks of two convolutions and a sum; `bottleneck`s that expand 4 channels to 16, a depthwise
convolution, and back, every second one with a sum. Each network is planned in a process of its own; what comes before
planning is not counted. A line for each: executed steps, how many of them by rows, bytes of RAM layer by layer and
planned, CPU seconds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tilewright.config.options import Options
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.plugins import Registry, load_for
from tilewright.rewrite import rewrite
from tilewright.testing.side_by_side import SideBySide
from tilewright.testing.sketch import Sketch

SHAPES = ("chain", "residual", "bottleneck")
SCALE = 0.05  # of every value: what is computed does not matter here
SIZE = 64  # rows and columns of the image
STRIDES = 3  # halvings of the image, evenly along the network


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", default="50,100,200,400")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--optimize", default="ram", choices=("ram", "balanced", "speed"))
    parser.add_argument("--io", default="pool", choices=("pool", "user"))
    parser.add_argument("--target", default="generic")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        options = Options(name="long", optimize=arguments.optimize, io_inputs=arguments.io)
        sys.stdout.write(line(arguments.shapes, int(arguments.layers), arguments.target, options))
        return 0
    sys.stdout.write("| network | steps | by rows | layers, B | planned, B | CPU s |\n|---|" + "---:|" * 5 + "\n")
    rest = ["--optimize", arguments.optimize, "--io", arguments.io, "--target", arguments.target, "--one"]
    for shape in arguments.shapes.split(","):
        for layers in arguments.layers.split(","):
            sys.stdout.flush()
            words = [sys.executable, str(Path(__file__)), "--shapes", shape, "--layers", layers, *rest]
            subprocess.run(words, check=True)
    return 0


def line(shape: str, layers: int, target: str, options: Options) -> str:
    """One of the table."""
    registry = load_for(target=target)
    drawn = SideBySide(graph=network(shape, layers, registry), feeds={})
    whole = drawn.deployment(target, Options(name="long", tiler="whole", io_inputs=options.io_inputs), registry)
    before = ram_bytes(whole.allocated)
    plan = drawn.deployment(target, options, registry)
    _ = plan.bound  # what comes before planning
    start = time.process_time()
    allocated = plan.allocated
    spent = time.process_time() - start
    by_rows = sum(len(region.steps) for region in allocated.tiled.regions if region.line_buffers)
    steps, taken = len(plan.scheduled.steps), ram_bytes(allocated)
    return f"| {shape} | {steps} | {by_rows} | {before:,} | {taken:,} | {spent:.1f} |\n"


def network(shape: str, layers: int, registry: Registry) -> Graph:
    """With about so many layers, as it is compiled."""
    draft = Draft(registry)
    value, every = draft.input(8 if shape != "bottleneck" else 4), max(1, layers // (STRIDES + 1))
    halved = 0
    while draft.layers < layers:
        stride = 2 if draft.layers // every > halved and halved < STRIDES else 1
        halved += stride - 1
        value = getattr(draft, shape)(value, stride)
    graph = draft.sketch.finish(value)
    return rewrite(graph, registry.operators, tuple(registry.graph_passes.values())).graph


class Draft:
    """A network being drawn; methods take and return names of dequantised values."""

    def __init__(self, registry: Registry) -> None:
        self.sketch, self.layers = Sketch(operators=registry.operators), 0
        self.numbers = np.random.default_rng(0)

    def input(self, channels: int) -> str:
        """The image."""
        return self.sketch.dequantize(self.sketch.input("x", DType.I8, (1, channels, SIZE, SIZE)), SCALE)

    def conv(self, x: str, channels: int, taps: int, stride: int = 1, group: int = 1) -> str:
        """Same padding."""
        inside = self.sketch.tensors[x].shape[1] // group
        numbers = self.numbers.integers(-100, 100, (channels, inside, taps, taps)).astype(np.int8)
        weights = self.sketch.dequantize(self.sketch.constant(numbers), SCALE)
        windows = {
            "kernel_shape": (taps, taps),
            "strides": (stride, stride),
            "pads": (taps // 2,) * 4,
            "dilations": (1, 1),
            "group": group,
        }
        return self._made(self.sketch.node("Conv", (x, weights), windows))

    def chain(self, x: str, stride: int) -> str:
        """One convolution."""
        return self.conv(x, 8, 3, stride)

    def residual(self, x: str, stride: int) -> str:
        """Two convolutions and a sum; where the image is halved, no sum."""
        y = self.conv(self.conv(x, 8, 3, stride), 8, 3)
        return y if stride > 1 else self._made(self.sketch.node("Add", (x, y)))

    def bottleneck(self, x: str, stride: int) -> str:
        """Expanded, computed for each channel, projected; every second one that may has a sum."""
        y = self.conv(self.conv(self.conv(x, 16, 1), 16, 3, stride, group=16), 4, 1)
        return y if stride > 1 or self.layers % 2 else self._made(self.sketch.node("Add", (x, y)))

    def _made(self, value: str) -> str:
        self.layers += 1
        return self._quantised(value)

    def _quantised(self, value: str) -> str:
        return self.sketch.dequantize(self.sketch.quantize(value, SCALE, 0), SCALE)


if __name__ == "__main__":
    raise SystemExit(main())
