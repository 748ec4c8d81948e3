"""Keywords of `tilewright.compile` are the flags of `tilewright compile`, and become the same Options."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest

from tilewright.cli.commands.compile_command import command
from tilewright.config.options import Options
from tilewright.errors import Exit, TilewrightError
from tilewright.front_door.compile_keywords import Keywords, options_of
from tilewright.front_door.options_from_flags import options_from

OF_THE_COMMAND = {  # where files go and what is said; several networks; what a Compiled has
    *("output", "json", "quiet", "verbose", "group", "target", "help"),
    *("dump-after", "export-state"),
}


def test_without_keywords_all_is_as_by_default() -> None:
    assert options_of({}) == Options()


def test_every_flag_of_the_command_is_a_keyword() -> None:
    context = click.Context(command)
    flags = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    names = {next(word for word in flag.opts if word.startswith("--")).removeprefix("--") for flag in flags}
    assert {name.replace("-", "_") for name in names - OF_THE_COMMAND} == set(get_type_hints(Keywords))


def test_keywords_say_what_flags_say() -> None:
    typed = [
        "m.onnx",
        "-t",
        "generic",
        "-o",
        "out",
        "-n",
        "net",
        "--dim",
        "n=1",
        "--memory",
        "ram=64K",
        "--io",
        "x=user",
    ]
    typed += ["--pool", "fast:1K", "--pin", "conv*=fast", "--set", "isa=plain", "--stage", "w*=fast", "--groups", "2"]
    typed += ["--state", "h:h0=0", "--io-type", "int8", "--code-pass", "profile", "--effort", "9", "--allow-external"]
    typed += ["--clock", "80MHz", "--optimize", "ram", "--recompute", "1.2"]
    flags: dict[str, Any] = command.make_context("compile", typed).params
    keywords: Keywords = {
        "name": "net",
        "dim": {"n": 1},
        "memory": {"ram": "64K"},
        "io": {"x": "user"},
        "pool": "fast:1K",
        "pin": {"conv*": "fast"},
        "set": {"isa": "plain"},
        "stage": {"w*": "fast"},
        "groups": 2,
        "state": ["h:h0=0"],
        "io_type": "int8",
        "code_pass": ["profile"],
        "effort": 9,
        "allow_external": True,
        "clock": "80MHz",
        "optimize": "ram",
        "recompute": 1.2,
    }
    assert options_of(keywords) == options_from(flags)


@pytest.mark.parametrize(("word", "allowed"), [("--allow-external", True), ("--no-external", False)])
def test_files_beside_the_model_are_read_or_not(word: str, allowed: bool) -> None:
    flags: dict[str, Any] = command.make_context("compile", ["m.onnx", "-t", "generic", "-o", "out", word]).params
    assert options_of({"allow_external": allowed}) == options_from(flags)
    assert options_of({"allow_external": allowed}).allow_external is allowed
    assert options_of({}).allow_external is None


def test_what_is_about_files() -> None:
    options = options_of({"emit": ["make", "cmake"], "layout": "split", "const_format": "c", "selftest": True})
    assert (options.emit, options.layout, options.const_format, options.selftest) == (
        ("make", "cmake"),
        "split",
        "c",
        True,
    )
    assert options_of({"emit": "make,zephyr"}).emit == ("make", "zephyr")


def test_a_board_is_a_name_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.front_door.board_choice.announced_names", lambda kind: ("acme-board",))
    assert options_of({"board": "acme-board"}).memory_hierarchy == "acme-board"
    file = tmp_path / "board.toml"
    file.write_text('target = "generic"\n', encoding="utf-8")
    board = options_of({"board": file}).board
    assert board is not None
    assert board.target == "generic"


@pytest.mark.parametrize(
    ("keywords", "told"),
    [
        ({"memry": {"ram": 1}}, "write memory="),
        ({"zzz": 1}, "help(tilewright.compile)"),
        ({"buffering": "triple"}, "'double'"),
        ({"name": 3}, "a value of type str"),
        ({"selftest": "yes"}, "a value of type bool"),
        ({"groups": 0}, "1 or more"),
        ({"pin": 5}, "a text, a list of texts, or a mapping"),
        ({"emit": 5}, "a text, a list of texts, or a mapping"),
        ({"board": 5}, "a text or a path"),
        ({"import_state": 5}, "a text or a path"),
        ({"allow_external": None}, "a value of type bool"),
        ({"strict": 1}, "a value of type bool"),
        ({"memory": {"ram": "much"}}, "much"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_ours(keywords: dict[str, Any], told: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        options_of(keywords)
    assert (caught.value.code, caught.value.exit_code) == ("TW1101", Exit.USAGE)
    assert told in str(caught.value)


def test_layouts_are_a_mapping() -> None:
    typed = ["m.onnx", "-t", "generic", "-o", "out", "--io-layout", "x=nhwc", "--io-layout", "y=nchw"]
    flags: dict[str, Any] = command.make_context("compile", typed).params
    assert options_of({"io_layout": {"x": "nhwc", "y": "nchw"}}) == options_from(flags)
    with pytest.raises(TilewrightError, match="--io-layout x=nhcw"):
        options_of({"io_layout": {"x": "nhcw"}})
