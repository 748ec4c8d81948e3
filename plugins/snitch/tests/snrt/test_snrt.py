"""`tw_rt` over the vendor's runtime, against a stub that executes it with threads: right, and mistakes are noticed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.runner import decode_outputs, make_harness
from tilewright.comparison.reference import run as run_reference
from tilewright.comparison.vectors import random_vectors
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job
from tilewright.runners.host import STRICT
from tilewright_snitch.exporters import EXPORTERS

HERE = Path(__file__).parent
DIGITS = HERE.parents[3] / "examples" / "digits"
(RUNTIME,) = (one for one in EXPORTERS if one.name == "snrt")


def flags(cores: int) -> list[str]:
    """For a compiler on the host, the runtime's part in the same program."""
    far = "-DTW_SNRT_IS_FAR(address)=stub_is_far(address)"
    return [
        *STRICT, "-D_GNU_SOURCE", f"-DCORES={cores}", far, "-Wno-unused-function", "-pthread", "-I.", "-o", "program",
    ]  # fmt: skip


def said(folder: Path, compiler: str, model: str, cores: int, change: Callable[[str], str] = str) -> str:
    """What the program says, or what the stub has against it; inputs and outputs are in `folder`."""
    options = Options(settings={"cores": str(cores), "stacks": "l3"}, memory={"tcdm": 3 << 10})
    plan = Deployment(DIGITS / f"{model}.onnx", "snitch", options)
    sets = tuple(one.inputs for one in random_vectors(plan.inputs, 2, seed=9))
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=sets)
    harness = make_harness(job, (HERE / "network.mako").read_text(encoding="ascii"))
    for name, content in {**plan.artifact.files, **RUNTIME.files(plan.allocated, plan.artifact)}.items():
        (folder / Path(name).name).write_bytes(content)
    runtime = folder / "tw_rt_snrt.c"
    runtime.write_text(change(runtime.read_text(encoding="ascii")), encoding="ascii")
    for name in ("snrt.h", "stub.h", "stub.c"):
        (folder / name).write_bytes((HERE / name).read_bytes())
    (folder / "main.c").write_text(harness.main, encoding="ascii")
    (folder / "inputs.bin").write_bytes(harness.inputs)
    network = [name for name in plan.artifact.files if name.endswith((".c", ".S")) and "_simple" not in name]
    sources = ["main.c", *network, "tw_rt_snrt.c", "stub.c"]
    subprocess.run([compiler, *flags(cores), *sources], cwd=folder, check=True)
    done = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode == 0:
        outputs = decode_outputs(harness, (folder / "outputs.bin").read_bytes())
        for given, found in zip(sets, outputs, strict=True):
            values = run_reference(plan.graph, given, plan.registry.operators)
            for name, got in found.items():
                exact = 0 if model.endswith("int8") else 1e-6
                np.testing.assert_allclose(got, values[name], rtol=1e-5, atol=exact)
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("model", "cores"), [("digits_int8", 8), ("digits_f32", 4)])
def test_a_network_is_right(model: str, cores: int, tool: Callable[[str], str], tmp_path: Path) -> None:
    copies, in_flight = map(int, said(tmp_path, tool("gcc"), model, cores).split())
    assert copies > 10
    assert in_flight > 1


MISTAKES = {
    "no fence": ("    snrt_fpu_fence();\n", "", "float unit"),
    "numbers of others": ("(transfer >> 1) - 1u", "(transfer >> 1) + 1u", "never started"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_noticed(mistake: str, tool: Callable[[str], str], tmp_path: Path) -> None:
    old, new, words = MISTAKES[mistake]

    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    assert words in said(tmp_path, tool("gcc"), "digits_int8", 2, change)


def test_copies_that_are_overtaken_are_waited_for(tool: Callable[[str], str], tmp_path: Path) -> None:
    plan = Deployment(DIGITS / "digits_int8.onnx", "snitch")
    for name, content in {**plan.artifact.files, **RUNTIME.files(plan.allocated, plan.artifact)}.items():
        (tmp_path / Path(name).name).write_bytes(content)
    for name in ("snrt.h", "stub.h", "stub.c", "overtaken.c"):
        (tmp_path / name).write_bytes((HERE / name).read_bytes())
    sources = ["overtaken.c", "tw_rt_snrt.c", "stub.c"]
    subprocess.run([tool("gcc"), *flags(1), *sources], cwd=tmp_path, check=True)
    done = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_is_cpp_too(tool: Callable[[str], str], tmp_path: Path) -> None:
    """The runtime's newer headers have default arguments."""
    plan = Deployment(DIGITS / "digits_int8.onnx", "snitch")
    for name, content in {**plan.artifact.files, **RUNTIME.files(plan.allocated, plan.artifact)}.items():
        (tmp_path / Path(name).name).write_bytes(content)
    (tmp_path / "snrt.h").write_bytes((HERE / "snrt.h").read_bytes())
    command = [tool("g++"), "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "tw_rt_snrt.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
