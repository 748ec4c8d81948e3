"""An input that arrives in rows, together with what else can be asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tilewright.errors import TilewrightError
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
