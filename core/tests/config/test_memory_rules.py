"""What the names and patterns of `--pin` stand for, and how those that stand for nothing are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.config.memory_rules import CopyRule, copied_constants, parse_copy, pinned_memories
from tilewright.config.name_patterns import KnownNames, Meaning, names_of
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.random_graphs import small_world

WORLD = small_world()
MACHINE = Platform(
    name="small",
    memories=(
        Memory(name="dtcm", size_bytes=64),
        Memory(name="sram", size_bytes=None),
        Memory(name="flash", size_bytes=None, kind="const"),
        Memory(name="qspi", size_bytes=None, kind="const"),
    ),
)


def _graph(nodes: tuple[Node, ...], constants: dict[str, tuple[int, ...]]) -> Graph:
    names = {name: (2, 3) for node in nodes for name in (*node.inputs, *node.outputs)} | constants
    return Graph(
        name="g",
        inputs=("x",),
        outputs=(nodes[-1].outputs[0],),
        nodes=nodes,
        tensors={name: Tensor(name=name, dtype=DType.F32, shape=shape) for name, shape in names.items()},
        constants={name: np.ones(shape, np.float32) * number for number, (name, shape) in enumerate(constants.items())},
    )


SOURCE = _graph(  # as in the file: conv/Add reads a bias, then an activation that is merged with it
    (
        Node(name="deq", op="Mul", inputs=("w", "scale"), outputs=("wide",), origin=("deq",)),
        Node(name="conv/Add", op="Add", inputs=("x", "wide"), outputs=("sum",), origin=("conv/Add",)),
        Node(name="relu", op="Clip", inputs=("sum",), outputs=("r",), origin=("relu",)),
        Node(name="head/Add", op="Add", inputs=("r", "b"), outputs=("y",), origin=("head/Add",)),
    ),
    {"w": (2, 3), "scale": (1,), "b": (1, 3)},
)
MERGED = _graph(
    (
        Node(name="conv/Add", op="Add", inputs=("x", "folded"), outputs=("r",), origin=("conv/Add", "relu", "deq")),
        Node(name="head/Add", op="Add", inputs=("r", "b"), outputs=("y",), origin=("head/Add",)),
    ),
    {"folded": (2, 3), "b": (1, 3)},
)


def _bound() -> Bound:
    return bind(MERGED, MACHINE, WORLD.operators, WORLD.kernels, Decisions())


def _names() -> KnownNames:
    return names_of(_bound(), SOURCE)


def _pins(*rules: tuple[str, str], io: dict[str, str] | None = None) -> dict[str, str]:
    return pinned_memories(rules, _names(), MACHINE, io or {})


def test_a_tensor_a_layer_and_a_pattern() -> None:
    assert _pins(("r", "dtcm"))["r"] == "dtcm"
    assert _pins(("head/Add", "sram")) == {"y": "sram", "head/Add.scratch": "sram"}
    assert _pins(("head/*", "sram")) == {"y": "sram", "head/Add.scratch": "sram"}
    assert _pins(("*", "sram"), ("r", "dtcm"))["r"] == "dtcm"  # later rules overrule
    assert _pins(("r", "dtcm"), ("*", "sram"))["r"] == "sram"


def test_scratch_stays_in_a_scratchpad() -> None:
    """Kernels have it where they compute, wherever values live."""
    cluster = replace(MACHINE, inner="dtcm", backing="sram")
    names = names_of(_bound(), SOURCE)
    assert pinned_memories((("head/Add", "sram"),), names, cluster, {}) == {"y": "sram"}
    assert pinned_memories((("head/Add", "dtcm"),), names, cluster, {}) == {"y": "dtcm", "head/Add.scratch": "dtcm"}


def test_what_was_merged_is_found_under_the_names_of_the_file() -> None:
    assert _pins(("relu", "dtcm"))["r"] == "dtcm"
    assert _pins(("sum", "dtcm")) == {"r": "dtcm"}  # a tensor between merged layers


def test_a_pool_of_constants_takes_constants() -> None:
    assert _pins(("head/Add", "qspi")) == {"head/Add.B": "qspi"}
    assert _pins(("b", "qspi")) == {"head/Add.B": "qspi"}
    assert _pins(("w", "qspi")) == {"conv/Add.B": "qspi"}  # through a node that was computed in advance
    assert _pins(("scale", "qspi")) == {"conv/Add.B": "qspi"}
    assert set(_pins(("*", "qspi"))) == {"conv/Add.B", "head/Add.B"}


@pytest.mark.parametrize(
    ("rule", "code", "words"),
    [
        (("ghost", "dtcm"), "TW1116", "no tensor, layer or constant"),
        (("haed/Add", "dtcm"), "TW1116", "did you mean 'head/Add'?"),
        (("Add", "dtcm"), "TW1116", "it is a part of names: '*Add*'"),
        (("r", "dtmc"), "TW1103", "did you mean 'dtcm'?"),
        (("x", "flash"), "TW1116", "names no constant"),
        (("w", "dtcm"), "TW1116", "--stage w=dtcm"),
        (("x", "dtcm"), "TW5002", "--io x=pool"),
    ],
)
def test_what_cannot_be_pinned(rule: tuple[str, str], code: str, words: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        _pins(rule, io={"x": "user"})
    assert caught.value.code == code
    assert words in str(caught.value)


def test_a_pattern_leaves_alone_what_is_the_callers() -> None:
    assert "x" not in _pins(("*", "sram"), io={"x": "user"})


def test_without_the_file_the_graph_has_names_too() -> None:
    bound = replace(_bound())
    assert pinned_memories((("r", "sram"),), names_of(bound), MACHINE, {})["r"] == "sram"
    assert names_of(bound).matching("w") is None


RAM, ROM = Memory(name="ram", size_bytes=None), Memory(name="rom", size_bytes=None, kind="const")
TCM = Memory(name="tcm", size_bytes=None)
PLAIN = Platform(name="plain", memories=(RAM, TCM, ROM))
NAMES = KnownNames(
    meanings={"fc": Meaning(constants=("w", "b")), "w": Meaning(constants=("w",)), "x": Meaning(values=("x",))}
)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("fc=ram", CopyRule(pattern="fc", memory="ram")),
        ("fc=ram,when=use", CopyRule(pattern="fc", memory="ram", when="use")),
        ("a=b=ram,when=init", CopyRule(pattern="a=b", memory="ram")),
    ],
)
def test_what_is_read(text: str, rule: CopyRule) -> None:
    assert parse_copy(text) == rule


@pytest.mark.parametrize("text", ["", "fc", "fc=", "=ram", "fc=ram,when=later", "fc=ram,x", ",when=use"])
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        parse_copy(text)
    assert caught.value.code == "TW1101"


def test_later_rules_overrule_earlier_ones() -> None:
    rules = (parse_copy("fc=ram"), parse_copy("w=tcm,when=use"))
    assert copied_constants(rules, NAMES, PLAIN) == {
        "w": Staging(memory="tcm", when="use"),
        "b": Staging(memory="ram", when="init"),
    }


@pytest.mark.parametrize(("text", "code"), [("fc=moon", "TW1103"), ("x=ram", "TW1116"), ("fc=rom", "TW5033")])
def test_what_is_refused(text: str, code: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        copied_constants((parse_copy(text),), NAMES, PLAIN)
    assert caught.value.code == code
