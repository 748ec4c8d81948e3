"""How flags become options, and options become the next command to type."""

from __future__ import annotations

import click
import pytest

from tilewright.cli.commands.check_command import command
from tilewright.cli.flags import typed_again
from tilewright.config.memory_pools import parse_bytes
from tilewright.errors import TilewrightError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("65536", 65536),
        ("64K", 65536),
        ("64k", 65536),
        ("64KiB", 65536),
        (" 1 M ", 1 << 20),
        ("2MB", 2 << 20),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1.5K", "1e3", "1T", "0x10", "64 K B"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(TilewrightError, match="TW1101"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["m.onnx", "-t", "generic"], "m.onnx --target generic"),
        (["-t", "a b", "my model.onnx"], "'my model.onnx' --target 'a b'"),
        (["m.onnx", "-t", "x", "--dim", "n=1", "--dim", "m=2"], "m.onnx --target x --dim n=1 --dim m=2"),
        (["m.onnx", "-t", "x", "--allow-external", "--layers", "--json", "-"], "m.onnx --target x --allow-external"),
        (["m.onnx", "-t", "x", "--no-external"], "m.onnx --target x --no-external"),
        (["m.onnx", "-t", "x", "--effort", "9"], "m.onnx --target x --effort 9"),
    ],
)
def test_the_same_flags_for_the_next_command(typed: list[str], expected: str) -> None:
    context = command.make_context("check", typed, parent=click.Context(click.Group()))
    assert typed_again(context, leave_out=("json_target", "layers")) == expected
