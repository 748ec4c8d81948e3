"""Networks with state: many frames of generated C against a numpy loop that feeds outputs back, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.comparison.reference import run
from tilewright.config.options import Options
from tilewright.config.recurrent_state import run_stream
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.runners.host import HostRunner

Array = npt.NDArray[np.generic]
FRAMES = 12
STATES = {
    "leaky": ("h_next:h",),
    "window": ("cache_next:cache",),
    "crossing": ("a_next:a", "b_next:b"),
}


def _frames(deployment: Deployment, count: int = FRAMES) -> tuple[dict[str, Array], ...]:
    chance = np.random.default_rng(5)
    return tuple(
        {name: chance.integers(-9, 9, tensor.shape).astype(np.float32) for name, tensor in deployment.inputs.items()}
        for _ in range(count)
    )


def _ran(deployment: Deployment, frames: tuple[Mapping[str, Array], ...], folder: Path, **job: bool) -> RunResult:
    asked = Job(
        artifact=deployment.artifact,
        plan=deployment.allocated,
        prefix=deployment.prefix,
        input_sets=frames,
        sanitize=True,
        **job,
    )
    return HostRunner().run(asked, folder)


def _expected(deployment: Deployment, frames: tuple[Mapping[str, Array], ...]) -> list[dict[str, Array]]:
    graph, operators = deployment.graph, deployment.registry.operators
    return run_stream(frames, deployment.states, lambda values: run(graph, values, operators))[1]


@pytest.mark.parametrize("name", list(STATES))
@pytest.mark.parametrize("io", ["pool", "user", "push"])
def test_frames_of_c_are_those_of_the_loop(streams: dict[str, Path], name: str, io: str, tmp_path: Path) -> None:
    outputs = "user" if io == "user" else "pool"
    options = Options(states=STATES[name], io_inputs=io, io_outputs=outputs, code_passes={"lifetimes": {}})
    deployment = Deployment(streams[name], "generic", options)
    frames = _frames(deployment)
    result = _ran(deployment, frames, tmp_path, trace=True)
    expected = _expected(deployment, frames)
    for got, known in zip(result.outputs, expected, strict=True):
        assert set(got) == {"y"}
        np.testing.assert_array_equal(got["y"], known["y"])
    last = np.concatenate([known["y"].ravel() for known in expected])
    again = _expected(deployment, frames[:1])[0]["y"]
    assert not np.array_equal(last[-again.size :], again.ravel()), (
        "the state makes no difference: the test says nothing"
    )


def test_the_api_has_no_tensor_of_the_state(streams: dict[str, Path]) -> None:
    deployment = Deployment(streams["window"], "generic", Options(states=STATES["window"]))
    header = deployment.artifact.files["window.h"].decode()
    assert "#define WINDOW_STATE_SIZE 32u" in header
    assert "cache" not in header
    assert "window_simple.c" not in deployment.artifact.files
    (state,) = (pool for pool in deployment.allocated.pools if pool.kind == "state")
    assert (state.memory, state.used_bytes) == ("ram", 32)


def test_bytes_are_shared_where_nobody_reads_the_old_value_any_more(streams: dict[str, Path]) -> None:
    def copies(name: str) -> int:
        deployment = Deployment(streams[name], "generic", Options(states=STATES[name]))
        return deployment.artifact.files[f"{name}.c"].decode().count("memcpy(state")

    assert copies("leaky") == 0
    assert copies("window") == 0
    assert copies("crossing") == 1  # each of the two is written before the other's old value was read


def test_a_beginning_that_is_not_zero(streams: dict[str, Path], tmp_path: Path) -> None:
    beginning = np.arange(6, dtype=np.float32).reshape(1, 6)
    np.save(tmp_path / "h0.npy", beginning)
    for text, first in (("h_next:h=2.5", np.full((1, 6), 2.5, np.float32)), (f"h_next:h={tmp_path}/h0.npy", beginning)):
        deployment = Deployment(streams["leaky"], "generic", Options(states=(text,)))
        frames = _frames(deployment, 3)
        got = _ran(deployment, frames, tmp_path / text[-1]).outputs
        np.testing.assert_array_equal(deployment.states[0].initial, first)
        for one, known in zip(got, _expected(deployment, frames), strict=True):
            np.testing.assert_array_equal(one["y"], known["y"])


def test_the_selftest_resets_before_every_vector(
    streams: dict[str, Path], tmp_path: Path, cc: Callable[..., tuple[str, ...]]
) -> None:
    deployment = Deployment(streams["window"], "generic", Options(states=STATES["window"], selftest=True))
    import subprocess

    from tilewright.snapshot.atomic_folder import write_folder

    write_folder(tmp_path / "out", deployment.files)
    sources = sorted(str(path) for path in (tmp_path / "out").glob("*.c"))
    subprocess.run(cc("-std=c11", "-ffp-contract=off", "-o", tmp_path / "test", *sources, "-lm"), check=True)
    assert subprocess.run([str(tmp_path / "test")], check=False).returncode == 0


def test_state_is_in_the_memory_that_it_is_pinned_to(streams: dict[str, Path]) -> None:
    from tilewright.config.memory_pools import parse_pool

    pools = (parse_pool("dtcm:64"), parse_pool("sram:1K"))
    plain = Deployment(streams["window"], "generic", Options(states=STATES["window"], pools=pools))
    assert {pool.memory for pool in plain.allocated.pools if pool.kind == "state"} == {"dtcm"}
    pinned = Options(states=STATES["window"], pools=pools, memory_pins=(("cache", "sram"),))
    uses = Deployment(streams["window"], "generic", pinned).allocated.pools
    assert {pool.memory for pool in uses if pool.kind == "state"} == {"sram"}


def test_state_counts_in_the_limit_of_its_memory(streams: dict[str, Path]) -> None:
    def fits(size: int) -> bool:
        try:
            options = Options(states=STATES["window"], memory={"ram": size})
            return bool(Deployment(streams["window"], "generic", options).allocated)
        except TilewrightError as error:
            assert (error.code, error.exit_code) == ("TW5001", Exit.DOES_NOT_FIT)
            return False

    least = Options(states=STATES["window"], optimize="ram")
    used = Deployment(streams["window"], "generic", least).worst_case_buffer_size["ram"]
    assert fits(used)
    assert not fits(used - 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "cannot be read"),
        ("y:ghost", "no input 'ghost'"),
        ("h_nxt:h", "did you mean 'h_next'?"),
        ("h_next:h=fast", "no number"),
        ("h_next:h=nowhere.npy", "cannot read"),
        ("y:x", ""),
    ],
)
def test_wrong_states_say_what_is_wrong(streams: dict[str, Path], text: str, words: str) -> None:
    deployment = Deployment(streams["leaky"], "generic", Options(states=(text,)))
    if not words:
        assert deployment.states[0].input == "x"  # any output of the right shape and type will do
        return
    with pytest.raises(TilewrightError) as caught:
        _ = deployment.states
    assert (caught.value.code, caught.value.exit_code) == ("TW1114", Exit.USAGE)
    assert words in str(caught.value)


def test_shapes_must_be_the_same(streams: dict[str, Path]) -> None:
    with pytest.raises(TilewrightError) as caught:
        _ = Deployment(streams["window"], "generic", Options(states=("y:cache",))).states
    assert "output 'y' is f32[1, 3, 5], input 'cache' is f32[1, 4, 2]" in caught.value.message


def test_state_and_the_callers_memory_exclude_each_other(streams: dict[str, Path]) -> None:
    options = Options(states=STATES["leaky"], io_of={"h": "user"})
    with pytest.raises(TilewrightError, match="TW1113"):
        _ = Deployment(streams["leaky"], "generic", options).allocated


def test_a_plan_with_state_is_saved_and_goes_on(streams: dict[str, Path], tmp_path: Path) -> None:
    deployment = Deployment(streams["leaky"], "generic", Options(states=("h_next:h=1",)))
    deployment.export_state(tmp_path / "plan")
    again = Deployment(streams["leaky"], "generic").import_state(tmp_path / "plan")
    assert again.artifact == deployment.artifact
    assert list(again.inputs) == ["x"]


def test_a_stream_on_a_team_of_cores(streams: dict[str, Path], tmp_path: Path) -> None:
    """Tiles, copies and barriers around the state; the twin runs it in several orders and demands equal answers."""
    from tilewright.plugins import load_for
    from tilewright.runners.twin import TwinRunner
    from tilewright.testing.cluster import cluster

    registry = load_for(target="generic", allocator="auto", tiler="auto")
    registry = replace(registry, platforms={**registry.platforms, "cluster-test": cluster(2048)})
    for name, states in STATES.items():
        deployment = Deployment(streams[name], "cluster-test", Options(states=states), registry)
        frames = _frames(deployment, 4)
        job = Job(
            artifact=deployment.artifact,
            plan=deployment.allocated,
            prefix=deployment.prefix,
            input_sets=frames,
            trace=True,
        )
        result = TwinRunner().run(job, tmp_path / name)
        for got, known in zip(result.outputs, _expected(deployment, frames), strict=True):
            np.testing.assert_array_equal(got["y"], known["y"])


def test_validate_judges_a_stream(streams: dict[str, Path], tmp_path: Path) -> None:
    from click.testing import CliRunner

    from tilewright.cli.main import tilewright

    words = [
        "validate",
        str(streams["window"]),
        "-t",
        "generic",
        "--state",
        "cache_next:cache",
        "--sets",
        "5",
        "--sanitize",
    ]
    finished = CliRunner().invoke(tilewright, words)
    assert finished.exit_code == 0, finished.output
    assert "PASS" in finished.output
