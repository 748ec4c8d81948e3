"""The table of passes: every pass of the room, each once, and demands on their order that name passes of the room."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pytest
from counted import counted

import tilewright.rewrite
from tilewright.ir.graphs.graph import Attribute, Graph, Node, Tensor
from tilewright.ir.graphs.operator import GraphPass, Operator, PassContext
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite import rewrite
from tilewright.rewrite.passes import PASSES
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import site_of
from tilewright.testing.side_by_side import side_by_side


def test_every_pass_is_listed_once() -> None:
    """A module's only pass is PASS, and named like the module; several passes of a module have names of their own."""
    folder = Path(tilewright.rewrite.__file__).parent
    files = [path for path in sorted(folder.rglob("*.py")) if " = GraphPass(" in path.read_text(encoding="utf-8")]
    found: list[GraphPass] = []
    for path in files:
        module = import_module(".".join(("tilewright.rewrite", *path.relative_to(folder).with_suffix("").parts)))
        passes = {name: value for name, value in vars(module).items() if isinstance(value, GraphPass)}
        names = {each.name.replace("-", "_") for each in passes.values()}
        assert names == ({path.stem} if set(passes) == {"PASS"} else {name.lower() for name in passes})
        found.extend(passes.values())
    assert sorted(each.name for each in found) == sorted(each.name for each in PASSES)
    assert all(each.summary for each in PASSES)


def test_demands_name_passes_that_there_are() -> None:
    names = {each.name for each in PASSES}
    assert {name for each in PASSES for name in (*each.after, *each.before)} <= names


@pytest.mark.parametrize("graph_pass", [each for each in PASSES if each.roots], ids=lambda each: each.name)
def test_a_pass_has_nothing_to_do_without_its_roots(graph_pass: GraphPass, operators: Mapping[str, Operator]) -> None:
    """On every layer of the kit, and chains of those below, that has none of them."""
    assert set(graph_pass.roots) <= set(operators)
    asked = 0
    for graph in _graphs(operators):
        if not any(node.op in graph_pass.roots for node in graph.nodes):
            answer = graph_pass.apply(graph, PassContext(operators=operators))
            assert answer.graph is graph and not answer.diagnostics, [node.op for node in graph.nodes]
            asked += 1
    assert asked > 100


def _graphs(operators: Mapping[str, Operator]) -> Iterator[Graph]:
    yield from (_quantised(chain(12)) for chain in _CHAINS.values())
    for layer in every_layer():
        site = site_of(operators[layer.op], layer.inputs, layer.attributes, layer.constants)
        yield side_by_side([(site, layer.inputs)]).graph


Link = tuple[str, Mapping[str, Attribute]]
_TURN, _TURN_BACK = ("Transpose", {"perm": (0, 2, 3, 1)}), ("Transpose", {"perm": (0, 3, 1, 2)})
_CLIP, _SIGMOID, _RESHAPE = ("Clip", {"min": 0.0}), ("Sigmoid", {}), ("Reshape", {"shape": (1, 4, 4, 4)})
_WINDOW = {"dilations": (1, 1), "kernel_shape": (1, 1), "pads": (0, 0, 0, 0), "strides": (1, 1)}
_CONV, _POOL = ("Conv", {**_WINDOW, "group": 1}), ("MaxPool", _WINDOW)
_CHAINS: Mapping[str, Callable[[int], Sequence[Link]]] = {
    "clips": lambda count: [_CLIP] * count,
    "sigmoids": lambda count: [_SIGMOID] * count,
    "turned": lambda count: [_TURN] * count,
    "turned in pairs": lambda count: list(islice(cycle((_TURN, _CLIP, _TURN_BACK, _CLIP)), count)),
    "turned around": lambda count: [*(_TURN, _CLIP) * (count // 4), *(_TURN_BACK, _CLIP) * (count // 4)],
    "reshaped": lambda count: [_RESHAPE] * count,
    "convolved with zeros": lambda count: [_CONV] * count,
    "pooled": lambda count: [_POOL] * count,
}


@pytest.mark.slow
@pytest.mark.parametrize("chain", _CHAINS)
def test_eight_times_the_nodes_take_some_eight_times_the_calls(chain: str, operators: Mapping[str, Operator]) -> None:
    few, many = (_quantised(_CHAINS[chain](count)) for count in (100, 800))
    calls = [counted(lambda graph=graph: rewrite(graph, operators, PASSES))[1] for graph in (few, many)]
    assert calls[1] < 12 * calls[0]  # what is quadratic calls 64 times as many


def _quantised(links: Sequence[Link]) -> Graph:
    """A chain of operators that keep the shape 1x4x4x4, and QuantizeLinear behind it."""
    zeros, constants = np.zeros((4, 4, 1, 1), np.float32), {}
    constants.update(zeros=zeros, scale=np.array(0.1, np.float32), zero=np.array(0, np.int8))
    tensors = {name: Tensor(name=name, dtype=DType.from_numpy(a.dtype), shape=a.shape) for name, a in constants.items()}
    names = ["x", *(f"value_{number}" for number in range(len(links)))]
    tensors.update((name, Tensor(name=name, dtype=DType.F32, shape=(1, 4, 4, 4))) for name in names)
    tensors["y"] = Tensor(name="y", dtype=DType.I8, shape=(1, 4, 4, 4))
    nodes = [
        Node(
            name=f"{op}_{number}",
            op=op,
            inputs=(names[number], "zeros") if op == "Conv" else (names[number],),
            outputs=(names[number + 1],),
            attributes=attributes,
        )
        for number, (op, attributes) in enumerate(links)
    ]
    stored = {"axis": 1, "to": "i8"}
    nodes.append(
        Node(
            name="last",
            op="QuantizeLinear",
            inputs=(names[-1], "scale", "zero"),
            outputs=("y",),
            attributes=stored,
        )
    )
    return Graph(
        name="chain", inputs=("x",), outputs=("y",), nodes=tuple(nodes), tensors=tensors, constants=constants
    ).verify()
