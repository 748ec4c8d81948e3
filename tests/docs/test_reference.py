"""Pages that are made from the sources are what the sources say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("examples/*/*.md"), *ROOT.glob("plugins/*/*.md")])
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def test_made_pages_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "build_reference.py", tmp_path], check=True)
    made = {str(path.relative_to(tmp_path)): path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.md")}
    kept = [DOCS / "errors.md", *(DOCS / "reference").glob("*.md")]
    committed = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in kept}
    assert made == committed, "run: python tools/build_reference.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    dead = [link for link in LINK.findall(text) if "://" not in link and not (page.parent / link).resolve().exists()]
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_page_knows_this_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert str(ROOT) not in text
    assert "/tmp/" not in text
