"""What is written where: results to stdout, everything else to stderr, and what programs read as it is."""

from __future__ import annotations

import io

import pytest

from tilewright.cli.output import complain, drawn_on, hand_over, progress, say, show_diagnostics
from tilewright.errors import Diagnostic, TilewrightError
from tilewright.report.table import Table


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
