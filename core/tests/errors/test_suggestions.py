"""Mistyped names: the most similar one is named, nothing where none is similar."""

from __future__ import annotations

import pytest

from tilewright.errors.suggestions import did_you_mean, nearest

TARGETS = ["cortex-m", "cortex-m0plus", "cortex-m3", "cortex-m33", "cortex-m4", "cortex-m55", "cortex-m7", "generic"]


def test_the_most_similar_is_named() -> None:
    assert did_you_mean("cortx-m4", ["cortex-m7", "cortex-m4", "generic"]) == ("did you mean 'cortex-m4'?",)


def test_nothing_is_guessed() -> None:
    assert did_you_mean("siracusa", ["generic", "host"]) == ()
    assert did_you_mean("x", []) == ()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("m4", "cortex-m4"),
        ("M4", "cortex-m4"),
        ("m0", "cortex-m0plus"),
        ("m3", "cortex-m3"),
        ("CortexM33", "cortex-m33"),
        ("cortex_m7", "cortex-m7"),
        ("cortex-m4f", "cortex-m4"),
        ("Generic", "generic"),
        ("m", None),
        ("riscv", None),
    ],
)
def test_names_written_otherwise(name: str, meant: str | None) -> None:
    assert nearest(name, TARGETS) == meant


def test_capitals_are_no_other_name() -> None:
    exporters = ["arduino", "cmake", "make", "zephyr"]
    assert [nearest(name, exporters) for name in ("CMake", "Make", "CMAKE", "Zephir")] == [
        "cmake",
        "make",
        "cmake",
        "zephyr",
    ]
    assert did_you_mean("X", ["x", "y"]) == ("did you mean 'x'?",)
