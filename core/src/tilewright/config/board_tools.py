"""Knows when a board is answered with a project for its tools. Does not know what such a project is."""

from __future__ import annotations

from dataclasses import replace

from tilewright.config.options import Options
from tilewright.ir.machines.board import PROJECT_TOOLS


def with_project(options: Options) -> Options:
    """A project, too, where the board has tools that one is written for. Where a network passes rows, keeps a state or
    loads its constants, there is no function that a small program could call.
    """
    tools = options.board.tools if options.board else {}
    rows = {options.io_inputs, options.io_outputs, *options.io_of.values()} & {"push", "pull"}
    kept = options.states or options.slide or options.const_format == "bin"
    if not any(tool in tools for tool in PROJECT_TOOLS) or rows or kept:
        return options
    return replace(options, emit=(*options.emit, "project"))
