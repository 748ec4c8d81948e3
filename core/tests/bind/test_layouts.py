"""Layouts are chosen so that nothing has to move; what must move is moved once."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.bind.candidates import choices
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layers, layer_key
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import channels_last, row_major, transposed
from tilewright.testing.sketch import Sketch

FAMILIES = [
    importlib.import_module(f"tilewright.operators.{name}")
    for name in (
        "elementwise.clip",
        "convolution.conv",
        "movement.reshape",
        "movement.slice",
        "movement.concat",
        "movement.copying",
        "movement.transpose",
    )
]
OPERATORS = {operator.name: operator for family in FAMILIES for operator in family.OPERATORS}
KERNELS = {kernel.name: kernel for family in FAMILIES for kernel in family.KERNELS}
PLATFORM = Platform(name="bench", memories=(Memory(name="ram", size_bytes=None),))
RELU = {"min": 0.0, "max": float("inf")}
CONV = {"kernel_shape": (3, 3), "pads": (1, 1, 1, 1), "strides": (1, 1), "dilations": (1, 1), "group": 1}


def bound(graph: Graph, kernels: dict[str, Kernel] | None = None, decisions: Decisions | None = None) -> Bound:
    return bind(graph, PLATFORM, OPERATORS, kernels or KERNELS, decisions or Decisions())


def sketch_with_conv(channels: int = 4) -> tuple[Sketch, str]:
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (1, channels, 8, 8))
    weight = sketch.constant(np.ones((channels, channels, 3, 3), np.float32))
    return sketch, sketch.node("Conv", [x, weight], CONV, "conv")


def test_graph_inputs_and_outputs_are_row_major() -> None:
    sketch, y = sketch_with_conv()
    layouts = bound(sketch.finish(y)).layouts
    assert layouts["x"] == layouts["conv:0"] == row_major(4)


def shifted(channels: int = 4) -> Graph:
    """A convolution whose last rows are kept: the oldest of them leaves in every run."""
    sketch, y = sketch_with_conv(channels)
    kept = sketch.input("kept", DType.F32, (1, channels, 8, 8))
    rest = {"starts": (0, 0, 1, 0), "steps": (1, 1, 1, 1), "shape": (1, channels, 7, 8)}
    part = sketch.node("Slice", [kept], rest, "part")
    row = sketch.node("Slice", [y], {**rest, "shape": (1, channels, 1, 8)}, "row")
    keeps = sketch.node("Concat", [part, row], {"axis": 2}, "keeps")
    return sketch.finish(sketch.node("Clip", [part], RELU, "y"), keeps)


def test_state_is_stored_as_its_writer_stores_it_so_that_a_shift_turns_nothing() -> None:
    graph = shifted()
    found = bound(graph, decisions=Decisions(state={"kept": "keeps:0"}))
    assert found.layouts["kept"] == found.layouts["keeps:0"] == found.layouts["row:0"] == channels_last(4)
    assert found.layouts["x"] == found.layouts["y:0"] == row_major(4)
    assert bound(graph).layouts["kept"] == bound(graph).layouts["keeps:0"] == row_major(4)


def test_what_moves_on_lies_as_one_piece() -> None:
    """The axis along which a window of the input moves is outermost, though the input is row-major."""
    sketch = Sketch(operators=OPERATORS)
    x, kept = (sketch.input(name, DType.F32, (1, 4, extent)) for name, extent in (("x", 1), ("kept", 9)))
    cut = sketch.node("Slice", [kept], {"starts": (0, 0, 1), "steps": (1, 1, 1), "shape": (1, 4, 8)}, "part")
    graph = sketch.finish(sketch.node("Concat", [cut, x], {"axis": -1}, "keeps"))
    layouts = bound(graph, decisions=Decisions(state={"kept": "keeps:0"})).layouts
    assert layouts["x"] == row_major(3)
    assert layouts["kept"] == layouts["part:0"] == layouts["keeps:0"] == (2, 0, 1)


def test_both_ends_of_a_state_obey_the_pin_of_one() -> None:
    for end in ("kept", "keeps:0"):
        found = bound(shifted(), decisions=Decisions(state={"kept": "keeps:0"}, layouts={end: (0, 2, 1, 3)}))
        assert found.layouts["kept"] == found.layouts["keeps:0"] == (0, 2, 1, 3)


def test_a_state_that_only_moves_itself_is_row_major() -> None:
    sketch = Sketch(operators=OPERATORS)
    kept = sketch.input("kept", DType.F32, (1, 4, 8, 8))
    found = bound(sketch.finish(sketch.node("Clip", [kept], RELU, "y")), decisions=Decisions(state={"kept": "y:0"}))
    assert found.layouts["kept"] == found.layouts["y:0"] == row_major(4)


def test_values_between_convolutions_are_channels_last() -> None:
    sketch, y = sketch_with_conv()
    relu = sketch.node("Clip", [y], RELU, "relu")
    last = sketch.node("Conv", [relu, "c0"], CONV, "last")
    layouts = bound(sketch.finish(last)).layouts
    assert layouts["conv:0"] == layouts["relu:0"] == channels_last(4)


@pytest.mark.parametrize("moves", [[], [("Transpose", {"perm": (0, 1, 3, 2)})]])
def test_what_arrives_is_stored_as_it_is_handed_over(moves: list[tuple[str, dict[str, tuple[int, ...]]]]) -> None:
    """Whatever is read from it: a Reshape behind Transposes moves bytes itself."""
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (1, 4, 8, 6))
    before = sketch.node("Transpose", [x], {"perm": (0, 2, 3, 1)})
    arrived = sketch.node("Arrival", [before])
    y = arrived
    for op, attributes in moves:
        y = sketch.node(op, [y], attributes)
    layouts = bound(sketch.finish(sketch.node("Reshape", [y], {"shape": (1, 2, 12, 8)}))).layouts
    assert layouts[arrived] == layouts[before] == transposed(row_major(4), (0, 2, 3, 1))


def test_a_transposed_input_is_only_another_layout() -> None:
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (1, 8, 8, 4))
    turned = sketch.node("Transpose", [x], {"perm": (0, 3, 1, 2)}, "turned")
    weight = sketch.constant(np.ones((4, 4, 3, 3), np.float32))
    y = sketch.node("Conv", [turned, weight], CONV, "conv")
    assert bound(sketch.finish(y)).layouts["turned:0"] == channels_last(4)


def test_a_transposed_output_asks_its_producer_for_the_right_layout() -> None:
    sketch, y = sketch_with_conv()
    back = sketch.node("Transpose", [y], {"perm": (0, 2, 3, 1)}, "back")
    assert bound(sketch.finish(back)).layouts["conv:0"] == channels_last(4)


def test_a_flattening_reshape_asks_for_row_major() -> None:
    sketch, y = sketch_with_conv()
    relu = sketch.node("Clip", [y], RELU, "relu")
    flat = sketch.node("Reshape", [relu], {"shape": (1, 256)}, "flat")
    assert bound(sketch.finish(flat)).layouts["relu:0"] == row_major(4)


def test_a_reshape_that_drops_unit_axes_keeps_any_layout() -> None:
    sketch, y = sketch_with_conv()
    thin = sketch.node("Reshape", [y], {"shape": (4, 8, 8)}, "thin")
    z = sketch.node("Clip", [thin], RELU, "z")
    layouts = bound(sketch.finish(z)).layouts
    assert layouts["conv:0"] == channels_last(4)
    assert layouts["thin:0"] == (1, 2, 0)


def test_a_demanding_kernel_gets_relayouts_around_it() -> None:
    def demand(site: object) -> dict[str, tuple[int, ...]]:
        return {"X": (0, 2, 3, 1), "Y": (0, 2, 3, 1)}

    sketch, y = sketch_with_conv()
    vendor = Kernel(name="vendor.conv", op="Conv", target="bench", requires=demand, cycles=lambda tile: 0.0)
    result = bound(sketch.finish(y), {**KERNELS, vendor.name: vendor})
    assert [node.op for node in result.graph.nodes] == ["Transpose", "Conv", "Transpose"]
    assert result.bindings["conv"].kernel is vendor
    assert result.graph.outputs == ("conv:0",)
    result.graph.verify()


def test_a_pinned_layout_is_kept() -> None:
    sketch, y = sketch_with_conv()
    z = sketch.node("Clip", [y], RELU, "z")
    pins = Decisions(layouts={"conv:0": (3, 2, 1, 0)})
    assert bound(sketch.finish(z), decisions=pins).layouts["conv:0"] == (3, 2, 1, 0)


def test_the_cheapest_kernel_wins_and_a_pin_overrules_it() -> None:
    sketch, y = sketch_with_conv()
    fast = Kernel(name="vendor.fast", op="Conv", target="bench", cycles=lambda tile: 1.0)
    slow = Kernel(name="vendor.slow", op="Conv", target="bench", cycles=lambda tile: 9.0)
    kernels = {**KERNELS, fast.name: fast, slow.name: slow}
    graph = sketch.finish(y)
    assert bound(graph, kernels).bindings["conv"].kernel is fast
    pinned = bound(graph, kernels, Decisions(kernels={"conv": "vendor.slow"}))
    assert pinned.bindings["conv"].kernel is slow


def test_a_pin_to_a_kernel_that_refuses_says_why() -> None:
    sketch, y = sketch_with_conv()
    picky = Kernel(name="vendor.picky", op="Conv", match=lambda site: "only on Tuesdays")
    with pytest.raises(TilewrightError, match="only on Tuesdays") as caught:
        bound(sketch.finish(y), {**KERNELS, picky.name: picky}, Decisions(kernels={"conv": "vendor.picky"}))
    assert caught.value.code == "TW1104"


def test_all_unsupported_nodes_are_listed_with_every_refusal() -> None:
    sketch, y = sketch_with_conv()
    z = sketch.node("Clip", [y], RELU, "z")
    picky = Kernel(name="vendor.picky", op="Conv", match=lambda site: "only on Tuesdays")
    with pytest.raises(TilewrightError) as caught:
        bound(sketch.finish(z), {picky.name: picky})
    text = str(caught.value)
    assert caught.value.exit_code is Exit.UNSUPPORTED
    assert "2 of 2 nodes" in text
    assert "vendor.picky: only on Tuesdays" in text
    assert "no kernel for Clip is installed" in text


def test_other_targets_kernels_are_not_even_refusals() -> None:
    sketch, y = sketch_with_conv()
    site = next(sketch.finish(y).sites())
    foreign = Kernel(name="other.conv", op="Conv", target="other")
    found = choices(site, layer_key(site), [foreign], PLATFORM, Layers(operators=OPERATORS))
    assert found.candidates == () and found.refusals == ()


def test_equal_constants_are_stored_once() -> None:
    sketch, y = sketch_with_conv()
    twin = sketch.constant(np.ones((4, 4, 3, 3), np.float32))
    z = sketch.node("Conv", [y, twin], CONV, "z")
    result = bound(sketch.finish(z))
    assert result.bindings["conv"].constants == result.bindings["z"].constants
    assert len(result.constants) == len(result.bindings["conv"].constants)
