"""How much stack compiled code needs: chains of calls over several files, recursion, what is refused."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tilewright.api.testing import CLUSTER
from tilewright.errors import TilewrightError
from tilewright_riscv.stack_need import WRITTEN, deepest_bytes, demand_stack
from tilewright_riscv.stacks import PROGRAM_BYTES, Stacks

STACKS = Stacks(outer="l2", each_bytes=1024, small_bytes=0, call_cycles=1.0, outer_call_cycles=1.0, outer_slowdown=1.0)
ONE = """graph: { title: "one.c"
node: { title: "run" label: "run\\none.c:1:5\\n64 bytes (static)" }
node: { title: "one.c:step" label: "step\\none.c:2:5\\n100 bytes (static)" }
node: { title: "kernel" label: "kernel\\nkernel.h:2:5" shape : ellipse }
edge: { sourcename: "run" targetname: "one.c:step" label: "one.c:3:3" }
edge: { sourcename: "one.c:step" targetname: "kernel" label: "one.c:3:3" }
edge: { sourcename: "run" targetname: "run" label: "one.c:3:3" }
}"""
OTHER = """graph: { title: "other.c"
node: { title: "kernel" label: "kernel\\nother.c:1:5\\n300 bytes (dynamic,bounded)" }
}"""
MAIN = """graph: { title: "main.c"
node: { title: "main" label: "main\\nmain.c:1:5\\n9000 bytes (static)" }
}"""


def test_the_deepest_chain_goes_through_files_and_a_recursion_counts_once() -> None:
    assert deepest_bytes([ONE, OTHER]) == 464
    assert deepest_bytes([ONE]) == 164
    assert deepest_bytes([]) == 0


def written(folder: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (folder / f"{name}.ci").write_text(text)
    return [f"{name}.o" for name in texts]


def test_stacks_that_are_too_small_are_refused_with_a_size_that_is_not(tmp_path: Path) -> None:
    small = replace(CLUSTER, settings={"stack": "512"})
    with pytest.raises(TilewrightError) as refused:
        demand_stack(STACKS, small, tmp_path, written(tmp_path, one=ONE, other=OTHER))
    assert refused.value.code == "TW5063"
    assert refused.value.fix == (f"--set stack={464 + PROGRAM_BYTES}",)
    demand_stack(STACKS, replace(CLUSTER, settings={"stack": str(464 + PROGRAM_BYTES)}), tmp_path, ["one.o", "other.o"])


def test_what_runs_outside_the_team_is_left_out_and_so_is_what_is_no_c(tmp_path: Path) -> None:
    demand_stack(STACKS, replace(CLUSTER, settings={}), tmp_path, [*written(tmp_path, main=MAIN), "start.o"])


def test_gcc_writes_what_is_read(tmp_path: Path, tool: Callable[[str], str]) -> None:
    compiler = tool("riscv64-unknown-elf-gcc")
    step = "int seen(int *);\nint step(void)\n{\n    int room[100];\n    return seen(room);\n}\n"
    (tmp_path / "one.c").write_text(f"{step}int main(void)\n{{\n    return 0;\n}}\n")
    subprocess.run([compiler, "-O3", "-c", WRITTEN, "-o", "one.o", "one.c"], cwd=tmp_path, check=True)
    text = (tmp_path / "one.ci").read_text()
    assert 400 <= deepest_bytes([text]) <= 440
    demand_stack(STACKS, replace(CLUSTER, settings={"stack": "128"}), tmp_path, ["one.o"])  # it has main
