"""Knows what `--board` may name: a file, a board or part that a package describes, or an installed memory hierarchy.
Does not know what a compilation makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from tilewright.config.boards import read_board
from tilewright.errors import TilewrightError, plugin_error, typed
from tilewright.errors.suggestions import did_you_mean, nearest
from tilewright.ir.machines.board import Board
from tilewright.plugins.kinds import announced_names

_PACKAGE = "tilewright-boards"


def board_from(named: Path | None) -> tuple[Board | None, str]:
    """The board, or "" and the name of a memory hierarchy; (None, "") without `--board`.

    TilewrightError TW1401 and TW1402 (exit 2) for a file, TW8001 (exit 8) for a name that nobody has.
    """
    if named is None:
        return None, ""
    if named.suffix == ".toml" or named.is_file():
        return read_board(named), ""
    if str(named) in announced_names("memory_hierarchy"):
        return None, str(named)
    return installed_board(str(named)), ""


def installed_board(name: str) -> Board:
    """The board or part of that name; capitals and the kind of dash do not matter. TilewrightError TW8001 (exit 8)."""
    boards = installed_boards()
    plain = name.casefold().replace("_", "-")
    if plain in boards:
        return boards[plain]
    raise _not_installed(name, boards)


def installed_boards() -> Mapping[str, Board]:
    """The boards and parts that installed packages describe, by name."""
    from tilewright.plugins import load_boards

    return load_boards().boards


def demand_boards() -> Mapping[str, Board]:
    """The same, at least one. TilewrightError TW8001 (exit 8)."""
    boards = installed_boards()
    if not boards:
        raise _no_board()
    return boards


def boards_called(pattern: str, boards: Mapping[str, Board]) -> tuple[Board, ...]:
    """Those whose name is like `pattern` (`nucleo-*`, or a piece of it: `f446`), parts first.
    TilewrightError TW8001 (exit 8) where there are none.
    """
    plain = pattern.casefold().replace("_", "-")
    wanted = plain if set(plain) & set("*?[") else f"*{plain}*"
    result = [board for board in boards.values() if fnmatchcase(board.name, wanted)]
    if not result:
        raise _none_called(pattern, boards)
    return tuple(sorted(result, key=lambda board: (board.name != board.part, board.name)))


def _no_board() -> TilewrightError:
    return plugin_error("TW8001", "no board is installed", fix=(f"pip install {_PACKAGE}",))


def _none_called(pattern: str, boards: Mapping[str, Board]) -> TilewrightError:
    """Pieces are looked for at the beginning of names: of `stm33` is meant `stm32`."""
    if not boards:
        return _no_board()
    piece = pattern.strip("*").casefold()
    meant = nearest(piece, sorted({name[: len(piece)] for name in boards}))
    step = typed("tilewright", "boards", *([meant] if meant else []), gives="lists them")
    return plugin_error(
        "TW8001",
        f"no board or part that is installed is called like '{pattern}'",
        details=(*([f"did you mean '{meant}'?"] if meant else []), f"installed: {len(boards):,} boards and parts"),
        fix=(step,),
    )


def _not_installed(name: str, boards: Mapping[str, Board]) -> TilewrightError:
    known = (*boards, *announced_names("memory_hierarchy"))
    how_many = f"installed: {len(known):,} boards and parts" if known else "installed: none"
    step = typed("tilewright", "boards", gives="lists them") if boards else f"pip install {_PACKAGE}"
    return plugin_error(
        "TW8001",
        f"board '{name}' is not installed",
        details=(*did_you_mean(name, known), how_many),
        fix=(step, "describe it in a file, and name that: --board FILE.toml"),
    )
