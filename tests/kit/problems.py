"""Allocation problems that are there on every machine: MiniMalloc's challenging instances, and networks' buffers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import onnx

from networks import MORE_NETWORKS, NETWORKS, network_file

CHALLENGING = "ABCDEFGHIJK"
OF_NETWORKS = (*NETWORKS, *MORE_NETWORKS)
CAPACITY_BYTES = 1 << 20  # that each challenging instance fits


def challenging_file(letter: str) -> Path:
    """The CSV of one instance."""
    return Path(__file__).with_name("challenging") / f"{letter}.{CAPACITY_BYTES}.csv"


def buffers_file(name: str, folder: Path, *, conflicts: bool = False) -> Path:
    """A file with the values of a network as buffers, one step for each of its nodes; who meets whom is said by
    lifetimes or by lists of conflicts."""
    graph = onnx.shape_inference.infer_shapes(onnx.load(network_file(name))).graph
    first = {value.name: 0 for value in graph.input}
    last = {value.name: len(graph.node) for value in graph.output}
    for step, node in enumerate(graph.node):
        first |= dict.fromkeys(node.output, step)
        last |= {value: max(step, last.get(value, 0)) for value in node.input if value in first}
    sizes = {value.name: _bytes(value) for value in (*graph.input, *graph.value_info, *graph.output)}
    rows: list[dict[str, Any]] = [
        {"name": value, "size": sizes[value], "align": 16, "pools": ["ram"]} for value in first
    ]
    for row in rows:
        lower, upper = first[row["name"]], last[row["name"]]
        if conflicts:
            met = [value for value in first if first[value] <= upper and lower <= last[value] and value != row["name"]]
            row["conflicts"] = met
        else:
            row |= {"lower": lower, "upper": upper + 1}
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"buffers": rows}), encoding="utf-8")
    return file


def _bytes(value: onnx.ValueInfoProto) -> int:
    kind = value.type.tensor_type
    itemsize = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).itemsize
    return int(itemsize * math.prod(axis.dim_value for axis in kind.shape.dim))
