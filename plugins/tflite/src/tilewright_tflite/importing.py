"""Knows the importer as a whole: the bytes of a TensorFlow Lite file in, ONNX out, with state and what was refused.
Does not know any operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilewright.api import Diagnostic, TilewrightError, model_error, unsupported_error, usage_error
from tilewright.api.graph import Quantization
from tilewright.api.importer import ImportedModel, Reading
from tilewright_tflite.errors import LostError, RefusedError
from tilewright_tflite.flatbuffer import BudgetError, DamagedError
from tilewright_tflite.model import HELD, Model, Operator, Subgraph, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.onnx_types import declared
from tilewright_tflite.operators.variables import finish_variables, variables_of
from tilewright_tflite.reading import read
from tilewright_tflite.table import ANY_ORDER, CUSTOM, TABLE

if TYPE_CHECKING:
    import onnx

ARITHMETIC = "tflm"  # that the importer demands for the integers of such files
_OPSET = 21  # the first whose quantisation knows 16 bits
_IR_VERSION = 10
_SHOWN = 12  # kinds of refusals
_REASON = 200  # characters
_LIMITS = {
    "tables": ("more tables than the limit allows", "--limit nodes=1000000   (if you trust the file)"),
    "nodes": ("more operators than the limit allows", "--limit nodes=1000000   (if you trust the file)"),
    "initializers": ("more constants than the limit allows", "--limit initializers=1000000   (if you trust the file)"),
    "numbers": ("more extents and operands than the limit allows", "--limit nodes=1000000   (if you trust the file)"),
    "constants": ("more bytes of constants than the limit allows", "--limit constants=1G   (if you trust the file)"),
    "name": ("a name that is too long", "export the model with shorter names"),
    "names": ("more letters in names than 32 MiB", "convert the model again, with shorter names"),
    "rank": ("a tensor of more dimensions than the limit allows", "export a smaller model"),
    "operands": ("an operator of more than 1,024 operands", "export a smaller model"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensors:
    """Tensors of the network by name: inputs and outputs in the file's order, and all that are computed."""

    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]
    computed: Mapping[str, Tensor]
    graph: int  # the network's place in the file
    turned: Mapping[str, Tensor]  # names of values that have the channels first, which the tensors have last


_AGAIN = ("export or download the model again", "open it in Netron to see whether it is the file")


def load(data: bytes, reading: Reading) -> ImportedModel:
    """What the file says. TilewrightError (exit 3): TW1202 damaged, TW1203 over a limit; (exit 4): TW2101 with every
    operator that cannot be taken.
    """
    with _in_codes():
        return _loaded(read(data, reading.limits), reading)


def tensors_of(data: bytes, reading: Reading) -> Tensors:
    """The tensors of the network by the names that `load` gives their values. TilewrightError as `load` raises it."""
    with _in_codes():
        net = _converted(read(data, reading.limits), reading)
        graph = net.graph
        inputs = {net.name(graph.tensors[index]): graph.tensors[index] for index in graph.inputs}
        outputs = {_output_name(net, graph.tensors[index]): graph.tensors[index] for index in graph.outputs}
        computed = [each for each in graph.tensors if net.known(each) is None and each.type in HELD]
        named = {net.name(each): each for each in computed}
        place = next(place for place, each in enumerate(net.graphs) if each is graph)
        return Tensors(inputs=inputs, outputs=outputs, computed=named, graph=place, turned=net.turned)


@contextmanager
def _in_codes() -> Iterator[None]:
    """What is wrong with a file, as TilewrightError."""
    try:
        yield
    except DamagedError as error:
        raise model_error("TW1202", f"this is no readable TensorFlow Lite file: {error}", fix=_AGAIN) from error
    except BudgetError as error:
        reason, fix = _LIMITS[str(error)]
        raise model_error("TW1203", f"the file has {reason}", fix=(fix,)) from error


def _place(model: Model, name: str) -> int:
    """Which graph is called so: by its signature, its own name, or its number. TW1243 (exit 2) where none is."""
    names = _names(model)
    if not name or name in names:
        return names.get(name, 0)
    shown = [_plain(each) for each in names]
    raise usage_error(
        "TW1243",
        f"the file has no network called '{_plain(name)}'",
        where=f"--network {_plain(name)}",
        details=(f"it has {', '.join(shown[:_SHOWN])}{' and more' if len(shown) > _SHOWN else ''}",),
        fix=(f"--network {shown[0]}",),
    )


def _names(model: Model) -> dict[str, int]:
    """What graphs are called: signatures first. A name that several have is that of the first one."""
    names: dict[str, int] = {}
    graphs = [(graph.name, place) for place, graph in enumerate(model.graphs) if graph.name]
    for name, place in (*model.signatures, *graphs, *((str(place), place) for place in range(len(model.graphs)))):
        names.setdefault(name, place)
    return names


def _converted(model: Model, reading: Reading) -> Network:
    """The graph of the file that is meant, with all of its operators."""
    graph = model.graphs[_place(model, reading.network)]
    net = Network(graph, reading.limits)
    net.graphs, net.variables, net.converter = model.graphs, variables_of(graph), _convert
    for index in graph.inputs:
        tensor = _border(net, index, "input")
        net.take(tensor, net.name(tensor))
    refused = list(_walk(net))
    if refused:
        raise _refusal(refused, len(graph.operators))
    return net


def _loaded(model: Model, reading: Reading) -> ImportedModel:
    net = _converted(model, reading)
    graph = net.graph
    inputs = [graph.tensors[index] for index in dict.fromkeys(graph.inputs)]
    outputs = [(_output(net, tensor), tensor) for tensor in (_border(net, each, "output") for each in graph.outputs)]
    finish_variables(net)
    made = _proto(net, [(net.name(tensor), tensor) for tensor in inputs], outputs)
    ends = [*((net.name(tensor), tensor) for tensor in inputs), *outputs, *net.state_inputs, *net.state_outputs]
    return ImportedModel(
        model=made,
        states=tuple(net.states),
        quantization={name: _quantization(tensor) for name, tensor in ends if tensor.quantised},
        arithmetic=ARITHMETIC,
        diagnostics=(*_left_out(model, net), *_narrow_sums(graph)),
    )


def _quantization(tensor: Tensor) -> Quantization:
    """What the integers of an input or output stand for."""
    zeros = tuple(map(int, tensor.zero_points)) or (0,)
    zeros = zeros * len(tensor.scales) if len(zeros) == 1 else zeros
    axis = tensor.axis if len(tensor.scales) > 1 else None
    return Quantization(scale=tuple(map(float, tensor.scales)), zero_point=zeros, axis=axis)


def _left_out(model: Model, net: Network) -> Iterator[Diagnostic]:
    """A warning where the file has graphs that nothing here runs: other signatures, the bodies of what is not known."""
    others = [index for index in range(1, len(model.graphs)) if index not in net.called]
    if others and net.graph is model.graphs[0]:
        name = next(name for name, place in _names(model).items() if place == others[0])
        yield Diagnostic(
            code="TW1241",
            severity="warning",
            message=f"{len(others)} of the file's {len(model.graphs)} graphs are not compiled: the first is",
            where=f"graph {others[0]} '{_plain(model.graphs[others[0]].name)}'",
            fix=(f"--network {_plain(name)}   where that one is meant",),
        )


def _narrow_sums(graph: Subgraph) -> Iterator[Diagnostic]:
    """A warning where products of 16-bit values have a bias of 32: their sums would be rounded twice, as with bytes."""
    result = []
    for op in graph.operators:
        types = [graph.tensors[index].type if index >= 0 else "" for index in op.inputs[:3]]
        if op.code in ("CONV_2D", "FULLY_CONNECTED") and types[:1] == ["int16"] and types[2:] == ["int32"]:
            result.append(op.title)
    if result:
        yield Diagnostic(
            code="TW3011",
            severity="warning",
            message="values of 16 bits have a bias of 32: sums are rounded once, where TensorFlow Lite Micro rounds "
            "them twice, so that results may differ by one step",
            where=", ".join(result[:_SHOWN]) + (", ..." if len(result) > _SHOWN else ""),
            fix=("convert the network again with a bias of 64 bits, as converters do", "or accept the difference"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Refused:
    """One operator that cannot be taken, and why."""

    operator: Operator
    shapes: str
    reason: str


def _walk(net: Network) -> Iterator[_Refused]:
    """Convert all operators in their order; those that are refused."""
    for op in net.graph.operators:
        net.begin(op)
        try:
            _convert(op, net)
        except LostError:
            net.lost.update(op.outputs)
        except RefusedError as error:
            net.lost.update(op.outputs)
            tensors = [net.graph.tensors[index] for index in op.inputs[:3] if index >= 0]
            yield _Refused(operator=op, shapes=", ".join(map(_shown, tensors)), reason=str(error))


def _convert(op: Operator, net: Network) -> None:
    conversion = (CUSTOM if op.custom else TABLE).get(op.code)
    if conversion is None:
        raise RefusedError("no operator of this name is known" if not op.custom else "it is a custom operator")
    if op.version > conversion.newest:
        raise RefusedError(f"version {op.version} is newer than {conversion.newest}, the newest that is known")
    if op.options_type not in (0, conversion.options_type) and conversion.options_type:
        raise DamagedError(f"operator {op.index} ({op.code}) has the options of another")
    with net.channels_first() if op.code in ANY_ORDER and net.images(op) else nullcontext():
        conversion.convert(op, net)


def _border(net: Network, index: int, kind: str) -> Tensor:
    """An input or output of the graph."""
    tensor = net.graph.tensors[index]
    if tensor.type not in HELD or tensor.fault:
        reason = tensor.fault or f"is {tensor.type}, which tilewright does not hold"
        raise unsupported_error(
            "TW2102",
            f"{kind} '{_plain(tensor.name)}' {reason}",
            where=f"{kind} '{_plain(tensor.name)}'",
            fix=("export the model with float32 or quantised inputs and outputs",),
        )
    return tensor


def _output(net: Network, tensor: Tensor) -> str:
    """The value of an output, under the name that it has in the file."""
    try:
        value = net.stored(tensor)
    except RefusedError as error:
        raise unsupported_error(
            "TW2103",
            f"output '{_plain(tensor.name)}' cannot be taken: {_plain(str(error))}",
            where=f"output '{_plain(tensor.name)}'",
            fix=("convert the network again, with outputs that its operators compute",),
        ) from error
    name = _output_name(net, tensor)
    return value if value == name else net.node("Identity", (value,), output=name)


def _output_name(net: Network, tensor: Tensor) -> str:
    """What an output is called: as its tensor, unless that is an input, too, which has the name."""
    return net.fresh(f"{net.name(tensor)}:out") if tensor.index in net.graph.inputs else net.name(tensor)


def _proto(net: Network, inputs: list[tuple[str, Tensor]], outputs: list[tuple[str, Tensor]]) -> onnx.ModelProto:
    from onnx import helper

    graph = helper.make_graph(
        net.nodes,
        _plain(net.graph.name) or "main",
        [declared(name, tensor.type, tensor.shape) for name, tensor in (*inputs, *net.state_inputs)],
        [declared(name, tensor.type, tensor.shape) for name, tensor in (*outputs, *net.state_outputs)],
        net.ledger.constants,
    )
    own = sorted({node.domain for node in net.nodes if node.domain})
    sets = [helper.make_opsetid("", _OPSET), *(helper.make_opsetid(domain, 1) for domain in own)]
    return helper.make_model(graph, opset_imports=sets, ir_version=_IR_VERSION, producer_name="tilewright-tflite")


def _refusal(refused: Sequence[_Refused], total: int) -> TilewrightError:
    """One error with every refused operator, those of one kind and reason together."""
    groups: dict[tuple[str, int, str], list[_Refused]] = {}
    for item in refused:
        groups.setdefault((item.operator.code, item.operator.version, item.reason), []).append(item)
    details = []
    for items in list(groups.values())[:_SHOWN]:
        op, count = items[0].operator, f" x{len(items)}" if len(items) > 1 else ""
        places = ", ".join(str(item.operator.index) for item in items[:3])
        what = f"{_plain(op.code)} version {op.version}{count}, operator {places} ({items[0].shapes})"
        details.append(f"{what}: {_plain(items[0].reason)}")
    if len(groups) > _SHOWN:
        details.append(f"and {len(groups) - _SHOWN} more kinds")
    return unsupported_error(
        "TW2101",
        f"{len(refused)} of {total} operators cannot be imported",
        where=f"operator {refused[0].operator.index} ({_plain(refused[0].operator.code)})",
        details=tuple(details),
        fix=(
            "tilewright explain TW2101   how to go on",
            "or convert the network again without these operators (other layers, no dynamic shapes)",
        ),
    )


def _shown(tensor: Tensor) -> str:
    return f"'{_plain(tensor.name)}' {tensor.described}"


def _plain(text: str) -> str:
    """A text of the file in one line of bounded length, nothing invisible in it."""
    line = "".join(each if each.isprintable() else " " for each in text)
    return line if len(line) <= _REASON else f"{line[: _REASON - 3]}..."
