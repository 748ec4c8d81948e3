"""When `compile --board` writes a project, and when it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.config.board_tools import with_project
from tilewright.config.options import Options
from tilewright.exporters.board_project import TOOLS
from tilewright.ir.machines.board import PROJECT_TOOLS, Board

ACME = Options(board=Board(source="acme-one", name="acme-one", tools={"zephyr": "acme_one"}))


def test_a_board_with_tools_brings_a_project() -> None:
    assert tuple(TOOLS) == PROJECT_TOOLS
    assert with_project(ACME).emit == ("cmake", "project")


@pytest.mark.parametrize(
    "change",
    [
        {"board": None},
        {"board": Board(source="acme.toml")},
        {"board": Board(source="acme-one", tools={"openocd": "acme"})},
        {"io_inputs": "push"},
        {"io_of": {"x": "pull"}},
        {"states": ("y:x",)},
        {"slide": "x[1]=2"},
        {"const_format": "bin"},
    ],
)
def test_without_tools_or_a_simple_function_there_is_none(change: dict[str, Any]) -> None:
    assert with_project(replace(ACME, **change)).emit == ("cmake",)
