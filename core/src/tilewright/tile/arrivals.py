"""Knows which step takes an input that arrives in rows, by what it reads: the only one that reads that input's bytes.
Does not know how it is computed.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ir.decisions import Whose
from tilewright.ir.stages import Scheduled


def arrivals(scheduled: Scheduled, io: Mapping[str, Whose]) -> dict[str, str]:
    """By step, the input whose rows it takes. None where no input arrives in rows."""
    pushed = {scheduled.storage[name].buffer: name for name, whose in io.items() if whose == "push"}
    if not pushed:
        return {}
    nodes = {node.name: node for node in scheduled.bound.graph.nodes}
    read = {step.name: nodes[step.nodes[-1]].inputs for step in scheduled.steps}
    buffers = {value: storage.buffer for value, storage in scheduled.storage.items()}
    return {
        name: pushed[buffers[value]]
        for name, values in read.items()
        for value in values
        if buffers.get(value) in pushed
    }
