"""Knows how the nodes and buffers of a report are shown where there is little room.
Does not know tables or pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilewright.ir.short_names import short_names


def shown_names(report: Mapping[str, Any]) -> dict[str, str]:
    """Short names of all steps, of the ONNX node that each stands for first, and of all buffers."""
    steps = report["steps"]
    nodes = (first_node(step) for step in steps)
    buffers = (buffer["name"] for buffer in report.get("buffers", ()))
    return short_names((*(step["name"] for step in steps), *nodes, *buffers))


def first_node(step: Mapping[str, Any]) -> str:
    """The first ONNX node that a step stands for."""
    return str((step["onnx_nodes"] or [step["name"]])[0])


def nodes_of(step: Mapping[str, Any], shorts: Mapping[str, str]) -> str:
    """The first of them, and how many more."""
    more = len(step["onnx_nodes"]) - 1
    return shorts[first_node(step)] + (f" (+{more})" if more > 0 else "")
