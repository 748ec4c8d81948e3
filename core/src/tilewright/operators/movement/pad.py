"""Knows Pad: a border of a constant, of the edge, of a mirror image or of copies. A negative pad cuts off.
Does not know quantisation: the constant is a stored value.

Normal form: `pads` (before every axis, then after), `mode` ("constant", "edge", "reflect", "wrap"), `value`.
Where pads are negative the input is cut first, and the border is made from what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_element
from tilewright.ir.access.index_map import Access, Box, Footprint, Loop, Span, Window, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_elements import c_sum
from tilewright.operators.c_code.c_source import c_functions, c_template
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Positions = npt.NDArray[np.int64]


def _pads(site: Site) -> tuple[tuple[int, int], ...]:
    """Before and after each axis."""
    pads = site.node.integers("pads")
    rank = len(pads) // 2
    return tuple(zip(pads[:rank], pads[rank:], strict=True))


def _mode(site: Site) -> str:
    return str(site.node.attributes.get("mode", "constant"))


def _cut(pads: tuple[int, int], extent: int) -> tuple[int, int]:
    """First position kept of an axis, and how many."""
    first = max(0, -pads[0])
    return first, extent - first - max(0, -pads[1])


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, count = site.input(0), len(site.node.integers("pads"))
    if count != 2 * len(x.shape):
        raise shape_error(site, f"pads has {count} entries, not two per axis")
    pads = _pads(site)
    if _mode(site) not in _SOURCE:
        raise shape_error(site, f"mode is {_mode(site)!r}, not one of {', '.join(_SOURCE)}")
    for pad, extent in zip(pads, x.shape, strict=True):
        if sum(pad) + extent < 0 or _cut(pad, extent)[1] < 0:
            raise shape_error(site, f"pads {list(pad)} cut more than the {extent} elements there are")
        if _mode(site) != "constant" and max(pad) > 0 and _cut(pad, extent)[1] == 0:
            raise shape_error(site, f"mode {_mode(site)!r} has no element to take the border from")
    shape = tuple(before + extent + after for (before, after), extent in zip(pads, x.shape, strict=True))
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def _mirrored(position: Positions, extent: int) -> Positions:
    period = max(1, 2 * (extent - 1))
    forward = position % period
    return np.where(forward < extent, forward, period - forward)


# Where position p of an axis of `extent` elements reads; -1 is the constant.
_SOURCE: Mapping[str, Callable[[Positions, int], Positions]] = MappingProxyType(
    {
        "constant": lambda position, extent: np.where((position >= 0) & (position < extent), position, -1),
        "edge": lambda position, extent: np.clip(position, 0, extent - 1),
        "reflect": _mirrored,
        "wrap": lambda position, extent: position % max(extent, 1),
    }
)


def _sources(site: Site, axis: int, low: int, high: int) -> Positions:
    """Which position of X each of the positions `low` to `high` of Y along `axis` reads; -1 is the constant."""
    pads = _pads(site)[axis]
    first, extent = _cut(pads, site.input(0).shape[axis])
    positions = _SOURCE[_mode(site)](np.arange(low, high) - max(pads[0], 0), extent)
    return np.where(positions < 0, -1, positions + first)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    y = np.asarray(inputs[0])
    value = np.asarray(site.node.number("value") if y.dtype == np.float32 else site.node.integer("value"), y.dtype)
    for axis, extent in enumerate(site.output.shape):
        sources = _sources(site, axis, 0, extent)
        outside = np.expand_dims(sources < 0, tuple(range(1, y.ndim - axis)))
        if y.shape[axis] == 0:
            y = np.full((*y.shape[:axis], extent, *y.shape[axis + 1 :]), value)
            continue
        y = np.where(outside, value, np.take(y, np.maximum(sources, 0), axis=axis))
    return (y,)


def _access(site: Site) -> Access:
    if _mode(site) == "reflect" and not _mirrors_once(site):
        return _reflected(site)
    loops = [f"a{axis}" for axis in range(len(site.output.shape))]
    cuts = zip(_pads(site), site.input(0).shape, loops, strict=True)
    source = ", ".join(_index(_mode(site), pads, extent, loop) for pads, extent, loop in cuts)
    text = f"{' '.join(loops)} : X[{source}] -> Y[{', '.join(loops)}]"
    return parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape})


def _mirrors_once(site: Site) -> bool:
    """Whether no border is longer than what there is to mirror."""
    cuts = zip(_pads(site), site.input(0).shape, strict=True)
    return all(max(pads) <= max(_cut(pads, extent)[1] - 1, 0) for pads, extent in cuts)


def _index(mode: str, pads: tuple[int, int], extent: int, loop: str) -> str:
    first, kept = _cut(pads, extent)
    if max(pads) <= 0:
        return f"{loop} + {first}"
    if mode == "constant":
        return f"{loop} - {pads[0]}?" if pads[0] >= 0 else f"{loop} + {first}?"
    position = f"{loop} - {max(pads[0], 0)}"
    if mode == "reflect":  # forwards inside, backwards before and after; over both its window is a little too large
        before, last = max(pads[0], 0), kept - 1
        turned = f"clamp({position}, -{before}, 0) - clamp({position}, {last}, {last + max(pads[1], 0)})"
        return f"clamp({position}, 0, {last}) - {turned} + {last + first}?"
    folded = f"clamp({position}, 0, {kept - 1})" if mode == "edge" else f"({position}) % {kept}"
    return f"{folded} + {first}"


def _reflected(site: Site) -> Footprint:
    shape = site.output.shape

    def window(operand: str, box: Box) -> Window:
        ranges = [box[f"a{axis}"] for axis in range(len(shape))]
        if operand == "Y":
            return tuple(Span(low=low, high=high) for low, high in ranges)
        return tuple(_hull(_sources(site, axis, low, high)) for axis, (low, high) in enumerate(ranges))

    loops = tuple(Loop(name=f"a{axis}", extent=extent, kind="parallel") for axis, extent in enumerate(shape))
    return Footprint(loops=loops, inputs=("X",), outputs=("Y",), windows=window)


def _hull(positions: Positions) -> Span:
    if positions.size == 0:
        return Span(low=0, high=0)
    return Span(low=int(positions.min()), high=int(positions.max()) + 1)


def _values(call: Call) -> Mapping[str, object]:
    x, y, site = call.operands["X"], call.operands["Y"], call.site
    order = sorted(range(len(y.shape)), key=lambda axis: -y.strides[axis]) or []
    bounds, pads = [], _pads(site)
    for axis in order:
        first, kept = _cut(pads[axis], x.shape[axis])
        start = c_sum(-max(pads[axis][0], 0), (1, y.origin[axis]))
        bounds += [y.extents[axis], start, str(kept), c_sum(first, (-1, x.origin[axis]))]
    steps = [[str(operand.strides[axis]) for axis in order] for operand in (x, y)]
    mode, depth = _mode(site), len(order)
    function = f"tw_pad_{mode}_{y.dtype.value}_{depth}"
    value = site.node.number("value") if y.dtype.is_float else site.node.integer("value")
    return {
        "function": function,
        "mode": mode,
        "depth": depth,
        "c_type": y.dtype.c_type,
        "arguments": ", ".join((*bounds, str(x), *steps[0], str(y), *steps[1], c_element(value, y.dtype))),
    }


def _emit(
    node: OnnxNode,
    graph: Conversion,
    pads: Sequence[int],
    value: float | int,
    axes: Sequence[int] | None = None,
    computed: str = "",
) -> None:
    """`computed` is a value that the program has, "" for one that is known."""
    x = graph.tensor(node.inputs[0])
    rank = len(x.shape)
    axes = tuple(range(rank)) if axes is None else axes
    if len(pads) != 2 * len(axes) or any(not -rank <= axis < rank for axis in axes):
        raise graph.refuse(node, f"{len(pads)} pads do not fit {len(axes)} of {rank} axes")
    full = [0] * (2 * rank)
    for index, axis in enumerate(axes):
        full[axis % rank], full[rank + axis % rank] = pads[index], pads[index + len(axes)]
    if graph.tensor(node.inputs[0]).dtype is DType.F64:
        raise graph.refuse(node, "X is f64; the portable kernel moves f32, integers and bool")
    mode = node.text("mode", "constant")
    if mode not in _SOURCE:
        raise graph.refuse(node, f"mode {mode!r} is not one of {', '.join(_SOURCE)}")
    if not any(full):
        graph.rename(node, node.inputs[0])
        return
    attributes: dict[str, Attribute] = {"pads": tuple(full), "mode": mode}
    if mode == "constant":
        attributes["value"] = value
    if mode != "constant" or not computed:
        graph.emit(node, "Pad", node.inputs[:1], node.outputs, attributes)
        return
    padded = graph.emit(node, "Pad", node.inputs[:1], (), attributes, "padded")
    need_room(node, graph, graph.tensor(padded).elements)
    inside = graph.add_constant(_inside(x.shape, full), "inside")
    graph.emit(node, "Where", (inside, padded, computed), node.outputs)


def _inside(shape: Sequence[int], pads: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Where the padded tensor has elements of the tensor."""
    inside = np.ones((), np.bool_)
    for before, extent, after in zip(pads, shape, pads[len(shape) :], strict=False):
        positions = np.arange(before + extent + after) - before
        inside = np.logical_and.outer(inside, (positions >= 0) & (positions < extent))
    return inside


def _import_inputs(node: OnnxNode, graph: Conversion) -> None:
    pads = [int(item) for item in graph.need_constant(node, 1).reshape(-1)]
    is_float = graph.tensor(node.inputs[0]).dtype.is_float
    value: float | int = 0.0 if is_float else 0
    computed = ""
    if len(node.inputs) > 2 and node.inputs[2]:
        known = graph.constant(node.inputs[2])
        if known is None:
            computed = node.inputs[2]
        else:
            element = known.reshape(-1)[:1].item()
            value = float(element) if is_float else int(element)
    axes = None
    if len(node.inputs) > 3 and node.inputs[3]:
        axes = [int(item) for item in graph.need_constant(node, 3).reshape(-1)]
    _emit(node, graph, pads, value, axes, computed)


_import = partial(Import, op_type="Pad", convert=_import_inputs, min_inputs=2)

_PADDED = c_template("${function}", "pad.c.mako")

PAD = Operator(
    name="Pad",
    inputs=("X",),
    outputs=("Y",),
    summary="a border: constant, edge, reflect or wrap",
    infer=_infer,
    reference=_reference,
    access=_access,
    imports=with_halves(
        Import(
            op_type="Pad",
            since=2,
            attributes={"mode": "STRING", "pads": "INTS", "value": "FLOAT"},
            convert=lambda node, graph: _emit(node, graph, node.integers("pads"), node.number("value")),
        ),
        _import(since=11, attributes={"mode": "STRING"}, max_inputs=3),
        _import(since=18, attributes={"mode": "STRING"}, max_inputs=4),
    ),
)


def _match(site: Site) -> str | None:
    if site.input(0).dtype is DType.F64:
        return "X is f64; the portable kernel moves f32, integers and bool"
    return None if site.output.shape else "X is a scalar: there is nothing to pad"


PAD_COPY = Kernel(
    name="portable.pad",
    op="Pad",
    parallel=("*",),
    match=_match,
    values=_values,
    source=lambda values: (*c_functions(f"tw_pad_{values['mode']}()"), _PADDED),
    call="${function}(${arguments});",
    includes=("<stdint.h>", "<math.h>"),  # INFINITY and NAN
)

OPERATORS = (PAD,)
KERNELS = (PAD_COPY,)
