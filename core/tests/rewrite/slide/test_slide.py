"""A stream gives on every call what the whole network gives on the window at that time; a wrong analysis is seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute, Graph, Quantization
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.slide import slide
from tilewright.rewrite.slide.reuse import Reuse, analyse
from tilewright.rewrite.slide.slide import costs, hop_unit
from tilewright.testing.sketch import Sketch


@pytest.mark.slow
@pytest.mark.parametrize("hop", [1, 2, 5, 24, 47])
@pytest.mark.parametrize("padded", [True, False])
def test_dilated_residual_blocks_are_equal_bit_for_bit(layers: Any, streams: Any, padded: bool, hop: int) -> None:
    stream = streams.of(layers.tcn(padded=padded), 2, hop)
    assert streams.wrong_calls(stream) == []
    assert stream.cost.products <= stream.whole_products


def test_a_sequence_behind_strides_is_handed_out_whole(layers: Any, streams: Any) -> None:
    stream = streams.of(layers.strided(), 2, 4)
    assert streams.wrong_calls(stream) == []
    assert stream.graph.tensors[stream.graph.outputs[0]].shape == (1, 3, 10)
    assert stream.cost.products < 0.7 * stream.whole_products


@pytest.mark.parametrize(("hop", "phases"), [(1, 4), (2, 2), (3, 4), (6, 2), (25, 4)])
def test_between_strides_calls_take_turns(layers: Any, streams: Any, hop: int, phases: int) -> None:
    stream = streams.of(layers.strided(), 2, hop)
    assert stream.cost.phases == phases
    assert streams.wrong_calls(stream) == []
    assert f"in {phases} phases" in stream.note.details[-1]
    assert f"'{stream.window.nodes[0].name}'" in stream.note.details[-1]
    assert stream.note.details[-1].endswith(f"--slide 'x[2]={stream.nearest}' takes one phase")
    assert stream.nearest == {25: 24, 6: 8}.get(hop, 4)
    assert sum(state.initial.nbytes for state in stream.states) == stream.cost.state_bytes


def test_sums_and_residuals_behind_strides_take_turns(layers: Any, streams: Any) -> None:
    x = layers.sketch.input("x", DType.I8, (1, 2, 64))
    value = layers.conv(x, 4, 5, stride=2, pads=(2, 2))
    both = layers.add(layers.conv(value, 4, 3, stride=3, pads=(1, 1)), layers.conv(x, 4, 1, stride=6))
    stream = streams.of(layers.sketch.finish(layers.mean(both)), 2, 1)
    assert stream.cost.phases == 6
    assert {state.lag for state in stream.states} == {1, 2, 6}
    assert any(state.kept.summed for state in stream.states)
    assert stream.cost.products < 0.5 * stream.whole_products
    assert streams.wrong_calls(stream) == []


@pytest.mark.parametrize("hop", [1, 7])
def test_a_mean_without_its_axis_runs(layers: Any, streams: Any, hop: int) -> None:
    stream = streams.of(layers.reduced(), 2, hop)
    assert streams.wrong_calls(stream) == []
    assert any(state.kept.summed for state in stream.states)


def test_a_hop_is_a_multiple_of_the_strides(layers: Any, operators: Mapping[str, Operator]) -> None:
    graph = layers.strided()
    assert hop_unit(graph, operators, "x", 2) == (4, graph.nodes[0].name)


def test_the_window_begins_with_what_stands_for_zero(layers: Any, streams: Any) -> None:
    graph = layers.tcn()
    quantised = replace(graph.tensors["x"], quantization=Quantization(scale=(0.1,), zero_point=(7,)))
    stream = streams.of(replace(graph, tensors={**graph.tensors, "x": quantised}), 2, 1)
    assert np.unique(stream.filler).tolist() == [7]
    assert streams.wrong_calls(stream, 3) == []
    assert (stream.warm_up, stream.note.code, stream.note.severity) == (48, "TW5040", "note")


def test_bytes_of_state_are_what_is_said(layers: Any, streams: Any) -> None:
    stream = streams.of(layers.tcn(), 2, 1)
    assert sum(state.initial.nbytes for state in stream.states) == stream.cost.state_bytes
    products = sum(streams.operators[site.node.op].macs(site) for site in stream.graph.sites())
    assert products == stream.cost.products


def test_other_hops_cost_more_each_and_less_in_all(layers: Any, operators: Mapping[str, Operator]) -> None:
    one, eight = costs(layers.tcn(padded=False), operators, "x", 2, [1, 8])
    assert one.products < eight.products and eight.unpadded == 8 * one.unpadded
    assert one.unpadded == one.products


def _reaching(earlier: int, later: int) -> Callable[..., Reuse]:
    """The analysis, by which what is reused begins earlier or ends later than is right."""

    def wrong(*arguments: Any, **keywords: Any) -> Reuse:
        found = analyse(*arguments, **keywords)
        inner = {name: axis for name, axis in found.axes.items() if axis.low > 0 or axis.high < axis.length}
        moved = {
            name: replace(axis, low=axis.low - (earlier if axis.low else 0), high=min(axis.length, axis.high + later))
            for name, axis in inner.items()
        }
        return replace(found, axes={**found.axes, **moved})

    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("hop", [3, 4])
@pytest.mark.parametrize(("network", "earlier", "later"), [("tcn", 1, 0), ("strided", 1, 0), ("strided", 0, 1)])
def test_one_element_too_many_reused_is_seen(
    layers: Any, streams: Any, monkeypatch: pytest.MonkeyPatch, network: str, earlier: int, later: int, hop: int
) -> None:
    graph = getattr(layers, network)()
    monkeypatch.setattr(slide, "analyse", _reaching(earlier, later))
    assert streams.wrong_calls(streams.of(graph, 2, hop)) != []


# --- operators of all kinds, in floats: what is reused is equal but for roundings


def _float_conv(sketch: Sketch, x: str, channels: int, kernel: tuple[int, ...], pads: tuple[int, ...]) -> str:
    rank = len(kernel)
    weights = np.random.default_rng(1).normal(size=(channels, sketch.tensors[x].shape[1], *kernel))
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": (1,) * rank, "dilations": (1,) * rank, "pads": pads, "ceil_mode": 0,
        "group": 1,
    }  # fmt: skip
    return sketch.node("Conv", (x, sketch.constant(weights.astype(np.float32))), attributes)


def _attention(sketch: Sketch) -> Graph:
    """Scores of all positions among each other: keys and values are kept, and the rest is computed anew."""
    x = sketch.input("x", DType.F32, (1, 12, 4))
    generator = np.random.default_rng(2)

    def projected() -> str:
        return sketch.node("MatMul", (x, sketch.constant(generator.normal(size=(4, 6)).astype(np.float32))))

    query, key, value = projected(), projected(), projected()
    turned = sketch.node("Transpose", (key,), {"perm": (0, 2, 1)})
    scores = sketch.node("Softmax", (sketch.node("MatMul", (query, turned)),), {"axis": 2})
    return sketch.finish(sketch.node("MatMul", (scores, value)))


def _image(sketch: Sketch) -> Graph:
    """A spectrogram [1, time, bands, 1], transposed, convolved, joined over channels, pooled, and flattened."""
    x = sketch.input("x", DType.F32, (1, 14, 6, 1))
    image = sketch.node("Transpose", (x,), {"perm": (0, 3, 1, 2)})
    one = _float_conv(sketch, image, 3, (3, 3), (1, 1, 1, 1))
    other = _float_conv(sketch, image, 2, (5, 1), (2, 0, 2, 0))
    both = sketch.node("Concat", (one, other), {"axis": 1})
    pool: dict[str, Attribute] = {
        "kernel_shape": (2, 2), "strides": (2, 2), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0,
    }  # fmt: skip
    pooled = sketch.node("MaxPool", (sketch.node("Sigmoid", (both,)),), pool)
    flat = sketch.node("Reshape", (pooled,), {"shape": (1, 5 * 7 * 3)})
    weights = np.random.default_rng(3).normal(size=(105, 4)).astype(np.float32)
    return sketch.finish(sketch.node("MatMul", (flat, sketch.constant(weights))))


def _normalised(sketch: Sketch) -> Graph:
    """Norms over channels, a bias that is another at every position, and a mean."""
    x = sketch.input("x", DType.F32, (1, 10, 4))
    ones = sketch.constant(np.ones(4, np.float32))
    normed = sketch.node("LayerNormalization", (x, ones), {"axis": -1, "epsilon": 1e-5})
    bias = sketch.constant(np.random.default_rng(4).normal(size=(10, 4)).astype(np.float32))
    placed = sketch.node("Add", (normed, bias))
    return sketch.finish(sketch.node("ReduceMean", (placed,), {"axes": (1,), "keepdims": 0}), normed)


@pytest.mark.parametrize(
    ("network", "hop"), [(_attention, 1), (_attention, 5), (_image, 2), (_image, 6), (_normalised, 1), (_normalised, 3)]
)
def test_floats_are_equal_but_for_roundings(
    sketch: Callable[[], Sketch], streams: Any, network: Callable[[Sketch], Graph], hop: int
) -> None:
    stream = streams.of(network(sketch()), 1, hop)
    assert streams.wrong_calls(stream, tolerance=1e-5) == []
    assert stream.cost.products <= stream.whole_products


def test_keys_and_values_are_kept(sketch: Callable[[], Sketch], streams: Any) -> None:
    stream = streams.of(_attention(sketch()), 1, 1)
    projections, scores = 3 * 4 * 6, 2 * 12 * 12 * 6
    assert stream.cost.products == projections + scores


def test_another_input_is_given_anew_in_every_call(sketch: Callable[[], Sketch], streams: Any) -> None:
    drawn = sketch()
    x = drawn.input("x", DType.F32, (1, 2, 9))
    level = drawn.input("level", DType.F32, (1, 2, 1))
    graph = drawn.finish(drawn.node("Mul", (_float_conv(drawn, x, 2, (3,), (1, 1)), level)))
    stream = streams.of(graph, 2, 1)
    assert streams.wrong_calls(stream, tolerance=1e-5) == []
