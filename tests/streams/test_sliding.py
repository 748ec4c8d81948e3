"""Networks over windows, called with what is new: generated C against the whole network on every window, exactly."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kit.c_compiler import missing

from tilewright.comparison.reference import run
from tilewright.config.options import Options
from tilewright.config.recurrent_state import run_stream
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.tensors.layout import channels_last
from tilewright.runners.host import HostRunner
from tilewright.validation.runner_choice import ready_runner
from tilewright.validation.validation import Validation, validate, vectors_of

SCRIPT = Path(__file__).parents[2] / "examples" / "streams" / "networks.py"
CALLS = {"tcn": 300, "tcn_unpadded": 300, "ds_cnn": 40, "ecg": 80, "mel_gru": 30}  # more than fill the window
SLIDES = {"tcn": "x[2]=1", "tcn_unpadded": "x[2]=1", "ds_cnn": "x[2]=2", "ecg": "x[2]=4", "mel_gru": "x[1]=160"}


@pytest.fixture(name="networks", scope="module")
def _networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    made: dict[str, Any] = runpy.run_path(str(SCRIPT))["NETWORKS"]
    folder = tmp_path_factory.mktemp("windows")
    return {name: write(folder) for name, write in made.items()}


def judged(model: Path, target: str, calls: int, slide: str = "", **options: Any) -> Validation:
    deployment = Deployment(model, target, Options(slide=slide or SLIDES[model.stem], **options))
    runner = HostRunner() if target == "generic" else ready_runner(deployment, "")
    return validate(deployment, runner, vectors_of(deployment, None, calls))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "calls"), [*CALLS.items(), *(pytest.param(name, 10_000, marks=pytest.mark.long) for name in CALLS)]
)
def test_every_call_is_the_whole_network_on_its_window(networks: dict[str, Path], name: str, calls: int) -> None:
    found = judged(networks[name], "generic", calls)
    assert found.passed, str(found)
    assert not any(window.different for window in found.verdict.windows if not window.is_float)
    assert {window.name for window in found.verdict.windows} > set(found.deployment.outputs)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cortex-m4", "siracusa"])
@pytest.mark.parametrize("calls", [3, pytest.param(200, marks=pytest.mark.long)])
def test_on_other_targets(networks: dict[str, Path], target: str, calls: int) -> None:
    try:
        found = judged(networks["ecg"], target, calls)
    except TilewrightError as error:
        if error.code != "TW7001":
            raise
        missing(error.message)
    assert found.passed, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("slide", ["x[2]=1", "x[2]=3"])
def test_between_strides_calls_take_turns(networks: dict[str, Path], slide: str) -> None:
    found = judged(networks["ecg"], "generic", 40, slide)
    slid = found.deployment.slid
    assert slid is not None and slid.cost.phases == 4
    assert found.passed, str(found)


def test_rows_are_pushed(networks: dict[str, Path]) -> None:
    found = judged(networks["ds_cnn"], "generic", 6, io_inputs="push")
    assert found.passed, str(found)


def test_what_is_kept_is_stored_as_the_target_computes_it(networks: dict[str, Path]) -> None:
    """Channels last on a Cortex-M: time is outermost, what stays is one piece, and nothing is turned for a kernel."""
    plan = Deployment(networks["tcn_unpadded"], "cortex-m4", Options(slide=SLIDES["tcn_unpadded"])).allocated
    scheduled = plan.tiled.scheduled
    kept = {present: following for present, following in plan.decisions.state.items() if present.endswith(":kept")}
    assert len(kept) == 5
    assert {scheduled.bound.layouts[name] for pair in kept.items() for name in pair} == {channels_last(3)}
    nodes = {node.name: node for node in scheduled.bound.graph.nodes}
    steps = [nodes[step.name] for step in scheduled.steps]
    assert not [step for step in steps if step.op in ("Slice", "Transpose")]
    assert {step.outputs[0] for step in steps if step.op == "Concat"} >= set(kept.values())


@pytest.mark.parametrize("target", ["generic", "cortex-m4"])
def test_caches_of_the_file_become_the_program_of_the_window(networks: dict[str, Path], target: str) -> None:
    window = Deployment(networks["tcn_frames"], target, Options(slide="x[2]=1", name="net"))
    cached = Deployment(networks["tcn_cached"], target, Options(states=("auto",), name="net"))
    one, other = _steps(window), _steps(cached)
    assert one == other and len(one) > 15
    assert window.number_of_ops == cached.number_of_ops and window.slid is not None
    assert window.number_of_ops == window.slid.cost.least
    assert window.worst_case_buffer_size["ram"] == cached.worst_case_buffer_size["ram"]
    frames = [{"x": np.random.default_rng(call).integers(-9, 9, (1, 4, 1)).astype(np.int8)} for call in range(40)]
    answers = [_answers(deployment, frames) for deployment in (window, cached)]
    np.testing.assert_array_equal(answers[0][30:], answers[1][30:])  # before, one window holds zeros, one the other's
    assert len({tuple(answer) for answer in answers[0]}) > 5


def _steps(deployment: Deployment) -> list[str]:
    """The C that each step executes, but for the names."""
    text = deployment.artifact.files["net.c"].decode()
    bodies = re.findall(r"^TW_STEP void \w+\(.*?^}", text, re.DOTALL | re.MULTILINE)
    return [re.sub(r"\b(net_\d|IN_|[A-Z]+_\d\d_)\w+|\b0x\w+", "", body) for body in bodies]


def _answers(deployment: Deployment, frames: list[dict[str, Any]]) -> list[Any]:
    graph, operators = deployment.graph, deployment.registry.operators
    given = run_stream(frames, deployment.states, lambda values: run(graph, values, operators))[1]
    (name,) = deployment.outputs
    return [values[name].ravel() for values in given]


def test_shares_of_products(networks: dict[str, Path]) -> None:
    shares = {}
    for name, slide in SLIDES.items():
        slid = Deployment(networks[name], "generic", Options(slide=slide)).slid
        assert slid is not None
        shares[name] = slid.cost.products / slid.whole_products
    assert shares["tcn"] < 1 / 15 and shares["tcn_unpadded"] < 1 / 200
    assert shares["mel_gru"] < 0.05
    assert shares["ds_cnn"] < 0.4 and shares["ecg"] < 0.16
