"""The tutorials and how-to guides do what they say: their blocks run, in order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tilewright.plugins import hookspecs

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.md"))
GUIDES = sorted(path for path in (DOCS / "howto").glob("*.md") if path.name != "README.md")
HOOKS = sorted(name for name in vars(hookspecs) if name.startswith("tilewright_"))


def page_of(hook: str) -> str:
    return hook.removeprefix("tilewright_").replace("_", "-") + ".md"


def marked(page: Path) -> Any:
    """The first page that anybody follows is followed in every run; one needs what only .ci/nightly installs."""
    if page.stem == "first-model":
        return page
    return pytest.param(page, marks=pytest.mark.long if page.stem == "pytorch" else pytest.mark.slow)


@pytest.mark.parametrize("page", map(marked, [*TUTORIALS, *GUIDES]), ids=lambda path: path.stem)
def test_what_a_page_says_works(page: Path, reader: Any, tool: Any) -> None:
    text = page.read_text(encoding="utf-8")
    for name in ("cc ", "c++ ", "cmake ", "qemu-system-riscv32"):
        if name in text:
            tool(name.strip())
    assert reader.do(page) > 0, "a page without a block that runs"


def test_every_hook_has_a_page_with_a_plugin_that_uses_it() -> None:
    for hook in HOOKS:
        text = (DOCS / "howto" / page_of(hook)).read_text(encoding="utf-8")
        assert f"def {hook}(" in text, hook
        assert '[project.entry-points."tilewright.v1"]' in text, hook
        assert "pip install ./" in text, hook


def test_every_page_that_shows_a_plugin_is_about_a_hook() -> None:
    about_plugins = {path.name for path in GUIDES if "entry-points" in path.read_text(encoding="utf-8")}
    assert about_plugins == {page_of(hook) for hook in HOOKS}


def test_every_guide_is_listed() -> None:
    index = (DOCS / "howto" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in GUIDES if f"({path.name})" not in index] == []


def test_no_page_holds_what_cannot_be_seen() -> None:
    unseen = {
        page.name for page in DOCS.rglob("*.md") for sign in page.read_text("utf-8") if sign < " " and sign != "\n"
    }
    assert unseen == set()
