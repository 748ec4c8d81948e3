"""What networks take on boards, as `tilewright check` says: a table of RAM with stack, flash and milliseconds.
Usage: python benchmarks/on_parts.py FILES --boards nucleo-f446re,rpipico2 [--optimize ram]

Needs tilewright-boards. Nothing is measured: bytes are the plan's, the stack and the time are estimates. A network that
does not fit has no figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.front_door.board_choice import installed_board
from tilewright.report.report_json import build_report

_HEAD = ("model", "part", "RAM", "flash", "ms (kind)")


def main(files: Sequence[Path], boards: Sequence[str], optimize: str) -> None:
    """Print the table, row by row."""
    print(f"| {' | '.join(_HEAD)} |\n|{'---|' * 2}{'---:|' * 3}", flush=True)
    for row in _rows(files, boards, optimize):
        print(f"| {' | '.join(row)} |", flush=True)


def _rows(files: Sequence[Path], boards: Sequence[str], optimize: str) -> Iterator[tuple[str, ...]]:
    for file in files:
        for name in boards:
            board = installed_board(name)
            options = Options(board=board, clock_hz=board.clock_hz, optimize="ram" if optimize == "ram" else "speed")
            try:
                figures = _figures(build_report(Deployment(file, board.target, options)))
            except TilewrightError as error:
                if error.exit_code is not Exit.DOES_NOT_FIT:
                    raise
                figures = ("does not fit",) * 3
            yield (file.stem, f"{board.part} ({name})", *figures)


def _figures(report: Mapping[str, Any]) -> tuple[str, str, str]:
    """RAM with stack, flash, and the time with its kind."""
    flash = sum(pool["used_bytes"] for pool in report["pools"] if pool["kind"] == "const")
    time = report["time"]
    return (
        f"{report['ram']['total_bytes']:,} B",
        f"{flash:,} B",
        f"{time['milliseconds']:,.{0 if time['milliseconds'] >= 100 else 1}f} ({time['kind']})",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILES")
    parser.add_argument("--boards", default="nucleo-f446re,rpipico2", metavar="NAME,...")
    parser.add_argument("--optimize", choices=("speed", "ram"), default="speed")
    chosen = parser.parse_args()
    main(chosen.files, chosen.boards.split(","), chosen.optimize)
