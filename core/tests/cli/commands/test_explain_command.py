"""`tilewright explain`: a code in any case, all of them, and one that there is not."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tilewright.cli.commands.explain_command import command
from tilewright.errors import Exit, TilewrightError
from tilewright.errors.catalogue import catalogue


@pytest.mark.parametrize("typed", ["TW5001", "tw5001"])
def test_one_code(typed: str) -> None:
    found = CliRunner().invoke(command, [typed], catch_exceptions=False).output
    known = catalogue()["TW5001"]
    head, _, text = found.partition("\n\n")
    assert head == f"TW5001: {known.title}"
    assert " ".join(text.split()) == " ".join(known.text.split())
    assert max(map(len, text.splitlines())) <= 100


def test_an_example_is_shown_line_by_line() -> None:
    found = CliRunner().invoke(command, ["TW1410"], catch_exceptions=False).output
    *_, example = found.partition(catalogue()["TW1410"].text.split()[-1])
    assert example.splitlines()[2:4] == ['    target = "cortex-m4"', '    concurrent = [["quick", "careful"]]']
    assert [line.strip() for line in example.strip().splitlines()] == list(catalogue()["TW1410"].example)


def test_all_codes() -> None:
    lines = CliRunner().invoke(command, [], catch_exceptions=False).output.splitlines()
    assert [line.split("  ")[0] for line in lines] == list(catalogue())


@pytest.mark.parametrize(("typed", "hint"), [("TW501", ("did you mean TW5",)), ("nonsense", ())])
def test_a_code_that_there_is_not(typed: str, hint: tuple[str, ...]) -> None:
    with pytest.raises(TilewrightError, match=f"there is no error code '{typed}'") as caught:
        CliRunner().invoke(command, [typed], catch_exceptions=False)
    assert (caught.value.code, caught.value.exit_code) == ("TW1110", Exit.USAGE)
    assert len(caught.value.details) == len(hint) and all(
        found.startswith(wanted) for found, wanted in zip(caught.value.details, hint, strict=True)
    )
