"""Knows DeformConv, a convolution whose taps are moved by computed distances: the input is sampled at every tap, and a
product over channels and taps follows. Does not know how a sample is interpolated (`grid_sample`).

Source: ONNX DeformConv-19 and 22. Samples outside the input are 0, and those at its border fade to 0, as in GridSample
with zeros around.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room

_SAMPLES = 16  # the operator set with GridSample
_MOST_GROUPS = 64
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """Extents of one DeformConv, and its windows."""

    batch: int
    channels: int
    rows: int
    columns: int
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    out_rows: int
    out_columns: int
    groups: int  # of channels that are moved alike

    @property
    def taps(self) -> int:
        """Taps of the kernel."""
        return math.prod(self.kernel)

    def places(self) -> Doubles:
        """[taps, rows, columns, (x, y)] sampled where nothing is moved, from -1 to 1 as GridSample has them."""
        outputs = np.indices((self.out_rows, self.out_columns))
        taps = np.indices(self.kernel).reshape(2, -1)
        axes = []
        for axis, extent in enumerate((self.rows, self.columns)):
            tap = taps[axis] * self.dilations[axis] - self.before[axis]
            axes.append((2 * (outputs[axis] * self.strides[axis] + tap[:, None, None]) + 1) / extent - 1)
        return np.stack(axes[::-1], axis=-1)


def _form(node: OnnxNode, graph: Conversion) -> _Form:
    x, weight, offset = (graph.tensor(name).shape for name in node.inputs[:3])
    if len(x) != 4 or len(weight) != 4 or len(offset) != 4:
        raise graph.refuse(node, "X, W and offset must have four axes: N, C, H, W")
    kernel, groups = weight[2:], node.integer("offset_group", 1)
    pads = node.integers("pads", (0, 0, 0, 0))
    fits = groups > 0 and x[1] % groups == 0 and offset[:2] == (x[0], groups * 2 * math.prod(kernel))
    if not fits or node.integers("kernel_shape", kernel) != kernel or len(pads) != 4:
        raise graph.refuse(node, f"X {list(x)}, W {list(weight)}, offset {list(offset)} and pads do not fit together")
    if groups > _MOST_GROUPS:
        raise graph.refuse(node, f"offset_group is {groups}; at most {_MOST_GROUPS} are supported")
    return _Form(
        batch=x[0],
        channels=x[1] // groups,
        rows=x[2],
        columns=x[3],
        kernel=kernel,
        strides=node.integers("strides", (1, 1)),
        dilations=node.integers("dilations", (1, 1)),
        before=pads[:2],
        out_rows=offset[2],
        out_columns=offset[3],
        groups=groups,
    )


def _import(node: OnnxNode, graph: Conversion) -> None:
    form = _form(node, graph)
    need_room(node, graph, 2 * form.taps * form.out_rows * form.out_columns)
    parts = [_sampled(node, graph, form, group) for group in range(form.groups)]
    samples = parts[0]
    if len(parts) > 1:
        samples = graph.emit(node, "Concat", parts, (), {"axis": 1}, "samples")
    outputs, inputs = graph.tensor(node.inputs[1]).shape[:2]
    weight_shape = (outputs, inputs * form.taps, 1, 1)
    weight = graph.emit(node, "Reshape", node.inputs[1:2], (), {"shape": weight_shape}, "weight")
    bias = [name for name in node.inputs[3:4] if name]
    graph.apply(node, "Conv", 11, (samples, weight, *bias), node.outputs, {"group": node.integer("group", 1)})


def _sampled(node: OnnxNode, graph: Conversion, form: _Form, group: int) -> str:
    """The channels of a group at every tap: [N, channels * taps, rows, columns]."""
    area = (form.out_rows, form.out_columns)
    moved = _part(node, graph, node.inputs[2], group, 2 * form.taps)
    pairs_shape = (form.batch, form.taps, 2, *area)
    pairs = graph.emit(node, "Reshape", (moved,), (), {"shape": pairs_shape}, f"pairs_{group}")
    last = graph.emit(node, "Transpose", (pairs,), (), {"perm": (0, 1, 3, 4, 2)}, f"distances_{group}")
    order = graph.add_constant(np.array([1, 0], np.int64), f"order_{group}")  # offsets are (y, x)
    swapped = graph.apply(node, "Gather", 13, (last, order), (), {"axis": -1}, f"swapped_{group}")
    scale = graph.add_constant(np.array([2 / form.columns, 2 / form.rows], np.float32), f"scale_{group}")
    steps = graph.emit(node, "Mul", (swapped, scale), hint=f"steps_{group}")
    places = graph.add_constant(form.places().astype(np.float32), f"places_{group}")
    grid = graph.emit(node, "Add", (steps, places), hint=f"grid_{group}")
    flat_shape = (form.batch, form.taps * form.out_rows, form.out_columns, 2)
    flat = graph.emit(node, "Reshape", (grid,), (), {"shape": flat_shape}, f"flat_{group}")
    own = _part(node, graph, node.inputs[0], group, form.channels)
    result = graph.apply(node, "GridSample", _SAMPLES, (own, flat), (), {}, f"found_{group}")
    if len(node.inputs) > 4 and node.inputs[4]:
        mask = _part(node, graph, node.inputs[4], group, form.taps)
        mask_shape = (form.batch, 1, form.taps * form.out_rows, form.out_columns)
        shaped = graph.emit(node, "Reshape", (mask,), (), {"shape": mask_shape}, f"mask_{group}")
        result = graph.emit(node, "Mul", (result, shaped), hint=f"masked_{group}")
    shape = (form.batch, form.channels * form.taps, *area)
    return graph.emit(node, "Reshape", (result,), (), {"shape": shape}, f"taps_{group}")


def _part(node: OnnxNode, graph: Conversion, name: str, group: int, count: int) -> str:
    """Channels `group * count` and following of a value."""
    shape = graph.tensor(name).shape
    if shape[1] == count:
        return name
    cut = {"starts": (0, group * count, 0, 0), "steps": (1, 1, 1, 1), "shape": (shape[0], count, *shape[2:])}
    return graph.emit(node, "Slice", (name,), (), cut, f"part_{group}")


IMPORTS = (
    Import(
        op_type="DeformConv",
        since=19,
        attributes={
            "dilations": "INTS",
            "group": "INT",
            "kernel_shape": "INTS",
            "offset_group": "INT",
            "pads": "INTS",
            "strides": "INTS",
        },
        convert=_import,
        min_inputs=3,
        max_inputs=5,
    ),
)
