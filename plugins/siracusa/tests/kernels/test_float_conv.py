"""Convolutions of floats on the cluster: which are taken, and that they are inside the error model."""

from __future__ import annotations

from pathlib import Path

from tilewright.api.testing import layers_taken
from tilewright_siracusa.kernels.float_conv import KERNELS


def test_layers_that_are_taken_agree_with_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {"siracusa.conv_f32": {"pointwise"}}
