"""Every flag of every command: an empty value is refused, and so is one of several where one is taken; names that are
completed are those that installed packages announce; and no line of an example is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from tilewright.cli.main import COMMANDS, tilewright
from tilewright.cli.option import FiniteRange, Flag, examples, offered


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and subcommand, and the words that call it."""
    context = click.Context(tilewright)
    for name in COMMANDS:
        command = tilewright.get_command(context, name)
        assert command is not None
        yield (name,), command
        if isinstance(command, click.Group):
            yield from (((name, inner), one) for inner, one in command.commands.items())


FLAGS = [(words, one) for words, command in commands() for one in command.params if isinstance(one, click.Option)]
SPELLED = [
    pytest.param((*words, spelling), one, id=" ".join((*words, spelling)))
    for words, one in FLAGS
    if not (one.is_flag or one.count)
    for spelling in one.opts
]


def test_a_number_in_a_range_is_finite() -> None:
    ranges = [one.type for _, one in FLAGS if isinstance(one.type, click.FloatRange)]
    assert ranges and all(isinstance(one, FiniteRange) for one in ranges)
    for value in ("nan", "inf"):
        with pytest.raises(click.BadParameter, match=f"{value} is no finite number"):
            ranges[0].convert(value, None, None)
    assert ranges[0].convert("1.5", None, None) == 1.5


def test_every_flag_is_of_this_house() -> None:
    assert [(words, one.opts) for words, one in FLAGS if not isinstance(one, Flag)] == []
    assert {"--output", "--json", "--trace", "--solution", "--plot"} <= {name for _, one in FLAGS for name in one.opts}


@pytest.mark.parametrize(("words", "flag"), SPELLED)
def test_no_flag_takes_an_empty_value(
    run: Callable[..., Any], words: tuple[str, ...], flag: Flag, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run(*words, "")
    long = max(flag.opts, key=len)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"error[TW1101]: '{long}' is given an empty value\n  at    tilewright {words[0]}")
    assert f"\n  try:  write it as {long} " in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "flag"), [one for one in SPELLED if type(one.values[1]) is Flag and not one.values[1].multiple]
)
def test_a_flag_of_one_value_is_given_one(run: Callable[..., Any], words: tuple[str, ...], flag: Flag) -> None:
    long = max(flag.opts, key=len)
    said = run(*words, "7", long, "8")
    assert (said.code, said.out) == (2, "")
    start = f"error[TW1101]: '{long}' is given twice, as '7' and as '8'\n  at    tilewright {words[0]}"
    assert said.err.startswith(start)
    assert f"\n  try:  {long} 8  " in said.err
    assert f"'{long}' is given 3 times" in run(*words, "7", long, "8", long, "7").err


def test_the_same_value_twice_is_one(run: Callable[..., Any], on_cluster: None, model: Path) -> None:
    """As with `--memory ram=1K --memory ram=1K`: nothing that was typed is passed over."""
    assert run("check", model, "-t", "cluster-test", "--target", "cluster-test").code == 0


def test_a_list_is_written_with_commas_or_flag_by_flag(
    run: Callable[..., Any], on_cluster: None, model: Path, tmp_path: Path
) -> None:
    for name, words in (("commas", ["--emit", "make,zephyr"]), ("twice", ["--emit", "make", "--emit", "zephyr"])):
        assert run("compile", model, "-t", "cluster-test", "-o", tmp_path / name, "-q", *words).code == 0
    made, again = (
        {path.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("*")} for name in ("commas", "twice")
    )
    assert made == again
    assert {Path("Makefile"), Path("zephyr/module.yml")} <= made
    assert Path("CMakeLists.txt") not in made


def test_a_shell_completes_what_is_being_written() -> None:
    """Words that will not do are no reason to say nothing."""
    command = tilewright.get_command(click.Context(tilewright), "compile")
    assert command is not None
    context = command.make_context("compile", ["-o", "", "-o", "b"], resilient_parsing=True)
    assert context.params["folder"] == Path("b")


def names(kind: str, incomplete: str, *more: str) -> list[tuple[Any, ...]]:
    nothing: Any = None
    return [
        (one.value, one.help) for one in offered(kind, *more)(click.Context(click.Command("x")), nothing, incomplete)
    ]


@pytest.mark.parametrize(
    ("kind", "incomplete", "expected"),
    [
        ("tiler", "m", [("max", "tilewright"), ("min", "tilewright")]),
        ("runner", "twin-", [("twin-race", "tilewright")]),
        ("tiler", "nobody", []),
    ],
)
def test_they_begin_with_what_was_typed(kind: str, incomplete: str, expected: list[tuple[str, str]]) -> None:
    assert [one for one in names(kind, incomplete) if one[1] == "tilewright"] == expected


def test_names_that_are_no_plugins() -> None:
    assert ("generated", None) in names("tiler", "gen", "generated")


LONG_LINE = "check " + "word " * 30 + "end"


def test_no_line_is_broken() -> None:
    command = click.Command("one", epilog=examples("check a.onnx", LONG_LINE))
    *_, head, first, second = command.get_help(click.Context(command)).splitlines()
    assert head.strip() == "Examples:"
    assert (first.strip(), second.strip()) == ("tilewright check a.onnx", f"tilewright {LONG_LINE}")
