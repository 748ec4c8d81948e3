"""`tw_rt` over the SDK's functions, against a stub that executes them with the machine's limits."""

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
from tilewright.emit.emit import text as emitted_text
from tilewright.ir.programs.runner import Job
from tilewright.runners.host import STRICT
from tilewright_siracusa.exporters import EXPORTERS

HERE = Path(__file__).parent
DIGITS = HERE.parents[3] / "examples" / "digits"
RUNTIME = HERE.parents[1] / "src" / "tilewright_siracusa" / "runtime" / "pmsis"
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
(EXPORTER,) = (one for one in EXPORTERS if one.name == "pmsis")


def built(folder: Path, compiler: str, *sources: str, extra: tuple[str, ...] = ()) -> str:
    """Compile in `folder` with the stub, execute, return what was said."""
    for name in ("pmsis.h", "stub.h", "stub.c"):
        (folder / name).write_bytes((HERE / name).read_bytes())
    (folder / "bsp").mkdir(exist_ok=True)
    (folder / "bsp" / "ram.h").write_text("", encoding="ascii")
    flags = [*STRICT, "-D_GNU_SOURCE", *extra, "-pthread", "-I.", "-o", "program"]
    subprocess.run([compiler, *flags, *sources, "tw_rt_pmsis.c", "stub.c"], cwd=folder, check=True)
    done = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_copies_of_every_form(compiler: str, tool: Callable[[str], str], tmp_path: Path) -> None:
    for name in ("tw_rt_pmsis.c", "tw_rt_pmsis.h"):
        (tmp_path / name).write_bytes((RUNTIME / name).read_bytes())
    (tmp_path / "tw_rt.h").write_text(emitted_text("tw_rt.h"), encoding="ascii")
    (tmp_path / "copies.c").write_bytes((HERE / "copies.c").read_bytes())
    assert built(tmp_path, tool(compiler), "copies.c", extra=SANITIZED) == "PASS\n"


@pytest.mark.slow
@pytest.mark.parametrize("home", ["l2", "l3"])
@pytest.mark.parametrize("model", ["digits_int8", "digits_f32"])
def test_a_network_is_exact(model: str, home: str, tool: Callable[[str], str], tmp_path: Path) -> None:
    options = Options(settings={"home": home, "stack": "512"}, memory={"l1": 8 * 512 + 4096, "l2": 16384})
    plan = Deployment(DIGITS / f"{model}.onnx", "siracusa", options)
    drawn = random_vectors(plan.inputs, 2, seed=9)
    sets = tuple(one.inputs for one in drawn)
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=sets)
    far = ["weights"] if home == "l3" else []
    harness = make_harness(job, (HERE / "network.mako").read_text(encoding="ascii"), far=far)
    for name, content in {**plan.artifact.files, **EXPORTER.files(plan.allocated, plan.artifact)}.items():
        (tmp_path / Path(name).name).write_bytes(content)
    (tmp_path / "main.c").write_text(harness.main, encoding="ascii")
    (tmp_path / "inputs.bin").write_bytes(harness.inputs)
    network = [name for name in plan.artifact.files if name.endswith((".c", ".S")) and "_simple" not in name]
    said = built(tmp_path, tool("gcc"), "main.c", *network, extra=("-Wno-unused-function",))
    commands, in_flight = map(int, said.split())
    assert commands > len(plan.allocated.tiled.scheduled.steps)
    assert 1 <= in_flight <= 16
    outputs = decode_outputs(harness, (tmp_path / "outputs.bin").read_bytes())
    for given, found in zip(sets, outputs, strict=True):
        values = run_reference(plan.graph, given, plan.registry.operators)
        for name, got in found.items():
            np.testing.assert_allclose(got, values[name], rtol=1e-5, atol=0 if model.endswith("int8") else 1e-6)
