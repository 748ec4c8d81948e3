"""Knows the files of this package: a family of parts each, with the boards that have one of them.
Does not know what is in them: the core reads and checks them.
"""

from __future__ import annotations

from importlib.resources import files

from tilewright.api import hookimpl
from tilewright.api.platform import Board, read_board_family


@hookimpl
def tilewright_boards() -> tuple[Board, ...]:
    """Every part and board, family by family."""
    folder = files("tilewright_boards") / "families"
    named = {entry.name: entry for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return tuple(board for name in sorted(named) for board in read_board_family(named[name].read_bytes(), name))
