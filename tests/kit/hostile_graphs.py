"""Graphs that ask for what no machine has: extents, tensors, trips, nodes, names and references without end.

Everything here is valid protobuf; `hostile_bytes` has what is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from small_models import model, one

node = helper.make_node
F32 = np.float32
HUGE, LARGEST, SMALLEST = 1 << 40, (1 << 63) - 1, -(1 << 63)
IMAGE = (1, 1, 8, 8)
KERNEL = {"w": np.ones((1, 1, 3, 3), F32)}
Make = Callable[[], ModelProto]


def relu(**changes: Any) -> ModelProto:
    """One Relu."""
    return model(node("Relu", ["x"], ["y"], name="r"), **changes)


def whole(*numbers: int) -> Any:
    """A vector of int64."""
    return np.array(numbers, np.int64)


def declared(*dims: int, kind: int = TensorProto.FLOAT, content: bytes = b"") -> ModelProto:
    """An initialiser that says so many elements, and has these bytes."""
    made = model(node("Add", ["x", "w"], ["y"]))
    made.graph.initializer.append(TensorProto(name="w", data_type=kind, dims=dims, raw_data=content))
    return made


def body(nodes: Sequence[NodeProto], inputs: Sequence[str], outputs: Sequence[str], name: str = "body") -> GraphProto:
    """A body of control flow; an input `i` counts, and `c` is a condition."""
    kinds = {"i": (TensorProto.INT64, []), "c": (TensorProto.BOOL, [])}
    ends = {
        each: helper.make_tensor_value_info(each, *kinds.get(each, (TensorProto.FLOAT, [1, 4])))
        for each in (*inputs, *outputs)
    }
    unknown = [helper.make_tensor_value_info(each, TensorProto.UNDEFINED, None) for each in outputs]
    return helper.make_graph(list(nodes), name, [ends[each] for each in inputs], unknown)


def loop(trips: int | None, *nodes: NodeProto, goes_on: bool = True) -> NodeProto:
    """x through the nodes from `v` to `w`, `trips` times; reads the constant `m` where there are trips."""
    work = nodes or (node("Relu", ["v"], ["w"]),)
    condition = node("Constant", [], ["d"], value=numpy_helper.from_array(np.array(goes_on)))
    inner = body([condition, *work], ["i", "c", "v"], ["d", "w"])
    return node("Loop", ["m" if trips is not None else "", "", "x"], ["y"], body=inner)


def looped(trips: int | None, *nodes: NodeProto) -> ModelProto:
    """A model of one loop."""
    return model(loop(trips, *nodes), constants={} if trips is None else {"m": np.int64(trips)})


def nested_loops(levels: int, trips: int) -> ModelProto:
    """Loops in loops: trips ^ levels of one Relu."""
    inner: tuple[NodeProto, ...] = ()
    for _ in range(levels):
        condition = node("Constant", [], ["d"], value=numpy_helper.from_array(np.array(True)))
        work = inner or (node("Relu", ["v"], ["w"]),)
        inner = (node("Loop", ["m", "", "v"], ["w"], body=body([condition, *work], ["i", "c", "v"], ["d", "w"])),)
    last = node("Loop", ["m", "", "x"], ["y"], body=inner[0].attribute[0].g)
    return model(last, constants={"m": np.int64(trips)})


def nested_ifs(levels: int) -> ModelProto:
    """Branches in branches."""
    inside = node("Relu", ["x"], ["b"])
    for level in range(levels):
        other = body([node("Neg", ["x"], ["b"])], [], ["b"], f"else{level}")
        inside = node("If", ["c"], ["b"], then_branch=body([inside], [], ["b"], f"then{level}"), else_branch=other)
    inside.output[0] = "y"
    return model(inside, constants={"c": np.array(True)})


def calling(functions: Sequence[FunctionProto], name: str) -> ModelProto:
    """One call."""
    made = model(node(name, ["x"], ["y"], domain="me"), domains=["me"])
    made.functions.extend(functions)
    return made


def function(name: str, *nodes: NodeProto) -> FunctionProto:
    """A function from `a` to `b`."""
    return helper.make_function(
        "me", name, ["a"], ["b"], list(nodes), [helper.make_opsetid("", 17), helper.make_opsetid("me", 1)]
    )


def call(name: str, source: str, result: str) -> NodeProto:
    """A call of a function of domain `me`."""
    return node(name, [source], [result], domain="me")


def bomb(levels: int) -> ModelProto:
    """Every function calls the one below it twice."""
    functions = [function("f0", node("Relu", ["a"], ["b"]))]
    functions += [function(f"f{i}", call(f"f{i - 1}", "a", "t"), call(f"f{i - 1}", "t", "b")) for i in range(1, levels)]
    return calling(functions, f"f{levels - 1}")


def circle(length: int) -> ModelProto:
    """Functions that call each other around."""
    return calling([function(f"f{i}", call(f"f{(i + 1) % length}", "a", "b")) for i in range(length)], "f0")


def chain(length: int, op: str = "Relu", *, backwards: bool = False) -> ModelProto:
    """Nodes one after another, in the file `backwards` or not."""
    nodes = [node(op, [f"v{i}"], [f"v{i + 1}"]) for i in range(length)]
    return model(*(reversed(nodes) if backwards else nodes), inputs={"v0": (1, 4)}, outputs=[f"v{length}"])


def doubling(levels: int) -> ModelProto:
    """Each value joined with itself: 2 ^ levels of the input."""
    nodes = [node("Concat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], axis=1) for i in range(levels)]
    return model(*nodes, inputs={"v0": (1, 4)}, outputs=[f"v{levels}"])


def folded_doubling(levels: int) -> ModelProto:
    """The same of a constant shape, which is computed at compile time."""
    nodes = [node("Concat", [f"v{i}", f"v{i}"], [f"v{i + 1}"], axis=0) for i in range(levels)]
    read = node("Reshape", ["x", f"v{levels}"], ["y"])
    return model(*nodes, read, constants={"v0": whole(1, 4)})


def edited(change: Callable[[ModelProto], object], made: ModelProto | None = None) -> ModelProto:
    """A model after a change."""
    made = made or relu()
    change(made)
    return made


EXTENTS: Mapping[str, Make] = {
    "x of 2^31 by 2^31": lambda: relu(inputs={"x": (1 << 31, 1 << 31)}),
    "x of 2^62 by 4, which is 0 in 64 bits": lambda: relu(inputs={"x": (1 << 62, 4)}),
    "x of 2^63 - 1": lambda: relu(inputs={"x": (LARGEST,)}),
    "x of 65536 four times": lambda: relu(inputs={"x": (65536,) * 4}),
    "x of 0 by 2^62": lambda: relu(inputs={"x": (0, 1 << 62)}),
    "x of -1": lambda: relu(inputs={"x": (-1, 4)}),
    "x of -2^63": lambda: relu(inputs={"x": (SMALLEST, 4)}),
    "x of 33 axes": lambda: relu(inputs={"x": (1,) * 33}),
    "x of 100,000 axes": lambda: relu(inputs={"x": (1,) * 100_000}),
    "x of a symbol that is C": lambda: relu(inputs={"x": ("1]; evil(); int a[1", 4)}),
    "x just over the limit": lambda: relu(inputs={"x": ((16 << 20) + 1,)}),
    "a constant of 2^40": lambda: declared(HUGE),
    "a constant of 2^62 by 4": lambda: declared(1 << 62, 4),
    "a constant of -1": lambda: declared(-1, content=b"\0" * 4),
    "a constant of -1 by -4": lambda: declared(-1, -4, content=b"\0" * 16),
    "a constant of 0 by 2^62": lambda: declared(0, 1 << 62),
    "a constant of half its bytes": lambda: declared(1, 4, content=b"\0" * 8),
    "a constant of twice its bytes": lambda: declared(1, 4, content=b"\0" * 32),
    "a constant of no type": lambda: declared(1, 4, kind=0, content=b"\0" * 16),
    "a constant of type 99": lambda: declared(1, 4, kind=99, content=b"\0" * 16),
    "a constant of text in bytes": lambda: declared(1, 4, kind=TensorProto.STRING, content=b"\0" * 16),
    "an output declared 2^40": lambda: edited(
        lambda made: made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [HUGE]))
    ),
}

PARAMETERS: Mapping[str, Make] = {
    "Reshape to 2^32 by 2^32": lambda: one("Reshape", constants={"s": whole(1 << 32, 1 << 32)}),
    "Reshape to 2^32 by 2^32 by 0": lambda: one("Reshape", constants={"s": whole(1 << 32, 1 << 32, 0)}),
    "Reshape to -2^63": lambda: one("Reshape", constants={"s": whole(SMALLEST)}),
    "Reshape to 100,000 axes": lambda: one("Reshape", constants={"s": np.ones(100_000, np.int64)}),
    "Expand to 2^40": lambda: one("Expand", constants={"s": whole(HUGE, 4)}),
    "Tile 2^62 times": lambda: one("Tile", constants={"s": whole(1 << 62, 4)}),
    "Tile -1 times": lambda: one("Tile", constants={"s": whole(-1, 1)}),
    "Pad by 2^40": lambda: one("Pad", constants={"p": whole(0, HUGE, 0, 0)}),
    "Pad by -2^63": lambda: one("Pad", constants={"p": whole(0, SMALLEST, 0, 0)}),
    "Pad by 2^62 and back": lambda: one("Pad", constants={"p": whole(0, 1 << 62, 0, -(1 << 62))}),
    "Slice in steps of -2^63": lambda: one(
        "Slice", constants={"s": whole(3), "e": whole(SMALLEST), "a": whole(1), "t": whole(SMALLEST)}
    ),
    "Slice along axis 2^63 - 1": lambda: one("Slice", constants={"s": whole(0), "e": whole(1), "a": whole(LARGEST)}),
    "Gather 2^62": lambda: one("Gather", constants={"i": whole(1 << 62)}),
    "TopK of 2^62": lambda: edited(
        lambda made: made.graph.node[0].output.append("z"), one("TopK", constants={"k": whole(1 << 62)})
    ),
    "Split into 2^62 and -2^62": lambda: edited(
        lambda made: made.graph.node[0].output.append("z"),
        one("Split", constants={"s": whole(1 << 62, 4 - (1 << 62))}, axis=1),
    ),
    "OneHot of 2^40": lambda: one(
        "OneHot", constants={"d": whole(HUGE), "v": np.array([0, 1], F32)}, element=TensorProto.INT64
    ),
    "ConstantOfShape of 2^40": lambda: model(
        node("ConstantOfShape", ["s"], ["c"]), node("Add", ["x", "c"], ["y"]), constants={"s": whole(HUGE)}
    ),
    "ConstantOfShape of -1": lambda: model(
        node("ConstantOfShape", ["s"], ["c"]), node("Add", ["x", "c"], ["y"]), constants={"s": whole(-1)}
    ),
    "Range to 2^62": lambda: model(
        node("Range", ["a", "b", "d"], ["c"]),
        node("Cast", ["c"], ["f"], to=1),
        node("Add", ["x", "f"], ["y"]),
        constants={"a": np.int64(0), "b": np.int64(1 << 62), "d": np.int64(1)},
    ),
    "Range in steps of 0": lambda: model(
        node("Range", ["a", "b", "d"], ["c"]),
        node("Add", ["x", "c"], ["y"]),
        constants={"a": F32(0), "b": F32(4), "d": F32(0)},
    ),
    "Range to infinity": lambda: model(
        node("Range", ["a", "b", "d"], ["c"]),
        node("Add", ["x", "c"], ["y"]),
        constants={"a": F32(0), "b": F32("inf"), "d": F32(1)},
    ),
    "Resize by 1e30": lambda: model(
        node("Resize", ["x", "", "s"], ["y"]), inputs={"x": IMAGE}, constants={"s": np.array([1, 1, 1e30, 1], F32)}
    ),
    "Resize by infinity": lambda: model(
        node("Resize", ["x", "", "s"], ["y"]), inputs={"x": IMAGE}, constants={"s": np.array([1, 1, np.inf, 1], F32)}
    ),
    "Resize to 2^62": lambda: model(
        node("Resize", ["x", "", "", "s"], ["y"]), inputs={"x": IMAGE}, constants={"s": whole(1, 1, 1 << 62, 8)}
    ),
    "a window of 2^40": lambda: model(
        node("HannWindow", ["n"], ["h"]), node("Add", ["x", "h"], ["y"]), constants={"n": np.int64(HUGE)}
    ),
    "mel weights of 2^40 bands": lambda: model(
        node("MelWeightMatrix", [*"abcde"], ["m"]),
        node("Add", ["x", "m"], ["y"]),
        constants={"a": np.int64(HUGE), "b": np.int64(8), "c": np.int64(8000), "d": F32(0), "e": F32(4000)},
    ),
    "DFT of 2^40": lambda: one("DFT", constants={"n": np.int64(HUGE)}, shape=(1, 8, 1)),
    "AffineGrid to 2^40": lambda: one(
        "AffineGrid", constants={"s": whole(1, 1, HUGE, 1)}, shape=(1, 2, 3), opset=20
    ),
    "Col2Im to 2^40": lambda: one("Col2Im", constants={"i": whole(HUGE), "b": whole(2)}, shape=(1, 2, 3), opset=18),
    "MaxUnpool to 2^40": lambda: one(
        "MaxUnpool", constants={"i": np.zeros(IMAGE, np.int64)}, shape=IMAGE, kernel_shape=[2, 2], strides=[HUGE, 1]
    ),
    "EyeLike of 64 MiB as int64": lambda: one(
        "EyeLike", shape=(8192, 8192), element=TensorProto.UINT8, dtype=TensorProto.INT64
    ),
    "Trilu of 64 MiB": lambda: one("Trilu", shape=(8192, 8192), element=TensorProto.UINT8),
    "ReverseSequence of 64 MiB": lambda: one(
        "ReverseSequence", constants={"n": np.ones(8192, np.int64)}, shape=(8192, 8192), element=TensorProto.UINT8,
        time_axis=0, batch_axis=1,
    ),
    "Resize to 64 MiB": lambda: model(
        node("Resize", ["x", "", "", "s"], ["y"]), inputs={"x": IMAGE}, element=TensorProto.UINT8,
        constants={"s": whole(1, 1, 1, 64 << 20)},
    ),
    "a cubic Resize from 20,000 to 40,000": lambda: model(
        node("Resize", ["x", "", "", "s"], ["y"], mode="cubic"), inputs={"x": (1, 1, 20_000)},
        constants={"s": whole(1, 1, 40_000)},
    ),
    "a kernel of 2^40": lambda: one("MaxPool", shape=IMAGE, kernel_shape=[HUGE, HUGE]),
    "pads of 2^62": lambda: one("AveragePool", shape=IMAGE, kernel_shape=[3, 3], pads=[1 << 62] * 4),
    "strides of 2^62": lambda: one("Conv", constants=KERNEL, shape=IMAGE, strides=[1 << 62, 1]),
    "dilations of 2^62": lambda: one("Conv", constants=KERNEL, shape=IMAGE, dilations=[1 << 62, 1]),
    "0 groups": lambda: one("Conv", constants=KERNEL, shape=IMAGE, group=0),
    "-2^63 groups": lambda: one("Conv", constants=KERNEL, shape=IMAGE, group=SMALLEST),
    "a transposed convolution to 2^40": lambda: one(
        "ConvTranspose", constants=KERNEL, shape=IMAGE, output_shape=[HUGE, HUGE]
    ),
    "a transposed convolution in strides of 2^40": lambda: one(
        "ConvTranspose", constants=KERNEL, shape=IMAGE, strides=[HUGE, HUGE]
    ),
    "LRN over 2^62 channels": lambda: one("LRN", shape=IMAGE, size=1 << 62),
    "blocks of 2^31": lambda: one("DepthToSpace", shape=IMAGE, blocksize=1 << 31),
    "Softmax along axis -2^63": lambda: one("Softmax", axis=SMALLEST),
    "Transpose by 2^63 - 1": lambda: one("Transpose", perm=[LARGEST, 0]),
    "Unsqueeze 2^63 - 1": lambda: one("Unsqueeze", constants={"a": whole(LARGEST)}),
    "Trilu from 2^63 - 1": lambda: one("Trilu", constants={"k": np.int64(LARGEST)}),
    "Einsum of 52 letters": lambda: model(
        node("Einsum", ["x", "x"], ["y"], equation="abcdefghijklmnopqrstuvwxyz,ABCDEFGHIJKLMNOPQRSTUVWXYZ->"),
        inputs={"x": (2,) * 26},
    ),
    "Einsum to 2^40": lambda: model(
        node("Einsum", ["x", "x", "x", "x"], ["y"], equation="a,b,c,d->abcd"), inputs={"x": (1024,)}
    ),
    "LSTM of 2^40": lambda: one(
        "LSTM", constants={"w": np.ones((1, 4, 4), F32), "r": np.ones((1, 4, 1), F32)}, shape=(2, 1, 4),
        hidden_size=HUGE,
    ),
    "an integer divided by 0": lambda: model(
        node("Div", ["a", "b"], ["c"]),
        node("Reshape", ["x", "c"], ["y"]),
        constants={"a": whole(4), "b": whole(0)},
    ),
    "the smallest integer divided by -1": lambda: model(
        node("Div", ["a", "b"], ["c"]),
        node("Reshape", ["x", "c"], ["y"]),
        constants={"a": whole(SMALLEST), "b": whole(-1)},
    ),
    "a constant shifted by 200 bits": lambda: model(
        node("BitShift", ["a", "b"], ["c"], direction="LEFT"),
        node("Cast", ["c"], ["i"], to=TensorProto.INT64),
        node("Reshape", ["x", "i"], ["y"]),
        constants={"a": np.array([4], np.uint64), "b": np.array([200], np.uint64)},
    ),
    "a shape that is NaN": lambda: model(
        node("Cast", ["a"], ["c"], to=TensorProto.INT64),
        node("Reshape", ["x", "c"], ["y"]),
        constants={"a": np.array([np.nan, 1e30], F32)},
    ),
}  # fmt: skip

STRUCTURES: Mapping[str, Make] = {
    "a loop of 2^60 trips": lambda: looped(1 << 60),
    "a loop of 99,999 trips": lambda: looped(99_999, node("Relu", ["v"], ["a"]), node("Neg", ["a"], ["w"])),
    "a loop of 20 trips": lambda: looped(20, node("Sin", ["v"], ["w"])),
    "a loop of 200 trips": lambda: looped(200, node("Sin", ["v"], ["w"])),
    "a loop of -1 trips": lambda: looped(-1),
    "a loop without an end": lambda: looped(None),
    "a loop in itself, a thousand trips each, three deep": lambda: nested_loops(3, 1000),
    "a loop that doubles its value": lambda: looped(60, node("Concat", ["v", "v"], ["w"], axis=1)),
    "a scan over a million": lambda: model(
        node("Scan", ["x"], ["y"], body=body([node("Relu", ["v"], ["w"])], ["v"], ["w"]), num_scan_inputs=1),
        inputs={"x": (1_000_000, 1, 4)},
    ),
    "11 branches in each other": lambda: nested_ifs(11),
    "24 branches in each other": lambda: nested_ifs(24),
    "a bomb of 30 functions": lambda: bomb(30),
    "a bomb of 5,000 functions": lambda: bomb(5000),
    "a function that calls itself": lambda: circle(1),
    "a hundred functions around": lambda: circle(100),
    "a function that is not there": lambda: calling([], "f0"),
    "100,001 nodes": lambda: chain(100_001, "Identity"),
    "values doubled 60 times": lambda: doubling(60),
    "a constant doubled 60 times": lambda: folded_doubling(60),
    "a sum of 100,000": lambda: model(node("Sum", ["x"] * 100_000, ["y"])),
    "a sum of 100": lambda: model(node("Sum", ["x"] * 100, ["y"])),
    "a sum of 1,000": lambda: model(node("Sum", ["x"] * 1000, ["y"])),
    "a concatenation of 100,000": lambda: model(node("Concat", ["x"] * 100_000, ["y"], axis=0)),
    "an Einsum of 60,000": lambda: model(
        node("Einsum", ["x"] * 60_000, ["y"], equation=",".join(["ab"] * 60_000) + "->ab")
    ),
    "a node of 100,000 outputs": lambda: model(
        node("Split", ["x"], [f"y{i}" for i in range(100_000)]), outputs=["y0"]
    ),
    "100,001 initialisers": lambda: edited(
        lambda made: made.graph.initializer.extend(
            TensorProto(name=f"w{i}", data_type=1, dims=[1], raw_data=b"\0" * 4) for i in range(100_001)
        )
    ),
    "an attribute of a million integers": lambda: one("MaxPool", shape=IMAGE, kernel_shape=[1] * 1_000_000),
    "100,000 operator sets": lambda: edited(
        lambda made: made.opset_import.extend(helper.make_opsetid(f"d{i}", 1) for i in range(100_000))
    ),
    "two operator sets": lambda: edited(lambda made: made.opset_import.append(helper.make_opsetid("", 9))),
    "operator set 2^63 - 1": lambda: relu(opset=LARGEST),
    "operator set -1": lambda: relu(opset=-1),
    "a node that reads itself": lambda: model(node("Add", ["x", "y"], ["y"])),
    "a circle of 1,000 nodes": lambda: model(
        *(node("Add", ["x", f"v{(i - 1) % 1000}"], [f"v{i}"]) for i in range(1000)), outputs=["v0"]
    ),
    "a thousand nodes backwards": lambda: chain(1000, backwards=True),
    "a value that two nodes write": lambda: model(node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])),
    "a value that is an input, too": lambda: model(node("Relu", ["x"], ["x"]), outputs=["x"]),
    "two outputs of one name": lambda: relu(outputs=("y", "y")),
    "two nodes of one name": lambda: model(
        node("Relu", ["x"], ["a"], name="n"), node("Neg", ["a"], ["y"], name="n")
    ),
    "a name of 100,000 characters": lambda: model(node("Relu", ["x"], ["y" * 100_000]), outputs=["y" * 100_000]),
    "names that differ in case": lambda: model(node("Relu", ["x"], ["X"]), node("Neg", ["X"], ["y"])),
    "names that differ in a dot": lambda: model(
        node("Relu", ["a.b"], ["a_b"]), node("Neg", ["a_b"], ["y"]), inputs={"a.b": (1, 4)}
    ),
    "a name that is C": lambda: model(
        node("Relu", ["x"], ["*/\nint evil(void);/*"]), outputs=["*/\nint evil(void);/*"]
    ),
    "a producer that is C": lambda: edited(
        lambda made: setattr(made, "producer_name", "x\n#error injected\n")
    ),
    "a text that is C": lambda: edited(lambda made: setattr(made.graph, "doc_string", "*/\n#error injected\n/*")),
    "a name with a 0": lambda: model(node("Relu", ["x"], ["a\0b"]), outputs=["a\0b"]),
    "a name that turns around": lambda: model(node("Relu", ["x"], ["\u202egnp"]), outputs=["\u202egnp"]),
    "weights that are no numbers": lambda: one("Add", constants={"w": np.array([np.nan, np.inf, -np.inf, 0], F32)}),
    "no graph": lambda: edited(lambda made: made.ClearField("graph")),
    "no nodes": lambda: edited(lambda made: made.graph.ClearField("node")),
    "format 200": lambda: edited(lambda made: setattr(made, "ir_version", 200)),
    "format -1": lambda: edited(lambda made: setattr(made, "ir_version", -1)),
}  # fmt: skip

GRAPHS: Mapping[str, Make] = {**EXTENTS, **PARAMETERS, **STRUCTURES}
