"""Draws docs/images/check.svg, the README's recording of `tilewright check`: what is typed, and what is printed then.
Usage: python tools/draw_check.py [FILE]. Runs the commands on the digits network, without a terminal.

The lines appear one after another, a command as it is typed; for who wants no motion all are there at once.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from svg import GLYPH, PAGES, SIZE

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "check.svg"
MODEL = "digits_int8.onnx"
COMMANDS = (
    f"tilewright check {MODEL} --board nucleo-f446re",
    f"tilewright check {MODEL} --board nucleo-f446re --optimize ram",
)
TITLE = "A recording of tilewright check: the bytes of a network on a board, then in less memory"
LINE, MARGIN = 1.5 * SIZE, 14
TYPED_SECONDS, READ_SECONDS, BETWEEN_SECONDS = 0.04, 2.5, 0.03  # of a letter, of what is printed, of a printed line


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the recording, when it appears, and how long it takes to be typed; 0 where it is printed."""

    text: str
    begin: float
    seconds: float = 0.0


def main(file: Path) -> None:
    """Write the recording."""
    file.write_text(drawn(recorded([(command, printed(command)) for command in COMMANDS])), encoding="utf-8")


def printed(command: str) -> list[str]:
    """What a command prints where the model is."""
    words = [sys.executable, "-m", *command.split()]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    folder = ROOT / "examples" / "digits"
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def recorded(said: Sequence[tuple[str, Sequence[str]]]) -> list[Line]:
    """All lines with their times."""
    lines, now = list[Line](), 0.5
    for command, answer in said:
        text = f"$ {command}"
        lines.append(Line(text=text, begin=now, seconds=TYPED_SECONDS * len(text)))
        now += TYPED_SECONDS * len(text) + 0.5
        for line in (*answer, ""):
            lines.append(Line(text=line, begin=now))
            now += BETWEEN_SECONDS
        now += READ_SECONDS
    return lines


def drawn(lines: Sequence[Line]) -> str:
    """The file."""
    width = round(2 * MARGIN + GLYPH * max(len(line.text) for line in lines))
    height = round(2 * MARGIN + LINE * len(lines))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    shown = [_line(number, line) for number, line in enumerate(lines) if line.text]
    return "\n".join(
        (
            f'{head} role="img" xml:space="preserve">',
            f"<title>{escape(TITLE)}</title>",
            f"<style>{_style()}</style>",
            f'<rect width="{width}" height="{height}" rx="6" class="page"/>',
            *shown,
            "</svg>\n",
        )
    )


def _line(number: int, line: Line) -> str:
    kind = "typed" if line.seconds else "printed"
    steps = f";animation-duration:{line.seconds:.2f}s;animation-timing-function:steps({len(line.text)})"
    time = f"animation-delay:{line.begin:.2f}s{steps if line.seconds else ''}"
    place = f'x="{MARGIN}" y="{MARGIN + LINE * number + SIZE:g}" textLength="{GLYPH * len(line.text):.1f}"'
    return f'<text {place} class="{kind}" style="{time}">{escape(line.text)}</text>'


def _style() -> str:
    font = f"font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre"
    motion = (
        "@keyframes appear{from{opacity:0}to{opacity:1}}"
        "@keyframes type{from{clip-path:inset(0 100% 0 0)}to{clip-path:inset(0)}}"
        ".printed{animation:appear .01s both}.typed{animation:type 1s both;font-weight:bold}"
        "@media(prefers-reduced-motion:reduce){text{animation:none!important}}"
    )
    dark = f"@media(prefers-color-scheme:dark){{{_colours('dark')}}}"
    return f"text{{{font}}}{motion}{_colours('light')}{dark}"


def _colours(scheme: str) -> str:
    page = PAGES[scheme]
    return f".page{{fill:{page['page']};stroke:{page['line']}}}text{{fill:{page['text']}}}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=PICTURE)
    main(parser.parse_args().file)
