"""What `--board` may name: a file, an installed board in whatever spelling, or a memory hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.front_door import board_choice
from tilewright.front_door.board_choice import board_from, boards_called, demand_boards, installed_board
from tilewright.front_door.compile_keywords import options_of
from tilewright.ir.machines.board import Board

NAMES = ("nucleo-f446re", "stm32f446re", "stm32f411re", "pico")
BOARDS: Mapping[str, Board] = {
    name: Board(source=name, name=name, part="stm32f446re" if "446" in name else name, clock_hz=5, target="t")
    for name in NAMES
}


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_choice, "installed_boards", lambda: BOARDS)
    monkeypatch.setattr(board_choice, "announced_names", lambda kind: ("acme",) if kind == "memory_hierarchy" else ())


def test_nothing_a_file_a_hierarchy_and_a_board(tmp_path: Path) -> None:
    file = tmp_path / "pico"
    file.write_text('target = "toy"\n', encoding="utf-8")
    assert board_from(None) == (None, "")
    assert board_from(file) == (Board(source=str(file), target="toy"), "")
    assert board_from(Path("acme")) == (None, "acme")
    assert board_from(Path("pico")) == (BOARDS["pico"], "")


def test_its_clock_is_where_options_begin() -> None:
    assert (options_of({"board": "pico"}).clock_hz, options_of({"board": "pico", "clock": "9Hz"}).clock_hz) == (5, 9)


@pytest.mark.parametrize("name", ["nucleo-f446re", "nucleo_f446re", "NUCLEO-F446RE"])
def test_spelling_does_not_matter(name: str) -> None:
    assert installed_board(name).name == "nucleo-f446re"


@pytest.mark.parametrize(("name", "said"), [("nucleo-f446r", "did you mean 'nucleo-f446re'"), ("zzz", "5 boards")])
def test_a_wrong_name_gets_the_nearest(name: str, said: str) -> None:
    with pytest.raises(TilewrightError, match=f"board '{name}' is not installed") as refused:
        board_from(Path(name))
    assert (refused.value.code, refused.value.exit_code) == ("TW8001", Exit.PLUGIN)
    assert said in str(refused.value) and "tilewright boards" in str(refused.value)


def test_a_file_that_is_not_there_is_no_name() -> None:
    with pytest.raises(TilewrightError, match="cannot read the board file") as refused:
        board_from(Path("nowhere.toml"))
    assert refused.value.code == "TW1401"


def test_where_there_are_none_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_choice, "installed_boards", dict)
    for wrong in (demand_boards, lambda: installed_board("pico")):
        with pytest.raises(TilewrightError, match="pip install tilewright-boards") as refused:
            wrong()
        assert refused.value.code == "TW8001"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("stm32*", ["stm32f411re", "stm32f446re"]),
        ("F446", ["stm32f446re", "nucleo-f446re"]),
        ("nucleo_*", ["nucleo-f446re"]),
        ("*", ["pico", "stm32f411re", "stm32f446re", "nucleo-f446re"]),
    ],
)
def test_patterns_and_pieces_of_names(pattern: str, names: list[str]) -> None:
    assert [board.name for board in boards_called(pattern, BOARDS)] == names


def test_a_pattern_that_nothing_is_called_like_is_refused() -> None:
    with pytest.raises(TilewrightError, match="is called like 'avr\\*'") as refused:
        boards_called("avr*", BOARDS)
    assert "did you mean" not in str(refused.value) and "tilewright boards" in str(refused.value)


def test_a_pattern_is_compared_with_how_names_begin() -> None:
    with pytest.raises(TilewrightError, match="is called like 'stm33'") as refused:
        boards_called("stm33", BOARDS)
    assert "did you mean 'stm32'?" in str(refused.value) and "tilewright boards stm32" in str(refused.value)


def test_where_no_board_is_installed_the_package_is_named() -> None:
    with pytest.raises(TilewrightError, match="no board is installed") as refused:
        boards_called("stm32*", {})
    assert "pip install tilewright-boards" in str(refused.value)
