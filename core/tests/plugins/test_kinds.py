"""The kinds of things that plugins offer: names that entry points and hooks are made of."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tilewright.ir.machines.kernel import Kernel
from tilewright.plugins import discover
from tilewright.plugins.kinds import COMPILED_PACKS, KIND_NAMES, KINDS, OBSERVER, PACKS, announced_names, kind_named


def test_names_are_no_prefix_of_an_entry_point() -> None:
    """An entry point is split at its first full stop."""
    assert len(set(KIND_NAMES)) == len(KINDS) and not any("." in name for name in KIND_NAMES)
    assert OBSERVER not in KIND_NAMES


def test_hooks_and_types() -> None:
    assert (kind_named("kernel").hook, kind_named("kernel").value_type()) == ("tilewright_kernels", Kernel)
    assert len({kind.hook for kind in KINDS}) == len(KINDS)
    with pytest.raises(KeyError, match="krenel"):
        kind_named("krenel")


def test_packs_are_bundles() -> None:
    assert set(PACKS) == {"board", "operator", "kernel", "graph_pass", "code_pass", "observer"}
    assert set(PACKS) - set(COMPILED_PACKS) == {"board"}


@pytest.mark.parametrize("kind", ["platform", "allocator", "tiler", "command"])
def test_it_says_what_the_catalogue_says(kind: str) -> None:
    assert announced_names(kind) == discover(environment={}).names(kind)


def test_it_brings_no_reader_of_requirements() -> None:
    code = "import sys, tilewright.plugins.kinds; print('packaging' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
