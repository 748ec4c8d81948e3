"""Knows what flags say of a graph's inputs and outputs: `--io`, `--io-type`, and which inputs `--bind` makes constants.
Does not know how the graph or the program changes for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from tilewright.config.options import Options
from tilewright.config.recurrent_state import state_io
from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import STREAMED, IoOwner
from tilewright.ir.tensors.dtypes import DType

FLOAT = "float"  # as in the model
CHANNELS_LAST = "nhwc"
LAYOUTS = (CHANNELS_LAST, "nchw")
_STREAMED_KIND: Mapping[IoOwner, str] = MappingProxyType({"push": "input", "pull": "output"})
TYPES: Mapping[str, DType] = MappingProxyType(
    {"int8": DType.I8, "uint8": DType.U8, "int16": DType.I16, "uint16": DType.U16, "int32": DType.I32}
)
_STORED = (DType.I8, DType.U8, DType.I16, DType.U16)  # types that --io-type asks for of all inputs and outputs


def border_types(graph: Graph, options: Options) -> dict[str, DType]:
    """What inputs and outputs are to be: `io_type` for all that are float or quantised, `io_type_of` for single ones.

    State, which the application never sees, stays as it is. TilewrightError (exit 2): TW1113 for a name that is no
    input or output, TW1120 for one that is state.
    """
    if options.io_type == FLOAT and not options.io_type_of:
        return {}
    names = (*graph.inputs, *graph.outputs)
    demand_io(options.io_type_of, names)
    states = state_io(options.states, graph)
    state_names = [name for name in options.io_type_of if name in states]
    if state_names:
        raise usage_error(
            "TW1120",
            f"--io-type names '{state_names[0]}', which --state keeps from run to run: the application never sees it",
            fix=("leave that --io-type out",),
        )
    dtypes = {name: graph.tensors[name].dtype for name in names if name not in states}
    quantisable = [name for name, dtype in dtypes.items() if dtype.is_float or dtype in _STORED]
    types = {**dict.fromkeys(quantisable, options.io_type), **options.io_type_of}
    return {name: TYPES[word] for name, word in types.items() if word != FLOAT}


def channels_last(graph: Graph, options: Options) -> tuple[str, ...]:
    """The inputs and outputs that are handed over channels last, in the graph's order.

    TilewrightError TW1113 (exit 2) for a name that is no input or output, and for one that is state.
    """
    names = dict.fromkeys((*graph.inputs, *graph.outputs))
    demand_io(options.io_layouts, tuple(names), state_io(options.states, graph) if options.io_layouts else ())
    return tuple(name for name in names if options.io_layouts.get(name) == CHANNELS_LAST)


def streamed_io(options: Options, graph: Graph) -> Mapping[str, IoOwner]:
    """The inputs that arrive in rows ("push"), and the outputs that are taken so ("pull"), in the graph's order.

    TilewrightError (exit 2): TW1113 for a name that is no input or output; TW1122 for an output that is pushed or an
    input that is pulled, for state, and for what has no elements or nothing computes with.
    """
    named = {name: owner for name, owner in options.io_of.items() if owner in STREAMED}
    if options.io_inputs != "push" and options.io_outputs != "pull" and not named:
        return {}
    demand_io(options.io_of, (*graph.inputs, *graph.outputs))
    states = state_io(options.states, graph)
    for name, owner in named.items():
        if name in states:
            raise _cannot(owner, f"'{name}' is state, which the application never sees", "leave that --io out")
        if name not in _io_names(graph, owner):
            plan = typed("--io", f"{name}=pool", gives="leaves it in the plan")
            raise _cannot(owner, f"'{name}' is no {_STREAMED_KIND[owner]}", plan)
    owners = io_owners(options, graph.inputs, graph.outputs)
    streamed = {
        name: owner
        for owner in STREAMED
        for name in _io_names(graph, owner)
        if owners[name] == owner and name not in states
    }
    for name, owner in streamed.items():
        _demand_computed(graph, name, owner)
    return streamed


def _io_names(graph: Graph, owner: IoOwner) -> tuple[str, ...]:
    return graph.inputs if owner == "push" else graph.outputs


def _demand_computed(graph: Graph, name: str, owner: IoOwner) -> None:
    """Something reads what arrives, and something writes what is taken; and there is something of it."""
    plan = typed("--io", f"{name}=pool")
    if not graph.tensors[name].elements:
        raise _cannot(owner, f"'{name}' has no elements", plan)
    read = any(name in node.inputs for node in graph.nodes)
    if owner == "push" and (name in graph.outputs or not read):
        raise _cannot(owner, f"'{name}' is an output, too, or nothing reads it", plan)
    if owner == "pull" and not any(name in node.outputs for node in graph.nodes):
        raise _cannot(owner, f"'{name}' is an input, too, or a constant, and nothing computes it", plan)


def demand_one_memory(platform: Platform, owner: IoOwner) -> None:
    """TilewrightError TW1122 (exit 2) where the target has several memories or cores."""
    if platform.inner or any(engine.cores > 1 for engine in platform.engines):
        raise _cannot(
            owner,
            f"target '{platform.name}' has a scratchpad or several cores: rows pass on one memory and one core",
            typed("--io", "user", gives="leaves inputs and outputs in your memory, whole"),
        )


def io_owners(options: Options, inputs: Collection[str], outputs: Collection[str]) -> Mapping[str, IoOwner]:
    """Where each input and output is."""
    owners = {**dict.fromkeys(inputs, options.io_inputs), **dict.fromkeys(outputs, options.io_outputs)}
    return {**owners, **options.io_of}


def _cannot(owner: IoOwner, reason: str, fix: str) -> TilewrightError:
    return usage_error("TW1122", f"--io {owner}: {reason}", fix=(fix,))


def bound_inputs(options: Options) -> Mapping[str, str]:
    """What `--bind` says. TilewrightError TW1226 (exit 2) where another flag takes one of these for an input."""
    for name, value in options.bind.items():
        if others := _other_flags(name, options):
            raise usage_error(
                "TW1226",
                f"'{name}' cannot be an input and a constant: --bind makes it a constant",
                where=f"--bind {name}={value}",
                details=tuple(f"{other} takes it for an input" for other in others),
                fix=(f"leave out --bind {name}, or what takes it for an input",),
            )
    return options.bind


def _other_flags(name: str, options: Options) -> tuple[str, ...]:
    """The other flags that name this input."""
    states = [f"--state {text}" for text in options.states if text.endswith(f":{name}") or f":{name}=" in text]
    owners = [f"--io {name}={options.io_of[name]}"] if name in options.io_of else []
    types = [f"--io-type {name}={options.io_type_of[name]}"] if name in options.io_type_of else []
    layouts = [f"--io-layout {name}={options.io_layouts[name]}"] if name in options.io_layouts else []
    return (*states, *owners, *types, *layouts)


def demand_io(mentioned: Iterable[str], names: Sequence[str], states: Collection[str] = ()) -> None:
    """Every name is a graph input or output that is not kept as state. TilewrightError TW1113 (exit 2)."""
    for name in mentioned:
        if name in states:
            raise usage_error(
                "TW1113",
                f"'{name}' is state, which the application never sees",
                fix=("leave that --io or --io-layout out",),
            )
        if name not in names:
            raise usage_error(
                "TW1113",
                f"the model has no input or output '{name}'",
                details=(*did_you_mean(name, names), f"it has: {', '.join(names)}"),
                fix=("name one of these, as the ONNX file does",),
            )
