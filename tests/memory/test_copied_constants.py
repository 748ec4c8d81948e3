"""Constants copied from a slow memory to a fast one, once or before each use: exact, watched by sanitizers, told."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kit.networks import network_file

from tilewright.allocate.limits import memory_bytes
from tilewright.check.plans.plan import plan_faults
from tilewright.config.memory_pools import parse_pool
from tilewright.config.memory_rules import CopyRule, parse_copy
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.platform import CopyPath, Memory
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.plans.stages import Allocated, Placement
from tilewright.plugins import load_for
from tilewright.report.report_json import build_report

POOLS = tuple(parse_pool(text) for text in ("dtcm:2K", "ram"))


@pytest.mark.parametrize("when", ["init", "use"])
@pytest.mark.parametrize("form", ["c", "incbin", "bin"])
def test_copies_are_exact(bench: Any, when: str, form: Any) -> None:
    rules = (parse_copy(f"conv*=ram,when={when}"), CopyRule(pattern="fc.weight_quantized", memory="dtcm"))
    deployment = bench.deployment(pools=POOLS, constant_copies=rules, const_format=form)
    bench.demand_exact(deployment)


def test_a_copy_made_once_lasts_and_one_made_before_use_does_not(bench: Any) -> None:
    rules = (CopyRule(pattern="conv2", memory="dtcm"), CopyRule(pattern="fc", memory="dtcm", when="use"))
    plan = bench.deployment(pools=POOLS, constant_copies=rules).allocated
    buffers = {buffer.name: buffer for buffer in plan.tiled.buffers}
    once, each = buffers["conv2.W@dtcm"], buffers["fc.B@dtcm#fc"]
    assert (once.kind, once.first, once.last) == ("resident", 0, len(plan.tiled.scheduled.steps) - 1)
    assert each.kind == "staged"
    assert plan.tiled.scheduled.steps[each.first].name == "fc"
    assert each.first == each.last
    (lasting,) = (pool for pool in plan.pools if pool.kind == "resident")
    assert lasting.used_bytes == sum(buffer.size_bytes for buffer in buffers.values() if buffer.kind == "resident")


def test_the_function_with_memory_of_its_own_copies_once(bench: Any) -> None:
    deployment = bench.deployment(pools=POOLS, constant_copies=(CopyRule(pattern="conv2", memory="dtcm"),))
    main = """
#include "digits_int8.h"
#include <stdio.h>
static float image[64];
static float scores[10];
int main(void)
{
    for (int i = 0; i < 3; ++i) {
        image[9] = (float)i;
        if (digits_int8(image, scores) != TW_OK) {
            return 1;
        }
        printf("%.9g\\n", (double)scores[3]);
    }
    return 0;
}
"""
    program = bench.linked(deployment, main)
    plain = bench.linked(bench.deployment(), main)
    said = [subprocess.run([str(one)], check=True, capture_output=True).stdout for one in (program, plain)]
    assert said[0] == said[1]


def test_the_cost_model_copies_what_it_says_it_gains_from(bench: Any) -> None:
    pools = (parse_pool("dtcm:2200"), parse_pool("flash:1M,ro"))
    board = replace(load_for(target="generic").platforms["generic"])
    assert board.memory("ram").bytes_per_cycle == board.memory("flash").bytes_per_cycle
    same = bench.deployment(pools=pools, choose_constant_copies=True)
    assert build_report(same, artifacts=False)["staged"] == []  # nothing is faster


def test_auto_fills_what_is_left_of_a_faster_memory(bench: Any, tmp_path: Path) -> None:
    from tilewright.config.boards import parse_board

    def staged(size: int) -> list[dict[str, Any]]:
        text = f"""
[[memory]]
name = "dtcm"
size = {size}
bytes_per_cycle = 8
[[memory]]
name = "flash"
kind = "const"
bytes_per_cycle = 1
latency_cycles = 20
"""
        deployment = bench.deployment(board=parse_board(text.encode(), "board.toml"), choose_constant_copies=True)
        report = build_report(deployment, artifacts=False)
        assert next(pool for pool in report["levels"] if pool["name"] == "dtcm")["used_bytes"] <= size
        if size == 2200:
            bench.demand_exact(deployment, 1)
        return list(report["staged"])

    assert staged(640) == []
    once = staged(2200)
    assert "conv2.W" in [one["constant"] for one in once]
    assert {one["when"] for one in once} <= {"init", "use"}
    assert sum(one["size_bytes"] for one in staged(8192)) > sum(one["size_bytes"] for one in once)


def test_the_report_says_what_is_copied(bench: Any) -> None:
    rules = (CopyRule(pattern="fc.weight_quantized", memory="dtcm", when="use"),)
    (one,) = build_report(bench.deployment(pools=POOLS, constant_copies=rules), artifacts=False)["staged"]
    assert (one["constant"], one["from"], one["to"], one["when"]) == ("fc.B", "flash", "dtcm", "use")
    assert (one["size_bytes"], one["steps"]) == (640, ["fc"])
    assert one["copy_cycles"] > 0


def test_the_platforms_own_copy_is_used_where_it_has_one(bench: Any) -> None:
    """Pieces that the path takes, a channel to wait for, and a plain copy where the path's alignment is not met."""
    registry = load_for(target="generic")
    generic = registry.platforms["generic"]
    path = CopyPath(
        source="flash",
        target="ram",
        start="${channel} = board_copy(${dst}, ${src}, ${bytes});",
        wait="board_wait(${channel});",
        max_bytes=500,
        align=4,
    )
    prelude = """
static uint32_t board_copy(void *target, const void *source, uint32_t bytes)
{
    memcpy(target, source, bytes);
    return bytes;
}
static void board_wait(uint32_t channel)
{
    (void)channel;
}
"""
    machine = replace(generic, copies=(path,), prelude=prelude)
    registry = replace(registry, platforms={**registry.platforms, "generic": machine})
    from tilewright.config.options import Options
    from tilewright.deployment import Deployment

    for when in ("init", "use"):
        options = Options(constant_copies=(parse_copy(f"conv2=ram,when={when}"),))
        model = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits_int8.onnx"
        deployment = Deployment(model, "generic", options, registry)
        text = deployment.artifact.files["digits_int8.c"].decode()
        assert text.count("tw_channel = board_copy(") == 1152 // 500 + 1 + 2
        assert "board_wait(tw_channel);" in text
        bench.demand_exact(deployment, 1)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("conv2=flash", "TW5033"),
        ("conv2=dtmc", "TW1103"),
        ("conv9=dtcm", "TW1116"),
        ("pool1=dtcm", "TW1116"),
    ],
)
def test_what_cannot_be_copied_says_why(bench: Any, text: str, code: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        _ = bench.deployment(pools=POOLS, constant_copies=(parse_copy(text),)).allocated
    assert (caught.value.code, caught.value.exit_code) == (code, Exit.USAGE)


@pytest.mark.parametrize("text", ["conv2", "conv2=", "=dtcm", "conv2=dtcm,when=later", "conv2=dtcm,fast"])
def test_flags_that_cannot_be_read(text: str) -> None:
    with pytest.raises(TilewrightError, match="TW1101"):
        parse_copy(text)


def test_copies_that_do_not_fit_are_an_error(bench: Any) -> None:
    for when in ("init", "use"):
        with pytest.raises(TilewrightError) as caught:
            pools = (parse_pool("dtcm:1K"), parse_pool("ram"))
            _ = bench.deployment(pools=pools, constant_copies=(parse_copy(f"conv2=dtcm,when={when}"),)).allocated
        assert (caught.value.code, caught.value.exit_code) == ("TW5001", Exit.DOES_NOT_FIT)
        assert "memory 'dtcm'" in caught.value.message


def test_the_checker_sees_copies_that_are_gone_or_shared(bench: Any) -> None:
    rules = (CopyRule(pattern="conv2", memory="dtcm"), CopyRule(pattern="fc", memory="ram", when="use"))
    deployment = bench.deployment(pools=POOLS, constant_copies=rules)
    plan, operators = deployment.allocated, deployment.registry.operators
    assert plan_faults(plan, operators) == ()

    def moved(name: str, place: Placement) -> tuple[str, ...]:
        return plan_faults(replace(plan, placements={**plan.placements, name: place}), operators)

    other = plan.placements["conv2.R@dtcm"]
    assert any("share bytes" in fault for fault in moved("conv2.B@dtcm", other))
    short = tuple(
        replace(buffer, first=0, last=0) if buffer.name == "fc.B@ram#fc" else buffer for buffer in plan.tiled.buffers
    )
    faults = plan_faults(replace(plan, tiled=replace(plan.tiled, buffers=short)), operators)
    assert any("not all there" in fault for fault in faults)
    lost = replace(plan, decisions=replace(plan.decisions, staged={"conv1.W": Staging(memory="dtcm")}))
    assert any("is nowhere" in fault for fault in plan_faults(lost, operators))


def test_decisions_with_copies_are_kept(bench: Any, tmp_path: Path) -> None:
    deployment = bench.deployment(pools=POOLS, constant_copies=(CopyRule(pattern="conv2", memory="dtcm"),))
    deployment.export_state(tmp_path / "plan")
    assert deployment.import_state(tmp_path / "plan").artifact == deployment.artifact
    pins = Decisions(staged={"conv2.W": Staging(memory="dtcm", when="use")})
    pinned = bench.deployment(pools=POOLS, pins=pins)
    assert "conv2.W@dtcm#conv2" in pinned.allocated.placements


def test_a_team_of_cores_has_copies_in_its_home_memory(tmp_path: Path) -> None:
    """Constants are copied to l2 once, and from there by tiles."""
    from tilewright.comparison.reference import run
    from tilewright.config.options import Options
    from tilewright.deployment import Deployment
    from tilewright.ir.programs.runner import Job
    from tilewright.runners.twin import TwinRunner
    from tilewright.testing.cluster import cluster

    registry = load_for(target="generic")
    registry = replace(registry, platforms={**registry.platforms, "cluster-test": cluster(4096)})
    model = Path(__file__).resolve().parents[2] / "examples" / "digits" / "digits_int8.onnx"
    options = Options(
        constant_copies=(CopyRule(pattern="conv2", memory="l2"), CopyRule(pattern="fc.bias*", memory="l2"))
    )
    deployment = Deployment(model, "cluster-test", options, registry)
    image = np.load(model.with_name("digits_test.npz"))["images"][0][None]
    job = Job(
        artifact=deployment.artifact,
        plan=deployment.allocated,
        prefix=deployment.prefix,
        input_sets=({"image": image}, {"image": image[:, :, ::-1].copy()}),
    )
    for given, got in zip(job.input_sets, TwinRunner().run(job, tmp_path).outputs, strict=True):
        known = run(deployment.graph, given, deployment.registry.operators)
        np.testing.assert_array_equal(got["scores"], known["scores"])
    for text in ("conv2=l2,when=use", "conv2=l1"):
        with pytest.raises(TilewrightError, match="TW5033"):
            rules = (parse_copy(text),)
            _ = Deployment(model, "cluster-test", Options(constant_copies=rules), registry).allocated


def test_a_memory_that_the_first_engine_cannot_write_gets_no_copy(bench: Any) -> None:
    pools = (parse_pool("ram"), parse_pool("private:4K,cpu=none"))
    assert pools[1].on(load_for(target="generic").platforms["generic"]) == Memory(
        name="private", size_bytes=4096, access={"cpu": "none"}
    )
    with pytest.raises(TilewrightError, match="TW5033"):
        _ = bench.deployment(pools=pools, constant_copies=(parse_copy("conv2=private"),)).allocated


@pytest.fixture(scope="module", name="least")
def _least() -> Allocated:
    """Keyword spotting in the least memory, by rows, with constants that are copied there once."""
    return _keywords(None, optimize="ram").allocated


def _keywords(limit: int | None, **options: Any) -> Deployment:
    memory = {} if limit is None else {"ram": limit}
    copies = (parse_copy("*=ram,when=init"),)
    chosen = Options(memory=memory, constant_copies=copies, **options)
    return Deployment(network_file("kws_int8"), "generic", chosen)


def test_a_limit_alone_is_met_by_rows_beside_copies_that_stay(least: Allocated) -> None:
    """The bytes of the copies are not there for rows; no byte less does, in whatever order the two arrays lie."""
    needed = memory_bytes(least, "ram")
    assert any(region.line_buffers for region in least.tiled.regions)
    assert any(pool.kind == "resident" for pool in least.pools)
    assert memory_bytes(_keywords(needed).allocated, "ram") <= needed
    with pytest.raises(TilewrightError, match="does not fit") as caught:
        _ = _keywords(needed - 16).allocated
    assert caught.value.fix


@pytest.mark.slow
def test_copies_that_are_too_many_alone_are_told_with_all_else_that_is_needed(least: Allocated) -> None:
    """What is said to be needed does, and is the line to type."""
    with pytest.raises(TilewrightError, match="does not fit") as caught:
        _ = _keywords(4096).allocated
    needed = int(re.search(r"needs ([\d,]+) B", caught.value.message).group(1).replace(",", ""))
    assert needed >= memory_bytes(least, "ram")
    assert any(f"--memory ram={needed}" in line for line in caught.value.fix), caught.value.fix
    assert memory_bytes(_keywords(needed).allocated, "ram") <= needed
