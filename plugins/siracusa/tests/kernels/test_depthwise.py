"""Depthwise convolutions of bytes on the cluster: which are taken, and that they are right."""

from __future__ import annotations

from pathlib import Path

from tilewright.api.testing import layers_taken
from tilewright_siracusa.kernels.depthwise import KERNELS


def test_layers_that_are_taken_agree_with_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {
        "siracusa.qconv_depthwise": {"depthwise"},
        "siracusa.qconv_depthwise_taps": set(),  # those of the plugin: conftest.py
    }
