"""The twin's runtime: a correct tiled program gives the same answer in every order; no mistake in it goes unseen."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compiler import command_of

from tilewright.runners.toolchain import find_compiler, object_files
from tilewright.runners.twin import ADDRESS, ENVIRONMENT, RUNTIME, THREAD

PROGRAM = Path(__file__).with_name("twin_product.c").read_text(encoding="ascii")
RUNS = [(seed, mode) for seed in (0, 1, 5) for mode in ("lazy", "eager")]
COSTS = "0 192 8 100\n0 384 1 60\n1 512 1 110\n"


@dataclass(frozen=True)
class Run:
    """What became of one execution."""

    status: int
    fault: str
    said: str
    output: bytes
    report: dict[str, Any]


def compiled(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def build(program: str, folder: Path, flags: tuple[str, ...] = ()) -> None:
    root = files("tilewright")
    texts = {name: root.joinpath("runners", "twin_runtime", name).read_text(encoding="ascii") for name in RUNTIME} | {
        "tw_rt.h": root.joinpath("emit", "text", "tw_rt.h").read_text(encoding="ascii")
    }
    command = command_of(find_compiler(), ["-std=c11", "-O2", "-DTW_RT_ENGINES=1", *flags, "-pthread", "-I."])
    objects = object_files(command, texts, folder, compiled)
    (folder / "main.c").write_text(program)
    compiled([*command, "-o", "program", "main.c", *objects], folder)


def execute(folder: Path, seed: int, mode: str) -> Run:
    for name in ("fault.txt", "outputs.bin", "report.json"):
        (folder / name).unlink(missing_ok=True)
    done = subprocess.run(
        ["./program", str(seed), mode], cwd=folder, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, **ENVIRONMENT},
    )  # fmt: skip
    fault, output, report = folder / "fault.txt", folder / "outputs.bin", folder / "report.json"
    return Run(
        status=done.returncode,
        fault=fault.read_text() if fault.exists() else "",
        said=done.stderr,
        output=output.read_bytes() if output.exists() else b"",
        report=json.loads(report.read_text()) if report.exists() else {},
    )


def expected() -> bytes:
    numbers = np.arange(40 * 24 + 16 * 24)
    stored = ((numbers * 7 + (numbers >> 6)) % 256).astype(np.uint8).view(np.int8).astype(np.int32)
    a, b = stored[: 40 * 24].reshape(40, 24), stored[40 * 24 :].reshape(16, 24)
    return (a @ b.T).astype(np.int32).tobytes()


def mutated(old: str, new: str) -> str:
    assert PROGRAM.count(old) == 1, old
    return PROGRAM.replace(old, new)


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ADDRESS], ids=["plain", "sanitized"])
def test_a_correct_program_is_correct_in_every_order(tmp_path: Path, flags: tuple[str, ...]) -> None:
    build(PROGRAM, tmp_path, flags)
    (tmp_path / "costs.txt").write_text(COSTS)
    cycles = set()
    for seed, mode in RUNS:
        run = execute(tmp_path, seed, mode)
        assert (run.status, run.fault) == (0, ""), run.said
        assert run.output == expected()
        cycles.add(run.report["cycles"])
    # B and A0 arrive at 160; five products of 384; every other copy is hidden but for the last of C
    assert cycles == {160 + 5 * 384 + 110}
    (step, outside) = run.report["steps"]
    assert step["paths"] == [[40 * 24 + 16 * 24, 6, 560], [40 * 16 * 4, 5, 550]]
    assert (step["compute"], step["end"]) == (5 * 384, run.report["cycles"])
    assert step["stall"] == 160 + 110
    assert outside["paths"] == [[0, 0, 0], [0, 0, 0]]
    assert run.report["barriers"] == 11


@pytest.mark.slow
def test_transfers_in_two_queues_move_at_the_same_time(tmp_path: Path) -> None:
    """B arrives while A0 does, which is longer; further queues have nothing to do."""
    for queues in (2, 4):
        build(mutated("QUEUES = 1", f"QUEUES = {queues}"), tmp_path)
        (tmp_path / "costs.txt").write_text(COSTS)
        for seed, mode in RUNS:
            run = execute(tmp_path, seed, mode)
            assert (run.status, run.fault, run.output) == (0, "", expected()), run.said
            assert run.report["cycles"] == 100 + 5 * 384 + 110


@pytest.mark.slow
def test_a_correct_program_has_no_races(tmp_path: Path) -> None:
    build(PROGRAM, tmp_path, THREAD)
    for seed in (0, 1):
        run = execute(tmp_path, seed, "free")
        assert run.status == 0, run.said
        assert run.output == expected()


STORE = "c_leaving[here] = tw_rt_copy(c + t * ROWS * N, c_tile[here], ROWS * N * 4, 1u, 0u, 0u);"
BEFORE, AFTER = "tw_rt_barrier(); /* before */", "tw_rt_barrier(); /* after */"
ONE_CORE = "tw_rt_barrier(); if (t == 1 && tw_rt_core() == 3u) "


def store(old: str, new: str) -> tuple[str, str]:
    """The store of a tile of C with one change."""
    assert old in STORE
    return STORE, STORE.replace(old, new)


def planes(half: str) -> tuple[str, str]:
    """The transfer of B as two planes of two rows, so many bytes apart where they come."""
    row = "N * K / 4"
    declared = "uint32_t tw_rt_copy_3d(void *, const void *" + ", uint32_t" * 7 + ");"
    started = f"b_coming = tw_rt_copy_3d(b_tile, b, {row}, 2u, 2u, {row}, {row}, {half}, N * K / 2);"
    return "b_coming = tw_rt_copy(b_tile, b, N * K, 1u, 0u, 0u);", f"{declared} {started}"


FAULTS: dict[str, tuple[str, str, str]] = {  # old text, new text, what the fault says
    "missing wait for an input": ("            tw_rt_wait(a_coming[here]);\n", "", "TW710[36]"),
    "missing wait for an output": ("if (t >= 2) {\n                tw_rt_wait(c_leaving[here]);", "{", "TW710[3-6]"),
    "missing wait for what is resident": ("        tw_rt_wait(b_coming);\n", "", "TW710[58]"),
    "leaked transfer": ("        tw_rt_wait(c_leaving[TILES & 1]);\n", "", "TW710[48]"),
    "wait on a free transfer": ("tw_rt_wait(b_coming);", "tw_rt_wait(b_coming); tw_rt_wait(1u);", "TW7107.*second"),
    "wait on no transfer": ("tw_rt_wait(b_coming);", "tw_rt_wait(b_coming); tw_rt_wait(99u);", "TW7107.*started"),
    "source rewritten in flight": (*store("u);", "u); c_tile[here][5] ^= 1;"), "TW7104.*rewritten"),
    "target written in flight": (*store("u);", "u); c[t * ROWS * N + 3] ^= 1;"), "TW7105"),
    "write beyond a memory": (AFTER, ONE_CORE + "l1[1 << 13] = 1;", "TW7111.*l1"),
    "write just beyond a memory": (AFTER, ONE_CORE + "l1[arenas[1].bytes] = 1;", "TW7110"),
    "write before a memory": (AFTER, ONE_CORE + "*(volatile uint8_t *)(l1 - 4) = 1;", "TW7111.*-4 bytes"),
    "write to a constant": (AFTER, ONE_CORE + "*(volatile uint8_t *)arenas[2].base = 1;", "TW7111.*flash"),
    "write after release": ("/* released */", "b_tile[3] = 1;", "TW7110"),
    "copy of a dead tile": ("/* released */", "tw_rt_wait(tw_rt_copy(c, b_tile, 16u, 1u, 0u, 0u));", "TW7114"),
    "tile longer than declared": ("tw_rt_live(a_tile[i], ROWS * K);", "tw_rt_live(a_tile[i], 7 * K);", "TW7114"),
    "copy longer than the tile": ("tw_rt_copy(b_tile, b, N * K, 1u", "tw_rt_copy(b_tile, b, N * K + 4, 1u", "TW7114"),
    "released in part": ("tw_rt_dead(b_tile, N * K);", "tw_rt_dead(b_tile, N * K - 8);", "TW7114"),
    "live twice": ("tw_rt_live(b_tile, N * K);", "tw_rt_live(b_tile, 8u); tw_rt_live(b_tile, 4u);", "TW7114"),
    "copy beyond a memory": ("a + (t + 1) * ROWS * K", "a + (t + 1) * ROWS * K + 4096", "TW7101"),
    "transfer too long": (*store("ROWS * N * 4", "8192u"), "TW710[12]"),
    "transfer not aligned": (*store("ROWS * N * 4", "ROWS * N * 4 - 2"), "TW7102.*aligned"),
    "planes of an engine that has none": (*planes(half="N * K / 2"), "TW7102.*2 planes"),
    "planes that overlap": (*planes(half="N * K / 4"), "TW7102.*planes.*overlap"),
    "empty transfer": (*store("ROWS * N * 4", "0u"), "TW7102.*nothing"),
    "no such path": (*store("c + t * ROWS * N, ", "l1, "), "TW7102.*l1"),
    "two targets at one place": (STORE, STORE + " " + STORE, "TW710[56]"),
    "not the DMA core": (BEFORE, "if (tw_rt_core() == 2u) { tw_rt_wait(1u); } tw_rt_barrier();", "TW7113.*core 2"),
    "one barrier too few": (AFTER, "if (tw_rt_core() != 5u || t) { tw_rt_barrier(); }", "TW710[49]"),
    "a core leaves": ("    twin_step(0u, 0);", "    if (tw_rt_core() == 6u) { return 0; }\n", "TW7109.*1 cores"),
    "too many in flight": (*store("ROWS * N * 4, 1u, 0u, 0u);", "64u, 1u, 0u, 0u);" + "".join(
        f" tw_rt_copy(c + t * ROWS * N + {at}, c_tile[here] + {at}, 64u, 1u, 0u, 0u);" for at in (16, 32, 48, 64)
    )), "TW7103"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(tmp_path: Path, fault: str) -> None:
    """Without any sanitizer, in every order and delivery mode."""
    old, new, code = FAULTS[fault]
    build(mutated(old, new), tmp_path)
    for seed, mode in RUNS:
        run = execute(tmp_path, seed, mode)
        assert run.status == 70, (seed, mode, run.said)
        assert re.search(code, run.fault), run.fault
        assert "step '" in run.fault


SOMETIMES: dict[str, tuple[str, str]] = {
    "missing barrier before": (BEFORE, ""),
    "missing barrier after": (AFTER, ""),
    "read after release": ("/* released */", "c[1] = b_tile[3];"),
    "read of what nobody wrote": ("int32_t sum = 0;", "int32_t sum = c[i * N + j] & 1;"),
}


@pytest.mark.parametrize("fault", SOMETIMES)
def test_faults_that_only_change_values(tmp_path: Path, fault: str) -> None:
    """Wrong values differ between runs, because what means nothing has another pattern in each; or a fault is named."""
    old, new = SOMETIMES[fault]
    build(mutated(old, new), tmp_path)
    runs = [execute(tmp_path, seed, mode) for seed, mode in RUNS]
    assert any(run.fault for run in runs) or len({run.output for run in runs}) > 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["missing barrier before", "missing barrier after"])
def test_missing_barriers_are_races(tmp_path: Path, fault: str) -> None:
    old, new = SOMETIMES[fault]
    build(mutated(old, new), tmp_path, THREAD)
    runs = (execute(tmp_path, seed, "free") for seed in range(5))  # on a busy machine cores may take turns
    assert any("ThreadSanitizer: data race" in run.said or run.fault for run in runs)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["missing barrier before", "read after release", "missing wait for what is resident"])
def test_address_sanitizer_names_the_line(tmp_path: Path, fault: str) -> None:
    old, new = {**SOMETIMES, **FAULTS}[fault][:2]
    build(mutated(old, new), tmp_path, ADDRESS)
    run = execute(tmp_path, 1, "lazy")
    assert "use-after-poison" in run.said or "TW71" in run.fault
    assert run.status != 0
