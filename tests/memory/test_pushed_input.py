"""An input that arrives in rows, together with what else can be asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kit.networks import network_file
from kit.small_models import model
from onnx import helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.plan.line_buffers.plan_costs import cycle_ratio
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.snapshot.atomic_folder import write_folder

PASSES: tuple[dict[str, dict[str, str]], ...] = (
    {"lifetimes": {}},
    {"print-tensors": {}},
    {"profile": {}},
    {"lifetimes": {}, "passthrough": {"memory": "ram"}},
)


@pytest.mark.parametrize("passes", PASSES, ids="+".join)
def test_code_passes_go_with_it(bench: Any, passes: dict[str, dict[str, str]]) -> None:
    bench.demand_exact(bench.deployment(io_inputs="push", optimize="ram", code_passes=passes))


@pytest.mark.parametrize(
    "more",
    [
        {"io_of": {"scores": "user"}},
        {"io_type": "int8"},
        {"memory": {"ram": 400}},
        {"optimize": "balanced"},
        {"constant_copies": ()},
    ],
    ids=str,
)
def test_other_options_go_with_it(bench: Any, more: dict[str, Any]) -> None:
    made = bench.deployment(**{"io_inputs": "push", **more})
    assert "image" not in made.allocated.placements
    if "io_type" not in more:
        bench.demand_exact(made)


def test_a_float_network_takes_rows(bench: Any) -> None:
    made = bench.deployment("digits_f32.onnx", io_inputs="push", optimize="ram")
    assert made.program.inputs[0].rows is not None


@pytest.mark.parametrize("stage", ["rewritten", "bound", "tiled", "allocated"])
def test_a_saved_state_goes_on(bench: Any, stage: str, tmp_path: Path) -> None:
    made = bench.deployment(io_inputs="push", optimize="ram")
    made.export_state(tmp_path / "state", stage)
    again = made.import_state(tmp_path / "state")
    assert again.artifact == made.artifact


def test_a_schedule_alone_does_not_say_how_rows_arrive(bench: Any, tmp_path: Path) -> None:
    made = bench.deployment(io_inputs="push", optimize="ram")
    made.export_state(tmp_path / "state", "scheduled")
    with pytest.raises(TilewrightError, match="TW4041") as caught:
        _ = made.import_state(tmp_path / "state").artifact
    assert caught.value.fix


def test_decisions_that_were_saved_give_the_same_program(bench: Any, tmp_path: Path) -> None:
    made = bench.deployment(io_inputs="push", optimize="ram")
    pinned = bench.deployment(io_inputs="push", optimize="ram", pins=made.allocated.decisions)
    assert pinned.artifact == made.artifact


@pytest.mark.parametrize("layout", ["single", "split"])
def test_every_file_says_the_same_again(bench: Any, layout: str, tmp_path: Path) -> None:
    one, other = (bench.deployment(io_inputs="push", optimize="ram", layout=layout) for _ in range(2))
    write_folder(tmp_path / "net", one.files)
    assert one.files == other.files
    assert "digits_int8_push_image" in (tmp_path / "net" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("target", ["siracusa", "snitch"])
def test_a_cluster_refuses_it(target: str) -> None:
    from tilewright.config.options import Options
    from tilewright.deployment import Deployment

    model = Path(__file__).parents[2] / "examples" / "digits" / "digits_int8.onnx"
    with pytest.raises(TilewrightError, match="TW1122") as caught:
        _ = Deployment(model, target, Options(io_inputs="push")).allocated
    assert caught.value.fix


@pytest.mark.parametrize("optimize", ["speed", "ram"])
def test_flags_of_the_front_lead_to_its_points(bench: Any, optimize: str) -> None:
    made = bench.deployment(optimize=optimize)
    points = [point for point in made.further_front if point.asks]
    assert {"push", "user"} <= {word.partition("=")[2] for point in points for word in point.flags.split()}
    for point in points:
        words = iter(point.flags.split())
        typed = [(word, next(words)) for word in words]
        ends = dict(value.split("=") for word, value in typed if word == "--io")
        asked = dict(typed).get("--optimize", optimize)
        assert ram_bytes(bench.deployment(io_of=ends, optimize=asked).allocated) == point.ram_bytes
        assert all(name in point.asks for name in ends)


def test_rows_that_are_as_fast_take_the_least_memory() -> None:
    """More rows in a call save a few cycles, and more of them are held."""
    attributes = {"kernel_shape": [3, 3], "pads": [1] * 4, "strides": [2, 2]}
    weights = np.ones((12, 3, 3, 3), np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], **attributes)
    network = model(node, inputs={"x": (1, 3, 144, 256)}, constants={"w": weights}).SerializeToString()
    fastest, least = (
        Deployment(network, "generic", Options(io_of={"x": "push", "y": "pull"}, optimize=asked)).allocated
        for asked in ("speed", "ram")
    )
    assert cycle_ratio(least) <= 1.01 * (1 + cycle_ratio(fastest)) - 1
    assert ram_bytes(fastest) == ram_bytes(least)


def test_the_front_ends_with_the_least_that_any_kernels_take() -> None:
    network = network_file("ad_int8")
    made = Deployment(network, "cortex-m4", Options(optimize="ram"))
    least = min(made.front, key=lambda point: point.ram_bytes)
    assert least.ram_bytes < ram_bytes(made.allocated)
    word, _, size = least.flags.partition("=")
    assert word == "--memory ram"
    assert ram_bytes(Deployment(network, "cortex-m4", Options(memory={"ram": int(size)})).allocated) == least.ram_bytes
    with pytest.raises(TilewrightError, match="TW5001"):
        Deployment(network, "cortex-m4", Options(memory={"ram": int(size) - 4})).compile()
