"""A kernel tile by tile: boxes cover every trip once, results are those of the whole, and wrong extents are found."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.access.index_map import Loop
from tilewright.testing.kernels.kernel_tiles import run_tiled, run_whole_and_tiled, tile_boxes
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.operator_sites import result_errors, site_of

KINDS = ("parallel", "reduce")


@pytest.mark.slow
@given(extents=st.lists(st.integers(0, 5), min_size=1, max_size=3), data=st.data())
def test_boxes_cover_every_trip_once_and_are_no_larger_than_asked(extents: list[int], data: st.DataObject) -> None:
    loops = [
        Loop(name=f"l{at}", extent=extent, kind=data.draw(st.sampled_from(KINDS))) for at, extent in enumerate(extents)
    ]
    cuts = {loop.name: data.draw(st.integers(1, 6)) for loop in loops if data.draw(st.booleans())}
    access: Any = SimpleNamespace(loops=tuple(loops))
    boxes = list(tile_boxes(access, cuts))
    met = Counter(
        tuple(sorted(zip(box, point, strict=True)))
        for box in boxes
        for point in product(*(range(*of) for of in box.values()))
    )
    assert set(met.values()) <= {1} and len(met) == int(np.prod(extents))
    assert all(high - low <= cuts.get(name, high) for box in boxes for name, (low, high) in box.items())
    kinds = [next(loop.kind for loop in loops if loop.name == name) for name in (boxes[0] if boxes else {})]
    assert kinds == sorted(kinds)  # reductions are innermost


ADD = vocabulary()["Add"]
ARRAYS = [np.arange(15, dtype=np.float32).reshape(3, 5), np.arange(5, dtype=np.float32)]


def add_kernel() -> Any:
    return next(one for one in portable_kernels().values() if one.op == "Add" and not one.pattern and one.target == "*")


def test_tiles_give_what_the_whole_gives_in_any_layout(tmp_path: Path) -> None:
    site = site_of(ADD, ARRAYS)
    loops = [loop.name for loop in ADD.access(site).loops]
    cuts = dict(zip(loops, (2, 3), strict=False))
    layouts = {"A": (1, 0), "B": (0,), "C": (1, 0)}
    found = run_tiled(ADD, add_kernel(), site, ARRAYS, cuts=cuts, folder=tmp_path, layouts=layouts)
    assert result_errors(ADD, site, ARRAYS, found) == []


def test_a_packed_constant_is_stored_as_it_is_packed_whatever_the_layout_of_its_operand(tmp_path: Path) -> None:
    sample = next(layer for layer in every_layer() if layer.op == "QGemm")
    operator, kernel = vocabulary()["QGemm"], portable_kernels()["portable.qgemm"]
    site = site_of(operator, sample.inputs, sample.attributes, sample.constants)
    layouts = {"A": (1, 0), "B": (1, 0), "Y": (1, 0)}
    tiled = run_tiled(operator, kernel, site, sample.inputs, cuts={"n": 7}, folder=tmp_path, layouts=layouts)
    assert result_errors(operator, site, sample.inputs, tiled) == []


def test_whole_and_in_tiles_of_one_library(tmp_path: Path) -> None:
    site = site_of(ADD, ARRAYS)
    cuts = [{loop.name: size for loop in ADD.access(site).loops} for size in (2, 3)]
    results = run_whole_and_tiled(ADD, add_kernel(), site, ARRAYS, cuts=cuts, folder=tmp_path)
    assert [result_errors(ADD, site, ARRAYS, found) for found in results] == [[], [], []]
    assert len(list(tmp_path.glob("*.so"))) == 1


def test_a_kernel_that_takes_the_extent_of_the_whole_for_that_of_a_tile_is_found(tmp_path: Path) -> None:
    operator, array = vocabulary()["Neg"], ARRAYS[1]
    kernel = replace(
        portable_kernels()["portable.neg"], values=lambda _: {}, source="",
        call="for (int i = 0; i < 5; ++i) { ${Y}[i] = -${X}[i]; }",
    )  # fmt: skip
    (loop,) = operator.access(site_of(operator, [array])).loops
    with pytest.raises(AssertionError, match=r"written beside|beyond an operand"):
        run_tiled(operator, kernel, site_of(operator, [array]), [array], cuts={loop.name: 4}, folder=tmp_path)


def test_a_reduction_that_the_kernel_does_not_split_is_not_cut(tmp_path: Path) -> None:
    operator = vocabulary()["ReduceMax"]
    site = site_of(operator, ARRAYS[:1], {"axes": (1,), "keepdims": 1})
    kernel = next(one for one in portable_kernels().values() if one.op == "ReduceMax")
    (loop,) = (loop for loop in operator.access(site).loops if loop.kind == "reduce")
    with pytest.raises(ValueError, match="does not split"):
        run_tiled(
            operator,
            replace(kernel, accumulates=lambda _: None),
            site,
            ARRAYS[:1],
            cuts={loop.name: 2},
            folder=tmp_path,
        )
