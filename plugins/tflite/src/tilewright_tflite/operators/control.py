"""Knows IF and WHILE: graphs of the file that another one runs, as the bodies of If and Loop. Which branch is taken and
how often a body runs is worked out where ONNX is read. Does not know other operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.onnx_types import declared


def _body(net: Network, index: int, arguments: Sequence[str]) -> tuple[Network, list[Tensor]]:
    """A graph of the file with these values for its inputs, converted; and its outputs."""
    inner = net.nested(index)
    tensors, inputs = inner.graph.tensors, inner.graph.inputs
    if len(inputs) != len(arguments):
        raise RefusedError(f"graph {index} has {len(inputs)} inputs, and is given {len(arguments)}")
    for place, value in zip(inputs, arguments, strict=True):
        inner.take(tensors[place], value)
    inner.convert()
    if inner.state_inputs:
        raise RefusedError(f"graph {index} keeps state")
    return inner, [tensors[place] for place in inner.graph.outputs]


def _results(inner: Network, outputs: Sequence[Tensor], forms: Sequence[Tensor]) -> list[str]:
    """Values of a body that nothing outside of it has, for tensors of these forms."""
    if [(output.type, output.shape) for output in outputs] != [(form.type, form.shape) for form in forms]:
        raise RefusedError(f"'{inner.graph.name}' gives other types or shapes than are expected")
    return [inner.node("Identity", (inner.stored(tensor),)) for tensor in outputs]


def _graph(inner: Network, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    from onnx import helper

    return helper.make_graph(inner.nodes, inner.fresh("body"), inputs, outputs)


def _declared(names: Sequence[str], forms: Sequence[Tensor]) -> list[Any]:
    return [declared(name, form.type, form.shape) for name, form in zip(names, forms, strict=True)]


def _put(net: Network, outputs: Sequence[Tensor], kind: str, inputs: Sequence[str], **bodies: Any) -> None:
    """The node, whose outputs are the operator's."""
    names = [net.name(tensor) for tensor in outputs]
    net.split(kind, inputs, names, **bodies)
    for tensor, name in zip(outputs, names, strict=True):
        net.take(tensor, name)


def _if(op: Operator, net: Network) -> None:
    condition, forms = net.input(op, 0), [net.output(op, index) for index in range(len(op.outputs))]
    arguments = [net.stored(net.input(op, index)) for index in range(1, len(op.inputs))]
    bodies = {}
    for name, number in (("then_branch", 0), ("else_branch", 1)):
        inner, outputs = _body(net, op.options.integer(number), arguments)
        results = _results(inner, outputs, forms)
        bodies[name] = _graph(inner, [], _declared(results, forms))
    _put(net, forms, "If", (_truth(net, condition),), **bodies)


def _while(op: Operator, net: Network) -> None:
    """The condition is asked before the first iteration and, in the body, behind each."""
    forms = [net.input(op, index) for index in range(len(op.inputs))]
    condition_graph, arguments = op.options.integer(0), [net.stored(form) for form in forms]
    going = _going(net, condition_graph, arguments)
    inputs = [net.fresh("trip"), net.fresh("going"), *(net.fresh(f"{net.name(form)}_carried") for form in forms)]
    inner, outputs = _body(net, op.options.integer(1), inputs[2:])
    inner.begin(op)
    results = _results(inner, outputs, forms)
    condition = _going(inner, condition_graph, results)
    heads = [declared(inputs[0], "int64", ()), declared(inputs[1], "bool", ())]
    ends = [declared(condition, "bool", ()), *_declared(results, forms)]
    body = _graph(inner, [*heads, *_declared(inputs[2:], forms)], ends)
    _put(net, [net.output(op, index) for index in range(len(op.outputs))], "Loop", ("", going, *arguments), body=body)


def _going(net: Network, condition_graph: int, arguments: Sequence[str]) -> str:
    """What a condition says of these values, in the graph that has them."""
    inner, outputs = _body(net, condition_graph, arguments)
    if len(outputs) != 1:
        raise RefusedError(f"graph {condition_graph} is no condition")
    value = _truth(inner, outputs[0])
    net.nodes.extend(inner.nodes)
    return value


def _truth(net: Network, tensor: Tensor) -> str:
    """A condition as a scalar of its own."""
    if tensor.type != "bool" or any(extent != 1 for extent in tensor.shape):
        raise RefusedError(f"its condition is {tensor.described}")
    return net.reshaped(net.stored(tensor), ())


CONVERSIONS: tuple[Conversion, ...] = (
    conversion("IF", _if, 92),
    conversion("WHILE", _while, 93),
)
