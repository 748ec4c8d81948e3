"""Knows variables: resources that a graph reads and assigns, and what a graph that runs once gives them at first. Each
is an input and an output that the file itself joins. Does not know operators that keep state of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator, Subgraph, Tensor
from tilewright_tflite.network import Network, Variable

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_HANDLE, _READ, _ASSIGN, _ONCE = "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"


def variables_of(graph: Subgraph) -> dict[int, Variable]:
    """The variables of a graph by the tensors that stand for them."""
    names = dict(_handles(graph))
    result = {name: Variable(name=name) for name in names.values()}
    for op in graph.operators:
        if op.code == _ASSIGN and op.inputs and op.inputs[0] in names:
            result[names[op.inputs[0]]].assigned = True
    return {index: result[name] for index, name in names.items()}


def _handles(graph: Subgraph) -> Iterator[tuple[int, str]]:
    for op in graph.operators:
        if op.code == _HANDLE and op.outputs:
            yield op.outputs[0], op.options.text(1) or op.options.text(0) or "variable"


def _first_values(graph: Subgraph, net: Network) -> Iterator[tuple[str, Array]]:
    """What a graph that runs once assigns: constants."""
    names, once = dict(_handles(graph)), Network(graph, net.limits)
    for op in graph.operators:
        if op.code == _HANDLE:
            continue
        array = once.known(once.input(op, 1)) if op.code == _ASSIGN else None
        if array is None or op.inputs[0] not in names:
            raise RefusedError(f"the graph that runs once has {op.code}; it may only assign constants to variables")
        yield names[op.inputs[0]], array


def _variable(op: Operator, net: Network) -> Variable:
    if not op.inputs or op.inputs[0] not in net.variables:
        raise RefusedError("its variable is none of this graph")
    return net.variables[op.inputs[0]]


def _handle(op: Operator, net: Network) -> None:
    """Nothing: see `variables_of`."""


def _once(op: Operator, net: Network) -> None:
    """What a graph that runs once gives to variables."""
    called = net.call(op.options.integer(0))
    variables = {variable.name: variable for variable in net.variables.values()}
    for name, array in _first_values(called, net):
        if name in variables:
            variables[name].initial = array


def _read(op: Operator, net: Network) -> None:
    variable, output = _variable(op, net), net.output(op)
    if not variable.assigned:
        net.put_known(output, net.filled(output) if variable.initial is None else variable.initial)
        return
    if not variable.value:
        variable.state = variable.value = net.kept(output, variable.name)
    net.take(output, variable.value)


def _assign(op: Operator, net: Network) -> None:
    variable, tensor = _variable(op, net), net.input(op, 1)
    variable.value = net.stored(tensor)


def finish_variables(net: Network) -> None:
    """Join every variable that was read before it was assigned with what it has at the end."""
    for name, variable in {each.name: each for each in net.variables.values()}.items():
        if variable.state:
            net.keep(variable.state, variable.value, variable.initial, name)


def initial_of(net: Network, tensor: Tensor) -> Array:
    """What a tensor that keeps its value has at first: the integers that stand for 0."""
    return net.filled(tensor, tensor.zero_point if tensor.type == "int8" else 0)


CONVERSIONS: tuple[Conversion, ...] = (
    conversion(_HANDLE, _handle, 111),
    conversion(_READ, _read),
    conversion(_ASSIGN, _assign),
    conversion(_ONCE, _once, 103),
)
