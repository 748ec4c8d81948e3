"""What commands say about a network whose steps are tiled together: no figure for what nobody can see alone."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper, numpy_helper

from tilewright.cli.main import tilewright
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Cut, Hop, Tiles

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits" / "digits_int8.onnx"
TOGETHER = ("conv1", "pool1", "conv2", "pool2")


@pytest.fixture(name="grouped")
def _grouped(tmp_path: Path) -> tuple[str, ...]:
    """Model and flags of a plan with four steps in one group."""
    pins = tmp_path / "groups.json"
    pins.write_text(json.dumps({"groups": [TOGETHER]}), encoding="utf-8")
    return (str(DIGITS), "--target", "siracusa", "--memory", "l1=16K", "--pin", str(pins))


def run(*words: str) -> Result:
    """The command, which must succeed."""
    result = CliRunner().invoke(tilewright, words)
    assert result.exit_code == 0, result.output
    return result


def test_validate_says_which_steps_are_judged_by_their_group(grouped: tuple[str, ...], tmp_path: Path) -> None:
    verdict = tmp_path / "verdict.json"
    said = run("validate", *grouped, "--on", "twin", "--sets", "1", "--json", str(verdict)).output
    assert "5 of 5 steps are exact, and by them 3 more inside groups" in said
    found: dict[str, Any] = json.loads(verdict.read_text(encoding="utf-8"))
    assert found["inner_steps"] == list(TOGETHER[:-1])
    assert len(found["steps"]) == 5


@pytest.mark.slow
@pytest.mark.parametrize("l2", ["800", "1200"])
def test_values_that_have_no_room_on_the_way_cross_it_in_tiles(grouped: tuple[str, ...], l2: str) -> None:
    words = (*grouped, "--set", "home=l3", "--memory", f"l2={l2}")
    steps = json.loads(run("check", *words, "--json", "-").stdout)["steps"]
    outer, inner = next(step["hops"] for step in steps if step["name"] == TOGETHER[-1])
    assert (outer["outer"], inner["outer"]) == ("l3", "l2")
    assert outer["tiles"] > 1
    assert outer["buffer_bytes"] <= int(l2)
    said = run("validate", *words, "--on", "twin", "--sets", "1").output
    assert "5 of 5 steps are exact, and by them 3 more inside groups" in said


def test_validate_says_nothing_of_groups_where_there_are_none() -> None:
    said = run("validate", str(DIGITS), "--target", "siracusa", "--groups", "1", "--on", "twin", "--sets", "1").output
    assert "\n8 of 8 steps are exact\n" in said


def test_bench_counts_a_group_once(grouped: tuple[str, ...]) -> None:
    bench = json.loads(run("bench", *grouped, "--on", "twin", "--json", "-").stdout)
    rows = run("bench", *grouped, "--on", "twin").output.splitlines()
    cells = {row.split()[-1]: row.split() for row in rows if row[:1].isdigit()}
    assert [cells[name][3] for name in TOGETHER[:-1]] == ["-"] * 3
    members = [step for step in bench["steps"] if step["name"] in TOGETHER]
    assert len({step["group"] for step in members}) == 1
    cycles, macs = sum(step["cycles"] for step in members), sum(step["macs"] for step in members)
    assert cells["pool2"][3:5] == [f"{cycles:,}", f"{cycles / macs:.2f}"]
    assert any(row.startswith("-  counted with the last step of the group") for row in rows)


def test_the_layer_table_shows_tiles_and_cycles_of_groups_once(grouped: tuple[str, ...]) -> None:
    report = json.loads(run("check", *grouped, "--json", "-").stdout)
    rows = [row.split() for row in run("check", *grouped, "--layers").output.splitlines()]
    at = next(number for number, row in enumerate(rows) if row[:1] == ["step"])
    assert rows[at][8:12] == ["tiles", "cycles", "of", "all"]
    for row, step in zip(rows[at + 1 :], report["steps"], strict=False):
        inner = step["name"] in TOGETHER[:-1]
        assert row[7:9] == (["-", "-"] if inner else [f"{step['tiles']:,}", f"{step['cycles']['total']:,.0f}"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("check", "--code-pass", "nothing"), "TW1111", "profile"),
        (("check", "--code-pass", "profile:every=tile"), "TW1112", "no setting 'every'"),
        (("validate", "--on", "host"), "TW7006", "team of cores"),
    ],
    ids=str,
)
def test_what_cannot_be_is_said_before_anything_is_built(words: tuple[str, ...], code: str, said: str) -> None:
    command, *flags = words
    result = CliRunner().invoke(tilewright, (command, str(DIGITS), "--target", "siracusa", *flags))
    error = result.exception
    assert isinstance(error, TilewrightError)
    assert error.code == code
    assert said in str(error)
    assert error.fix


def softmax_over(width: int) -> bytes:
    """Four rows that are taken whole: 8 bytes of L1 for each element."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, width]) for name in "xy"]
    nodes = [helper.make_node("Softmax", ["x"], ["y"], "softmax", axis=-1)]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.mark.parametrize("tiler", ["cost", "min"])
@pytest.mark.parametrize(("width", "given", "least"), [(4400, 20 << 10, 39680), (3000, 20_000, 24000)])
def test_the_least_l1_that_is_named_counts_stacks_as_they_are_then(
    width: int, given: int, least: int, tiler: str
) -> None:
    """Stacks are in L1 from 32 KiB on."""
    with pytest.raises(TilewrightError, match="TW5101") as caught:
        Deployment(softmax_over(width), "siracusa", Options(memory={"l1": given}, tiler=tiler)).compile()
    (named,) = re.findall(r"--memory l1=(\d+)", " ".join(caught.value.fix))
    assert int(named) == least
    assert Deployment(softmax_over(width), "siracusa", Options(memory={"l1": least}, tiler=tiler)).compile().files
    with pytest.raises(TilewrightError, match="TW5101"):
        Deployment(softmax_over(width), "siracusa", Options(memory={"l1": least - 1}, tiler=tiler)).compile()


def test_a_limit_beyond_the_chip_is_a_warning() -> None:
    result = CliRunner().invoke(tilewright, ("check", str(DIGITS), "--target", "siracusa", "--memory", "l1=1M"))
    assert result.exit_code == 0
    assert "TW5034" in result.output
    assert "the machine has 262,144 B" in " ".join(result.output.split())
    assert "TW5034" not in run("check", str(DIGITS), "--target", "siracusa", "--memory", "l1=256K").output


def test_constants_beyond_l2_are_sent_to_the_external_ram() -> None:
    """No size of the chip's own memories would do, and none is named."""
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in (("x", 1024), ("y", 500))
    ]
    weights = numpy_helper.from_array(np.ones((1024, 500), np.float32), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "fc")], "g", ends[:1], ends[1:], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    with pytest.raises(TilewrightError, match="TW5001") as caught:
        Deployment(model, "siracusa").compile()
    (line,) = caught.value.fix
    assert line.startswith("--set home=l3     fits")
    assert Deployment(model, "siracusa", Options(settings={"home": "l3"})).allocated


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nest": (Cut("nothing", 1),)}, "nothing"),
        ({"nest": (Cut("a3", 0),)}, "zero"),
        ({"inner": "l9"}, "l9"),
        ({}, "there is no step 'nobody'"),
    ],
    ids=str,
)
def test_pinned_tiles_that_cannot_be_are_refused_with_the_reason(change: dict[str, Any], said: str) -> None:
    options = Options(memory={"l1": 8 << 10}, groups=1)
    plan = Deployment(DIGITS, "siracusa", options).allocated
    step, tile = next(iter(plan.decisions.tiles.items()))
    hop: Hop = tile.hops[0]
    tiles = {step if change else "nobody": replace(tile, schedule=Tiles(hops=(replace(hop, **change),)))}
    pinned = replace(options, pins=Decisions(tiles=tiles, order=plan.decisions.order))
    with pytest.raises(TilewrightError, match="TW4043") as caught:
        Deployment(DIGITS, "siracusa", pinned).compile()
    assert said in " ".join(caught.value.details)
    kept = replace(options, pins=Decisions(tiles={step: tile}, order=plan.decisions.order))
    assert Deployment(DIGITS, "siracusa", kept).allocated


def bottleneck(file: Path) -> tuple[str, ...]:
    """Eight channels become 96 and eight again, in whole numbers; its steps."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 5, 5]) for name in "xy"]
    chance = np.random.default_rng(3)
    shapes = {"wide": (96, 8, 1, 1), "taps": (96, 1, 3, 3), "narrow": (8, 96, 1, 1)}
    held = [
        numpy_helper.from_array(chance.integers(-3, 4, shape).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Conv", ["x", "wide"], ["a"], name="expand"),
        helper.make_node("Conv", ["a", "taps"], ["b"], name="depthwise", group=96, pads=[1] * 4),
        helper.make_node("Conv", ["b", "narrow"], ["y"], name="project"),
    ]
    graph = helper.make_graph(nodes, "bottleneck", ends[:1], ends[1:], held)
    file.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    )
    return ("expand", "depthwise", "project")


@pytest.mark.slow
@pytest.mark.parametrize("l1", ["20K", "16K"])
def test_channels_are_computed_in_parts_that_the_last_step_of_a_group_adds_up(l1: str, tmp_path: Path) -> None:
    steps, pins = bottleneck(tmp_path / "model.onnx"), tmp_path / "groups.json"
    pins.write_text(json.dumps({"groups": [steps]}), encoding="utf-8")
    words = (str(tmp_path / "model.onnx"), "--target", "siracusa", "--memory", f"l1={l1}", "--pin", str(pins))
    found = json.loads(run("check", *words, "--json", "-").stdout)["steps"]
    (hop,) = next(step["hops"] for step in found if step["name"] == "project")
    assert hop["tiles"] > 1
    assert hop["in_bytes"] == 4 * 96 * (8 + 9 + 8), "each weight is copied once, and no value"
    assert "PASS" in run("validate", *words, "--on", "twin", "--sets", "2").output
