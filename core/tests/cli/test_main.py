"""The list of commands, and how every way to end becomes text on stderr and an exit code."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import click
import pytest

from tilewright.cli.main import ALIASES, COMMANDS, LazyGroup, tilewright
from tilewright.errors import Exit, TilewrightError


def ends_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """`tilewright explain` raises this."""

    def command() -> None:
        raise error

    monkeypatch.setattr("tilewright.cli.commands.explain_command.command", click.Command("explain", callback=command))


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (click.exceptions.Exit(9), 9, ""),
        (click.Abort(), 130, "interrupted: nothing was written\n"),
        (KeyboardInterrupt(), 130, "interrupted: nothing was written\n"),
        (TilewrightError("TW5001", "too large", "here", (), ("smaller",), Exit.DOES_NOT_FIT), 5, "error[TW5001]: too "),
        (click.UsageError("not so. "), 2, "error[TW1100]: not so\n"),
        (click.FileError("a.toml", "gone"), 2, "error[TW1100]: "),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_way_to_end_has_its_code(
    monkeypatch: pytest.MonkeyPatch, run: Any, error: BaseException, code: int, told: str
) -> None:
    ends_with(monkeypatch, error)
    said = run("explain")
    assert (said.code, said.out) == (code, "") and said.err.startswith(told)
    assert "Traceback" not in said.err


def test_what_nobody_foresaw_is_a_bug_of_ours_and_has_a_traceback(monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    ends_with(monkeypatch, ZeroDivisionError("what"))
    said = run("explain")
    assert said.code == Exit.INTERNAL
    assert said.err.startswith("Traceback") and "error[TW9001]: internal error: ZeroDivisionError: what" in said.err


def test_an_error_of_the_system_that_is_not_about_output_is_no_lost_output(
    monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    ends_with(monkeypatch, OSError(errno.ENOSPC, "No space left on device"))
    assert run("explain").code == Exit.INTERNAL


def test_without_words_there_is_help_and_an_exit_code(run: Any) -> None:
    said = run()
    assert said.code == 2 and "Commands:" in said.err + said.out


@pytest.mark.parametrize(("typed", "meant"), [("chekc", "check"), ("complie", "compile")])
def test_a_mistyped_command_has_a_suggestion(run: Any, typed: str, meant: str) -> None:
    said = run(typed)
    assert said.code == 2 and f"there is no command '{typed}'" in said.err and meant in said.err


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_is_its_command_and_not_in_the_list(alias: str, name: str) -> None:
    context = click.Context(tilewright)
    assert isinstance(tilewright, LazyGroup)
    assert tilewright.get_command(context, alias) is tilewright.get_command(context, name)
    assert alias not in tilewright.list_commands(context)


def test_every_command_is_listed_with_one_line_and_loads(run: Any) -> None:
    said = run("--help")
    assert said.code == 0
    for name, summary in COMMANDS.items():
        assert f"  {name} " in said.out and len(summary) <= 80 and summary.endswith(".")
        assert isinstance(tilewright.get_command(click.Context(tilewright), name), click.Command)
    assert tilewright.get_command(click.Context(tilewright), "nothing") is None


@pytest.mark.parametrize("name", ["check", "analyze"])
def test_a_projects_file_speaks_unless_told_not_to(
    monkeypatch: pytest.MonkeyPatch, run: Any, tmp_path: Path, name: str
) -> None:
    """Also to a command that is called by its other name."""
    (tmp_path / "tilewright.toml").write_text('[check]\ntarget = "nowhere"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert "nowhere" in run(name, "net.onnx").err
    assert "Missing option" in run("--no-project", name, "net.onnx").err
