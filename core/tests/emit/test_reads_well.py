"""What a reviewer would object to in generated C, looked for in programs of every operator and of small networks."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from objections import objections

from layer_programs import Case, least_room, tiles_of
from portable_plans import portable_planner
from tilewright.emit import EmitOptions, emit
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated
from tilewright.lower import lower
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_layers import Sample, every_layer
from tilewright.testing.random_networks import KINDS, random_network
from tilewright.transform import HOOKS, transform

LAYERS = {layer.name: layer for layer in every_layer()}


@cache
def layer_text(name: str) -> str:
    """The program of one operator, in tiles."""
    layer: Sample = LAYERS[name]
    room = max(least_room(layer, cluster()) * 5 // 4 + 64, sum(x.nbytes for x in layer.inputs if x is not None) // 3)
    return text_of(tiles_of(Case(layer=layer, room_bytes=room, buffering="auto"), cluster()))


@cache
def network_text(kind: str, scratchpad_bytes: int) -> str:
    """A network on the made-up cluster, several steps tiled together where that is better."""
    graph = random_network(kind, 3, vocabulary()).graph
    planner = portable_planner(pins=Decisions(), buffering="auto", longest=4)
    return text_of(planner.carry_out(planner.bind(graph, cluster(scratchpad_bytes)), Decisions()))


def text_of(plan: Allocated) -> str:
    program = transform(lower(plan, vocabulary(), "net"), (HOOKS,), ())
    return emit(program, EmitOptions(generator="tilewright")).files["net.c"].decode()


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_operators_in_tiles_read_well(name: str) -> None:
    assert objections(layer_text(name)) == []


OFTEN = ("cnn", "attention", "sequence", "bottleneck")  # the others are of the same layers
SIZES = [2 << 10, pytest.param(16 << 10, marks=pytest.mark.long)]


@pytest.mark.slow
@pytest.mark.parametrize("scratchpad_bytes", SIZES)
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in OFTEN else pytest.mark.long) for kind in KINDS]
)
def test_networks_read_well(kind: str, scratchpad_bytes: int) -> None:
    assert objections(network_text(kind, scratchpad_bytes)) == []


@pytest.mark.parametrize("io", ["pool", "user"])
def test_programs_of_one_core_read_well(toy: Any, io: str) -> None:
    program = toy.program(toy.graph(), io=io)
    assert objections(toy.artifact(program).files["toy.c"].decode()) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("f((const uint8_t *)(const int8_t *)x);", "a cast of a cast"),
        ("x = w + 0 * (a + b);", "times nothing"),
        ("x = w + 0;", "nothing is added"),
        (".counted = 9 - (x_2.low),", "parentheses around a name"),
        ("static void f(void)\n{\n}", "an empty function"),
        ("/* along loop o,. */", "a comma before a full stop"),
        ("f(ram + 8000);", "an offset without a name"),
    ],
)
def test_objections_are_found(text: str, what: str) -> None:
    assert [one.partition(":")[0] for one in objections(f"/* ---- steps ---- */\n{text}\n")] == [what]
