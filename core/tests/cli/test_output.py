"""What is written where: results to stdout, everything else to stderr, and what programs read as it is."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tilewright.cli.output import (
    complain,
    demand_writable_files,
    drawn_on,
    hand_over,
    progress,
    say,
    send_result,
    show_diagnostics,
)
from tilewright.errors import Diagnostic, TilewrightError
from tilewright.report.plain_text import Table


class Terminal(io.StringIO):
    """One that takes all characters."""

    encoding = "UTF-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("variables", "drawn"), [
    ({"TERM": "xterm"}, True),
    ({"TERM": "xterm", "NO_COLOR": "1"}, False),
    ({"TERM": "xterm", "NO_COLOR": ""}, True),
    ({"TERM": "dumb"}, False),
    ({"TERM": ""}, False),
])  # fmt: skip
def test_where_colours_are_for_somebody(
    variables: dict[str, str], drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert drawn_on(Terminal()) is drawn
    assert not drawn_on(io.StringIO())


def test_results_are_on_stdout_and_the_rest_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    say("a", Table(rows=[("b", "c")], indent=1))
    say()
    hand_over("d")
    progress("e")
    complain("f")
    hand_over("g", err=True)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("a\n b  c\n\nd\n", "e\nf\ng\n")


def test_with_strict_a_warning_is_an_error_and_a_note_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    note = Diagnostic(severity="note", code="TW0001", message="n")
    show_diagnostics([note], strict=True)
    with pytest.raises(TilewrightError, match=r"TW1108.*1 warning"):
        show_diagnostics([note, Diagnostic(severity="warning", code="TW0002", message="w")], strict=True)
    assert capsys.readouterr().err == "note[TW0001]: n\n" * 2 + "warning[TW0002]: w\n"


def test_a_file_that_cannot_be_written_is_found_before_any_work(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    demand_writable_files(tmp_path / "new" / "file.json", str(tmp_path / "verdict.json"), None, "", "-")
    for target in (taken, taken / ".." / "taken"):
        with pytest.raises(TilewrightError, match="TW1107"):
            demand_writable_files(None, target)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]  # and looking leaves nothing


@pytest.mark.parametrize(
    ("target", "text", "file"),
    [(None, "told\n", False), ("-", '{\n  "peak": 3\n}\n', False), ("result.json", "told\n", True)],
)
def test_a_result_is_told_unless_stdout_has_its_json(
    target: str | None, text: str, file: bool, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    send_result({"peak": 3}, target, "told")
    assert capsys.readouterr().out == text
    assert (tmp_path / "result.json").exists() == file
