"""Knows `tilewright new-target`: a package with a target, ready to be edited."""

from __future__ import annotations

from pathlib import Path

import click

from tilewright.cli.option import examples, option


@click.command(
    "new-target", epilog=examples("new-target acme-one", "new-target acme-tile --dma --engine --simulator -o tile")
)
@click.argument("name")
@option("--dma", is_flag=True, help="With a scratchpad, and a copy engine that moves tiles into it.")
@option("--engine", is_flag=True, help="With an engine for fully connected layers, which starts and is waited for.")
@option("--simulator", is_flag=True, help="With a runner of its own.")
@option("-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="Default: NAME.")
def command(name: str, dma: bool, engine: bool, simulator: bool, output: Path | None) -> None:
    """Write a package with the target NAME: sources, tests, CI. It is green as it is written; edit it into your own."""
    from tilewright.cli.new_package import write_package
    from tilewright.scaffold.names import package_name
    from tilewright.scaffold.package_files import target_files

    package = package_name(name, "platform")
    write_package(
        output or Path(name),
        target_files(package, dma=dma, engine=engine, simulator=simulator),
        tests=f"pytest --tilewright-target {name}",
        then=f"tilewright check model.onnx --target {name} --layers",
    )
