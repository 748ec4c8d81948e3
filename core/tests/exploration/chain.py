"""A network of three convolutions, of which rows need far less than whole images, and boards to try it on."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tilewright.ir.machines.board import Board
from tilewright.ir.machines.platform import Memory

CHANNELS = ((8, 4), (8, 8), (4, 8))  # of outputs and inputs


def model() -> bytes:
    """Three convolutions of 24 x 24 floats: 4 channels at the ends, 9,216 B, and 8 between them, twice as much."""
    rng = np.random.default_rng(0)
    names = ["x", "a", "b", "y"]
    nodes = [helper.make_node("Conv", [names[at], f"w{at}"], [names[at + 1]], pads=[1, 1, 1, 1]) for at in range(3)]
    weights = [
        numpy_helper.from_array(rng.random((*two, 3, 3), np.float32), f"w{at}") for at, two in enumerate(CHANNELS)
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, 24, 24]) for name in "xy"]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def board(name: str, *rams: int, flash: int | None = 65536, clock_hz: int | None = 1_000_000) -> Board:
    """A part for the target `plain`."""
    memories = [Memory(name=f"ram{at or ''}", size_bytes=size) for at, size in enumerate(rams)]
    constants = Memory(name="flash", size_bytes=flash, kind="const")
    return Board(source=name, name=name, part=name, target="plain", clock_hz=clock_hz, memories=(*memories, constants))
