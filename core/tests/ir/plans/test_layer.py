"""A kernel analyses each distinct layer once, and all of its functions are given what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Attribute, Graph, Site
from tilewright.ir.machines.kernel import Kernel, Matched, PartialSums
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import Layers, layer_key, layer_of
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.schedule import schedule
from tilewright.snapshot.saved_stage import read_stage, save_stage
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import refusal, site_of
from tilewright.testing.random_graphs import SmallWorld, small_world
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

SQUARE = np.eye(3, dtype=np.float32)


def watched(asked: Counter[str]) -> Kernel:
    """A kernel for MatMul that counts what it is asked, and demands its analysis everywhere."""

    def match(site: Site) -> object:
        asked["match"] += 1
        return "only without limits" if "clip_low" in site.node.attributes else ("product", site.input(1).shape)

    def ask(name: str, answer: Any) -> Callable[[Matched], Any]:
        def answered(site: Matched) -> Any:
            asked[name] += 1
            assert site.analysis == ("product", (3, 3))
            return answer

        return answered

    scratch, cycles, values = ask("scratch_bytes", 8), ask("cycles", 1.0), ask("values", {"depth": 3})
    return Kernel(
        name="small.product",
        op="MatMul",
        target="small",
        match=match,
        access="m n k : A[m,k] W[n,k] -> Y[m,n]",
        attributes=ask("attributes", {}),
        requires=ask("requires", {}),
        prefers=ask("prefers", {}),
        pack=ask("pack", {"W": SQUARE.copy()}),
        stays=ask("stays", ()),
        accumulates=ask("accumulates", PartialSums(loops=("k",), dtype=DType.F32)),
        in_place=ask("in_place", (("A", "Y"),)),
        describe=ask("describe", {"depth": 3}),
        scratch_bytes=lambda tile: scratch(tile.site),
        cycles=lambda tile: cycles(tile.site),
        values=lambda call: values(call.site),
        source="static void product(void) { }",
        call="product(); /* ${depth} */",
    )


def world(asked: Counter[str]) -> SmallWorld:
    small = small_world()
    return replace(small, operators=vocabulary(), kernels={"small.product": watched(asked)})


def chain(*weights: npt.NDArray[np.float32]) -> Graph:
    """One product after the other."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (4, 3))
    for matrix in weights:
        value = sketch.node("MatMul", [value, sketch.constant(matrix)])
    return sketch.finish(value)


def bound_in(small: SmallWorld, graph: Graph, layers: Layers | None = None) -> Bound:
    return bind(graph, small.platform, small.operators, small.kernels, Decisions(), layers=layers)


def planned(small: SmallWorld, graph: Graph) -> Allocated:
    scheduled = schedule(bound_in(small, graph), small.operators, Decisions())
    tiled = tile(scheduled, small.operators, WholeTiler(), Decisions())
    return allocate(tiled, Decisions(), BestFit(), Budget(work=500))


def test_equal_layers_are_analysed_once_whatever_their_arrays_and_names() -> None:
    asked: Counter[str] = Counter()
    bound = bound_in(world(asked), chain(*(SQUARE.copy() for _ in range(5))))
    assert len(bound.layers) == 5
    assert len({id(layer) for layer in bound.layers.values()}) == 1
    assert asked["match"] == asked["pack"] == asked["requires"] == asked["cycles"] == 1


def test_other_constants_are_another_layer() -> None:
    asked: Counter[str] = Counter()
    bound = bound_in(world(asked), chain(SQUARE, 2 * SQUARE, SQUARE.copy()))
    first, second, third = bound.layers.values()
    assert first is third is not second
    assert asked["match"] == 2


def test_everything_but_values_is_asked_once_for_a_layer_and_finds_the_analysis() -> None:
    asked: Counter[str] = Counter()
    small = world(asked)
    plan = planned(small, chain(SQUARE, SQUARE.copy(), SQUARE.copy()))
    lower(plan, small.operators, "net")
    bound = plan.tiled.scheduled.bound
    assert [layer.facts for layer in bound.layers.values()] == [{"depth": 3}] * 3
    assert [layer.sums is not None for layer in bound.layers.values()] == [True] * 3
    assert [layer.stays for layer in bound.layers.values()] == [()] * 3
    often = {name for name, count in asked.items() if count > 1}
    assert often == {"values", "scratch_bytes"} and len(asked) == 12


def test_what_is_known_serves_the_next_binding_and_no_other_deployment() -> None:
    asked: Counter[str] = Counter()
    small, graph = world(asked), chain(SQUARE)
    layers = Layers(operators=small.operators)
    first, again = bound_in(small, graph, layers), bound_in(small, graph, layers)
    assert first.layers["MatMul_0"] is again.layers["MatMul_0"] and asked["match"] == 1
    apart = bound_in(small, graph)
    assert apart.layers["MatMul_0"] is not first.layers["MatMul_0"] and asked["match"] == 2


def test_a_state_holds_no_analysis_and_kernels_are_asked_again(tmp_path: Path) -> None:
    asked: Counter[str] = Counter()
    small = world(asked)
    plan = planned(small, chain(SQUARE, SQUARE.copy()))
    save_stage(plan, tmp_path)
    assert "analysis" not in (text := (tmp_path / "state.json").read_text()) and '"layers"' not in text
    read = read_stage(tmp_path, small)
    assert isinstance(read, Allocated) and read == plan
    one, other = read.tiled.scheduled.bound.layers.values()
    assert one is other and one.site.analysis == ("product", (3, 3))
    assert asked["match"] == 2


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"name": "other"}, True),
        ({"attributes": {"clip_low": -0.0}}, False),
        ({"attributes": {"clip_low": 0.0, "clip_high": 1.0}}, False),
        ({"op": "Gemm"}, False),
    ],
    ids=["name", "sign of zero", "attribute", "operator"],
)
def test_what_makes_a_layer(changes: Mapping[str, Any], same: bool) -> None:
    site = site_of(vocabulary()["MatMul"], [SQUARE, SQUARE], {"clip_low": 0.0}, (1,))
    other = replace(site, node=replace(site.node, **changes))
    assert (layer_key(site) == layer_key(other)) is same


def test_types_constants_and_shared_inputs_make_a_layer_too() -> None:
    add, attributes = vocabulary()["Add"], dict[str, Attribute]()
    site = site_of(add, [SQUARE, SQUARE], attributes)
    (one, _) = site.inputs
    keys = {
        layer_key(site),
        layer_key(site_of(add, [SQUARE, SQUARE], attributes, (1,))),
        layer_key(site_of(add, [SQUARE, 2 * SQUARE], attributes, (1,))),
        layer_key(site_of(add, [SQUARE, np.ones(3, np.float32)], attributes)),
        layer_key(site_of(add, [SQUARE.astype(np.int32), SQUARE.astype(np.int32)], attributes)),
        layer_key(replace(site, inputs=(one, one))),
    }
    assert len(keys) == 6


def test_a_refusal_is_a_sentence_and_asked_once() -> None:
    asked: Counter[str] = Counter()
    kernel = watched(asked)
    site = site_of(vocabulary()["MatMul"], [SQUARE, SQUARE], {"clip_low": 0.0}, (1,))
    assert refusal(kernel, site) == "only without limits"
    with pytest.raises(ValueError, match=r"small\.product refuses node: only without limits"):
        layer_of(vocabulary()["MatMul"], kernel, site)
    layers, asked["match"] = Layers(operators=vocabulary()), 0
    assert layers.of(kernel, site, layer_key(site)) == layers.of(kernel, site, layer_key(site)) == "only without limits"
    assert asked["match"] == 1


def test_what_a_kernel_raises_passes_and_is_not_remembered() -> None:
    asked: Counter[str] = Counter()

    def broken(site: Site) -> object:
        asked["match"] += 1
        raise ZeroDivisionError(site.node.name)

    small = replace(world(asked), kernels={"small.product": replace(watched(asked), match=broken)})
    layers = Layers(operators=small.operators)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="MatMul_0"):
            bound_in(small, chain(SQUARE), layers)
    assert asked["match"] == 2


@pytest.mark.parametrize(
    ("function", "answer", "wanted"),
    [
        ("requires", "channels last", "a mapping from names, found str 'channels last'"),
        ("prefers", None, "a mapping from names, found None"),
        ("pack", (SQUARE,), "a mapping from names, found tuple"),
        ("describe", ["fast"], "a mapping from names, found list"),
        ("in_place", ("A", "Y"), r"a tuple of pairs \(input, output\) of A, B and Y, found tuple"),
        ("in_place", (("A", "Z"),), r"a tuple of pairs \(input, output\) of A, B and Y, found tuple"),
    ],
)
def test_an_answer_of_another_type_names_kernel_and_function(function: str, answer: object, wanted: str) -> None:
    kernel = Kernel(name="acme.wrong", op="MatMul", **{function: lambda site: answer})  # type: ignore[arg-type]
    layer = layer_of(vocabulary()["MatMul"], kernel, site_of(vocabulary()["MatMul"], [SQUARE, SQUARE], {}, (1,)))
    named = {"requires": "required", "prefers": "preferred", "pack": "packed", "describe": "facts"}
    with pytest.raises(TilewrightError, match=rf"TW8062\]: kernel 'acme.wrong': {function} must return {wanted}"):
        getattr(layer, named.get(function, function))


def test_false_refuses_nothing_and_is_no_answer() -> None:
    kernel = Kernel(name="acme.no", op="MatMul", match=lambda site: False)
    site = site_of(vocabulary()["MatMul"], [SQUARE, SQUARE], {}, (1,))
    with pytest.raises(TilewrightError, match=r"must return a sentence that refuses, or None, found bool False"):
        layer_of(vocabulary()["MatMul"], kernel, site)
