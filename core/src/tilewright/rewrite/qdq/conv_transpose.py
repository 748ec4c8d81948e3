"""Knows how a quantised ConvTranspose becomes a QConv with an output channel for each phase of its strides.
Does not know how QConv computes; `operators/quantised/qconv` does.

Output position `p` (pads added) with `p = stride * u + r` gets the inputs `u - j` through the taps `r + stride * j`: so
each phase `r` is a convolution of stride 1 with every `stride`-th tap, turned round. Reshape, Transpose and Slice put
the phases side by side and cut the pads off. The sums are those of the definition; taps that a phase lacks are zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.ir.rounding import ceil_div
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.weights import Weight, Work, bias_of, weight_of

Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phases:
    """The spatial axes: extents of input and output, and how the convolution sees them."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    strides: tuple[int, ...]
    taps: tuple[int, ...]
    before: tuple[int, ...]  # pads that are cut off

    @property
    def kernel(self) -> tuple[int, ...]:
        """Taps of one phase."""
        return tuple(ceil_div(taps, stride) for taps, stride in zip(self.taps, self.strides, strict=True))

    @property
    def after(self) -> tuple[int, ...]:
        """Padding after the input, so that the last output is reached."""
        needed = (  # inputs that the last output reaches
            ceil_div(low + extent, stride)
            for low, extent, stride in zip(self.before, self.outputs, self.strides, strict=True)
        )
        return tuple(max(0, reached - extent) for reached, extent in zip(needed, self.inputs, strict=True))

    @property
    def positions(self) -> tuple[int, ...]:
        """Outputs of the convolution along each axis."""
        return tuple(extent + more for extent, more in zip(self.inputs, self.after, strict=True))

    @property
    def count(self) -> int:
        """How many phases."""
        return math.prod(self.strides)

    def attributes(self) -> dict[str, Attribute]:
        """Windows of the convolution."""
        ones = (1,) * len(self.strides)
        pads = (*(taps - 1 for taps in self.kernel), *self.after)
        return {
            "kernel_shape": self.kernel, "strides": ones, "dilations": ones, "pads": pads, "ceil_mode": 0, "group": 1,
        }  # fmt: skip


def lower_conv_transpose(island: Island, main: Node, work: Work) -> Lowered:
    """QConv(X, W, B), then Reshape, Transpose, Reshape and, where there are pads, Slice."""
    if main.integer("group", 1) != 1 or set(main.integers("dilations")) != {1}:
        return "ConvTranspose has an integer form for one group and no dilation"
    x = island.stored(main.inputs[0])
    if isinstance(x, str):
        return x
    weight = weight_of(island.view, main.inputs[1], channel_axis=1)
    if isinstance(weight, str):
        return weight
    scales = x.affine.scales() * weight.scale
    requant = island.product_requant(x.affine, weight.scale)
    if isinstance(requant, str):
        return requant
    phases, channels = _phases(island, main), weight.array.shape[1]
    inputs, used = (
        [x.value, work.draft.constant(_weights(weight, phases), f"{main.inputs[1]}_phases")],
        [x.node, weight.node],
    )
    if len(main.inputs) > 2 and main.inputs[2]:
        bias = bias_of(island.view, main.inputs[2], scales, requant.scale, channels, wide=x.affine.wide)
        if isinstance(bias, str):
            return bias
        inputs.append(work.bias(main, main.inputs[2], replace(bias, array=np.tile(bias.array, phases.count))))
        used.extend(bias.nodes)
    requant = requant.of_channels(tuple(range(channels)) * phases.count)
    repeats = phases.count if len(weight.zero_point) > 1 else 1
    zero_point = x.affine.zero_point[0]
    attributes = {
        **phases.attributes(),
        "x_zero_point": zero_point,
        "w_zero_point": weight.zero_point * repeats,
        "pad_value": zero_point,
        "requant": requant,
    }
    return _side_by_side(island, work, island.integer_node("QConv", tuple(inputs), attributes, *used), phases, channels)


def _phases(island: Island, main: Node) -> _Phases:
    tensors = island.graph.tensors
    pads = main.integers("pads")
    return _Phases(
        inputs=tensors[main.inputs[0]].shape[2:],
        outputs=tensors[main.outputs[0]].shape[2:],
        strides=main.integers("strides"),
        taps=main.integers("kernel_shape"),
        before=pads[: len(pads) // 2],
    )


def _weights(weight: Weight, phases: _Phases) -> Array:
    """[phases * O, C, taps of a phase], the taps turned round; taps that a phase lacks hold the zero point."""
    taps_last = np.swapaxes(weight.array, 0, 1)  # [O, C, taps]
    zero = np.array(weight.zero_point, taps_last.dtype).reshape(-1, *(1,) * (taps_last.ndim - 1))
    stacked = np.empty((phases.count, *taps_last.shape[:2], *phases.kernel), taps_last.dtype)
    stacked[...] = zero
    for number, phase in enumerate(product(*(range(stride) for stride in phases.strides))):
        every = tuple(slice(first, None, stride) for first, stride in zip(phase, phases.strides, strict=True))
        own_taps = taps_last[(slice(None), slice(None), *every)]
        last = tuple(slice(taps - own, taps) for taps, own in zip(phases.kernel, own_taps.shape[2:], strict=True))
        stacked[number][(slice(None), slice(None), *last)] = np.flip(own_taps, tuple(range(2, own_taps.ndim)))
    return stacked.reshape(-1, *stacked.shape[2:])


def _side_by_side(island: Island, work: Work, conv: Node, phases: _Phases, channels: int) -> tuple[Node, ...]:
    """The convolution, and the Reshapes, Transpose and Slice after it, whose last output is the island's."""
    rank, batches = len(phases.strides), island.graph.tensors[island.source].shape[0]
    at, stride = phases.positions, phases.strides
    split = (batches, *stride, channels, *at)
    perm = (
        0,
        rank + 1,
        *(axis for pair in zip(range(rank + 2, 2 * rank + 2), range(1, rank + 1), strict=True) for axis in pair),
    )
    whole = tuple(extent * step for extent, step in zip(at, stride, strict=True))
    moves: list[tuple[str, tuple[int, ...], Mapping[str, Attribute]]] = [
        ("Reshape", split, {"shape": split}),
        ("Transpose", tuple(split[axis] for axis in perm), {"perm": perm}),
        ("Reshape", (batches, channels, *whole), {"shape": (batches, channels, *whole)}),
    ]
    if any(phases.before) or whole != phases.outputs:
        shape = (batches, channels, *phases.outputs)
        cut: dict[str, Attribute] = {"starts": (0, 0, *phases.before), "steps": (1,) * (rank + 2), "shape": shape}
        moves.append(("Slice", shape, cut))
    return _chain(island, work, conv, (batches, phases.count * channels, *at), moves)


def _chain(
    island: Island,
    work: Work,
    first: Node,
    shape: tuple[int, ...],
    moves: Sequence[tuple[str, tuple[int, ...], Mapping[str, Attribute]]],
) -> tuple[Node, ...]:
    """`first`, whose output has `shape`, and one node for each move; the last writes the value that `first` wrote."""
    (output,), dtype = first.outputs, island.output.dtype
    value = work.draft.value(dtype, shape, f"{output}_phases")
    nodes = [replace(first, outputs=(value,))]
    for number, (op, extents, attributes) in enumerate(moves):
        last = number == len(moves) - 1
        written = output if last else work.draft.value(dtype, extents, f"{output}_{op.lower()}")
        name = work.draft.node_name(f"{first.name}_{op.lower()}_{number}")
        nodes.append(
            Node(name=name, op=op, inputs=(value,), outputs=(written,), attributes=attributes, origin=first.origin)
        )
        value = written
    return tuple(nodes)
