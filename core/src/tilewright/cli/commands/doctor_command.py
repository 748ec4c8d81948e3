"""Knows `tilewright doctor`: versions, plugins, compilers and runners, ready to be pasted into an issue."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from typing import Any

import click

from tilewright import __version__
from tilewright.cli.option import examples, option
from tilewright.cli.output import say, send_json


@click.command("doctor", epilog=examples("doctor", "doctor --json -"))
@option("--json", "json_target", metavar="FILE|-", help="Write the findings as JSON.")
def command(json_target: str | None) -> None:
    """Say what is installed, what is missing, and what to install."""
    findings = _findings()
    if json_target:
        return send_json(findings, json_target)
    say(f"tilewright {__version__}, Python {findings['python']}, {findings['system']}")
    say("packages   " + "  ".join(f"{name} {version}" for name, version in findings["packages"].items()))
    for plugin in findings["plugins"]:
        say(f"plugin     {plugin['status']:12}  {plugin['package']} {plugin['version']}  {plugin['detail']}".rstrip())
    for compiler in findings["compilers"]:
        say(f"compiler   {compiler}")
    for allocator in findings["allocators"]:
        say(f"allocator  {allocator['name']}: {allocator['summary']}")
    for runner in findings["runners"]:
        counts = "" if runner["counts"] is None else f"; counts {' and '.join(runner['counts']) or 'nothing'}"
        say(f"runner     {runner['name']}: {runner['missing'] or 'ready'}{counts}")
    return None


def _findings() -> dict[str, Any]:
    from tilewright.plugins import examine_all
    from tilewright.runners.toolchain import describe_compilers

    return {
        "tilewright": __version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {name: importlib.metadata.version(name) for name in _needed()},
        "plugins": [
            {"package": item.package, "version": item.version, "status": item.status, "detail": item.detail}
            for item in examine_all()
        ],
        "compilers": list(describe_compilers()),
        "allocators": _allocators(),
        "runners": _runners(),
    }


def _needed() -> list[str]:
    """The packages that tilewright does not work without, as its metadata has them."""
    from packaging.requirements import Requirement

    requirements = [Requirement(line) for line in importlib.metadata.requires("tilewright") or ()]
    return [item.name for item in requirements if item.marker is None or "extra" not in str(item.marker)]


def _allocators() -> list[dict[str, str]]:
    """Each says of itself in which form it is installed."""
    from tilewright.errors import TilewrightError
    from tilewright.plugins import discover, load_named

    findings = []
    for name in discover().names("allocator"):
        try:
            findings.append({"name": name, "summary": load_named(("allocator", name)).allocators[name].summary})
        except TilewrightError as error:
            findings.append({"name": name, "summary": error.message})
    return findings


def _runners() -> list[dict[str, Any]]:
    """Each with what it misses, and what it counts, where it says that."""
    from tilewright.errors import TilewrightError
    from tilewright.ir.programs.runner import counted_units
    from tilewright.plugins import discover, load_named

    findings: list[dict[str, Any]] = []
    for name in discover().names("runner"):
        try:
            runner = load_named(("runner", name)).runners[name]
            findings.append({"name": name, "missing": runner.available(), "counts": counted_units(runner)})
        except TilewrightError as error:
            findings.append({"name": name, "missing": error.message, "counts": None})
    return findings
