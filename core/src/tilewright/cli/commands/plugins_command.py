"""Knows `tilewright plugins list` and `tilewright plugins doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from tilewright.cli.option import examples, option
from tilewright.cli.output import say, send_json
from tilewright.errors import Exit
from tilewright.report.plain_text import Table

if TYPE_CHECKING:
    from tilewright.plugins import PluginReport


@click.group("plugins", epilog=examples("plugins list", "plugins doctor"))
def command() -> None:
    """Installed plugins: what they announce, and whether they keep it."""


@command.command("list", epilog=examples("plugins list", "plugins list --json -"))
@option("--json", "json_target", metavar="FILE|-", help="Write the list as JSON.")
def list_plugins(json_target: str | None) -> None:
    """What is installed, from metadata alone: nothing is imported."""
    from tilewright.plugins import list_all

    reports = list_all()
    if json_target:
        return send_json([asdict(report) for report in reports], json_target)
    table = [("package", "version", "needs", "status", "announces")]
    table += [
        (report.package, report.version, report.requirement or "any", report.status, " ".join(report.announced))
        for report in reports
    ]
    say(Table(rows=table))
    return None


@command.command("doctor", epilog=examples("plugins doctor", "plugins doctor --json -"))
@option("--json", "json_target", metavar="FILE|-", help="Write the findings as JSON.")
def doctor(json_target: str | None) -> None:
    """Import every plugin, ask it for everything, and say what is wrong. Exit 8 when anything is."""
    from tilewright.plugins import examine_all

    reports = examine_all()
    if json_target:
        send_json([asdict(report) for report in reports], json_target)
    if json_target != "-":
        show_reports(reports)
    if any(report.status not in ("ok", "blocked") for report in reports):
        raise click.exceptions.Exit(Exit.PLUGIN)


def show_reports(reports: Sequence[PluginReport]) -> None:
    """One line for each plugin, and the reason and remedy of each that is not well."""
    width = max((len(report.package) for report in reports), default=0)
    for report in reports:
        say(f"{report.status:12}  {report.package:{width}}  {report.version}  {' '.join(report.announced)}")
        if report.detail:
            say(f"              [{report.code}] {report.detail}")
        if report.at:
            say(f"              at    {report.at}")
        for step in report.fix:
            say(f"              try:  {step}")
