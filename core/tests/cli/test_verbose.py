"""-v shows the log while a command runs, and only then."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from tilewright.cli.verbose import verbose_flag
from tilewright.ir.log_span import DEBUG, INFO, LOG, log_begin, log_span


@click.command()
@verbose_flag
def work() -> None:
    """Something in two parts."""
    with log_span(INFO, "outer"):
        log_begin("nobody sees this")
        with log_span(DEBUG, "inner %s", "part"):
            pass


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        ([], []),
        (["-v"], ["s  outer"]),
        (["-vv"], ["s  inner part", "s  outer"]),
        (["--verbose"], ["s  outer"]),
    ],
)
def test_how_much_is_said(flags: list[str], shown: list[str]) -> None:
    done = CliRunner().invoke(work, flags)
    assert (done.exit_code, done.stdout) == (0, "")
    assert [line.split(maxsplit=1)[1] for line in done.stderr.splitlines()] == shown
    assert (LOG.handlers, LOG.level) == ([], 0)
