"""Names are known from metadata alone, and what packages announce is what the catalogue finds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tilewright.plugins import discover
from tilewright.plugins.announced import announced_names


@pytest.mark.parametrize("kind", ["platform", "allocator", "tiler", "command"])
def test_it_says_what_the_catalogue_says(kind: str) -> None:
    assert announced_names(kind) == discover(environment={}).names(kind)


def test_it_brings_no_reader_of_requirements() -> None:
    code = "import sys, tilewright.plugins.announced; print('packaging' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
