"""Knows which of the slow tests are run before a merge, the same in every run and on every machine: one of N of those
that are one case; of those that have several, one of 2 N cases, and always one of each test function. Does not know
what they test. All of them are run every night.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from zlib import crc32

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-of",
        type=int,
        default=1,
        metavar="N",
        help="of tests that are marked slow, one of N; of those with several cases one of 2 N, and at least one",
    )


def kept(node_ids: Iterable[str], one_of: int) -> set[str]:
    """Which tests are among them, by their files and names."""
    functions: dict[str, list[str]] = defaultdict(list)
    for node_id in node_ids:
        functions[node_id.partition("[")[0]].append(node_id)
    return {case for cases in functions.values() for case in _of_function(cases, one_of)}


def _of_function(cases: list[str], one_of: int) -> list[str]:
    """Those of one test function that are kept: none of the only one, perhaps."""
    several = len(cases) > 1
    chosen = [case for case in cases if _number(case) % (2 * one_of if several and one_of > 1 else one_of) == 0]
    return chosen or ([min(cases, key=lambda case: (_number(case), case))] if several else [])


def _number(node_id: str) -> int:
    """The same wherever the file is."""
    file, _, name = node_id.partition("::")
    return crc32(f"{file.rpartition('/')[2]}::{name}".encode())


@pytest.hookimpl(trylast=True)  # of what `-m` and `-k` have left
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = {item.nodeid for item in items if item.get_closest_marker("slow")}
    left_out = slow - kept(slow, config.getoption("--one-of"))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
        items[:] = [item for item in items if item.nodeid not in left_out]
