"""All C of kernels together: of each target, what the core and the plugins bring, in one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.plugins.loading import load_for
from tilewright.sections import definitions, ordered
from tilewright.testing.operator_layers import every_layer
from tilewright.testing.section_checks import compile_together, sections_of


@pytest.mark.parametrize("target", ["generic", "cortex-m4", "cortex-m55", "siracusa"])
def test_all_sections_of_a_target(target: str, tmp_path: Path) -> None:
    found = load_for(target=target)
    platform = found.platforms[target]
    kernels = [kernel for kernel in found.kernels.values() if platform.runs(kernel.target)]
    sections = tuple(sections_of(kernels, found.operators, every_layer()))
    assert compile_together(sections, platform.prelude, tmp_path) == ""
    names = set().union(*(definitions(section.text) for section in ordered(sections)))
    assert len(names) > 150
