"""Layers that kernels take: the kinds are told, refusals are no error, and a kernel that is wrong on one is found."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.ir.graphs.graph import Site
from tilewright.testing.layer_checks import layers_taken
from tilewright.testing.one_step import portable_kernels

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
