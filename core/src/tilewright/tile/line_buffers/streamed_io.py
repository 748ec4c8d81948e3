"""Knows which steps rows pass on their way into the network and out of it, by what they read and write: no other step
touches the bytes of an input that arrives in rows, or of an output that is taken in rows.
Does not know how they are computed.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ir.plans.decisions import IoOwner
from tilewright.ir.plans.stages import Scheduled


def arrivals(scheduled: Scheduled, io: Mapping[str, IoOwner]) -> dict[str, str]:
    """By step, the input whose rows it takes. None where no input arrives in rows."""
    return _touching(scheduled, io, "push")


def departures(scheduled: Scheduled, io: Mapping[str, IoOwner]) -> dict[str, str]:
    """By step, the output whose rows it gives. None where no output is taken in rows."""
    return _touching(scheduled, io, "pull")


def _touching(scheduled: Scheduled, io: Mapping[str, IoOwner], wanted: IoOwner) -> dict[str, str]:
    ends = {scheduled.storage[name].buffer: name for name, whose in io.items() if whose == wanted}
    if not ends:
        return {}
    nodes = {node.name: node for node in scheduled.bound.graph.nodes}
    buffers = {value: storage.buffer for value, storage in scheduled.storage.items()}
    result = {}
    for step in scheduled.steps:
        node = nodes[step.nodes[-1]]
        for value in node.inputs if wanted == "push" else node.outputs:
            if buffers.get(value) in ends:
                result[step.name] = ends[buffers[value]]
    return result
