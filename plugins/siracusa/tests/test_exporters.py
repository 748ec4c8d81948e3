"""`--emit siracusa,pmsis`: folders that build with either compiler, and run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilewright.cli.main import tilewright
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.plugins import load_named
from tilewright.testing.cluster import CLUSTER, registry_for

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"
STAND_IN = Path(__file__).parent / "runners" / "fake_gvsoc.py"


@pytest.fixture(autouse=True)
def _tools(tool: Callable[[str], str]) -> None:
    for name in ("riscv64-unknown-elf-gcc", "make"):
        tool(name)


def compiled(folder: Path, *more: str, model: str = "digits_int8") -> Path:
    words = ["compile", str(DIGITS / f"{model}.onnx"), "-t", "siracusa", "-o", str(folder), "-q", *more]
    result = CliRunner().invoke(tilewright, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return folder


def made(folder: Path, toolchain: str) -> str:
    """What the program says on the stand-in for GVSoC."""
    words = ["make", "-s", "-C", str(folder / "siracusa"), "run", f"TOOLCHAIN={toolchain}", f"PYTHON={sys.executable}"]
    words.append(f"GVSOC={sys.executable} {STAND_IN}")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


CASES = {
    "self-test": (("--selftest",), "PASS"),
    "self-test far": (("--selftest", "--set", "home=l3"), "PASS"),
    "first program": ((), "bytes of a stack"),
    "first program far": (("--set", "home=l3"), "bytes of a stack"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_folder_builds_and_runs(case: str, tmp_path: Path) -> None:
    more, said = CASES[case]
    compiled(tmp_path, "--emit", "siracusa,cmake", "--set", "isa=portable", *more)
    assert said in made(tmp_path, "gcc")
    assert (tmp_path / "CMakeLists.txt").is_file()


def test_it_builds_with_the_wheel_too(tmp_path: Path) -> None:
    compiled(tmp_path, "--emit", "siracusa", "--set", "isa=portable", "--selftest", "--set", "cores=4")
    assert "PASS" in made(tmp_path, "zig")


def test_a_wrong_answer_fails(tmp_path: Path) -> None:
    compiled(tmp_path, "--emit", "siracusa", "--set", "isa=portable", "--selftest")
    weights = next(tmp_path.glob("*_weights.c"))
    weights.write_text(weights.read_text().replace("0x7f", "0x3f").replace(" 127", " 63"), encoding="ascii")
    words = ["make", "-s", "-C", str(tmp_path / "siracusa"), "run", f"GVSOC={sys.executable} {STAND_IN}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "FAIL" in done.stdout


def test_the_same_bytes_each_time() -> None:
    exporters = load_named(("exporter", "siracusa")).exporters
    plans = [Deployment(DIGITS / "digits_int8.onnx", "siracusa", Options(settings={"home": "l3"})) for _ in range(2)]
    one, other = (exporters["siracusa"].files(plan.allocated, plan.artifact) for plan in plans)
    assert one == other
    assert all(path.startswith("siracusa/") for path in one)
    assert {"siracusa/Makefile", "siracusa/siracusa.ld", "siracusa/main.c", "siracusa/runtime/start.S"} <= set(one)


@pytest.mark.parametrize("name", ["siracusa", "pmsis"])
def test_another_targets_plan_is_refused(name: str) -> None:
    exporter = load_named(("exporter", name)).exporters[name]
    plan = Deployment(DIGITS / "digits_int8.onnx", CLUSTER.name, registry=registry_for(CLUSTER))
    with pytest.raises(TilewrightError) as refused:
        exporter.files(plan.allocated, plan.artifact)
    assert (refused.value.code, refused.value.exit_code) == ("TW8041", Exit.USAGE)
    assert "--target siracusa" in refused.value.fix
