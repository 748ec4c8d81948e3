"""Every operator of tiers 1 and 2 of ONNX in the index-map notation, held against ONNX's own reference evaluator.

For each map, whatever is outside a box's windows is replaced by other values: the outputs in the box must not change.
The table is also `docs/index-maps.md`; write it with `python core/tests/ir/test_index_maps_on_onnx.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from tilewright.ir.access.index_map import Box, MapAccess, parse_map
from tilewright.testing.operator_sites import window_errors

Array = npt.NDArray[np.generic]
Maker = Callable[[np.random.Generator], Array]
PAGE = Path(__file__).parents[3] / "docs" / "index-maps.md"


def _words(text: str) -> list[str]:
    return text.split()


TIER_1 = _words("""Conv Relu Add MaxPool GlobalAveragePool Gemm MatMul Reshape Flatten Softmax Concat BatchNormalization
AveragePool Clip Transpose QuantizeLinear DequantizeLinear Constant Identity Mul Sub Div Sigmoid Tanh Pad Slice Squeeze
Unsqueeze Shape Gather ReduceMean LeakyRelu HardSwish HardSigmoid Dropout Sqrt Pow Split Resize ConvTranspose
QLinearConv QLinearMatMul""")
TIER_2 = _words("""LSTM GRU RNN LayerNormalization Gelu Erf Exp Log Neg Abs Reciprocal ReduceSum ReduceMax ReduceMin
ReduceL2 Max Min Sum Mean Where Equal Greater Less GreaterOrEqual LessOrEqual And Or Xor Not Expand Tile ArgMax ArgMin
DepthToSpace SpaceToDepth PRelu Elu Selu Softplus Softsign LogSoftmax Floor Ceil Round InstanceNormalization
GroupNormalization ConstantOfShape Range MatMulInteger ConvInteger DynamicQuantizeLinear LRN GlobalMaxPool Upsample
Swish Mish Sin Cos ReduceProd ReduceL1 ReduceSumSquare ReduceLogSum ReduceLogSumExp""")


def f32(*shape: int) -> Maker:
    return lambda random: (random.random(shape) + 0.5).astype(np.float32)


def ints(dtype: str, high: int, *shape: int) -> Maker:
    return lambda random: random.integers(0, high, shape).astype(dtype)


def known(*values: float, dtype: str = "int64") -> Array:
    return np.array(values, dtype)


@dataclass(frozen=True, kw_only=True)
class Row:
    """How one operator reaches its operands. `text` empty: `note` says which footprint, or why it is whole."""

    op: str
    form: str  # map, footprint or whole
    text: str = ""
    note: str = ""
    inputs: Mapping[str, Maker | Array] = field(default_factory=dict)  # arrays: known at compile time
    attributes: Mapping[str, object] = field(default_factory=dict)  # ONNX's
    names: Mapping[str, int] = field(default_factory=dict)  # the map's
    outputs: tuple[str, ...] = ("Y",)  # "" is not looked at
    opset: int = 24


X3: Mapping[str, Maker | Array] = {"X": f32(2, 3, 5)}
IMAGE: Mapping[str, Maker | Array] = {"X": f32(2, 3, 6, 5)}
ELEMENTWISE = ": X[...] -> Y[...]"
BROADCAST = ": A[...] B[...] -> Y[...]"
ROWS_WHOLE = ": X[...,:] -> Y[...,:]"
REDUCE = "a b c : X[a,b,c] -> Y[a,0,c]"
POOL = "n c h w y<kh x<kw : X[n,c,h*sh+y-ph?,w*sw+x-pw?] -> Y[n,c,h,w]"
POOLED = {"kh": 3, "kw": 2, "sh": 2, "sw": 1, "ph": 1, "pw": 0}
POOL_ATTRIBUTES = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]}
CONV = "n o h w c<cg y x : X[n,o//og*cg+c,h*sh+y-ph?,w*sw+x*dw-pw?] W[o,c,y,x] B[o] -> Y[n,o,h,w]"
CONVOLVED = {"og": 2, "cg": 2, "sh": 2, "sw": 1, "ph": 1, "pw": 2, "dw": 2}
CONV_ATTRIBUTES = {"strides": [2, 1], "pads": [1, 2, 0, 1], "dilations": [1, 2], "group": 2}
RECURRENT = "~t n : X[t,n,:] W[:,:,:] R[:,:,:] B[:,:] -> Y[t,:,n,:]"
BLEND = "a b : X[a//sh,b//sw] -> Y[a,b]"


def unary(op: str, inputs: Mapping[str, Maker | Array] = X3, **attributes: object) -> Row:
    return Row(op=op, form="map", text=ELEMENTWISE, inputs=inputs, attributes=attributes)


def binary(op: str, make: Callable[..., Maker] = f32) -> Row:
    return Row(op=op, form="map", text=BROADCAST, inputs={"A": make(2, 1, 5), "B": make(4, 5)})


def flags(*shape: int) -> Maker:
    return ints("bool", 2, *shape)


def reduction(op: str) -> Row:
    return Row(op=op, form="map", text=REDUCE, inputs={**X3, "axes": known(1)})


def recurrent(op: str, gates: int) -> Row:
    inputs = {"X": f32(4, 3, 2), "W": f32(1, gates * 5, 2), "R": f32(1, gates * 5, 5), "B": f32(1, 2 * gates * 5)}
    note = "steps in order, the state stays between them; backwards or in both directions: whole over t"
    return Row(op=op, form="map", text=RECURRENT, note=note, inputs=inputs, attributes={"hidden_size": 5})


def arg(op: str) -> Row:
    note = "a position is no sum of parts: the axis is whole"
    return Row(op=op, form="map", text="a c : X[a,:,c] -> Y[a,0,c]", note=note, inputs=X3, attributes={"axis": 1})


def quantised(*shape: int) -> Maker:
    return ints("uint8", 256, *shape)


SCALARS = {name: known(0.1, dtype="float32").reshape(()) for name in ("xs", "ws", "ys")}
ZEROS = {name: known(3, dtype="uint8").reshape(()) for name in ("xz", "wz", "yz")}

ROWS = (
    Row(
        op="Conv", form="map", text=CONV, note="W whole in its channels; groups by floor division", names=CONVOLVED,
        inputs={"X": f32(2, 4, 7, 6), "W": f32(4, 2, 3, 2), "B": f32(4)}, attributes=CONV_ATTRIBUTES,
    ),
    unary("Relu"),
    binary("Add"),
    Row(op="MaxPool", form="map", text=POOL, inputs=IMAGE, attributes=POOL_ATTRIBUTES, names=POOLED),
    Row(op="GlobalAveragePool", form="map", text="n c h w : X[n,c,h,w] -> Y[n,c,0,0]", inputs=IMAGE),
    Row(
        op="Gemm", form="map", text="m n k : A[m,k] B[n,k] C[n] -> Y[m,n]", attributes={"transB": 1},
        inputs={"A": f32(3, 4), "B": f32(5, 4), "C": f32(5)},
    ),
    Row(
        op="MatMul", form="map", text="m n k : A[...,m,k] B[...,k,n] -> Y[...,m,n]",
        inputs={"A": f32(2, 3, 4), "B": f32(4, 5)},
    ),
    Row(
        op="Reshape", form="map", text="a : X[a,:,:] -> Y[a,0,:]", note="axes that are joined or split are whole",
        inputs={**X3, "shape": known(2, 1, 15)},
    ),
    Row(op="Flatten", form="map", text="a : X[a,:,:] -> Y[a,:]", inputs=X3),
    Row(op="Softmax", form="map", text=ROWS_WHOLE, inputs=X3),
    Row(op="Concat", form="footprint", note="a window per input: what of the box falls into its part of the axis"),
    Row(
        op="BatchNormalization", form="map",
        text="n c h w : X[n,c,h,w] scale[c] B[c] mean[c] var[c] -> Y[n,c,h,w]",
        inputs={**IMAGE, "scale": f32(3), "B": f32(3), "mean": f32(3), "var": f32(3)},
    ),
    Row(op="AveragePool", form="map", text=POOL, inputs=IMAGE, attributes=POOL_ATTRIBUTES, names=POOLED),
    unary("Clip", {**X3, "min": known(0.7, dtype="float32").reshape(())}),
    Row(op="Transpose", form="map", text="a b c : X[c,a,b] -> Y[a,b,c]", inputs=X3, attributes={"perm": [1, 2, 0]}),
    Row(
        op="QuantizeLinear", form="map", text="a b c : X[a,b,c] S[b] Z[b] -> Y[a,b,c]",
        inputs={**X3, "S": f32(3), "Z": quantised(3)}, attributes={"axis": 1},
    ),
    Row(
        op="DequantizeLinear", form="map", text="a b c : X[a,b,c] S[b] Z[b] -> Y[a,b,c]",
        inputs={"X": quantised(2, 3, 5), "S": f32(3), "Z": quantised(3)}, attributes={"axis": 1},
    ),
    Row(
        op="Constant", form="map", text="i : -> Y[i]", note="reads nothing",
        attributes={"value_floats": [1.0, 2.0, 3.0]},
    ),
    unary("Identity"),
    binary("Mul"),
    binary("Sub"),
    binary("Div"),
    unary("Sigmoid"),
    unary("Tanh"),
    Row(
        op="Pad", form="map", text="a b c : X[a,b-1?,c] -> Y[a,b,c]",
        note="edge: clamp(b-1, 0, n-1); wrap: (b-1) % n; reflect: a sum of three clamps",
        inputs={**X3, "pads": known(0, 1, 0, 0, 2, 0)},
    ),
    Row(
        op="Slice", form="map", text="a b c : X[a,b+1,4-2*c] -> Y[a,b,c]",
        inputs={**X3, "starts": known(1, 4), "ends": known(3, -6), "axes": known(1, 2), "steps": known(1, -2)},
    ),
    Row(op="Squeeze", form="map", text="a c : X[a,0,c] -> Y[a,c]", inputs={"X": f32(2, 1, 5), "axes": known(1)}),
    Row(op="Unsqueeze", form="map", text="a b : X[a,b] -> Y[a,0,b]", inputs={"X": f32(2, 5), "axes": known(1)}),
    Row(op="Shape", form="map", text="i : -> Y[i]", note="a constant", inputs=X3),
    Row(
        op="Gather", form="map", text="a i b : X[a,:,b] I[i] -> Y[a,i,b]", attributes={"axis": 1},
        note="the indexed axis is whole; constant indices that form a range are a Slice",
        inputs={**X3, "I": ints("int64", 3, 4)},
    ),
    reduction("ReduceMean"),
    unary("LeakyRelu"),
    unary("HardSwish"),
    unary("HardSigmoid"),
    unary("Dropout"),
    unary("Sqrt"),
    binary("Pow"),
    Row(
        op="Split", form="map", text="a b c : X[a,b,c+2] -> Y[a,b,c]", outputs=("", "Y"), attributes={"axis": 2},
        note="one Slice for each output; this is the second", inputs={**X3, "split": known(2, 3)},
    ),
    Row(
        op="Resize", form="map", text=BLEND, names={"sh": 2, "sw": 3},
        note="nearest with whole factors; others supply a footprint: a few rows around a fraction",
        inputs={"X": f32(3, 4), "roi": known(dtype="float32"), "scales": known(2, 3, dtype="float32")},
        attributes={"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
    ),
    Row(
        op="ConvTranspose", form="map",
        text="n o h w c j<kh x : X[n,c,(h+ph)//sh-j?,w-x?] W[c,o,(h+ph)%sh+j*sh?,x] B[o] -> Y[n,o,h,w]",
        note="gathers: each output row sees every sh-th row of the filter", names={"sh": 2, "ph": 1, "kh": 2},
        inputs={"X": f32(1, 2, 4, 3), "W": f32(2, 3, 3, 2), "B": f32(3)},
        attributes={"strides": [2, 1], "pads": [1, 0, 1, 0]},
    ),
    Row(
        op="QLinearConv", form="map", names=CONVOLVED, attributes=CONV_ATTRIBUTES,
        text="n o h w c<cg y x : X[n,o//og*cg+c,h*sh+y-ph?,w*sw+x*dw-pw?] W[o,c,y,x] -> Y[n,o,h,w]",
        inputs={
            "X": quantised(2, 4, 7, 6), "xs": SCALARS["xs"], "xz": ZEROS["xz"], "W": quantised(4, 2, 3, 2),
            "ws": SCALARS["ws"], "wz": ZEROS["wz"], "ys": known(9, dtype="float32").reshape(()), "yz": ZEROS["yz"],
        },
    ),
    Row(
        op="QLinearMatMul", form="map", text="m n k : A[...,m,k] B[...,k,n] -> Y[...,m,n]",
        inputs={
            "A": quantised(2, 3, 4), "xs": SCALARS["xs"], "xz": ZEROS["xz"], "B": quantised(4, 5),
            "ws": SCALARS["ws"], "wz": ZEROS["wz"], "ys": known(9, dtype="float32").reshape(()), "yz": ZEROS["yz"],
        },
    ),
    recurrent("LSTM", 4),
    recurrent("GRU", 3),
    recurrent("RNN", 1),
    Row(
        op="LayerNormalization", form="map", text=": X[...,:] scale[:] B[:] -> Y[...,:]",
        note="several passes over a row, so rows are whole", inputs={**X3, "scale": f32(5), "B": f32(5)},
    ),
    *(unary(op) for op in ("Gelu", "Erf", "Exp", "Log", "Neg", "Abs", "Reciprocal")),
    *(reduction(op) for op in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2")),
    *(binary(op) for op in ("Max", "Min", "Sum")),
    Row(op="Mean", form="map", text=BROADCAST, inputs={"A": f32(2, 4, 5), "B": f32(4, 5)}),
    Row(
        op="Where", form="map", text=": C[...] A[...] B[...] -> Y[...]",
        inputs={"C": flags(2, 1, 5), "A": f32(4, 5), "B": f32(1)},
    ),
    *(binary(op) for op in ("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")),
    *(binary(op, flags) for op in ("And", "Or", "Xor")),
    unary("Not", {"X": flags(2, 3)}),
    Row(op="Expand", form="map", text=ELEMENTWISE, inputs={"X": f32(3, 1), "shape": known(2, 3, 4)}),
    Row(
        op="Tile", form="map", text="a b : X[a%m,b%n] -> Y[a,b]", names={"m": 2, "n": 3},
        inputs={"X": f32(2, 3), "repeats": known(2, 3)},
    ),
    arg("ArgMax"),
    arg("ArgMin"),
    Row(
        op="DepthToSpace", form="map", text="n c h w : X[n,(h%s*s+w%s)*cs+c,h//s,w//s] -> Y[n,c,h,w]",
        inputs={"X": f32(1, 8, 2, 3)}, attributes={"blocksize": 2}, names={"s": 2, "cs": 2},
    ),
    Row(
        op="SpaceToDepth", form="map", text="n c h w : X[n,c%cs,h*s+c//cs//s,w*s+c//cs%s] -> Y[n,c,h,w]",
        inputs={"X": f32(1, 3, 4, 6)}, attributes={"blocksize": 2}, names={"s": 2, "cs": 3},
    ),
    Row(op="PRelu", form="map", text=BROADCAST, inputs={"A": f32(2, 3, 5), "B": f32(3, 1)}),
    *(unary(op) for op in ("Elu", "Selu", "Softplus", "Softsign")),
    Row(op="LogSoftmax", form="map", text=ROWS_WHOLE, inputs=X3),
    *(unary(op) for op in ("Floor", "Ceil", "Round")),
    Row(
        op="InstanceNormalization", form="map", text="n c : X[n,c,:,:] scale[c] B[c] -> Y[n,c,:,:]",
        inputs={**IMAGE, "scale": f32(3), "B": f32(3)},
    ),
    Row(
        op="GroupNormalization", form="footprint",
        note="a loop over groups whose window is all channels of the group: part of an axis, whole",
    ),
    Row(op="ConstantOfShape", form="map", text="i j : -> Y[i,j]", note="a constant", inputs={"shape": known(2, 3)}),
    Row(
        op="Range", form="map", text="i : -> Y[i]", note="a constant",
        inputs={"start": known(1).reshape(()), "limit": known(9).reshape(()), "delta": known(2).reshape(())},
    ),
    Row(
        op="MatMulInteger", form="map", text="m n k : A[...,m,k] B[...,k,n] -> Y[...,m,n]",
        inputs={"A": quantised(2, 3, 4), "B": quantised(4, 5)},
    ),
    Row(
        op="ConvInteger", form="map", names=CONVOLVED, attributes=CONV_ATTRIBUTES,
        text="n o h w c<cg y x : X[n,o//og*cg+c,h*sh+y-ph?,w*sw+x*dw-pw?] W[o,c,y,x] -> Y[n,o,h,w]",
        inputs={"X": quantised(2, 4, 7, 6), "W": quantised(4, 2, 3, 2)},
    ),
    Row(op="DynamicQuantizeLinear", form="whole", note="the scale of every element depends on all elements"),
    Row(
        op="LRN", form="map", text="n c h w j<size : X[n,c+j-1?,h,w] -> Y[n,c,h,w]", attributes={"size": 3},
        inputs={"X": f32(1, 5, 2, 3)}, names={"size": 3},
    ),
    Row(op="GlobalMaxPool", form="map", text="n c h w : X[n,c,h,w] -> Y[n,c,0,0]", inputs=IMAGE),
    Row(
        op="Upsample", form="map", text=BLEND, names={"sh": 2, "sw": 3}, opset=9,
        note="nearest; linear supplies a footprint, as Resize",
        inputs={"X": f32(3, 4), "scales": known(2, 3, dtype="float32")},
    ),
    *(unary(op) for op in ("Swish", "Mish", "Sin", "Cos")),
    *(reduction(op) for op in ("ReduceProd", "ReduceL1", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")),
)  # fmt: skip

MAPS = [row for row in ROWS if row.form == "map"]


def evaluate(row: Row, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """What ONNX's reference evaluator computes for one node."""
    outputs = [name or "unused" for name in row.outputs]
    node = helper.make_node(row.op, list(arrays), outputs, **row.attributes)
    inputs = [helper.make_tensor_value_info(name, kind(array), array.shape) for name, array in arrays.items()]
    results = [helper.make_tensor_value_info(name, onnx.TensorProto.UNDEFINED, None) for name in outputs]
    graph = helper.make_graph([node], "one", inputs, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", row.opset)])
    found = ReferenceEvaluator(model).run(None, dict(arrays))
    return {name: np.asarray(array) for name, array in zip(outputs, found, strict=True) if name != "unused"}


def kind(array: Array) -> int:
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))


def draw(row: Row, random: np.random.Generator) -> dict[str, Array]:
    return {name: make if isinstance(make, np.ndarray) else make(random) for name, make in row.inputs.items()}


def bound(row: Row, arrays: Mapping[str, Array], results: Mapping[str, Array]) -> MapAccess:
    operands = [name for name, _ in parse_map(row.text).operands]
    shapes = {name: array.shape for name, array in {**arrays, **results}.items() if name in operands}
    return parse_map(row.text).bind(shapes, row.names).verify()


def random_box(access: MapAccess, random: np.random.Generator) -> Box:
    """Some trips of every parallel loop, all trips of a reduction, and a sequential one from its start."""
    box = {}
    for loop in access.loops:
        low, high = sorted(int(end) for end in random.choice(loop.extent + 1, 2, replace=False))
        box[loop.name] = {"parallel": (low, high), "sequential": (0, high)}.get(loop.kind, (0, loop.extent))
    return box


def inside(access: MapAccess, operand: str, box: Box) -> tuple[slice, ...]:
    return tuple(slice(span.low, span.high) for span in access.window(operand, box))


@pytest.mark.parametrize("row", MAPS, ids=lambda row: row.op)
def test_nothing_outside_the_windows_matters(row: Row) -> None:
    random = np.random.default_rng(len(row.op))
    arrays = draw(row, random)
    results = evaluate(row, arrays)
    access = bound(row, arrays, results)
    for _ in range(4):
        box = random_box(access, random)
        assert window_errors(access, box) == []
        changed = draw(row, random)
        for name in access.inputs:
            cut = inside(access, name, box)
            changed[name] = changed[name].copy()
            changed[name][cut] = arrays[name][cut]
        for name, array in evaluate(row, changed).items():
            cut = inside(access, name, box)
            assert np.array_equal(array[cut], results[name][cut]), (name, box)


def test_a_window_that_is_too_small_is_noticed() -> None:
    row = Row(op="MaxPool", form="map", text=POOL, inputs=IMAGE, attributes=POOL_ATTRIBUTES, names={**POOLED, "kw": 1})
    random = np.random.default_rng(0)
    arrays = draw(row, random)
    results = evaluate(row, arrays)
    access = bound(row, arrays, results)
    box = {loop.name: (0, 1) if loop.kind == "parallel" else (0, loop.extent) for loop in access.loops}
    changed = {"X": arrays["X"] + 1}
    changed["X"][inside(access, "X", box)] = arrays["X"][inside(access, "X", box)]
    cut = inside(access, "Y", box)
    assert not np.array_equal(evaluate(row, changed)["Y"][cut], results["Y"][cut])


def test_every_operator_is_tried_once() -> None:
    assert [row.op for row in ROWS] == [*TIER_1, *TIER_2]
    assert (len(TIER_1), len(TIER_2)) == (42, 63)
    assert {row.form for row in ROWS} == {"map", "footprint", "whole"}
    assert all(row.note for row in ROWS if row.form != "map")


def page() -> str:
    """The documentation: the notation, then one line for each operator."""
    lines = [
        "# Index maps",
        "",
        "An index map is one line that says which elements of its operands a kernel reads and writes. From it the core",
        "derives tile shapes, halos, copies and remainders. The notation is that of `tilewright.ir.access.index_map`:",
        "",
        "* loops first, then inputs, then outputs; `n<extent` declares an extent that no operand shows, `~t` a loop",
        "  that must run in order;",
        "* a loop that indexes every output is parallel, any other is a reduction;",
        "* indices are sums of loops times constants, with `//`, `%` and `clamp(index, low, high)`; other names are",
        "  attributes;",
        "* `:` is the whole axis, `...` all leading axes (broadcast, aligned at the right), and `?` marks an index",
        "  that may fall outside, where padding is read.",
        "",
        "What no map expresses supplies its footprint as a function, or is whole. Below is every operator of the two",
        "tiers that come first, as a test holds it against ONNX's reference evaluator: whatever is outside a box's",
        "windows may change without changing the outputs in the box.",
    ]
    for title, operators in (("Tier 1", TIER_1), ("Tier 2", TIER_2)):
        rows = [row for row in ROWS if row.op in operators]
        counts = [f"{sum(row.form == form for row in rows)} {form}" for form in ("map", "footprint", "whole")]
        lines += [
            "",
            f"## {title}: {', '.join(counts)}",
            "",
            "| operator | form | index map | remark |",
            "|---|---|---|---|",
        ]
        for row in rows:
            text = f"`{row.text}`" if row.text else ""
            lines.append(f"| {row.op} | {row.form} | {text} | {row.note} |")
    return "\n".join(lines) + "\n"


def test_the_page_is_this_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), f"write it with: python {Path(__file__).name}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
