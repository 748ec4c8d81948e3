"""What eight cores wait for: every factor belongs to a kernel, and prices it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tilewright.api.kernel import Kernel
from tilewright.api.testing import site_of, vocabulary
from tilewright.plugins import load_for
from tilewright_siracusa.kernels.waits import (
    COLUMNS,
    DIVIDED,
    FACTORS,
    NARROW,
    PLACE,
    QUOTIENTS,
    STRIPS,
    waiting,
)  # fmt: skip

ALONE = Kernel(name="siracusa.neg_f32", op="Neg", cycles=lambda tile: 100.0)


def tile(**analysis: Any) -> Any:
    return SimpleNamespace(site=SimpleNamespace(analysis=SimpleNamespace(**analysis)))


def test_factors_are_of_kernels_that_there_are() -> None:
    names = {name for name in load_for(target="siracusa").kernels if name.startswith("siracusa.")}
    assert set(FACTORS) <= names
    assert min(FACTORS.values()) > 1


def test_a_factor() -> None:
    assert waiting(ALONE).cycles(tile()) == 100 * FACTORS["siracusa.neg_f32"]  # type: ignore[misc]
    assert waiting(replace(ALONE, name="siracusa.other")).cycles(tile()) == 100.0  # type: ignore[misc]


def test_code_of_strips_is_waited_for_once_a_tile() -> None:
    assert waiting(replace(ALONE, name="siracusa.qconv_depthwise")).cycles(tile()) == 100 + STRIPS  # type: ignore[misc]


def test_a_kernel_without_costs_stays() -> None:
    plain = replace(ALONE, cycles=None)
    assert waiting(plain) is plain


@pytest.mark.parametrize(("direct", "tap_bytes", "factor"), [
    (True, 4, PLACE), (False, 4, NARROW), (False, 5, COLUMNS)
])  # fmt: skip
def test_convolutions_by_their_form(direct: bool, tap_bytes: int, factor: float) -> None:
    priced = waiting(replace(ALONE, name="siracusa.qconv"))
    assert priced.cycles(tile(direct=direct, tap_bytes=tap_bytes)) == 100 * factor  # type: ignore[misc]


@pytest.mark.parametrize(
    ("clip", "factor"), [({}, QUOTIENTS), ({"clip_low": 0.0}, QUOTIENTS), ({"clip_low": -1.0}, DIVIDED)]
)
def test_quotients_that_are_limited_wait_for_the_divider(clip: dict[str, float], factor: float) -> None:
    ones = np.ones(3, np.float32)
    priced: Any = waiting(replace(ALONE, name="siracusa.div_f32")).cycles
    assert priced(SimpleNamespace(site=site_of(vocabulary()["Div"], [ones, ones], clip))) == 100 * factor
