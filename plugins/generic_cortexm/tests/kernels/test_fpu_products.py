"""Convolutions and products of the scalar float unit, in their C form: inside the error model, whole and in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.api.testing import (
    UBSAN,
    layers_taken,
    refusal,
    result_errors,
    run_kernel,
    run_tiled,
    site_of,
    vocabulary,
)
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels.fpu_products import KERNELS

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
CONV, *PRODUCTS = KERNELS
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5})


def conv(
    rng: np.random.Generator, extents: tuple[int, ...], channels: int, outputs: int, *,
    batches: int = 1, group: int = 1, **changes: Attribute,
) -> Case:  # fmt: skip
    rank = len(extents)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3,) * rank, "strides": (1,) * rank, "dilations": (1,) * rank, "pads": (1,) * (2 * rank),
        "group": group, "ceil_mode": 0, **changes,
    }  # fmt: skip
    kernel = attributes["kernel_shape"]
    assert isinstance(kernel, tuple)
    shapes = ((batches, channels, *extents), (outputs, channels // group, *kernel), (outputs,))
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    return site_of(vocabulary()["Conv"], inputs, attributes, (1, 2)), inputs


@st.composite
def convolutions(draw: st.DrawFn) -> Case:
    rank, group = draw(st.sampled_from([1, 2, 2])), draw(st.sampled_from([1, 1, 2, 3]))
    kernel, dilations = (tuple(draw(st.integers(1, most)) for _ in range(rank)) for most in (4, 2))
    extents = tuple((k - 1) * d + draw(st.integers(1, 9)) for k, d in zip(kernel, dilations, strict=True))
    each, outputs = draw(st.sampled_from([1, 3, 4, 5, 8])), draw(st.sampled_from([2, 3, 4, 6, 8]))
    return conv(
        np.random.default_rng(draw(st.integers(0, 2**32))), extents, group * each, group * outputs, group=group,
        kernel_shape=kernel, dilations=dilations, strides=tuple(draw(st.integers(1, 3)) for _ in range(rank)),
        batches=draw(st.integers(1, 2)), pads=tuple(draw(st.integers(0, 2)) for _ in range(2 * rank)),
        **draw(st.sampled_from(CLIPS)),
    )  # fmt: skip


def errors(kernel: Kernel, case: Case, folder: Path, cuts: dict[str, int] | None = None) -> list[str]:
    site, inputs = case
    operator = vocabulary()[site.node.op]
    layouts = layer_of(operator, kernel, site).required
    if cuts is None:
        results = run_kernel(operator, kernel, site, inputs, folder=folder, layouts=layouts, flags=UBSAN)
    else:
        results = run_tiled(operator, kernel, site, inputs, cuts=cuts, folder=folder, layouts=layouts, flags=UBSAN)
    return result_errors(operator, site, inputs, results)


@compiled
@given(case=convolutions())
def test_convolutions(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    assert errors(CONV, case, tmp_path_factory.mktemp("c")) == []


@pytest.mark.parametrize("cuts", [{"h": 1}, {"h": 4, "w": 3}, {"h": 3, "w": 5}], ids=str)
@pytest.mark.parametrize("group", [1, 3])
def test_parts_of_an_image_are_the_same(group: int, cuts: dict[str, int], tmp_path: Path) -> None:
    assert errors(CONV, conv(np.random.default_rng(1), (9, 11), 3, 6, group=group), tmp_path, cuts) == []


@pytest.mark.parametrize("clip", CLIPS, ids=str)
def test_infinities_and_nan_are_kept(clip: dict[str, Attribute], tmp_path: Path) -> None:
    site, inputs = conv(np.random.default_rng(2), (6, 9), 4, 6, **clip)
    x = np.asarray(inputs[0]).copy()
    x[0, 1, 2, 3], x[0, 2, 5, 8], x[0, 0, 0, 0] = np.nan, np.inf, -np.inf
    assert errors(CONV, (site, [x, *inputs[1:]]), tmp_path) == []


def product(op: str, rows: int, depth: int, columns: int) -> Case:
    rng, gemm = np.random.default_rng(rows), op == "Gemm"
    shapes = ((rows, depth), (columns, depth) if gemm else (depth, columns), *([(columns,)] if gemm else []))
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    attributes: dict[str, Attribute] = {"transB": 1, "alpha": 0.5, "beta": 2.0, **CLIPS[depth % 3]} if gemm else {}
    return site_of(vocabulary()[op], inputs, attributes, tuple(range(1, len(inputs)))), inputs


@pytest.mark.parametrize("kernel", PRODUCTS, ids=lambda kernel: kernel.name)
def test_products(kernel: Kernel, tmp_path: Path) -> None:
    for rows, depth, columns in ((1, 1, 1), (1, 16, 8), (3, 7, 5), (4, 17, 9), (9, 16, 8)):
        (folder := tmp_path / f"{rows}_{depth}").mkdir()
        assert errors(kernel, product(kernel.op, rows, depth, columns), folder) == []


@pytest.mark.parametrize("columns", [3, 8, 10])
@pytest.mark.parametrize("kernel", PRODUCTS, ids=lambda kernel: kernel.name)
def test_a_row_in_parts_is_the_same(kernel: Kernel, columns: int, tmp_path: Path) -> None:
    for depth, part in ((24, 8), (25, 7)):
        (folder := tmp_path / str(depth)).mkdir()
        assert errors(kernel, product(kernel.op, 1, depth, columns), folder, {"k": part}) == []


def test_layers_that_are_taken(tmp_path: Path) -> None:
    taken = layers_taken(KERNELS, tmp_path)
    assert all(taken[kernel.name] for kernel in KERNELS)


def test_refusals_say_why() -> None:
    rng = np.random.default_rng(0)
    assert "one output in every group" in str(refusal(CONV, conv(rng, (5, 5), 4, 4, group=4)[0]))
    assert "3 spatial axes" in str(refusal(CONV, conv(rng, (4, 4, 4), 2, 2)[0]))
    site, inputs = conv(rng, (5, 5), 4, 4)
    computed = site_of(vocabulary()["Conv"], inputs, site.node.attributes, ())
    assert "constants" in str(refusal(CONV, computed))
    arrays: list[Array | None] = [np.zeros(shape, np.float32) for shape in ((2, 3), (3, 4), (2, 4))]
    assert "one value to each column" in str(refusal(PRODUCTS[0], site_of(vocabulary()["Gemm"], arrays, {}, (1, 2))))


def test_more_work_costs_more_and_parts_their_share() -> None:
    rng = np.random.default_rng(0)
    assert CONV.instructions is not None and PRODUCTS[0].instructions is not None
    small, large = (layer_of(vocabulary()["Conv"], CONV, conv(rng, (8, 8), n, 8)[0]) for n in (4, 8))
    whole = CONV.instructions(large.whole)
    assert CONV.instructions(small.whole) < whole
    assert CONV.instructions(large.tile({**large.whole.box, "h": (0, 1)})) < whole / 7
    row = layer_of(vocabulary()["Gemm"], PRODUCTS[0], product("Gemm", 1, 256, 16)[0])
    part = PRODUCTS[0].instructions(row.tile({**row.whole.box, "k": (0, 64)}))
    assert part < PRODUCTS[0].instructions(row.whole) / 3
