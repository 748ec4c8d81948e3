"""Where nobody chose a setting, the one with the best plan is taken: a made-up cluster whose stacks take room in the
scratchpad, or time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from onnx import TensorProto, helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.platform import Option, Platform
from tilewright.ir.plans.stages import Allocated
from tilewright.multi_model.manifest import deployments, read_group
from tilewright.plan.open_settings import contest, least_cycles
from tilewright.plan.proposals.planner import merit
from tilewright.testing.cluster import CLUSTER, registry_for

STACK_BYTES = 3072


def settled(platform: Platform) -> Platform:
    near = platform.settings["stacks"] == "near"
    engine = replace(CLUSTER.engines[0], slowdown=1.0 if near else float(platform.settings["cost"]))
    return replace(platform, engines=(engine,), runtime_bytes={"l1": STACK_BYTES if near else 0})


def rivals(platform: Platform) -> tuple[Mapping[str, str], ...]:
    return ({"stacks": "near"}, {"stacks": "far"}) if platform.settings["stacks"] == "open" else ()


MACHINE = replace(
    CLUSTER,
    options=(
        Option(name="stacks", help="", default="open", choices=("open", "near", "far")),
        Option(name="cost", help="of far stacks", default="3"),
    ),
    configure_with=lambda platform, _: settled(platform),
    settle=settled,
    rivals=rivals,
)


def model(size: int = 64) -> bytes:
    """A Sigmoid over so many squared floats."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size, size]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"], "only")], "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def deployment(l1_bytes: int, **settings: str) -> Deployment:
    return Deployment(model(), MACHINE.name, Options(memory={"l1": l1_bytes}, settings=settings), registry_for(MACHINE))


def cycles(plan: Deployment) -> float:
    return sum(group.cycles for group in plan.tiled.groups)


@pytest.mark.parametrize(
    ("l1_bytes", "cost", "taken"), [(32 << 10, "3", "near"), (3400, "1.01", "far"), (2048, "9", "far")]
)
def test_the_faster_plan_is_taken(l1_bytes: int, cost: str, taken: str) -> None:
    """Far stacks where they cost little and near ones leave little; and where near ones do not fit at all."""
    plan = deployment(l1_bytes, cost=cost)
    assert plan.platform.settings["stacks"] == plan.scheduled.bound.platform.settings["stacks"] == taken
    others = [deployment(l1_bytes, cost=cost, stacks=one) for one in ("near", "far")][: 1 + (l1_bytes > STACK_BYTES)]
    fitting = others if l1_bytes > STACK_BYTES else [deployment(l1_bytes, cost=cost, stacks="far")]
    assert cycles(plan) == min(map(cycles, fitting))
    assert plan.artifact == deployment(l1_bytes, cost=cost, stacks=taken).artifact


def test_what_was_compared_is_told() -> None:
    (note,) = [one for one in deployment(2048).diagnostics if one.code == "TW5038"]
    assert (note.severity, note.message) == ("note", "stacks=far: the best of 2 settings")
    near, far = note.details
    assert near == "--set stacks=near: does not fit"
    assert far.startswith("--set stacks=far: ")
    assert "cycles (estimate), " in far
    assert not [one for one in deployment(2048, stacks="far").diagnostics if one.code == "TW5038"]


def test_a_saved_plan_brings_what_was_taken(tmp_path: Path) -> None:
    first = deployment(2048)
    first.export_state(tmp_path, "tiled")
    again = first.import_state(tmp_path)
    assert again.bound.platform.settings["stacks"] == "far"
    assert again.contest.rivals == ()
    assert again.artifact == first.artifact


def test_where_none_fits_the_targets_own_settings_say_why() -> None:
    plan = deployment(8)
    assert plan.contest.taken is None
    with pytest.raises(TilewrightError, match="TW5101"):
        _ = plan.allocated
    assert plan.platform.settings["stacks"] == "open"


def test_of_equals_the_first() -> None:
    plan = deployment(32 << 10, stacks="near").allocated
    found = contest([{"a": "1"}, {"a": "2"}], [lambda *_: plan])
    assert found.settings == {"a": "1"}
    assert contest([], [lambda *_: plan]).settings == {}


@pytest.mark.parametrize("cost", ["1.01", "3", "50"])
def test_what_cannot_be_faster_is_not_planned(cost: str) -> None:
    """Far stacks make computation slower: where that alone takes longer, nothing is tiled, and the note says why."""
    plan = deployment(32 << 10, cost=cost)
    near, far = plan.contest.rivals
    alone = deployment(32 << 10, cost=cost, stacks="far")
    least = least_cycles(alone.bound, ())
    assert least <= cycles(alone), "a bound"
    assert far.slow == (least > near.merit[0]) and bool(far.plans) != far.slow
    assert ("takes longer, even if nothing waits" in far.told()) == far.slow == (cost == "50")


def test_cycles_to_beat_are_those_that_networks_before_have_left() -> None:
    plan, asked = deployment(32 << 10, stacks="near").allocated, list[float | None]()

    def planned(settings: Mapping[str, str], beat: float | None) -> Allocated:
        asked.append(beat)
        return plan

    contest([{"a": "1"}, {"a": "2"}], [planned, planned])
    once = merit(plan)[0]
    assert asked == [None, None, 2 * once, pytest.approx(once)]


def test_a_bug_is_no_plan_that_does_not_fit() -> None:
    def planned(settings: Mapping[str, str], beat: float | None) -> Allocated:
        raise TilewrightError("TW9014", "the result of stage 'allocate' is not sound", exit_code=Exit.INTERNAL)

    with pytest.raises(TilewrightError, match="not sound"):
        contest([{"a": "1"}, {"a": "2"}], [planned])


def test_networks_of_a_group_have_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The small one would rather have the other place; the time of both counts."""
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(MACHINE))
    (tmp_path / "large.onnx").write_bytes(model(64))
    (tmp_path / "small.onnx").write_bytes(model(2))
    file = tmp_path / "app.toml"
    models = 'tiny = "small.onnx"\nlarge = "large.onnx"\n'
    file.write_text(f'target = "{MACHINE.name}"\n[models]\n{models}', encoding="utf-8")
    members = deployments(read_group(file), Options(memory={"l1": 3400}, settings={"cost": "1.01"}), tmp_path)
    alone = Deployment(model(2), MACHINE.name, members["tiny"].options, registry_for(MACHINE))
    assert {one.platform.settings["stacks"] for one in members.values()} == {"far"}
    open_again = replace(alone.options, settings={"cost": "1.01"})
    assert Deployment(model(2), MACHINE.name, open_again, registry_for(MACHINE)).platform.settings["stacks"] == "near"
