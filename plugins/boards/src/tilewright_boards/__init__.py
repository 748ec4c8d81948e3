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
    entries = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    return tuple(board for entry in entries for board in read_board_family(entry.read_bytes(), entry.name))
