"""The documentation as a site: every page is in it, no link is dead, and it is read and searched without network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOOL = ROOT / "tools" / "build_site.py"
EVERY = (
    "const every = r => [...r.querySelectorAll('*')].flatMap(e => [e, ...(e.shadowRoot ? every(e.shadowRoot) : [])])"
)
TYPE_HERE = "const field = every(document).find(e => e.matches('input[type=text], input:not([type])')); field?.focus();"
LINKS = "every(document).map(e => e.href).filter(Boolean).join(' ')"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("zensical") is None:
        assert not os.environ.get("CI"), "zensical is not installed, and CI is set"
        pytest.skip("zensical is not installed: pip install ./core[docs]")
    target = tmp_path_factory.mktemp("site") / "site"
    subprocess.run([sys.executable, str(TOOL), str(target)], check=True)
    return target


def named(item: Any) -> Iterator[str]:
    """The pages that a part of the navigation names."""
    if isinstance(item, str):
        yield item
    else:
        for part in item.values() if isinstance(item, dict) else item:
            yield from named(part)


def readers() -> Callable[[str], str]:
    spec = spec_from_file_location("build_site", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Callable[[str], str] = module.for_readers
    return made


def test_every_page_is_in_the_navigation_once() -> None:
    listed = list(named(tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | {"changes.md"}
    assert sorted(listed) == sorted(pages)


def test_words_for_the_tests_are_not_shown() -> None:
    page = "```console run\n$ ls\n```\n\n```c file=app/main.c\nint x;\n```\n\n```toml\n```\n"
    assert readers()(page) == page.replace("console run", "console").replace("file=app/main.c", 'title="app/main.c"')


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    """Without the folders where packages are installed (-S)."""
    command = [sys.executable, "-S", str(TOOL), str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "zensical, which builds the site, is not installed: pip install './core[docs]'\n"
    assert not (tmp_path / "site").exists()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = re.compile(
        r"""<(?:script|img|link rel="(?:stylesheet|preload|preconnect)")[^>]*(?:src|href)="(https?:[^"]*)"""
    )
    found = {link for page in site.rglob("*.html") for link in loaded.findall(page.read_text("utf-8"))}
    assert found == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "theme"),
    [
        (360, "dark"),
        (768, "light"),
        (1280, "dark"),
        pytest.param(360, "light", marks=pytest.mark.long),
        pytest.param(768, "dark", marks=pytest.mark.long),
        pytest.param(1280, "light", marks=pytest.mark.long),
    ],
)
def test_every_label_is_readable_and_nothing_leaves_the_page(site: Path, browser: Any, width: int, theme: str) -> None:
    browser.theme(theme)
    found = {}
    for page in ("index", "howto/terminal", "howto/read-the-report", "reference/python", "errors"):
        browser.open(site / f"{page}.html", width=width)
        found[page] = browser.faint(), browser.value("document.documentElement.scrollWidth") <= width
    browser.theme("")
    assert found == dict.fromkeys(found, ([], True))


def test_it_is_searched_from_disk(site: Path, browser: Any) -> None:
    browser.open(site / "index.html")
    browser.value("[...document.querySelectorAll('button')].find(b => /search/i.test(b.textContent)).click()")
    wait_for(lambda: browser.value(f"(() => {{ {EVERY}; {TYPE_HERE}; return !!field }})()"))
    browser.send("Input.insertText", text="minimalloc program missing")
    found = re.compile(r"errors\.html\S*#tw7020")
    wait_for(lambda: found.search(browser.value(f"(() => {{ {EVERY}; return {LINKS} }})()")) is not None)
    assert [url for url in browser.requested if not url.startswith(("file:", "data:", "blob:"))] == []
    assert browser.complaints == []


def wait_for(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not done():
        assert time.monotonic() < deadline, "the page does not answer"
        time.sleep(0.1)
