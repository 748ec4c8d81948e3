"""The C form of the search takes the steps of the Python one, and a package that was built without it says so."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tilewright_minimalloc.native import NativeSearch, extension
from tilewright_minimalloc.search import PythonSearch, Selector

needs_extension = pytest.mark.skipif(extension() is None, reason="the package was built without a C compiler")


@needs_extension
@pytest.mark.parametrize("selector", Selector)
def test_outcome_nodes_and_offsets_are_the_same_again_and_again(drawn: Any, lowest: Any, selector: Selector) -> None:
    for seed in range(25):
        instance = drawn(seed)
        for capacity in (lowest(instance) - 1, lowest(instance) + 1):
            rank = [(block * 7 + seed) % len(instance.sizes) for block in range(len(instance.sizes))]
            one, other = PythonSearch(instance, capacity), NativeSearch(instance, capacity)
            for limit in (1, 2, 1000):  # what has failed is remembered by both
                assert other.run(selector, rank, limit) == one.run(selector, rank, limit), seed


def test_where_it_was_not_built_there_is_none(monkeypatch: pytest.MonkeyPatch, drawn: Any) -> None:
    monkeypatch.setitem(sys.modules, "tilewright_minimalloc._native", None)
    monkeypatch.delattr("tilewright_minimalloc._native", raising=False)
    assert extension() is None
    with pytest.raises(ImportError):
        NativeSearch(drawn(0), 10)
