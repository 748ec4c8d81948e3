"""Knows `--io push` and `--io pull`: inputs that arrive in rows, outputs that are taken in rows.
Does not know how the graph or the program changes for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tilewright.config.memory_pins import demand_io
from tilewright.config.options import Options
from tilewright.config.recurrent_state import state_io
from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import STREAMED, IoOwner

_ENDS: Mapping[IoOwner, str] = {"push": "input", "pull": "output"}


def streamed_io(options: Options, graph: Graph) -> Mapping[str, IoOwner]:
    """The inputs that arrive in rows ("push"), and the outputs that are taken so ("pull"), in the graph's order.

    TilewrightError (exit 2): TW1113 for a name that is no input or output; TW1122 for an output that is pushed or an
    input that is pulled, for state, and for what has no elements or nothing computes with.
    """
    asked = {name: whose for name, whose in options.io_of.items() if whose in STREAMED}
    if options.io_inputs != "push" and options.io_outputs != "pull" and not asked:
        return {}
    demand_io(options.io_of, (*graph.inputs, *graph.outputs))
    kept = state_io(options.states, graph)
    for name, whose in asked.items():
        if name in kept:
            raise _cannot(whose, f"'{name}' is state, which the application never sees", "leave that --io out")
        if name not in _ends(graph, whose):
            plan = typed("--io", f"{name}=pool", gives="leaves it in the plan")
            raise _cannot(whose, f"'{name}' is no {_ENDS[whose]}", plan)
    found = {name: whose for name, whose in _asked(options, graph) if name not in kept}
    for name, whose in found.items():
        _demand_computed(graph, name, whose)
    return found


def _ends(graph: Graph, whose: IoOwner) -> tuple[str, ...]:
    return graph.inputs if whose == "push" else graph.outputs


def _asked(options: Options, graph: Graph) -> Iterator[tuple[str, IoOwner]]:
    ends = io_owners(options, graph.inputs, graph.outputs)
    for whose in STREAMED:
        yield from ((name, whose) for name in _ends(graph, whose) if ends[name] == whose)


def _demand_computed(graph: Graph, name: str, whose: IoOwner) -> None:
    """Something reads what arrives, and something writes what is taken; and there is something of it."""
    plan = typed("--io", f"{name}=pool")
    if not graph.tensors[name].elements:
        raise _cannot(whose, f"'{name}' has no elements", plan)
    read = any(name in node.inputs for node in graph.nodes)
    if whose == "push" and (name in graph.outputs or not read):
        raise _cannot(whose, f"'{name}' is an output, too, or nothing reads it", plan)
    if whose == "pull" and not any(name in node.outputs for node in graph.nodes):
        raise _cannot(whose, f"'{name}' is an input, too, or a constant, and nothing computes it", plan)


def demand_one_memory(platform: Platform, whose: IoOwner) -> None:
    """TilewrightError TW1122 (exit 2) where the target has several memories or cores."""
    if platform.inner or any(engine.cores > 1 for engine in platform.engines):
        raise _cannot(
            whose,
            f"target '{platform.name}' has a scratchpad or several cores: rows pass on one memory and one core",
            typed("--io", "user", gives="leaves inputs and outputs in your memory, whole"),
        )


def io_owners(options: Options, inputs: Collection[str], outputs: Collection[str]) -> Mapping[str, IoOwner]:
    """Where each input and output is."""
    ends = {**dict.fromkeys(inputs, options.io_inputs), **dict.fromkeys(outputs, options.io_outputs)}
    return {**ends, **options.io_of}


def _cannot(whose: IoOwner, reason: str, fix: str) -> TilewrightError:
    return usage_error("TW1122", f"--io {whose}: {reason}", fix=(fix,))
