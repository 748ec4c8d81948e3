"""Builds the documentation as a site: `python tools/build_site.py [FOLDER]`, by default `site`. Needs zensical.

The site is read from disk as well as from a server, and loads nothing from anywhere. Pages are those of `docs` and the
CHANGELOG; their blocks say to the tests what to run and what to write, and to a reader the name of the file. A link or
an anchor that leads nowhere ends the build.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^( *```\w+) (.+)$", re.MULTILINE)  # a language, and words for the tests
ELSEWHERE = re.compile(r'<script src="https://[^"]*"[^>]*></script>')  # what lets the search run from disk
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def build_site(target: Path) -> None:
    """Write the site to `target`, which is replaced. SystemExit with zensical's words where a link is dead, and with
    what installs zensical where it is missing.
    """
    if find_spec("zensical") is None:
        raise SystemExit("zensical, which builds the site, is not installed: pip install './core[docs]'")
    with TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.copy(ROOT / "zensical.toml", work)
        shutil.copytree(ROOT / "docs", work / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
        changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
        (work / "docs" / "changes.md").write_text(changes.replace("](docs/", "]("), "utf-8")
        for page in (work / "docs").rglob("*.md"):
            page.write_text(for_readers(page.read_text("utf-8")), "utf-8")
        command = [sys.executable, "-m", "zensical", "build", "--strict"]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(COLOUR.sub("", done.stdout))
        search = f"<script>\n{(ROOT / 'tools' / 'site_search.js').read_text('utf-8')}</script>"
        for page in (work / "site").rglob("*.html"):
            page.write_text(ELSEWHERE.sub(lambda _: search, page.read_text("utf-8")), "utf-8")
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(work / "site", target)


def for_readers(page: str) -> str:
    """`page` without the words in the heads of its blocks that only tests read; a file's name becomes a title."""
    return FENCE.sub(lambda head: head[1] + title(head[2]), page)


def title(words: str) -> str:
    """What a reader sees above a block: the file that it is."""
    names = re.findall(r"file=(\S+)", words)
    return f' title="{names[0]}"' if names else ""


if __name__ == "__main__":
    from folder_argument import folder_asked

    build_site(folder_asked(__doc__, ROOT / "site"))
