"""Knows which of the slow tests are run before a merge: one of so many, the same in every run and on every machine.
Does not know what they test. All of them are run every night.
"""

from __future__ import annotations

from zlib import crc32

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-of",
        type=int,
        default=1,
        metavar="N",
        help="of the tests that are marked slow, one of N: always the same",
    )


def kept(node_id: str, one_of: int) -> bool:
    """Whether a test is among them, by its file and name."""
    return crc32(node_id.rpartition("/")[2].encode()) % one_of == 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    one_of = config.getoption("--one-of")
    stays = [not item.get_closest_marker("slow") or kept(item.nodeid, one_of) for item in items]
    if not all(stays):
        config.hook.pytest_deselected(items=[item for item, stay in zip(items, stays, strict=True) if not stay])
        items[:] = [item for item, stay in zip(items, stays, strict=True) if stay]
