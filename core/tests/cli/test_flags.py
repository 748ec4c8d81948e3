"""How flags become options, and options become the next command to type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from onnx import TensorProto, helper

from tilewright.cli.commands.check_command import command
from tilewright.cli.flags import io_flag, memory_flags, target_of, typed_again, write_trace
from tilewright.config.memory_pools import parse_bytes
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.machines.board import Board
from tilewright.ir.programs.runner import RunResult, Timeline
from tilewright.testing.cluster import CLUSTER, registry_for


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


def given(*typed: str) -> Mapping[str, Any]:
    """What a command is called with."""
    found: dict[str, Any] = {}
    io_flag("--place-io")(memory_flags(click.Command("one", callback=lambda: None)))
    command = click.command("one")(memory_flags(io_flag("--place-io")(lambda **flags: found.update(flags))))
    command.main(list(typed), standalone_mode=False)
    return found


def test_without_flags_everything_is_empty() -> None:
    found = given()
    assert set(found) == {
        *("board", "memory", "pools", "pins", "stages", "states", "io"),
    }
    assert not any(found.values())


@pytest.mark.parametrize(
    ("flag", "name"),
    [
        ("--memory", "memory"),
        ("--pool", "pools"),
        ("--pin", "pins"),
        ("--stage", "stages"),
        ("--state", "states"),
        ("--place-io", "io"),
    ],
)
def test_what_is_said_several_times_is_kept_in_order(flag: str, name: str) -> None:
    """The first pool is preferred, and the last word about a thing holds: order is meaning."""
    assert given(flag, "b=1", flag, "a=2", flag, "b=3")[name] == ("b=1", "a=2", "b=3")


def test_help_has_every_flag() -> None:
    command = click.command("one")(memory_flags(lambda **_: None))
    shown = command.get_help(click.Context(command))
    flags = {option for one in command.params for option in one.opts}
    assert {flag for flag in flags if flag not in shown} == set()


def deployed() -> Deployment:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"])], "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Deployment(model.SerializeToString(), CLUSTER.name, registry=registry_for(CLUSTER))


@pytest.mark.parametrize(("timeline", "told"), [(None, True), (Timeline(spans=()), False)])
def test_what_the_trace_holds_is_said(
    timeline: Timeline | None, told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_trace(deployed(), RunResult(outputs=(), timeline=timeline), tmp_path / "trace.json")
    assert ("the plan's estimate only" in capsys.readouterr().err) is told
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]


@pytest.mark.parametrize(
    ("words", "project", "board", "target"),
    [
        (("-t", "a", "--board", "b"), {}, "bs", "a"),
        (("--board", "b"), {}, "bs", "bs"),
        (("--board", "b"), {"target": "p"}, "bs", "bs"),
        (("--board", "b"), {"target": "p"}, "", "p"),
        ((), {"target": "p", "board": "b"}, "bs", "p"),
        ((), {"board": "b"}, "bs", "bs"),
    ],
)
def test_the_target_is_what_was_typed_nearest(
    words: tuple[str, ...], project: Mapping[str, str], board: str, target: str
) -> None:
    options = Options(board=Board(source="b", target=board))
    with command.make_context("check", ["m.onnx", *words], default_map=dict(project)) as context:
        assert target_of(context.params, options) == target


def test_without_target_and_board_one_is_missing() -> None:
    with command.make_context("check", ["m.onnx"]) as context, pytest.raises(click.MissingParameter):
        target_of(context.params, Options())
