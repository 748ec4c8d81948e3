"""Pools of bytes on the cluster: windows that overhang, whole images, and that they are right."""

from __future__ import annotations

from pathlib import Path

from tilewright.api.testing import layers_taken
from tilewright_siracusa.kernels.pools import KERNELS


def test_layers_that_are_taken_agree_with_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {
        "siracusa.qaverage_pool": {"ceil", "global"},
        "siracusa.max_pool": {"bytes"},
    }
