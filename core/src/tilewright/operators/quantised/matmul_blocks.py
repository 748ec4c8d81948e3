"""Knows MatMulNBits: floats times constant weights of 2, 4 or 8 bits that have a scale for each block of a row.
Does not know integers as activations (`qgemm`), nor which nodes become one (`rewrite.quantisation.packed_products`).

Normal form: A[..., K], B[N, K] as int8, S[N, blocks], optionally Z[N, blocks] as int8 and C[N]; attributes
`weight_bits` and `block_size`: values k of a row have scale k // block_size. All but A are constants. The result is
`C[n] + sum over blocks of S[n, b] * sum over the block of A[k] * (B[n, k] - Z[n, b])`, a float sum like any other.
Source: MatMulNBits of onnxruntime's contrib operators; its unsigned numbers are held minus half of their range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import WEIGHT_BITS, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, Matched
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import PACKED_WEIGHT, c_template
from tilewright.operators.c_code.walk import NEST, innermost, nest, walk
from tilewright.operators.shared.float_results import clip_literals, dot_tolerance, or_overflow, rounded_and_clipped
from tilewright.operators.shared.packed_weights import limits, pack_rows, row_bytes, unpack_rows
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]

_BITS = (2, 4, 8)
_ATTRIBUTES = {"K": "INT", "N": "INT", "bits": "INT", "block_size": "INT", "accuracy_level": "INT"}


def _infer(site: Site) -> tuple[Tensor, ...]:
    a, b, scales = site.input(0), site.input(1), site.input(2)
    size = site.node.integer("block_size")
    if not a.shape or len(b.shape) != 2 or a.shape[-1] != b.shape[1]:
        raise shape_error(site, "A is [..., K] and B [N, K]")
    blocks = (b.shape[0], ceil_div(b.shape[1], size) if size > 0 else 0)
    if scales.shape != blocks or (site.has_input(3) and site.input(3).shape != blocks):
        raise shape_error(site, f"scales and zero points of blocks of {size} have the shape {list(blocks)}")
    if site.has_input(4) and site.input(4).shape != b.shape[:1]:
        raise shape_error(site, f"C must have the shape [{b.shape[0]}]")
    return (Tensor(name=site.node.outputs[0], dtype=a.dtype, shape=(*a.shape[:-1], b.shape[0])),)


def dequantised_rows(site: Site, inputs: Sequence[Array | None]) -> Doubles:
    """The weights as the numbers that they stand for, exactly: [N, K]."""
    b, scales, zeros = (
        None if array is None else np.asarray(array, np.float64) for array in (*inputs, None, None)[1:4]
    )
    if b is None or scales is None:
        raise TypeError(f"{site.node.name}: B and S are needed")
    block = np.arange(b.shape[1]) // site.node.integer("block_size")
    result: Doubles = (b if zeros is None else b - zeros[:, block]) * scales[:, block]
    return result


def _exact(site: Site, inputs: Sequence[Array | None], *, magnitude: bool = False) -> Doubles:
    a, rows = np.asarray(inputs[0], np.float64), dequantised_rows(site, inputs)
    bias = (*inputs, None, None, None)[4]
    c = np.zeros(len(rows)) if bias is None else np.asarray(bias, np.float64)
    if magnitude:
        a, rows, c = np.abs(a), np.abs(rows), np.abs(c)
    total: Doubles = a @ rows.T + c
    return total


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    """Of as many products as there are, and one more for each block and for C. Sums are multiplied with their scales
    when they are there: what is too large for the type before that counts as too large.
    """
    terms = site.input(1).shape[1] + site.input(2).shape[1] + 1
    error = dot_tolerance(terms, _exact(site, inputs, magnitude=True), _exact(site, inputs))
    unscaled = np.abs(np.asarray(inputs[0], np.float64)).sum(axis=-1, keepdims=True) * 2**site.node.weight_bits
    return (or_overflow(error, np.broadcast_to(unscaled, error.shape)),)


def _map(site: Site, row: str, shapes: Mapping[str, tuple[int, ...]]) -> Access:
    known = {"A": site.input(0).shape, "S": site.input(2).shape, "Y": site.output.shape, **shapes}
    if site.has_input(4):
        known["C"] = site.input(4).shape
    text = f"n k<depth : A[...,k] B[n,{row}] S[n,:] Z[n,:] C[n] -> Y[...,n]"
    return parse_map(text).bind(known, {"depth": site.input(1).shape[1]})


def _access(site: Site) -> Access:
    zeros = {"Z": site.input(3).shape} if site.has_input(3) else {}
    return _map(site, "k", {"B": site.input(1).shape, **zeros})


def _packed_access(site: Site) -> Access:
    bits, (rows, depth) = site.node.weight_bits, site.input(1).shape
    zeros = {"Z": (rows, row_bytes(site.input(2).shape[1], bits))} if site.has_input(3) else {}
    return _map(site, ":", {"B": (rows, row_bytes(depth, bits)), **zeros})


def _pack(site: Matched) -> Mapping[str, Array]:
    bits = site.node.weight_bits
    packed: dict[str, Array] = {
        "B": pack_rows(np.asarray(site.constant(1)), bits),
        "S": np.asarray(site.constant(2), np.float32),
    }
    if site.has_input(3):
        packed["Z"] = pack_rows(np.asarray(site.constant(3)), bits)
    if site.has_input(4):
        packed["C"] = np.asarray(site.constant(4), np.float32)
    return packed


def _match(site: Site) -> str | None:
    if site.input(0).dtype is not DType.F32:
        return f"A is {site.input(0).dtype.value}; the portable kernel takes f32"
    if any(site.has_input(index) and site.constant(index) is None for index in range(1, len(site.inputs))):
        return "weights, scales, zero points and the bias must be constants"
    low, high = limits(site.node.weight_bits)
    numbers = [np.asarray(site.constant(index)) for index in (1, 3) if site.has_input(index)]
    if any(number.min(initial=0) < low or number.max(initial=0) > high for number in numbers):
        return f"weights or zero points are beyond {low} .. {high}"
    return None


def _values(call: Call) -> Mapping[str, object]:
    site, a, b, y = call.site, call.operands["A"], call.operands["B"], call.operands["Y"]
    rows = walk(y.extents[:-1], {"A": a.strides[:-1], "Y": y.strides[:-1]}, "Y")
    outer, (count, steps) = nest(rows, 1), innermost(rows)
    zeros, bias = call.operands.get("Z"), call.operands.get("C")
    bits = site.node.weight_bits
    return {
        "function": f"tw_matmul_blocks_w{bits}",
        "weight_bits": bits,
        "nest": outer.headers,
        "at": outer.offsets,
        "zeros": zeros or "(const uint8_t *)0",
        "bias": bias or "(const float *)0",
        "fields": {
            "rows": count,
            "columns": y.extents[-1],
            "depth": site.input(1).shape[1],
            "block": site.node.integer("block_size"),
            "blocks": site.input(2).shape[1],
            "a_row": steps["A"],
            "a_depth": a.strides[-1],
            "b_column": b.strides[0],
            "s_column": call.operands["S"].strides[0],
            "z_column": zeros.strides[0] if zeros else 0,
            "y_row": steps["Y"],
            "y_column": y.strides[-1],
            **clip_literals(site.node),
        },
    }


def _import(node: OnnxNode, graph: Conversion) -> None:
    bits, size = node.integer("bits", 4), node.integer("block_size")
    depth, columns = node.integer("K"), node.integer("N")
    packed, scales = graph.need_constant(node, 1), graph.need_constant(node, 2)
    blocks = ceil_div(depth, size) if size > 0 else 0
    if bits not in _BITS or blocks < 1 or columns < 1:
        raise graph.refuse(node, f"weights of {bits} bits in blocks of {size}; 2, 4 and 8 bits are supported")
    _need_plain(node, graph, size)
    if packed.dtype != np.uint8 or packed.size != columns * blocks * row_bytes(size, bits):
        raise graph.refuse(node, f"{packed.size:,} bytes do not hold {columns} rows of {blocks} blocks of {size}")
    if scales.size != columns * blocks:
        raise graph.refuse(node, f"it has {scales.size:,} scales for {columns} rows of {blocks} blocks")
    rows = _unsigned(packed.reshape(columns * blocks, -1), size, bits).reshape(columns, -1)[:, :depth]
    inputs = [
        node.inputs[0],
        graph.add_constant(np.ascontiguousarray(rows), "weights"),
        graph.add_constant(scales.reshape(columns, blocks).astype(np.float32), "scales"),
        _zero_points(node, graph, columns, blocks),
        node.inputs[5] if len(node.inputs) > 5 else "",
    ]
    graph.emit(node, "MatMulNBits", inputs, node.outputs, {WEIGHT_BITS: bits, "block_size": size})


def _unsigned(packed: Array, count: int, bits: int) -> npt.NDArray[np.int8]:
    """Rows of unsigned numbers minus half of their range: the highest bit of each is the other way round."""
    flipped: npt.NDArray[np.uint8] = np.asarray(packed, np.uint8) ^ np.uint8({2: 0xAA, 4: 0x88, 8: 0x80}[bits])
    return unpack_rows(flipped, count, bits)


def _need_plain(node: OnnxNode, graph: Conversion, size: int) -> None:
    """Refuse a node whose values are not in the order of their blocks."""
    order = graph.constant(node.inputs[4]) if len(node.inputs) > 4 and node.inputs[4] else np.zeros(0)
    if order is None or (order.size and not np.array_equal(order.reshape(-1), np.arange(order.size) // size)):
        raise graph.refuse(node, "g_idx gives its values blocks in another order: export without it (act_order off)")


def _zero_points(node: OnnxNode, graph: Conversion, columns: int, blocks: int) -> str:
    """The constant, or "" where all zero points are half of the range."""
    if len(node.inputs) <= 3 or not node.inputs[3]:
        return ""
    points, bits = graph.need_constant(node, 3), node.integer("bits", 4)
    if points.dtype != np.uint8:
        raise graph.refuse(node, f"its zero points are {points.dtype}; packed ones, uint8, are supported")
    if points.size != columns * row_bytes(blocks, bits):
        raise graph.refuse(node, f"{points.size:,} bytes do not hold zero points of {columns} rows of {blocks} blocks")
    zeros = _unsigned(points.reshape(columns, -1), blocks, bits)
    return graph.add_constant(zeros, "zero_points") if zeros.any() else ""


MATMUL_BLOCKS = Operator(
    name="MatMulNBits",
    inputs=("A", "B", "S", "Z", "C"),
    outputs=("Y",),
    summary="floats times constant weights of 2, 4 or 8 bits, with a scale for each block of a row, plus C",
    infer=_infer,
    reference=lambda site, inputs: (rounded_and_clipped(site.node, _exact(site, inputs)),),
    access=_access,
    tolerance=_tolerance,
    macs=lambda site: site.output.elements * site.input(1).shape[1],
    imports=(
        Import(
            op_type="MatMulNBits",
            since=1,
            domain="com.microsoft",
            attributes=_ATTRIBUTES,
            convert=_import,
            min_inputs=3,
            max_inputs=6,
        ),
    ),
)

MATMUL_BLOCKS_PORTABLE = Kernel(
    name="portable.matmul_blocks",
    op="MatMulNBits",
    weight_bits=_BITS,
    match=_match,
    access=_packed_access,
    pack=_pack,
    blocks={"n": 4},
    parallel=("n",),
    values=_values,
    source=(c_template("${function}", "matmul_blocks.c.mako", PACKED_WEIGHT),),
    call=NEST
    + """\
${function}((tw_matmul_blocks_w${weight_bits}_shape){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${A}${at["A"]}, ${B}, ${S}, ${zeros}, ${bias}, ${Y}${at["Y"]});""",
    includes=("<stdint.h>", "<math.h>"),
)

OPERATORS = (MATMUL_BLOCKS,)
KERNELS = (MATMUL_BLOCKS_PORTABLE,)
