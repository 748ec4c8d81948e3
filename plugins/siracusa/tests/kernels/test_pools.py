"""Pools of bytes on the cluster: windows that overhang, whole images, and that they are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.api.testing import layers_taken
from tilewright_siracusa.kernels.pools import KERNELS, behind


def test_layers_that_are_taken_agree_with_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {
        "siracusa.qaverage_pool": {"ceil", "global"},
        "siracusa.max_pool": {"bytes"},
    }


@pytest.mark.parametrize(
    ("origin", "text"), [("0", "9"), ("2", "7"), ("x.low", "9 - x.low"), ("4 * t + 1", "9 - (4 * t + 1)")]
)
def test_positions_behind_an_origin_read_well(origin: str, text: str) -> None:
    assert behind(origin, 9) == text
