"""The target `siracusa`: its memories and settings, and plans on them that the twin finds nothing wrong with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tilewright.cli.main import tilewright
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import Platform
from tilewright.plugins import load_named
from tilewright.tile.memory_path import route
from tilewright_siracusa.machine import CODE_BYTES, CORES, L2_BYTES, MAX_COPY_BYTES, STACK_BYTES, cluster_load_cycles
from tilewright_siracusa.platform import SIRACUSA

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"


def configured(**settings: str) -> Platform:
    return load_named(("platform", "siracusa")).platforms["siracusa"].configure(settings)


@pytest.mark.parametrize("settings", [{}, {"home": "l3"}, {"home": "l3", "weights": "l2"}], ids=str)
def test_every_memory_is_limited_and_what_is_in_l2_fits_there(settings: dict[str, str]) -> None:
    platform = configured(**settings)
    sizes = {memory.name: memory.size_bytes or 0 for memory in platform.memories}
    assert all(sizes.values())
    weights = sizes["weights"] if not platform.memory("weights").access else 0
    assert sizes["l2"] + weights + CODE_BYTES == L2_BYTES
    assert sizes["l1"] == 256 << 10


@pytest.mark.parametrize(
    ("settings", "hops", "constants"),
    [
        ({}, ["l2", "l1"], ["weights", "l1"]),
        ({"home": "l3"}, ["l3", "l2", "l1"], ["weights", "l2", "l1"]),
        ({"home": "l3", "weights": "l2"}, ["l3", "l2", "l1"], ["weights", "l1"]),
    ],
    ids=str,
)
def test_copies_lead_from_home_to_l1_and_back(settings: dict[str, str], hops: list[str], constants: list[str]) -> None:
    platform = configured(**settings)
    assert platform.backing_memory().name == hops[0]
    for way in (hops, hops[::-1], constants):
        paths = route(platform, way[0], way[-1])
        assert paths is not None
        assert [paths[0].source, *(path.target for path in paths)] == way


def test_the_engine_takes_any_byte_rows_17_bits_and_16_transfers() -> None:
    path = next(path for path in SIRACUSA.copies if (path.source, path.target) == ("l2", "l1"))
    assert (path.align, path.dimensions, path.max_bytes, path.channels) == (1, 2, 131071, 16)
    assert MAX_COPY_BYTES.bit_length() == 17


@pytest.mark.parametrize(("size_bytes", "copies", "measured"), [(4096, 2, 1136), (16384, 2, 4208)])
def test_copies_cost_what_was_measured(size_bytes: int, copies: int, measured: int) -> None:
    """Two transfers on GVSoC, the loop around them included: within 3 %."""
    assert copies * cluster_load_cycles(size_bytes, 1) == pytest.approx(measured, rel=0.03)


@pytest.mark.parametrize(
    ("l1_bytes", "settings", "expected"),
    [
        (256 << 10, {}, 9 * 1280),
        (32 << 10, {}, 8 * 1280),
        (8 << 10, {}, 0),
        (8 << 10, {"stack": "256"}, 8 * 256),
        (16 << 10, {"stacks": "l1", "cores": "2"}, 2 * 1280),
        (256 << 10, {"stacks": "l2"}, 0),
        (256 << 10, {"dma_core": "first"}, 8 * 1280),
        (256 << 10, {"stack": "2048", "cores": "4"}, 5 * 2048),
    ],
)
def test_stacks_are_what_the_runtime_takes(l1_bytes: int, settings: dict[str, str], expected: int) -> None:
    platform = configured(**settings).with_limits({"l1": l1_bytes})
    assert platform.runtime_bytes == {"l1": expected}
    assert platform.plan_bytes("l1") == l1_bytes - expected
    assert platform.engines[0].cores == int(settings.get("cores", "8"))


def test_without_xpulp_portable_c_is_the_faster_and_keeps_what_it_takes() -> None:
    model = DIGITS / "digits_int8.onnx"
    plans = {isa: Deployment(model, "siracusa", Options(settings={"isa": isa})) for isa in ("xpulp", "portable")}
    kernels = {
        isa: [one.kernel.name for one in plan.bound.bindings.values() if one.kernel.op == "QConv"]
        for isa, plan in plans.items()
    }
    assert all(name.startswith("siracusa.") for name in kernels["xpulp"])
    assert all(name.startswith("portable.") for name in kernels["portable"])
    fast, slow = (sum(group.cycles for group in plans[isa].tiled.groups) for isa in ("xpulp", "portable"))
    assert 1.5 * fast < slow < 5 * fast


def test_the_isa_is_a_macro_that_a_build_can_overrule() -> None:
    assert "define TW_XPULP 1" in configured().prelude
    assert "define TW_XPULP 0" in configured(isa="portable").prelude
    assert "#ifndef TW_XPULP" in configured().prelude


@pytest.mark.parametrize(
    "settings",
    [{"stack": "100"}, {"stack": "64"}, {"stack": "many"}, {"weights": "l3"}, {"home": "l1"}, {"cores": "9"}],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(TilewrightError) as refused:
        configured(**settings)
    assert refused.value.code == "TW1102"
    assert refused.value.fix


def called(*arguments: object) -> str:
    result = CliRunner().invoke(tilewright, [str(word) for word in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


HOW: dict[str, list[str]] = {
    "small": ["--memory", "l1=8K"],
    "cut twice": ["--memory", "l1=8K", "--memory", "l2=4K", "--set", "home=l3"],
    "constants near": ["--set", "home=l3", "--set", "weights=l2", "--set", "cores=4"],
    "with the caller": ["--set", "home=l3", "--place-io", "user"],
}


@pytest.mark.slow
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("model", ["digits_int8", "digits_f32"])
def test_the_twin_agrees_with_the_reference(model: str, how: str, tool: Callable[[str], str]) -> None:
    tool("gcc")
    said = called("validate", DIGITS / f"{model}.onnx", "-t", "siracusa", "--on", "twin", *HOW[how])
    assert "PASS" in said


def test_stacks_are_reported_on_their_own_and_counted(tmp_path: Path) -> None:
    small = ("--memory", "l1=8K", "--set", "stack=512")
    called("compile", DIGITS / "digits_int8.onnx", "-t", "siracusa", "-o", tmp_path, *small)
    report: dict[str, Any] = json.loads((tmp_path / "report.json").read_text())
    l1 = next(level for level in report["levels"] if level["name"] == "l1")
    assert (l1["runtime_bytes"], l1["limit_bytes"]) in ((4096, 8192), (4608, 8192))
    assert l1["used_bytes"] <= 8192


def test_bench_says_that_the_twins_cycles_are_an_estimate(tool: Callable[[str], str]) -> None:
    tool("gcc")
    said = json.loads(called("bench", DIGITS / "digits_int8.onnx", "-t", "siracusa", "--on", "twin", "--json", "-"))
    assert said["kind"] == "estimate"
    assert "virtual clock" in said["clock"]
    assert all(step["cycles"] > 0 for step in said["steps"])
    assert said["cycles"] >= max(step["cycles"] for step in said["steps"])


def test_the_target_describes_itself() -> None:
    said = called("targets", "siracusa")
    for word in (
        "l1",
        "262,144",
        "weights",
        "l2 -> l1",
        "weights -> l1",
        "131,071",
        "home=l2",
        "stack=auto",
        "runtime",
    ):
        assert word in said, word


@pytest.mark.parametrize("l1_bytes", [20 << 10, 10 << 10])
@pytest.mark.parametrize("stage", ["bound", "tiled", "allocated"])
def test_a_saved_plan_knows_where_stacks_are(stage: str, l1_bytes: int, tmp_path: Path) -> None:
    """Where the plan was faster with them: in L1, or in L2, where they leave nothing for tiles."""
    first = Deployment(DIGITS / "digits_int8.onnx", "siracusa", Options(memory={"l1": l1_bytes}, tiler="max"))
    first.export_state(tmp_path, stage)
    again = first.import_state(tmp_path)
    taken = STACK_BYTES * (CORES + 1) if l1_bytes > STACK_BYTES * (CORES + 1) else 0
    assert again.bound.platform.plan_bytes("l1") == l1_bytes - taken
    assert again.artifact == first.artifact


def test_stacks_in_l2_are_slow() -> None:
    """On GVSoC networks with them took 1.6 to 2.7 times estimates that did not know it."""
    (near,), (far,) = configured().engines, configured().resized({"l1": 16 << 10}).engines
    assert (near.slowdown, far.slowdown) == (1.0, 2.1)
    assert far.call_cycles == near.call_cycles + 800
    assert configured(stacks="l1", dma_core="own").resized({"l1": 16 << 10}).engines == configured().engines


def test_the_engine_is_there_where_it_is_asked_for() -> None:
    assert [engine.name for engine in configured().engines] == ["cluster"]
    _, beside = configured(engine="neureka", cores="4").engines
    assert (beside.name, beside.queue, beside.finishing_cores, beside.preferred) == ("neureka", 2, 4, True)
    assert not configured(engine="mixed").engines[1].preferred
    assert [engine.name for engine in configured(engine="mixed").resized({"l1": 16 << 10}).engines] == [
        "cluster",
        "neureka",
    ]


def test_plans_with_the_engine_and_without_are_compared_where_nobody_chose() -> None:
    platform = configured(engine="auto")
    assert platform.rivals is not None
    assert platform.rivals(platform) == ({"engine": "mixed"}, {"engine": "cores"})
    small = platform.with_limits({"l1": 16 << 10})
    assert [settings["engine"] for settings in platform.rivals(small)] == ["mixed", "cores"] * 3
    assert platform.rivals(configured()) == ()


def test_the_weight_memory_is_there_where_the_engine_is() -> None:
    names = [memory.name for memory in configured().memories]
    assert [memory.name for memory in configured(weight_memory="mram").memories] == names
    for chosen, kind, base in (("mram", "const", 0x1040_0000), ("sram", "ram", 0x1080_0000)):
        platform = configured(engine="neureka", weight_memory=chosen)
        assert [memory.name for memory in platform.memories] == [*names, chosen]
        memory = platform.memory(chosen)
        assert (memory.kind, memory.base, memory.size_bytes, memory.align) == (kind, base, 4 << 20, 32)
    assert platform.memory("weights").align == 32  # as many bytes on, copies begin at multiples, too


def test_plans_with_weights_in_either_memory_are_compared_where_nobody_chose() -> None:
    platform = configured(engine="auto", weight_memory="auto")
    assert platform.rivals is not None
    assert platform.rivals(platform) == (
        {"engine": "mixed", "weight_memory": "mram"},
        {"engine": "mixed", "weight_memory": "l1"},
        {"engine": "cores"},
    )
    platform = configured(engine="neureka", weight_memory="auto")
    assert platform.rivals is not None
    assert platform.rivals(platform) == ({"weight_memory": "mram"}, {"weight_memory": "l1"})
    assert platform.rivals(configured(weight_memory="auto")) == ()


def test_a_core_that_moves_is_compared_where_its_stack_takes_room() -> None:
    platform = configured()
    assert platform.rivals is not None
    assert platform.engines[0].dma_core
    assert not configured(dma_core="first").engines[0].dma_core
    both = ({"dma_core": "own"}, {"dma_core": "first"})
    assert platform.rivals(platform.with_limits({"l1": 64 << 10})) == both
    tight = platform.with_limits({"l1": 9 * 1024})
    eight = {"stacks": "l1", "dma_core": "first"}, {"stacks": "l2"}
    assert platform.rivals(configured(stack="1024").with_limits({"l1": 9 << 10})) == eight
    assert platform.rivals(tight) == ()  # stacks are in L2
    small = {"stacks": "l1", "dma_core": "own"}, {"stacks": "l1", "dma_core": "first"}, {"stacks": "l2"}
    assert platform.rivals(platform.with_limits({"l1": 16 << 10})) == small
    chosen = configured(dma_core="own")
    assert chosen.rivals is not None
    assert chosen.rivals(chosen.with_limits({"l1": 64 << 10})) == ()
