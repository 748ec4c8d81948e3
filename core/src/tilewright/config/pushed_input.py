"""Knows `--io push`: the input that arrives in rows. Does not know how the graph or the program changes for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tilewright.config.options import Options
from tilewright.config.pins import demand_ends
from tilewright.config.recurrent_state import kept_ends
from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.ir.decisions import Whose
from tilewright.ir.graph import Graph
from tilewright.ir.platform import Platform


def pushed_input(options: Options, graph: Graph) -> str:
    """The input's name; "" where none arrives in rows.

    TilewrightError (exit 2): TW1113 for a name that is no input or output, TW1122 for an output, for state, for several
    inputs, and for an input that nothing reads.
    """
    asked = [name for name, whose in options.io_of.items() if whose == "push"]
    if options.io != "push" and not asked:
        return ""
    demand_ends(options.io_of, (*graph.inputs, *graph.outputs))
    kept = kept_ends(options.states, graph)
    for name in asked:
        if name in kept:
            raise _cannot(f"'{name}' is state, which the application never sees", "leave that --io out")
        if name not in graph.inputs:
            raise _cannot(f"'{name}' is no input", typed("--io", f"{name}=pool", gives="leaves it in the plan"))
    pushed = [name for name in graph.inputs if options.io_of.get(name, options.io) == "push" and name not in kept]
    if len(pushed) > 1:
        others = f"the model has {len(pushed)} inputs, and rows of one can arrive"
        raise _cannot(others, typed("--io", "pool", "--io", f"{pushed[0]}=push"))
    if not pushed:
        return ""
    if pushed[0] in graph.outputs or not any(pushed[0] in node.inputs for node in graph.nodes):
        raise _cannot(f"'{pushed[0]}' is an output, too, or nothing reads it", typed("--io", f"{pushed[0]}=pool"))
    return pushed[0]


def demand_one_memory(platform: Platform) -> None:
    """TilewrightError TW1122 (exit 2) where the target has several memories or cores."""
    if platform.near or any(engine.cores > 1 for engine in platform.engines):
        raise _cannot(
            f"target '{platform.name}' has a scratchpad or several cores, and rows are computed on one memory by one",
            typed("--io", "user", gives="leaves inputs in your memory, whole"),
        )


def ends_of(options: Options, inputs: Collection[str], outputs: Collection[str]) -> Mapping[str, Whose]:
    """Where each input and output is. Where inputs arrive in rows, outputs are in the plan unless they are named."""
    rest: Whose = "pool" if options.io == "push" else options.io
    return {**dict.fromkeys(inputs, options.io), **dict.fromkeys(outputs, rest), **options.io_of}


def _cannot(reason: str, fix: str) -> TilewrightError:
    return usage_error("TW1122", f"--io push: {reason}", fix=(fix,))
