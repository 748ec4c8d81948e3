"""Parts of reductions: steps of the sums, and extents that are known to be equal."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tilewright_siracusa.kernels.parts import always, image_sums


def call(*strides: int) -> Any:
    return SimpleNamespace(operands={"acc": SimpleNamespace(strides=strides)})


@pytest.mark.parametrize(("strides", "steps"), [((900, 1, 80, 4), (900, 80, 4)), ((900, 1, 4), (900, 0, 4))])
def test_sums_of_an_image(strides: tuple[int, ...], steps: tuple[int, ...]) -> None:
    assert tuple(image_sums(call(*strides)).values()) == steps


@pytest.mark.parametrize(("left", "right", "equal"), [
    ("4", "4", True), ("4", "04", True), ("4", "5", False), ("n", "n", None), ("4", "n", None)
])  # fmt: skip
def test_equal_extents(left: str, right: str, equal: bool | None) -> None:
    assert always(left, right) is equal
