"""Knows what pytest has of tilewright: `pytest --tilewright-target NAME` tries all that a package offers for a target.
Does not know how; pytest reads this module in every run, so that it imports nothing else.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

_SUITE = "tilewright.testing.target_suite"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The flags."""
    group = parser.getgroup("tilewright")
    group.addoption(
        "--tilewright-target",
        metavar="NAME",
        default="",
        help="try every kernel and pass of the package of this target",
    )
    group.addoption(
        "--tilewright-runner", metavar="NAME", default="", help="compare what kernels cost with what this runner counts"
    )
    group.addoption(
        "--tilewright-seed", metavar="NUMBER", type=int, default=0, help="draw other tiles, layouts and values"
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """`pytest_tilewright_layers`, which a conftest.py may have."""
    pluginmanager.add_hookspecs(LayerHooks)


class LayerHooks:
    """What a package's conftest.py may add to the suite."""

    def pytest_tilewright_layers(self) -> object:
        """Further layers that kernels are tried on: a list of `tilewright.api.testing.Sample`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the tests of the target behind all others, wherever these stand; `-k` and `-m` choose among them, too."""
    result = find_spec(_SUITE) if config.getoption("tilewright_target") else None
    if result is not None and result.origin is not None:
        suite = pytest.Module.from_parent(session, path=Path(result.origin))
        items.extend(session.genitems(suite))
