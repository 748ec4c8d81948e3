# %% before all examples
import onnx
from onnx import TensorProto, helper

from tilewright.api.importer import Dialect, FormatRuntime, ImportedModel, Importer, KeptState, Limits, Reading


# %% Importer
# A format by its bytes, its suffix, and a function that says in ONNX's words what a file means. This one has one line:
# how many numbers an input has, whose absolute values are the output.
def load(data: bytes, reading: Reading) -> ImportedModel:
    count = int(data.removeprefix(b"ABS "))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [count]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"], name="line 1")], "abs", [x], [y])
    return ImportedModel(model=helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))


lines = Importer(
    name="acme-abs",
    summary="one line of text",
    suffixes=(".abs",),
    recognises=lambda data: data.startswith(b"ABS "),
    load=load,
)
assert lines.recognises(b"ABS 4")

# %% FormatRuntime
# Another program that runs such files, for `--against`: the inputs of every run in, what it has computed out.
simulator = FormatRuntime(
    name="acme-sim",
    package="acme-tools",
    module="acme_tools",
    values=lambda data, reading, sets: [{"y": abs(values["x"])} for values in sets],
)
assert simulator.values(b"ABS 4", Reading(), [{"x": -2.0}]) == [{"y": 2.0}]

# %% ImportedModel
# What a file says: an onnx.ModelProto, state that the file keeps by itself, and how its integers are rounded where that
# is not ONNX's way.
found = lines.load(b"ABS 4", Reading())
assert isinstance(found, ImportedModel) and isinstance(found.model, onnx.ModelProto)
assert (found.states, found.arithmetic) == ((), "onnx")

# %% KeptState
# An output that is an input of the next run: what `--state` says of other files. It begins with zeros unless `initial`
# is given.
state = KeptState(output="memory_next", input="memory")
assert state.initial is None

# %% Reading
# Within which limits a file is read, and which of its networks is meant: `--network`. "" is the first, or the only one.
assert Reading(network="encoder").limits == Limits()

# %% Limits
# The most that a file may ask for, as the user has set it with `--limit`.
assert Limits(constant_bytes=1 << 20).constant_bytes == 1048576


# %% Dialect
# ONNX files that mean more than ONNX says: whether a model is one of them, and what it means in ONNX's words. `asked`
# has the types that `--io-type` asks for.
def speaks(model, asked):
    return any(node.op_type == "Double" for node in model.graph.node)


doubled = Dialect(
    name="acme-double",
    summary="ONNX with Double",
    speaks=speaks,
    translate=lambda model, asked, limits: ImportedModel(model=model),
)
assert not doubled.speaks(found.model, {})
