"""Knows QuantizeLinear, y = saturate(rne(x / scale) + zero), and DequantizeLinear, y = (x - zero) * scale.
Does not know how islands between them become integer operators; these run where that fails.

Normal form: inputs X, S (scale) and optionally Z (zero point), both scalar or one element per index of `axis`;
QuantizeLinear has `to`, the type of its output; DequantizeLinear of a constant that the file stores in 4 or 2 bits has
`weight_bits`, see `packed_weights`. The division and the product are float32, as ONNX has them.
`rne` rounds halves to even; a quotient that is NaN counts as 0.

Scales for each block of elements along an axis stay with a constant of 4 or 2 bits (`block_size`), for products that
keep it packed; all else becomes float arithmetic. An axis that its blocks divide is split in two,
and each scale is broadcast along the inner one; otherwise each scale is repeated for the elements of its block. Sums of
a rounded quotient and a zero point are exact wherever they do not saturate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_int
from tilewright.ir.access.index_map import Access, parse_map, whole
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, Operand
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, DType, type_name
from tilewright.operators.c_code.c_source import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.float_results import ulp_tolerance
from tilewright.operators.shared.packed_weights import NARROW_BITS, named_bits
from tilewright.operators.shared.refusals import need_axis, shape_error

_Apart = Callable[[str, str], str]  # a value and a hint -> the value in the shape that scales broadcast to


def quantize_blocks(node: OnnxNode, graph: Conversion, target: DType) -> None:
    """saturate(rne(x / scale) + zero point), every block with its own."""
    apart, spread = _shapes(node, graph)
    x = _floats(node, graph, node.inputs[0], "x")
    quotient = graph.emit(node, "Div", (apart(x, "apart"), spread(node.inputs[1], "scales")), hint="quotient")
    if zero := _block_zero_point(node, graph):
        rounded = graph.emit(node, "Round", (quotient,), hint="rounded")
        quotient = graph.emit(node, "Add", (rounded, _floats(node, graph, spread(zero, "zeros"), "zero")), hint="moved")
    one = graph.add_constant(np.ones((), np.float32), "one")
    nothing = graph.add_constant(np.zeros((), target.numpy), "nothing")
    stored = graph.emit(node, "QuantizeLinear", (quotient, one, nothing), (), {"to": target.value}, "stored")
    _joined(node, graph, stored)


def dequantize_blocks(node: OnnxNode, graph: Conversion) -> None:
    """(x - zero point) * scale, every block with its own."""
    apart, spread = _shapes(node, graph)
    value = apart(_floats(node, graph, node.inputs[0], "x"), "apart")
    if zero := _block_zero_point(node, graph):
        if graph.tensor(zero).dtype is DType.I32:
            raise graph.refuse(node, "zero points of 32 bits for each block are not supported")
        value = graph.emit(node, "Sub", (value, _floats(node, graph, spread(zero, "zeros"), "zero")), hint="distance")
    _joined(node, graph, graph.emit(node, "Mul", (value, spread(node.inputs[1], "scales")), hint="scaled"))


def _block_zero_point(node: OnnxNode, graph: Conversion) -> str:
    """The input, or "" where there is none or it is known to be 0."""
    name = node.inputs[2] if len(node.inputs) > 2 else ""
    known = graph.constant(name) if name else None
    return "" if known is not None and not known.any() else name


def _floats(node: OnnxNode, graph: Conversion, name: str, hint: str) -> str:
    if graph.tensor(name).dtype is DType.F32:
        return name
    return graph.emit(node, "Cast", (name,), (), {"to": "f32"}, f"{hint}_float")


def _shapes_fit(node: OnnxNode, graph: Conversion) -> tuple[int, int, int]:
    """The axis that is split, the size of its blocks, and how many there are. Refuses parameters of other shapes."""
    shape, scales = graph.tensor(node.inputs[0]).shape, graph.tensor(node.inputs[1]).shape
    size, axis = node.integer("block_size"), need_axis(node, graph, node.integer("axis", 1), len(shape))
    blocks = ceil_div(shape[axis], size) if size > 0 else 0
    if size < 1 or scales != (*shape[:axis], blocks, *shape[axis + 1 :]):
        raise graph.refuse(
            node, f"blocks of {size} along axis {axis} of {list(shape)} do not fit {list(scales)} scales"
        )
    if len(node.inputs) > 2 and node.inputs[2] and graph.tensor(node.inputs[2]).shape != scales:
        raise graph.refuse(node, "scale and zero point must have one shape")
    return axis, size, blocks


def _shapes(node: OnnxNode, graph: Conversion) -> tuple[_Apart, _Apart]:
    """What brings X, and what brings a parameter, into the shape that the arithmetic is done in."""
    axis, size, blocks = _shapes_fit(node, graph)
    shape = graph.tensor(node.inputs[0]).shape
    if shape[axis] % size:
        places = graph.add_constant(np.arange(shape[axis]) // size, "blocks")
        return (
            lambda name, hint: name,
            lambda name, hint: graph.emit(node, "Gather", (name, places), (), {"axis": axis}, hint),
        )
    before, after = (*shape[:axis], blocks), shape[axis + 1 :]
    return (
        lambda name, hint: graph.emit(node, "Reshape", (name,), (), {"shape": (*before, size, *after)}, hint),
        lambda name, hint: graph.emit(node, "Reshape", (name,), (), {"shape": (*before, 1, *after)}, hint),
    )


def _joined(node: OnnxNode, graph: Conversion, name: str) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    if graph.tensor(name).shape == shape:
        graph.rename(node, name)
    else:
        graph.emit(node, "Reshape", (name,), node.outputs, {"shape": shape})


Array = npt.NDArray[np.generic]

_STORED = (DType.I8, DType.U8, DType.I16, DType.U16)


def _axis(site: Site) -> int:
    return site.node.integer("axis", 1) % max(1, len(site.input(0).shape))


def _check_parameters(site: Site) -> None:
    """Scale and zero point are scalars, or have one element per index of the axis; or for each block of indices."""
    x, scale = site.input(0), site.input(1)
    if size := site.node.integer("block_size"):
        blocks = (*x.shape[: _axis(site)], ceil_div(x.shape[_axis(site)], size), *x.shape[_axis(site) + 1 :])
        if scale.shape != blocks or (site.has_input(2) and site.input(2).shape != blocks):
            raise shape_error(
                site, f"scales of blocks of {size} along axis {_axis(site)} have the shape {list(blocks)}"
            )
        return
    fits = scale.elements == 1 or scale.shape == x.shape[_axis(site) :][:1]
    if not fits or len(scale.shape) > 1:
        raise shape_error(site, f"a scale of shape {list(scale.shape)} does not fit axis {_axis(site)} of X")
    if site.has_input(2) and (site.input(2).elements != scale.elements or len(site.input(2).shape) > 1):
        raise shape_error(site, "scale and zero point must have one shape")


def _infer_quantize(site: Site) -> tuple[Tensor, ...]:
    _check_parameters(site)
    target = DType(site.node.attributes["to"])
    if site.has_input(2) and site.input(2).dtype is not target:
        raise shape_error(site, f"the zero point must be {target.value}, as the output is")
    return (Tensor(name=site.node.outputs[0], dtype=target, shape=site.input(0).shape),)


def _infer_dequantize(site: Site) -> tuple[Tensor, ...]:
    _check_parameters(site)
    if site.has_input(2) and site.input(2).dtype is not site.input(0).dtype:
        raise shape_error(site, "the zero point must have the type of X")
    return (Tensor(name=site.node.outputs[0], dtype=DType.F32, shape=site.input(0).shape),)


def _parameter(site: Site, array: Array) -> Array:
    """Scale or zero point, shaped to broadcast against X."""
    rank = len(site.input(0).shape)
    if (size := site.node.integer("block_size")) and array.ndim == rank:
        return array.take(np.arange(site.input(0).shape[_axis(site)]) // size, axis=_axis(site))
    if array.size == 1:
        return array.reshape((1,) * rank)
    return array.reshape([-1 if axis == _axis(site) else 1 for axis in range(rank)])


def _zero_point(site: Site, inputs: Sequence[Array | None]) -> npt.NDArray[np.int64]:
    zero = inputs[2] if len(inputs) > 2 else None
    return _parameter(site, np.zeros(1, np.int64) if zero is None else np.asarray(zero)).astype(np.int64)


def _quantize(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, scale = np.asarray(inputs[0]), _parameter(site, np.asarray(inputs[1]))
    with np.errstate(all="ignore"):
        quotient = np.divide(x.astype(np.float32), scale.astype(np.float32), dtype=np.float32)
    bounded = np.clip(np.nan_to_num(quotient, nan=0.0), -(2.0**30), 2.0**30)
    moved = np.rint(bounded).astype(np.int64) + _zero_point(site, inputs)
    return (np.clip(moved, *site.output.dtype.limits).astype(site.output.dtype.numpy),)


def _dequantize(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    difference = np.asarray(inputs[0]).astype(np.int64) - _zero_point(site, inputs)
    return (np.multiply(difference.astype(np.float32), _parameter(site, np.asarray(inputs[1]))),)


def _access(site: Site) -> Access:
    loops = [f"a{axis}" for axis in range(len(site.input(0).shape))]
    if site.node.integer("block_size"):
        operands = zip("XSZ", site.inputs, strict=False)
        return whole(
            {name: operand.shape for name, operand in operands if operand is not None}, {"Y": site.output.shape}
        )
    shapes = {"X": site.input(0).shape, "S": site.input(1).shape, "Y": site.output.shape}
    parameter = ("0" if shapes["S"] == (1,) else loops[_axis(site)]) if shapes["S"] else ""
    zero = ""
    if site.has_input(2):
        shapes["Z"] = site.input(2).shape
        zero = f"Z[{'0' if shapes['Z'] == (1,) else parameter}]" if shapes["Z"] else "Z[]"
    indices = ", ".join(loops)
    return parse_map(f"{' '.join(loops)} : X[{indices}] S[{parameter}] {zero} -> Y[{indices}]").bind(shapes)


def _match(site: Site) -> str | None:
    x, y = site.input(0).dtype, site.output.dtype
    if site.node.integer("block_size"):
        return "has scales for blocks: such constants are products' weights, or are dequantised at compile time"
    if site.input(1).dtype is not DType.F32:
        return f"the scale is {site.input(1).dtype.value}; the portable kernel takes f32"
    if site.node.op == "QuantizeLinear":
        if y not in _STORED or x not in (DType.F32, DType.I32):
            return f"{x.value} to {y.value}; the portable kernel takes f32 or i32 to 8 or 16 bits"
        return None
    return None if x in (*_STORED, DType.I32) else f"X is {x.value}; the portable kernel takes 8, 16 and 32 bits"


def _spread(operand: Operand, rank: int, axis: int) -> Operand:
    """A parameter as an operand of X's rank, so that it broadcasts along all axes but its own."""
    if not operand.shape or operand.shape == (1,):
        return replace(operand, shape=(), strides=())
    return replace(
        operand,
        shape=tuple(operand.shape[0] if other == axis else 1 for other in range(rank)),
        strides=tuple(operand.strides[0] if other == axis else 0 for other in range(rank)),
    )


def _values(call: Call) -> Mapping[str, object]:
    site, x, y = call.site, call.operands["X"], call.operands["Y"]
    parameters = {
        name: _spread(call.operands[name], len(x.shape), _axis(site)) for name in ("S", "Z") if name in call.operands
    }
    spread = replace(call, operands={"X": x, **parameters, "Y": y})
    quantizes = site.node.op == "QuantizeLinear"
    expression = _quantize_expression(x, y, "Z" in parameters) if quantizes else _dequantize_expression(x, parameters)
    name = f"{'quantize' if quantizes else 'dequantize'}_{x.dtype.value}_{y.dtype.value}{'_z' * ('Z' in parameters)}"
    return elementwise_values(spread, name, expression)


def _quantize_expression(x: Operand, y: Operand, has_zero: bool) -> str:
    value = "x" if x.dtype is DType.F32 else "(float)x"
    low, high = (c_int(limit) for limit in y.dtype.limits)
    return f"({y.dtype.c_type})tw_saturate(tw_nearest({value} / s), {'z' if has_zero else '0'}, {low}, {high})"


def _dequantize_expression(x: Operand, parameters: Mapping[str, Operand]) -> str:
    if "Z" not in parameters:
        return "(float)x * s"
    wide = "int64_t" if x.dtype is DType.I32 else "int32_t"
    return f"(float)(({wide})x - z) * s"


def _attributes(node: OnnxNode, graph: Conversion) -> dict[str, Attribute]:
    """The axis, counted from the front. Only a parameter with several elements has one."""
    rank = len(graph.tensor(node.inputs[0]).shape)
    axis, size = node.integer("axis", 1), node.integer("block_size")
    if graph.tensor(node.inputs[1]).elements == 1 and not size:
        return {}
    if not -rank <= axis < rank:
        raise graph.refuse(node, f"axis {axis} is not an axis of a tensor with {rank} axes")
    return {"axis": axis % rank, **({"block_size": size} if size else {})}


def _keeps_blocks(node: OnnxNode, graph: Conversion) -> bool:
    """Whether a pass may make a product of what is stored (`rewrite.quantisation.packed_products`): a constant of 4 or
    2 bits whose scales are known. All else becomes float arithmetic.
    """
    known = all(graph.constant(name) is not None for name in node.inputs if name)
    return known and graph.stored_bits(node.inputs[0]) in NARROW_BITS


def _import_quantize(node: OnnxNode, graph: Conversion) -> None:
    number = node.integer("output_dtype")
    has_zero = len(node.inputs) > 2 and node.inputs[2] != ""
    if number and number not in ELEMENT_TYPES:
        raise graph.refuse(node, f"it quantises to {type_name(number)}, which tilewright does not hold")
    target = graph.tensor(node.inputs[2]).dtype if has_zero else ELEMENT_TYPES.get(number, DType.U8)
    if target not in _STORED:
        raise graph.refuse(node, f"it quantises to {target.value}; 8 and 16 bits are supported")
    if number and ELEMENT_TYPES[number] is not target:
        raise graph.refuse(node, "output_dtype and the type of the zero point differ")
    if graph.tensor(node.inputs[1]).dtype is not DType.F32:
        raise graph.refuse(node, f"its scale is {graph.tensor(node.inputs[1]).dtype.value}, only f32 is supported")
    if node.integer("block_size"):
        quantize_blocks(node, graph, target)
        return
    attributes = {**_attributes(node, graph), "to": target.value}
    graph.emit(node, "QuantizeLinear", node.inputs, node.outputs, attributes)


def _import_dequantize(node: OnnxNode, graph: Conversion) -> None:
    number = node.integer("output_dtype")
    if ELEMENT_TYPES.get(number or 1) is not DType.F32 or graph.tensor(node.inputs[1]).dtype is not DType.F32:
        raise graph.refuse(node, "its output is not f32, which is what tilewright computes in")
    if node.integer("block_size"):
        if not _keeps_blocks(node, graph):
            dequantize_blocks(node, graph)
            return
        _shapes_fit(node, graph)
    attributes = {**_attributes(node, graph), **named_bits(graph.stored_bits(node.inputs[0]))}
    graph.emit(node, "DequantizeLinear", node.inputs, node.outputs, attributes)


_AXIS = {"axis": "INT"}
_BLOCKED = {**_AXIS, "block_size": "INT"}
_QUANTIZE = partial(Import, op_type="QuantizeLinear", convert=_import_quantize, min_inputs=2, max_inputs=3)
_DEQUANTIZE = partial(Import, op_type="DequantizeLinear", convert=_import_dequantize, min_inputs=2, max_inputs=3)

QUANTIZE = Operator(
    name="QuantizeLinear",
    inputs=("X", "S", "Z"),
    outputs=("Y",),
    summary="float32 to 8 or 16 bits: saturate(rne(x / scale) + zero_point)",
    infer=_infer_quantize,
    reference=_quantize,
    access=_access,
    imports=(
        _QUANTIZE(since=10, attributes={}),
        _QUANTIZE(since=13, attributes=_AXIS),
        _QUANTIZE(since=19, attributes={**_AXIS, "saturate": "INT"}),
        _QUANTIZE(since=21, attributes={**_BLOCKED, "saturate": "INT", "output_dtype": "INT"}),
        _QUANTIZE(since=23, attributes={**_BLOCKED, "saturate": "INT", "output_dtype": "INT", "precision": "INT"}),
    ),
)

DEQUANTIZE = Operator(
    name="DequantizeLinear",
    inputs=("X", "S", "Z"),
    outputs=("Y",),
    summary="integers to float32: (x - zero_point) * scale",
    infer=_infer_dequantize,
    reference=_dequantize,
    access=_access,
    tolerance=lambda site, inputs: (ulp_tolerance(4, _dequantize(site, inputs)[0].astype(np.float64)),),
    imports=(
        _DEQUANTIZE(since=10, attributes={}),
        _DEQUANTIZE(since=13, attributes=_AXIS),
        _DEQUANTIZE(since=21, attributes=_BLOCKED, packed=True),
        _DEQUANTIZE(since=23, attributes={**_BLOCKED, "output_dtype": "INT"}, packed=True),
    ),
)


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"portable.{op.removesuffix('Linear').lower()}",
        op=op,
        parallel=("*",),
        match=_match,
        values=_values,
        source=elementwise_source,
        call=ELEMENTWISE_CALL,
    )


OPERATORS = (QUANTIZE, DEQUANTIZE)
KERNELS = (_kernel("QuantizeLinear"), _kernel("DequantizeLinear"))
