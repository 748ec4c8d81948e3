"""Sums, differences, products and limits element by element: exact, on this machine and on the simulated core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from snitch_run import run_on_iss
from timing import GVSOC

from tilewright.api.testing import UBSAN, random_cuts, refusal, result_errors, run_kernel, run_tiled, site_of
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.machines.core_shares import share
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.elementwise import binary
from tilewright.operators.elementwise import clip as clips
from tilewright.plugins import load_for
from tilewright_snitch.kernels.elements import KERNELS
from tilewright_snitch.portable import portable_cycles

Array = npt.NDArray[np.generic]
OPERATORS = {operator.name: operator for operator in (*binary.OPERATORS, *clips.OPERATORS)}
OWN = {kernel.op: kernel for kernel in KERNELS}
PORTABLE = [kernel for kernel in load_for(target="snitch").kernels.values() if kernel.target == "*"]
CLIPS: tuple[dict[str, Attribute], ...] = ({}, {"clip_low": 0.0}, {"clip_low": -0.5, "clip_high": 1.0})


LIMITS: tuple[dict[str, Attribute], ...] = ({"min": 0.0}, {"min": -0.5, "max": 1.0}, {"max": 0.25})
BINARY = ("Add", "Sub", "Mul")


def made(
    op: str, dtype: npt.DTypeLike, attributes: dict[str, Attribute], a: tuple[int, ...], b: tuple[int, ...] = ()
) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(4)
    inputs: list[Array | None] = [rng.standard_normal(shape).astype(dtype) for shape in (a, b or a)]
    return site_of(OPERATORS[op], inputs if op in BINARY else inputs[:1], attributes), inputs


LAYERS = [(op, np.float32, clip) for op in BINARY for clip in CLIPS] + [(op, np.float64, CLIPS[0]) for op in BINARY]
LAYERS += [("Clip", dtype, limits) for dtype in (np.float32, np.float64) for limits in LIMITS]
HALVES = (DType.F16.numpy, DType.BF16.numpy)
LAYERS += [(op, half, clip) for half in HALVES for op in BINARY for clip in CLIPS]
LAYERS += [("Clip", half, limits) for half in HALVES for limits in LIMITS]


@pytest.mark.slow
@pytest.mark.parametrize(("op", "dtype", "clip"), LAYERS)
def test_as_the_reference(
    op: str, dtype: npt.DTypeLike, clip: dict[str, Attribute], tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made(op, dtype, clip, (3, 27))
    inputs = inputs[: len(site.inputs)]
    found = run_on_iss(OPERATORS[op], OWN[op], site, inputs, tmp_path)
    assert result_errors(OPERATORS[op], site, inputs, found.outputs) == []
    plain = 30 if np.dtype(dtype).itemsize == 2 else 0  # instructions of one of the two that no word has
    assert found.instructions < 81 * (6 + plain / 4)  # most elements have none


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, *HALVES])
@pytest.mark.parametrize("clip", CLIPS, ids=["plain", "relu", "clip"])
def test_without_streams(clip: dict[str, Attribute], dtype: npt.DTypeLike, tmp_path: Path) -> None:
    site, inputs = made("Add", dtype, clip, (4, 5, 6), (5, 1))
    for number, cuts in enumerate(
        ({}, random_cuts(layer_of(OPERATORS["Add"], OWN["Add"], site).access, np.random.default_rng(3)))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = (
            run_tiled(OPERATORS["Add"], OWN["Add"], site, inputs, cuts=cuts, folder=folder, flags=UBSAN)
            if cuts
            else run_kernel(OPERATORS["Add"], OWN["Add"], site, inputs, folder=folder, flags=UBSAN)
        )
        assert result_errors(OPERATORS["Add"], site, inputs, found) == []


@pytest.mark.parametrize("dtype", [np.float32, *HALVES])
@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_what_is_no_number_survives_a_clip(
    special: float, dtype: npt.DTypeLike, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    for op, clip in (("Add", CLIPS[1]), ("Clip", LIMITS[1])):
        site, inputs = made(op, dtype, clip, (40,))
        np.asarray(inputs[0])[7] = special
        inputs = inputs[: len(site.inputs)]
        (found,) = run_on_iss(OPERATORS[op], OWN[op], site, inputs, tmp_path).outputs
        (expected,) = results(OPERATORS[op], site, inputs)
        np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


SHAPES = {
    "rows": ((6, 20), (20,)),
    "odd rows": ((5, 7), (7,)),
    "one value of a row": ((3, 4, 30), (4, 1)),
    "one value": ((1,), (3, 21)),
    "planes": ((2, 5, 3, 8), (2, 1, 3, 8)),
}


@pytest.mark.slow
@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("clip", CLIPS, ids=["plain", "relu", "clip"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, *HALVES])
def test_shapes_that_are_broadcast(
    dtype: npt.DTypeLike, clip: dict[str, Attribute], shapes: str, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made("Sub", dtype, {} if dtype is np.float64 else clip, *SHAPES[shapes])
    found = run_on_iss(OPERATORS["Sub"], OWN["Sub"], site, inputs, tmp_path)
    assert result_errors(OPERATORS["Sub"], site, inputs, found.outputs) == []


TIMED = [("Add", clip, ((16, 64),)) for clip in CLIPS] + [("Clip", limits, ((16, 64),)) for limits in LIMITS[:2]]
TIMED += [("Mul", {}, ((16, 64), (64,))), ("Add", CLIPS[1], ((8, 256), (8, 1)))]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, *HALVES])
@pytest.mark.parametrize(("op", "attributes", "shapes"), TIMED)
def test_as_fast_as_estimated(
    op: str,
    dtype: npt.DTypeLike,
    attributes: dict[str, Attribute],
    shapes: tuple[tuple[int, ...], ...],
    tmp_path: Path,
    tool: Callable[[str], str],
) -> None:
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made(op, dtype, attributes, *shapes)
    cycles = OWN[op].cycles
    assert cycles is not None
    on_gvsoc = run_on_iss(OPERATORS[op], OWN[op], site, inputs[: len(site.inputs)], tmp_path, timing=GVSOC)
    assert cycles(layer_of(OPERATORS[op], OWN[op], site).whole) == pytest.approx(on_gvsoc.cycles, rel=0.15)


@pytest.mark.parametrize(
    ("shape", "loop"), [((1, 64, 8, 8), "_lead1"), ((64, 32), "_lead1"), ((8, 12, 2, 5), "_lead3")]
)
def test_cores_share_what_leaves_long_runs(shape: tuple[int, ...], loop: str) -> None:
    site, _ = made("Add", np.float32, {}, shape)
    layer = layer_of(OPERATORS["Add"], OWN["Add"], site)
    extents = {name: high for name, (_, high) in layer.whole.box.items()}
    assert share(OWN["Add"], layer.access, extents, 8).loop == loop


ODD = {
    "one value of a row": ((9, 1), (1, 71)),
    "a quarter begins with a word": ((9, 71), (71,)),
    "half of them": ((9, 70), (70,)),
    "short rows": ((9, 37), (37,)),
    "one value of many rows": ((5, 3, 23), (3, 1)),
    "all in one": ((9, 71), (9, 71)),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, *HALVES])
@pytest.mark.parametrize("shapes", ODD)
def test_of_odd_rows_the_faster_kernel_is_bound(
    shapes: str, dtype: npt.DTypeLike, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """Rows that begin inside a word are plain C, in the kernel by streams, too."""
    tool("riscv64-unknown-elf-gcc")
    site, inputs = made("Add", dtype, {}, *ODD[shapes])
    own, operator = OWN["Add"], OPERATORS["Add"]
    took = {}
    for kernel in (own, next(one for one in PORTABLE if one.op == "Add" and refusal(one, site) is None)):
        folder = tmp_path / kernel.name
        folder.mkdir()
        took[kernel.name] = run_on_iss(operator, kernel, site, inputs, folder, timing=GVSOC).cycles
    assert own.cycles is not None
    streams, plain = own.cycles(layer_of(operator, own, site).whole), portable_cycles(site) or 0.0
    assert streams == pytest.approx(took["snitch.add"], rel=0.25, abs=900)
    assert took["snitch.add" if streams < plain else "portable.add"] <= 1.1 * min(took.values())


def test_refusals_say_why() -> None:
    site, _ = made("Clip", np.float32, {}, (4, 8))
    assert "no limits" in str(refusal(OWN["Clip"], site))
    integers: list[Array | None] = [np.zeros((4, 8), np.int32)] * 2
    assert "all be f32" in str(refusal(OWN["Add"], site_of(OPERATORS["Add"], integers)))
    relu = site_of(OPERATORS["Clip"], [np.zeros((4, 8), np.int8)], {"min": 0.0, "max": np.inf})
    assert "all be f32" in str(refusal(OWN["Clip"], relu)), "integers have no infinity"
