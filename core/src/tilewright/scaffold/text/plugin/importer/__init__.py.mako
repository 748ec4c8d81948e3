"""An importer: it reads a file and says in the words of ONNX what that means."""

from tilewright.api import hookimpl, model_error, unsupported_error
from tilewright.api.importer import ImportedModel, Importer, KeptState

MARK = b"${macro} 1\n"


def load(data, reading):
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    def declared(name, size):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size])

    def constant(array, name):
        constants.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    nodes, constants, inputs, outputs, states, value, size = [], [], [], [], [], "", 0
    try:
        if not data.startswith(MARK):
            raise ValueError("it does not begin with ${macro} 1")
        lines = data[len(MARK) :].decode("ascii").splitlines()
        if len(lines) > reading.limits.nodes:
            raise ValueError("it has too many lines")
        for number, line in enumerate(lines, start=2):
            word, *rest = line.split()
            name, before = f"{word}_{number}", value
            if word == "input":
                value, size = rest[0], int(rest[1])
                inputs.append(declared(value, size))
            elif word == "dense":
                weights = np.array(rest, np.float32).reshape(-1, size + 1)  # of each row, the last is the bias
                parts = (constant(weights[:, :-1], f"{name}.w"), constant(weights[:, -1], f"{name}.b"))
                value, size = f"{name}.y", len(weights)
                nodes.append(helper.make_node("Gemm", [before, *parts], [value], name=name, transB=1))
            elif word == "smooth":
                value, old = f"{name}.y", f"{name}.before"
                half = constant(0.5, f"{name}.half")
                nodes.append(helper.make_node("Add", [before, old], [f"{name}.sum"]))
                nodes.append(helper.make_node("Mul", [f"{name}.sum", half], [value], name=name))
                inputs.append(declared(old, size))
                outputs.append(declared(value, size))
                states.append(KeptState(output=value, input=old))
            else:
                fix = ("use dense and smooth alone",)
                raise unsupported_error("TW2101", f"no layer is called {word!r}", where=f"line {number}", fix=fix)
    except (ValueError, IndexError) as error:
        raise model_error("TW1202", f"this is no such network: {error}", fix=("write the file again",)) from error
    nodes.append(helper.make_node("Identity", [value], ["scores"], name="scores"))
    graph = helper.make_graph(nodes, "net", inputs, [declared("scores", size), *outputs], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return ImportedModel(model=model, states=tuple(states))


FORMAT = Importer(
    name="${name}",
    summary="networks of ${title}, as lines of text",
    suffixes=(".${module}",),
    recognises=lambda data: data.startswith(MARK),
    load=load,
)


@hookimpl
def tilewright_importers():
    return (FORMAT,)
