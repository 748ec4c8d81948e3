"""What a release ends with before anything is built."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = {"Homepage": "https://a", "Documentation": "https://a/index.html", "Changelog": "https://a/changes.html"}
PUBLIC = {**SITE, "Source": "https://b", "Issues": "https://b/issues"}


@pytest.fixture(name="demand")
def _demand(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    found: Callable[..., None] = runpy.run_path(str(ROOT / "tools" / "release.py"))["demand_addresses"]
    return found


def test_a_release_says_where_its_sources_are(demand: Callable[..., None]) -> None:
    demand({"core": PUBLIC, "boards": PUBLIC}, public=True)
    demand({"core": SITE, "boards": SITE}, public=False)
    with pytest.raises(SystemExit, match="has no Source, Issues: "):
        demand({"core": SITE, "boards": SITE}, public=True)
    with pytest.raises(SystemExit, match="has no Homepage, Documentation, Changelog: "):
        demand({"core": {}}, public=False)


def test_all_packages_show_the_same(demand: Callable[..., None]) -> None:
    with pytest.raises(SystemExit, match="of boards is not that of the core"):
        demand({"core": PUBLIC, "boards": SITE}, public=False)
