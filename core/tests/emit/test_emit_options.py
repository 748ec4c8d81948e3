"""What may be chosen about the files: every choice is one, defaults are those documented, values are frozen."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from tilewright import __version__
from tilewright.emit import EmitOptions, Vector


def test_without_a_choice_files_name_who_wrote_them_and_there_is_no_selftest(toy: Any) -> None:
    files = toy.artifact(toy.program(toy.graph()), EmitOptions()).files
    assert f"tilewright {__version__}".encode() in files["toy.c"]
    assert not any("selftest" in name for name in files)


@pytest.mark.parametrize(
    ("form", "written"),
    [("c", {"toy_weights.c"}), ("incbin", {"toy_weights.S", "toy_flash.bin"}), ("bin", {"toy_flash.bin"})],
)
def test_constants_are_written_in_the_form_that_is_chosen(toy: Any, form: Any, written: set[str]) -> None:
    files = toy.artifact(toy.program(toy.graph()), EmitOptions(const_format=form)).files
    assert {name for name in files if "weights" in name or name.endswith(".bin")} == written


def test_tolerances_are_those_of_the_selftest(toy: Any) -> None:
    vector = Vector(inputs={"x": np.ones(5, np.float32)}, outputs={"y": np.full(5, 0.25, np.float32)})
    options = EmitOptions(vectors=(vector,), absolute_tolerance=0.125, relative_tolerance=0.0625)
    text = toy.artifact(toy.program(toy.float_graph()), options).files["toy_selftest.c"].decode()
    assert "0.125f" in text and "0.0625f" in text


@pytest.mark.parametrize("last", [4.0, 1e30, np.inf, np.nan])
def test_one_huge_value_gives_no_room_to_the_others(toy: Any, last: float) -> None:
    """Where 16 bits round otherwise, by a share of the usual size: the median of 1, 2, 4, 4 and what is last."""
    vector = Vector(inputs={"x": np.ones(5, np.float32)}, outputs={"y": np.array([1, 2, 4, 4, last], np.float32)})
    options = EmitOptions(vectors=(vector,), half_share=0.03125)
    text = toy.artifact(toy.program(toy.float_graph()), options).files["toy_selftest.c"].decode()
    usual = 4 if last in (4.0, 1e30) else 2
    assert f"{0.03125 * usual!r}f" in text and "e+2" not in text


def test_options_are_values() -> None:
    options = EmitOptions(layout="split")
    assert options == EmitOptions(layout="split") and options != replace(options, layout="single")
    with pytest.raises(FrozenInstanceError):
        options.layout = "single"  # type: ignore[misc]  # what must fail


def test_vectors_are_compared_without_their_arrays() -> None:
    """Arrays have no truth value: options that hold vectors could not be compared at all."""
    one, other = (Vector(inputs={"x": np.full(2, value)}, outputs={}) for value in (1, 2))
    assert EmitOptions(vectors=(one,)) == EmitOptions(vectors=(other,))
