"""Takes the pictures of the documentation that show a page: the report of the example network, and the site.
Usage: python tools/take_screenshots.py [FOLDER]; the folder is `docs/images` unless given. Needs chromium and zensical.

Fonts differ from machine to machine, so no test compares pixels. Labels that are hard to read end it with their list.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "kit"))

from browser import Browser  # found only now
from build_site import build_site

import tilewright

NETWORK = ROOT / "examples" / "digits" / "digits_int8.onnx"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """The top of a page, in a window of that size in pixels."""

    page: str  # "report" or "site"
    width: int
    height: int
    theme: str

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.page}-{self.width}-{self.theme}.png"


SHOTS = (
    Shot(page="report", width=1280, height=780, theme="light"),
    Shot(page="report", width=768, height=640, theme="dark"),
    Shot(page="report", width=360, height=640, theme="light"),
    Shot(page="report", width=360, height=640, theme="dark"),
    Shot(page="site", width=1280, height=640, theme="light"),
    Shot(page="site", width=768, height=640, theme="dark"),
    Shot(page="site", width=360, height=640, theme="light"),
)


def take(target: Path) -> None:
    """All of them. SystemExit where a label has less contrast than 4.5."""
    with TemporaryDirectory() as folder:
        work = Path(folder)
        report = work / "report.html"
        report.write_text(tilewright.compile(NETWORK, "cortex-m4", clock="80MHz").report.html, encoding="utf-8")
        build_site(work / "site")
        pages = {"report": report, "site": work / "site" / "index.html"}
        browser = Browser(shutil.which("chromium") or "chromium", work / "profile")
        try:
            for shot in SHOTS:
                browser.theme(shot.theme)
                browser.open(pages[shot.page], width=shot.width, height=shot.height)
                if faint := browser.faint():
                    raise SystemExit(f"{shot.name}: {faint}")
                (target / shot.name).write_bytes(browser.picture())
        finally:
            browser.close()


if __name__ == "__main__":
    from folder_argument import folder_asked

    take(folder_asked(__doc__, ROOT / "docs" / "images"))
