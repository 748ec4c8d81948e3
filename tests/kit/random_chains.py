"""Random chains of operators on small whole numbers in float32, so that no order of additions changes a bit; and the
made-up cluster with a far memory.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.builtin import tilewright_operators
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.cluster import cluster, copy_path
from tilewright.testing.sketch import Sketch

OPERATORS = {operator.name: operator for operator in tilewright_operators()}

Array = npt.NDArray[np.generic]


def three_levels() -> Platform:
    """The cluster with a far memory where values live: two hops."""
    base = cluster(1 << 20)
    return replace(
        base,
        memories=(Memory(name="l3", size_bytes=None), *base.memories),
        copies=(*base.copies, copy_path("l3", "l2"), copy_path("l2", "l3"), copy_path("flash", "l2")),
        backing="l3",
    )


def random_chain(seed: int) -> Graph:
    """A chain of operators with drawn attributes."""
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    sketch = Sketch(operators=OPERATORS)

    def whole(*shape: int) -> Array:
        return numbers.integers(-3, 4, shape).astype(np.float32)

    shape = (1, draw.choice([2, 4]), draw.randint(5, 9), draw.randint(5, 9))
    x = sketch.input("x", DType.F32, shape)
    for op in draw.sample(["conv", "pool", "add", "transpose", "pad", "concat", "slice", "clip"], 4):
        n, c, h, w = sketch.tensors[x].shape
        if op == "conv":
            group, kernel = draw.choice([1, 1, 2 if c % 2 == 0 else 1, c]), draw.randint(1, 3)
            pads = tuple(draw.randint(0, kernel - 1) for _ in range(4))
            weights = sketch.constant(whole(group * draw.randint(1, 3), c // group, kernel, kernel))
            bias = sketch.constant(whole(sketch.tensors[weights].shape[0]))
            windows = {"kernel_shape": (kernel, kernel), "strides": (draw.randint(1, 2), 1), "dilations": (1, 1)}
            x = sketch.node("Conv", (x, weights, bias), {**windows, "pads": pads, "ceil_mode": 0, "group": group})
        elif op == "pool":
            windows = {"kernel_shape": (2, 3), "strides": (2, 1), "dilations": (1, 1), "pads": (0, 1, 1, 1)}
            x = sketch.node("MaxPool", (x,), {**windows, "ceil_mode": draw.randint(0, 1)})
        elif op == "add":
            x = sketch.node("Add", (x, sketch.constant(whole(*draw.choice([(1,), (c, 1, 1), (n, c, h, w)])))))
        elif op == "transpose":
            x = sketch.node("Transpose", (x,), {"perm": draw.choice([(0, 2, 3, 1), (0, 1, 3, 2)])})
        elif op == "pad":
            x = sketch.node("Pad", (x,), {"pads": (0, 0, 1, 2, 0, 1, 0, 1), "mode": "constant", "value": 2.0})
        elif op == "concat":
            x = sketch.node("Concat", (x, x), {"axis": draw.randint(1, 3)})
        elif op == "slice" and h > 1:
            x = sketch.node(
                "Slice", (x,), {"starts": (0, 0, 1, 0), "steps": (1, 1, 1, 2), "shape": (n, c, h - 1, ceil_div(w, 2))}
            )
        else:
            x = sketch.node("Clip", (x,), {"min": -4.0, "max": 5.0})
    flat = sketch.node("Reshape", (x,), {"shape": (1, int(np.prod(sketch.tensors[x].shape)))})
    weights = sketch.constant(whole(sketch.tensors[flat].shape[1], 5))
    return sketch.finish(x, sketch.node("MatMul", (flat, weights)))
