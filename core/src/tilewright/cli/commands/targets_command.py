"""Knows `tilewright targets`: what is installed, from metadata; and one target in detail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tilewright.cli.option import examples, option
from tilewright.cli.output import say, send_json
from tilewright.report.plain_text import Table

if TYPE_CHECKING:
    from tilewright.ir.machines.platform import Platform


@click.command("targets", epilog=examples("targets", "targets cortex-m4"))
@click.argument("name", required=False)
@option("--json", "json_target", metavar="FILE|-", help="Write the list as JSON.")
def command(name: str | None, json_target: str | None) -> None:
    """List the installed targets without importing any, or describe NAME: memories, engines, settings."""
    from tilewright.plugins import discover

    if name is not None:
        return _describe(name, json_target)
    rows = [
        {
            "name": offer.name,
            "package": package.name,
            "version": package.version,
            "problem": package.fault.cause if package.fault else "",
        }
        for package in discover().packages
        for offer in package.offers
        if offer.kind == "platform"
    ]
    rows.sort(key=lambda row: row["name"])
    if json_target:
        return send_json(rows, json_target)
    if not rows:
        say("no target is installed\n  try:  pip install tilewright-cortexm     (targets generic, cortex-m)")
        return None
    table = [("target", "package", "version", "problem")]
    table += [(row["name"], row["package"], row["version"], row["problem"]) for row in rows]
    say(Table(rows=table))
    return None


def _describe(name: str, json_target: str | None) -> None:
    from tilewright.plugins import load_named

    platform = load_named(("platform", name)).platforms[name]
    if json_target:
        return send_json(_facts(platform), json_target)
    say(f"{platform.name}: {platform.summary}")
    say(_memories(platform), *_copies(platform))
    for engine in platform.engines:
        say(f"  engine {engine.name}: {engine.cores} core(s), {engine.operations_per_cycle:g} operations per cycle")
    for setting in platform.options:
        choices = f" ({', '.join(setting.choices)})" if setting.choices else ""
        say(f"  --set {setting.name}={setting.default or 'VALUE'}{choices}   {setting.help}")
    if platform.compile_flags:
        say(f"  compile with: {' '.join(platform.compile_flags)}")
    say(f"  runs on: {', '.join(platform.runners)}")
    return None


def _facts(platform: Platform) -> dict[str, object]:
    """As `--json` writes them."""
    return {
        "name": platform.name,
        "summary": platform.summary,
        "memories": [
            {"name": item.name, "kind": item.kind, "size_bytes": item.size_bytes, "align": item.align}
            for item in platform.memories
        ],
        "copies": [
            {
                "source": item.source,
                "target": item.target,
                "max_bytes": item.max_bytes,
                "align": item.align,
                "dimensions": item.dimensions,
                "channels": item.channels,
                "queues": item.queues,
            }
            for item in platform.copies
        ],
        "runtime_bytes": dict(platform.runtime_bytes),
        "engines": [{"name": item.name, "cores": item.cores} for item in platform.engines],
        "settings": [
            {"name": item.name, "default": item.default, "choices": list(item.choices), "help": item.help}
            for item in platform.options
        ],
        "runners": list(platform.runners),
        "compile_flags": list(platform.compile_flags),
    }


def _memories(platform: Platform) -> Table:
    table: list[tuple[str, ...]] = [("memory", "kind", "size", "alignment", "runtime")]
    for memory in platform.memories:
        size = "no limit" if memory.size_bytes is None else f"{memory.size_bytes:,} B"
        taken = platform.runtime_bytes.get(memory.name, 0)
        table.append((memory.name, memory.kind, size, f"{memory.align} B", f"{taken:,} B" if taken else ""))
    if not platform.runtime_bytes:
        table = [row[:-1] for row in table]
    return Table(rows=table, right=(2, 4), indent=2)


def _copies(platform: Platform) -> Iterator[Table]:
    """What every path takes in one transfer, and what a transfer of 1 KiB is taken to cost."""
    if not platform.copies:
        return
    table = [("copies", "at most", "alignment", "rows", "in flight", "moving", "1 KiB")]
    for path in platform.copies:
        most = "no limit" if path.max_bytes is None else f"{path.max_bytes:,} B"
        rows = ("one", "strided", "in planes")[path.dimensions - 1]
        cycles = f"{path.cycles(1024, 1):,.0f} cycles"
        together = f"{path.channels}", f"{path.queues}"
        table.append((f"{path.source} -> {path.target}", most, f"{path.align} B", rows, *together, cycles))
    yield Table(rows=table, right=(1, 4, 5, 6), indent=2)
