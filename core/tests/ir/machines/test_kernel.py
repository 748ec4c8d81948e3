"""What a kernel binding is: what a template sees of an operand, and what holds of a kernel that says nothing more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.tests.operators.plain_calls import plain_call
from tilewright.ir.machines.kernel import Kernel, Matched, Operand
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import refusal, site_of

NEG = vocabulary()["Neg"]
SITE = site_of(NEG, [np.ones((3, 4), np.float32)])
BARE = Kernel(name="bare", op="Neg", call="")


def test_a_kernel_that_says_nothing_accepts_everything_and_needs_nothing() -> None:
    layer = layer_of(NEG, BARE, SITE)
    assert refusal(BARE, SITE) is None and layer.site.analysis is None
    assert (BARE.target, BARE.scratch_bytes(layer.whole), layer.in_place, layer.sums) == ("*", 0, (), None)
    assert layer.access.loops == NEG.access(SITE).loops


def test_what_match_finds_is_what_all_else_is_asked_about() -> None:
    seen = []
    kernel = replace(BARE, match=lambda _: {"found": 7}, scratch_bytes=lambda tile: seen.append(tile.site) or 5)
    layer = layer_of(NEG, kernel, SITE)
    assert kernel.scratch_bytes(layer.whole) == 5
    assert [site.analysis for site in seen] == [{"found": 7}]


def test_a_matched_site_is_the_site_and_compares_without_its_analysis() -> None:
    one, other = Matched.of(SITE, "an analysis"), Matched.of(SITE, "another")
    assert one == other and one.analysis != other.analysis
    assert (one.node, one.inputs, one.outputs) == (SITE.node, SITE.inputs, SITE.outputs)


def test_an_operand_is_printed_as_its_pointer() -> None:
    operand = Operand(
        name="X", pointer="x_0", dtype=DType.F32, shape=(3,), strides=(1,), extents=("3",), origin=("0",),
        before=("0",), after=("0",),
    )  # fmt: skip
    assert f"f({operand})" == "f(x_0)"


def test_a_tile_counts_trips_of_its_box() -> None:
    layer = layer_of(NEG, portable_kernels()["portable.neg"], SITE)
    (loop, *_) = layer.access.loops
    assert layer.whole.extent(loop.name) == loop.extent
    assert replace(layer.whole, box={**layer.whole.box, loop.name: (1, 3)}).extent(loop.name) == 2


def test_a_call_of_a_part_has_sums_and_says_when_they_begin_and_end() -> None:
    y = {"Y": (DType.F32, (2, 3))}
    whole, part = plain_call(y), plain_call({**y, "acc": (DType.F32, (2, 3))}, first="c == 0", last="c == 3")
    assert (whole.is_part, whole.part_fields) == (False, {})
    assert (part.is_part, part.part_fields) == (True, {"first": "c == 0", "last": "c == 3"})


@pytest.mark.parametrize("align", [0, 3, 24, "16"])
def test_alignments_are_powers_of_two(align: int) -> None:
    with pytest.raises(ValueError, match=r"align of X is .*, not a power of two"):
        replace(BARE, align={"X": align})
