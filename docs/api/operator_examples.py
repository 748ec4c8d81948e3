# %% before all examples
import numpy as np

from tilewright.api.graph import DType, Node, Site, Tensor
from tilewright.api.operator import (
    Access,
    Alias,
    Axis,
    Box,
    Conversion,
    Footprint,
    Import,
    Index,
    IndexMap,
    Loop,
    MapAccess,
    OnnxNode,
    Operator,
    Span,
    Term,
    Window,
    parse_map,
    whole,
)

# %% parse_map, IndexMap, MapAccess
# One line says which elements a convolution reads and writes: `h*2+y` is the row of X under tap y, for output row h.
text = "o h w c y x : X[c,h*2+y,w*2+x] W[o,c,y,x] -> Y[o,h,w]"
parsed: IndexMap = parse_map(text)
conv: MapAccess = parsed.bind({"X": (3, 9, 9), "W": (8, 3, 3, 3), "Y": (8, 4, 4)})
assert conv.inputs == ("X", "W")
assert conv.verify() is conv  # no index leaves its operand

# %% Loop
# Loops that index every output are parallel: their trips may be computed apart. The others are reductions.
assert conv.loops[0] == Loop(name="o", extent=8, kind="parallel")
assert [loop.name for loop in conv.loops if loop.kind == "reduce"] == ["c", "y", "x"]

# %% Box, Window, Span
# A tile is a box of loops. What it touches of an operand is a window, a span for each axis.
box: Box = {"o": (0, 8), "h": (1, 2), "w": (0, 4), "c": (0, 3), "y": (0, 3), "x": (0, 3)}
window: Window = conv.window("X", box)
assert window == (Span(low=0, high=3), Span(low=2, high=5), Span(low=0, high=9))
assert window[1].extent == 3

# %% Axis, Index, Term
# The parts of a bound map: the second axis of X is indexed by 2 * h + y.
rows: Axis = conv.axes["X"][1]
assert rows.index == Index((Term(2, "h"), Term(1, "y")))
assert rows.index.at({"h": 1, "y": 2}) == 4

# %% Access, Footprint, whole
# Where no map can say it, a function does; where nothing can be cut, `whole`. All three are an `Access`.
reverse: Access = Footprint(
    loops=(Loop(name="i", extent=10, kind="parallel"),),
    inputs=("X",),
    outputs=("Y",),
    windows=lambda operand, box: (
        (Span(low=box["i"][0], high=box["i"][1]),)
        if operand == "Y"
        else (Span(low=10 - box["i"][1], high=10 - box["i"][0]),)
    ),
)
assert reverse.window("X", {"i": (0, 3)}) == (Span(low=7, high=10),)
assert whole({"X": (4, 5)}, {"Y": (20,)}).window("X", {}) == (Span(low=0, high=4), Span(low=0, high=5))


# %% Import, OnnxNode, Conversion
# How a node of a file becomes nodes of tilewright's own. `graph.refuse` names the node, and why not.
def from_onnx(node: OnnxNode, graph: Conversion) -> None:
    if graph.tensor(node.inputs[0]).dtype is not DType.F32:
        raise graph.refuse(node, "X must be float32")
    graph.emit(node, "acme.Cube", node.inputs, node.outputs)


cube_import = Import(op_type="Cube", domain="com.acme", since=1, attributes={}, convert=from_onnx)


# %% Operator, Alias
# The first output's shape and type, exactly what is computed, and which elements of X an element of Y needs.
def infer(site: Site) -> tuple[Tensor, ...]:
    return (Tensor(name=site.node.outputs[0], dtype=site.input(0).dtype, shape=site.input(0).shape),)


cube = Operator(
    name="acme.Cube",
    inputs=("X",),
    outputs=("Y",),
    infer=infer,
    reference=lambda site, arrays: (np.asarray(arrays[0]) ** 3,),
    access=lambda site: parse_map(": X[...] -> Y[...]").bind({"X": site.input(0).shape, "Y": site.output.shape}),
    imports=(cube_import,),
)
x, y = (Tensor(name=name, dtype=DType.F32, shape=(2, 3)) for name in "xy")
site = Site(node=Node(name="n", op="acme.Cube", inputs=("x",), outputs=("y",)), inputs=(x,), outputs=(y,), constants={})
assert cube.infer(site) == (y,)
assert cube.reference(site, [np.full((2, 3), 2.0, np.float32)])[0].tolist() == [[8.0] * 3] * 2
# An operator that only shows bytes in another way says so: no element is moved, the output lies within the input.
assert Alias(value="y", of="x").offset == 0
