"""Colours and tables: at a terminal that shows them, for nobody else, and rich only where something is drawn."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tilewright.cli.terminal import drawn
from tilewright.report.plain_text import Table

BLOCKS = "id,lower,upper,size\na,0,2,10\nb,1,3,20\n"
SPY = """
import sys
from tilewright.cli import main
try:
    main()
finally:
    sys.stderr.write(str("rich" in sys.modules))
"""
NAMES = Table(rows=[("step", "kernel", "MACs"), ("0", "a.kernel.with.a.long.name", "1,234,567")], right=(0, 2))


@pytest.fixture(name="blocks")
def _blocks(tmp_path: Path) -> str:
    file = tmp_path / "blocks.csv"
    file.write_text(BLOCKS)
    return str(file)


def piped(*words: str, program: str = "from tilewright.cli import main; main()") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_terminal_gets_a_table_with_a_rule_and_colours(at_terminal: Callable[..., Any], blocks: str) -> None:
    screen = at_terminal("plan", blocks, "--allocator", "best-fit")
    head, names, rule, row = screen.colourless.splitlines()
    assert head.startswith("blocks.csv: 2 blocks")
    assert names.split()[:2] == ["allocator", "peak"]
    assert set(rule.strip()) == {"─"}
    assert row.split()[:3] == ["best-fit", "30", "B"]
    assert "\x1b[1;32moptimal\x1b[0m" in screen.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}, {"PYTHONIOENCODING": "ascii"}]
)
@pytest.mark.parametrize("words", [("explain", "TW5001"), ("explain", "nothing"), ("plugins", "list")], ids=" ".join)
def test_who_wants_no_colour_gets_what_a_pipe_gets(
    at_terminal: Callable[..., Any], words: tuple[str, ...], variables: dict[str, str]
) -> None:
    plain = piped(*words)
    screen = at_terminal(*words, **variables)
    assert (screen.text, screen.code) == (plain.stdout + plain.stderr, plain.returncode)


@pytest.mark.slow
def test_an_error_is_red_and_what_to_type_stands_out(at_terminal: Callable[..., Any]) -> None:
    screen = at_terminal("explain", "TW5oo1")
    assert screen.code == 2
    assert screen.text.startswith("\x1b[1;31merror[TW1110]\x1b[0m: there is no error code")
    assert "\x1b[36mtilewright explain\x1b[0m     lists all" in screen.text


@pytest.mark.slow
def test_a_wrong_command_line_is_an_error_in_colour_too(at_terminal: Callable[..., Any]) -> None:
    assert at_terminal("chekc").text.startswith("\x1b[1;31merror[TW1100]\x1b[0m: ")


@pytest.mark.slow
def test_only_the_stream_that_is_a_terminal_is_drawn_on(at_terminal: Callable[..., Any], blocks: str) -> None:
    program = (
        "import subprocess, sys\n"
        f"command = [sys.executable, '-c', 'from tilewright.cli import main; main()', 'plan', {blocks!r}]\n"
        "sys.stdout.write(repr(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout))"
    )
    assert "\\x1b" not in at_terminal(program=program).text


@pytest.mark.parametrize("words", [("--help",), ("plan", "--help"), ("--version",)], ids=" ".join)
def test_help_at_a_terminal_imports_no_rich(at_terminal: Callable[..., Any], words: tuple[str, ...]) -> None:
    assert at_terminal(*words, program=SPY).text.endswith("False")


@pytest.mark.slow
def test_a_pipe_imports_no_rich(blocks: str) -> None:
    finished = piped("plan", blocks, "--allocator", "best-fit", program=SPY)
    assert (finished.returncode, finished.stderr) == (0, "False")


@pytest.mark.slow
def test_drawing_imports_rich(at_terminal: Callable[..., Any], blocks: str) -> None:
    assert at_terminal("plan", blocks, "--allocator", "best-fit", program=SPY).text.endswith("True")


def test_in_a_narrow_terminal_words_go_on_below_and_numbers_stay_whole() -> None:
    _, rule, *rows = _plain(drawn([NAMES], 30)).splitlines()
    assert len(rule) <= 30
    assert "1,234,567" in rows[0]
    assert "".join(re.sub(r"[\d, ]", "", row) for row in rows) == "a.kernel.with.a.long.name"


def test_layers_of_a_large_network_fit_eighty_columns() -> None:
    head = ("step", "operator", "kernel", "MACs", "of all", "live bytes", "cycles", "of all", "ONNX nodes")
    row = (
        "57",
        "QConv",
        "cortex-m.dsp.qconv",
        "12,345,678",
        "77.8 %",
        "123,456",
        "12,345,678",
        "55.6 %",
        "a/b (+4)",
    )
    lines = _plain(drawn([Table(rows=[head, row], right=(0, *range(3, 8)))], 80)).splitlines()
    assert set(lines[1]) == {"─"}
    assert max(map(len, lines)) <= 80
    assert all(number in lines[2] for number in row[3:8])


def test_where_not_even_numbers_have_room_the_text_is_that_of_a_pipe() -> None:
    assert _plain(drawn([NAMES], 18)) == str(NAMES)


def test_a_table_without_a_head_has_no_rule() -> None:
    table = Table(rows=[("input", "x"), ("output", "yy")], indent=2, headed=False)
    assert [line.rstrip() for line in _plain(drawn([table], 60)).splitlines()] == ["  input   x", "  output  yy"]


def test_names_from_a_model_are_never_markup() -> None:
    title, head, rule, cell = _plain(drawn(["[red]x[/red]", Table(rows=[("[b]",), ("[/b]",)])], 60)).split()
    assert (title, head, cell) == ("[red]x[/red]", "[b]", "[/b]")
    assert set(rule) == {"─"}  # how far it goes beyond the names is rich's


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
