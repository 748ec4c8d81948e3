"""Draws docs/images/beside-others.svg, the README's chart, from tables that benchmarks have left in benchmarks/results:
RAM here, in TensorFlow Lite Micro and in the best planner that is published, and instructions beside CMSIS-NN.
Usage: python tools/draw_beside_others.py [FILE]
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from svg import Picture

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PICTURE = ROOT / "docs" / "images" / "beside-others.svg"
WIDTH, LEFT, RIGHT, BAR, GAP = 780, 190, 110, 13, 10
NAMES = {  # file names of MLPerf Tiny's reference networks, and what they do
    "kws_ref_model": "keyword spotting",
    "pretrainedResnet_quant": "image classification",
    "vww_96_int8": "visual wake words",
    "ad01_int8": "anomaly detection",
    "str_ww_ref_model": "streaming wake word",
}
FREE = 1.1  # times the products up to which a published plan counts as one that computes little again


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One measure of one network; `fill` says whose it is."""

    fill: str
    size: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Bars of several networks on one scale."""

    title: str
    legend: Sequence[tuple[str, str]]
    networks: Sequence[tuple[str, Sequence[Bar]]]

    @property
    def height(self) -> int:
        """Of the whole panel, in pixels."""
        return 52 + sum(len(bars) * BAR + GAP for _, bars in self.networks)


def main(file: Path) -> None:
    """Write the chart."""
    file.write_text(drawn(list(panels())), encoding="utf-8")


def panels() -> Iterator[Panel]:
    """Five networks beside TFLM, three beside msf-CNN, four beside CMSIS-NN."""
    rows = [row for row in _rows("tflm") if row["core"] == "m4"]
    yield Panel(
        title="Bytes of RAM on a Cortex-M4, beside TensorFlow Lite Micro",
        legend=(("none", "TFLM's arena"), ("in", "tilewright"), ("out", "tilewright, by rows")),
        networks=[
            (
                NAMES[row["network"]],
                (
                    Bar(fill="none", size=_number(row["arena: TFLM"])),
                    Bar(fill="in", size=_number(row["RAM"])),
                    Bar(fill="out", size=_number(row["by rows: RAM"])),
                ),
            )
            for row in rows
        ],
    )
    yield Panel(
        title="Bytes of RAM without the input, beside the best published planner (msf-CNN)",
        legend=(
            ("none", "msf-CNN at its least"),
            ("kept", f"msf-CNN, up to {FREE:g} times the products"),
            ("out", "tilewright"),
        ),
        networks=[(row["network"], _beside_msf(row)) for row in _rows("row_curves")],
    )
    yield _instructions(rows)


def drawn(parts: Sequence[Panel]) -> str:
    """All panels, one below the other."""
    height = sum(panel.height for panel in parts) + 8
    title = "RAM and instructions of networks here, in TensorFlow Lite Micro with CMSIS-NN, and in msf-CNN"
    picture = Picture(width=WIDTH, height=height, title=title)
    y = 24.0
    for panel in parts:
        _draw(picture, panel, y)
        y += panel.height
    return picture.svg()


def _instructions(rows: Sequence[dict[str, str]]) -> Panel:
    return Panel(
        title="Instructions of an inference on a Cortex-M4, beside CMSIS-NN",
        legend=(("none", "TFLM with CMSIS-NN"), ("in", "tilewright")),
        networks=[
            (
                NAMES[row["network"]],
                (
                    Bar(fill="none", size=_number(row["instructions: TFLM + CMSIS-NN"])),
                    Bar(fill="in", size=_number(row["instructions"])),
                ),
            )
            for row in rows
            if row["instructions: TFLM + CMSIS-NN"] != "-"
        ],
    )


def _draw(picture: Picture, panel: Panel, y: float) -> None:
    picture.text(LEFT, y, panel.title)
    picture.legend(LEFT, y + 20, panel.legend)
    longest = max(bar.size for _, bars in panel.networks for bar in bars)
    y += 32
    for name, bars in panel.networks:
        picture.text(LEFT - 8, y + len(bars) * BAR / 2 + 4, name, "end")
        for bar in bars:
            width = max(1.0, bar.size / longest * (WIDTH - LEFT - RIGHT))
            picture.box(LEFT, y, width, BAR - 2, bar.fill)
            picture.text(LEFT + width + 6, y + BAR - 3, f"{bar.size:,}{bar.note}")
            y += BAR
        y += GAP


def _beside_msf(row: dict[str, str]) -> Sequence[Bar]:
    points = [(_number(size), float(times)) for size, times in re.findall(r"([\d,]+) at ([\d.]+)", row[_MSF])]
    least, times = min(points)
    near = min(size for size, times in points if times <= FREE)
    return (
        Bar(fill="none", size=least, note=f", {times:g} times"),
        Bar(fill="kept", size=near),
        Bar(fill="out", size=_number(row["by rows, input the caller's"])),
    )


_MSF = "msf-CNN: RAM at times the products"


def _rows(name: str) -> list[dict[str, str]]:
    table = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def _number(text: str) -> int:
    return int(text.replace(",", ""))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=PICTURE, metavar="FILE")
    main(parser.parse_args().file)
