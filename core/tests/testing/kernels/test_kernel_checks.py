"""A kernel against its reference: sound ones pass, wrong and refusing ones are told, draws stay inside their bounds."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Site
from tilewright.ir.plans.layer import layer_of
from tilewright.testing.kernels.kernel_checks import (
    kernel_errors,
    layers_taken,
    random_cuts,
    random_layouts,
    random_parts,
)
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import site_of

MATMUL, KERNEL = vocabulary()["MatMul"], portable_kernels()["portable.matmul_f32"]
ARRAYS = [np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(20, dtype=np.float32).reshape(4, 5)]
SITE = site_of(MATMUL, ARRAYS)
SEEDS = range(40)


@pytest.mark.slow
def test_a_sound_kernel_has_no_errors_and_a_wrong_one_has_one_whole_and_one_in_tiles(tmp_path: Path) -> None:
    assert kernel_errors(MATMUL, KERNEL, SITE, ARRAYS, np.random.default_rng(3), tmp_path) == []
    wrong = replace(KERNEL, call=f"{KERNEL.call} (*${{Y}}) += 1;")
    errors = kernel_errors(MATMUL, wrong, SITE, ARRAYS, np.random.default_rng(3), tmp_path)
    assert [error.split(",")[0].split(" {")[0] for error in errors] == ["whole", "in tiles"]


def test_a_refusal_is_an_error_with_its_reason(tmp_path: Path) -> None:
    kernel = replace(KERNEL, match=lambda _: "never")
    found = kernel_errors(MATMUL, kernel, SITE, ARRAYS, np.random.default_rng(0), tmp_path)
    assert found == ["refused: never"]


def test_layouts_are_permutations_of_every_operand_and_sometimes_plain() -> None:
    drawn = [random_layouts(MATMUL, SITE, np.random.default_rng(seed)) for seed in SEEDS]
    assert {tuple(sorted(layouts)) for layouts in drawn} == {("A", "B", "Y")}
    assert all(sorted(layout) == [0, 1] for layouts in drawn for layout in layouts.values())
    plain = [all(layout == (0, 1) for layout in layouts.values()) for layouts in drawn]
    assert any(plain) and not all(plain)


def test_cuts_are_of_parallel_loops_and_inside_them() -> None:
    access = MATMUL.access(SITE)
    extents = {loop.name: loop.extent for loop in access.loops if loop.kind == "parallel"}
    drawn = [random_cuts(access, np.random.default_rng(seed)) for seed in SEEDS]
    assert {name for cuts in drawn for name in cuts} == {name for name, extent in extents.items() if extent > 1}
    assert all(1 <= size <= extents[name] for cuts in drawn for name, size in cuts.items())
    assert {} in drawn or any(len(cuts) < len(extents) for cuts in drawn)


@pytest.mark.parametrize("grain", [1, 2, 3])
def test_parts_are_of_reductions_that_are_split_and_multiples_of_what_the_kernel_takes(grain: int) -> None:
    layer = layer_of(MATMUL, KERNEL, SITE)
    assert layer.sums is not None
    (loop,) = layer.sums.loops
    grained = layer_of(MATMUL, replace(KERNEL, multiples={loop: grain}), SITE)
    drawn = [random_parts(grained, np.random.default_rng(seed)) for seed in SEEDS]
    assert {name for parts in drawn for name in parts} == {loop}
    assert all(parts[loop] % grain == 0 and parts[loop] >= 1 for parts in drawn if parts)
    whole = layer_of(MATMUL, replace(KERNEL, accumulates=lambda _: None), SITE)
    assert not any(random_parts(whole, np.random.default_rng(seed)) for seed in SEEDS)


NEG, SOFTMAX = portable_kernels()["portable.neg"], portable_kernels()["portable.softmax_f32"]


def along_rows(site: Site) -> object:
    return SOFTMAX.match(site) if site.node.integer("axis") == 2 else "not along rows"


@pytest.mark.slow
def test_kinds_are_told_for_each_kernel(tmp_path: Path) -> None:
    rows = replace(SOFTMAX, name="rows", match=along_rows)
    found = layers_taken([NEG, rows, replace(NEG, name="never", match=lambda _: "never")], tmp_path)
    assert found == {NEG.name: {""}, "rows": {""}, "never": set()}


def test_a_wrong_kernel_is_found_with_its_layer(tmp_path: Path) -> None:
    wrong = replace(NEG, call=f"{NEG.call} (*${{Y}}) += 1;")
    with pytest.raises(AssertionError, match=f"{NEG.name} on Neg.*reference"):
        layers_taken([wrong], tmp_path)


def test_flags_are_those_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError, match="--no-such-option"):
        layers_taken([NEG], tmp_path, flags=("--no-such-option",))
