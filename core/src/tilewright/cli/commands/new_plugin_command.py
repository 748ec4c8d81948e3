"""Knows `tilewright new-plugin`: a package with one thing of a kind, ready to be edited."""

from __future__ import annotations

from pathlib import Path

import click

from tilewright.cli.option import examples, option

KINDS = ("allocator", "tiler", "pass", "runner", "importer", "exporter")


@click.command(
    "new-plugin", epilog=examples("new-plugin acme-stack --kind allocator", "new-plugin acme-fuse --kind pass -o fuse")
)
@click.argument("name")
@option("--kind", type=click.Choice(KINDS), required=True, help="What it offers, under its own name.")
@option("-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="Default: NAME.")
def command(name: str, kind: str, output: Path | None) -> None:
    """Write a package with the plugin NAME: sources, tests, CI. It is green as it is written; edit it into your own."""
    from tilewright.cli.new_package import write_package
    from tilewright.scaffold.names import package_name
    from tilewright.scaffold.package_files import PLUGIN_KINDS, plugin_files

    package = package_name(name, PLUGIN_KINDS[kind])
    write_package(output or Path(name), plugin_files(package, kind), tests="pytest", then="tilewright plugins doctor")
