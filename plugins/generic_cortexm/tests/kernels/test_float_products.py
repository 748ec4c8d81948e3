"""Convolutions and products of floats, in their C forms: inside the error model, whole and in parts; NaN is kept."""

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
from tilewright_cortexm.kernels.float_products import KERNELS

Array = npt.NDArray[np.generic]
Case = tuple[Site, list[Array | None]]
compiled = settings.get_profile("programs")
CONV = tuple(kernel for kernel in KERNELS if kernel.op == "Conv")
PRODUCTS = tuple(kernel for kernel in KERNELS if kernel.op != "Conv")
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.5})


def conv(rng: np.random.Generator, extents: tuple[int, ...], channels: int, outputs: int, **changes: Attribute) -> Case:
    kernel = changes.get("kernel_shape", (3,) * len(extents))
    assert isinstance(kernel, tuple)
    group = int(str(changes.get("group", 1)))
    shapes = (
        (int(str(changes.pop("batches", 1))), channels, *extents),
        (outputs, channels // group, *kernel),
        (outputs,),
    )
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    rank = len(extents)
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": (1,) * rank, "dilations": (1,) * rank, "pads": (1,) * (2 * rank),
        "group": group, "ceil_mode": 0,
    }  # fmt: skip
    return site_of(vocabulary()["Conv"], inputs, {**attributes, **changes}, (1, 2)), inputs


@st.composite
def convolutions(draw: st.DrawFn) -> Case:
    rank = draw(st.sampled_from([1, 2, 2]))
    kernel = tuple(draw(st.integers(1, 4)) for _ in range(rank))
    dilations = (1,) if rank == 1 else (draw(st.integers(1, 2)), 1)
    extents = tuple((k - 1) * d + draw(st.integers(1, 9)) for k, d in zip(kernel, dilations, strict=True))
    return conv(
        np.random.default_rng(draw(st.integers(0, 2**32))), extents, draw(st.sampled_from([1, 3, 4, 5, 8])),
        draw(st.sampled_from([1, 3, 4, 6, 8])), kernel_shape=kernel, dilations=dilations,
        strides=tuple(draw(st.integers(1, 3)) for _ in range(rank)), batches=draw(st.integers(1, 2)),
        pads=tuple(draw(st.integers(0, 2)) for _ in range(2 * rank)), **draw(st.sampled_from(CLIPS)),
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
    assert errors(CONV[0], case, tmp_path_factory.mktemp("c")) == []


@pytest.mark.parametrize("cuts", [{"h": 1}, {"h": 4, "w": 3}, {"h": 3, "w": 5}], ids=str)
@pytest.mark.parametrize("kernel", CONV, ids=lambda kernel: kernel.name)
def test_parts_of_an_image_are_the_same(kernel: Kernel, cuts: dict[str, int], tmp_path: Path) -> None:
    assert errors(kernel, conv(np.random.default_rng(1), (9, 11), 3, 5), tmp_path, cuts) == []


@pytest.mark.parametrize("clip", CLIPS, ids=str)
def test_infinities_and_nan_are_kept(clip: dict[str, Attribute], tmp_path: Path) -> None:
    site, inputs = conv(np.random.default_rng(2), (6, 9), 4, 6, **clip)
    x = np.asarray(inputs[0]).copy()
    x[0, 1, 2, 3], x[0, 2, 5, 8], x[0, 0, 0, 0] = np.nan, np.inf, -np.inf
    assert errors(CONV[0], (site, [x, *inputs[1:]]), tmp_path) == []


def product(op: str, rows: int, depth: int, columns: int) -> Case:
    rng, gemm = np.random.default_rng(rows), op == "Gemm"
    shapes = ((rows, depth), (columns, depth) if gemm else (depth, columns), *([(columns,)] if gemm else []))
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    attributes: dict[str, Attribute] = {"transB": 1, "alpha": 0.5, "beta": 2.0, **CLIPS[rows % 3]} if gemm else {}
    return site_of(vocabulary()[op], inputs, attributes, tuple(range(1, len(inputs)))), inputs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "rows"),
    [(kernel, rows) for kernel in PRODUCTS for rows in (1, 3, 4, 9) if (kernel.op, rows) != ("Gemm", 1)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_products(kernel: Kernel, rows: int, tmp_path: Path) -> None:
    for depth, columns in ((1, 1), (7, 5), (16, 8)):
        (folder := tmp_path / str(depth)).mkdir()
        assert errors(kernel, product(kernel.op, rows, depth, columns), folder) == []


@pytest.mark.slow
def test_layers_that_are_taken(tmp_path: Path) -> None:
    taken = layers_taken(KERNELS, tmp_path)
    assert all(taken[kernel.name] for kernel in KERNELS)


def test_refusals_say_why() -> None:
    rng = np.random.default_rng(0)
    for reason, case in (
        ("more than one group", conv(rng, (5, 5), 4, 4, group=2)),
        ("columns of taps are 2 apart", conv(rng, (7, 7), 4, 4, dilations=(1, 2))),
        ("3 spatial axes", conv(rng, (4, 4, 4), 2, 2)),
    ):
        assert reason in str(refusal(CONV[0], case[0]))
    site, inputs = conv(rng, (5, 5), 4, 4)
    computed = site_of(vocabulary()["Conv"], inputs, site.node.attributes, ())
    assert "constants" in str(refusal(CONV[0], computed))
    halves: list[Array | None] = [np.asarray(array).astype(np.float16) for array in inputs]
    assert "float32" in str(refusal(CONV[0], site_of(vocabulary()["Conv"], halves, site.node.attributes, (1, 2))))
    arrays: list[Array | None] = [
        np.zeros((2, 3), np.float32),
        np.zeros((3, 4), np.float32),
        np.zeros((2, 4), np.float32),
    ]
    assert "is a single row" in str(refusal(PRODUCTS[0], product("Gemm", 1, 7, 5)[0]))
    assert "one value to each column" in str(refusal(PRODUCTS[0], site_of(vocabulary()["Gemm"], arrays, {}, (1, 2))))


def test_more_work_costs_more_and_fewer_rows_less() -> None:
    rng = np.random.default_rng(0)
    for kernel in CONV:
        small, large = (layer_of(vocabulary()["Conv"], kernel, conv(rng, (8, 8), n, 8)[0]) for n in (4, 8))
        assert kernel.instructions is not None
        whole = kernel.instructions(large.whole)
        assert kernel.instructions(small.whole) < whole
        assert kernel.instructions(large.tile({**large.whole.box, "h": (0, 1)})) < whole / 7
