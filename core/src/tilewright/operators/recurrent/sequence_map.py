"""Knows the index map of a recurrence over sequences, of floats and of integers. Does not know cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site

_STATES = {"H0": "b,:", "C0": "b,:"}  # before the first step
_EVERY, _LAST = ":,b,:", "b,:"  # of each step: Y; of the last one: all other outputs


def sequence_map(site: Site, inputs: Sequence[str], outputs: Sequence[str], indices: Mapping[str, str]) -> Access:
    """Sequences are apart from each other; one needs all of its steps, and all units of the one before. `indices` has
    the map's text of the inputs that are no states.
    """
    read = {name: tensor.shape for name, tensor in zip(inputs, site.inputs, strict=False) if tensor is not None}
    made = {name: tensor.shape for name, tensor in zip(outputs, site.outputs, strict=False)}
    known = {**_STATES, **indices}
    reads = " ".join(f"{name}[{known[name]}]" for name in read)
    writes = " ".join(f"{name}[{_EVERY if name == 'Y' else _LAST}]" for name in made)
    return parse_map(f"b : {reads} -> {writes}").bind({**read, **made})
