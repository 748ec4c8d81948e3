"""The digits network under any options, built with a linker's map of where everything went, and run."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from c_compiler import command_of

from tilewright.comparison.reference import run
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job
from tilewright.runners.host import HostRunner
from tilewright.runners.toolchain import find_compiler
from tilewright.snapshot.atomic_folder import write_folder

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Compiles and runs the digits network in a folder."""

    folder: Path

    def deployment(self, model: str = "digits_int8.onnx", **options: Any) -> Deployment:
        """Every buffer marked live and dead, so that sanitizers see a use at the wrong time."""
        return Deployment(DIGITS / model, "generic", Options(**{"code_passes": {"lifetimes": {}}, **options}))

    def demand_exact(self, deployment: Deployment, count: int = 3) -> None:
        """Every step of every image under ASan and UBSan equals its reference, bit by bit."""
        images = np.load(DIGITS / "digits_test.npz")["images"][:count]
        sets = tuple({"image": image[None]} for image in images)
        job = Job(
            artifact=deployment.artifact,
            plan=deployment.allocated,
            prefix=deployment.prefix,
            input_sets=sets,
            trace=True,
            sanitize=True,
        )
        result = HostRunner().run(job, self.folder / "run")
        for given, outputs, values in zip(sets, result.outputs, result.values, strict=True):
            known = run(deployment.graph, given, deployment.registry.operators)
            for name, array in {**values, **outputs}.items():
                np.testing.assert_array_equal(array, known[name], err_msg=name)

    def object_files(self, deployment: Deployment, *flags: str) -> list[Path]:
        """Every generated source, compiled."""
        source = self.folder / "c"
        write_folder(source, deployment.files)
        made = []
        for path in sorted([*source.glob("*.c"), *source.glob("*.S")]):
            made.append(path.with_suffix(".o"))
            command = command_of(find_compiler(), ["-std=c11", "-O1", "-ffp-contract=off", *flags, f"-I{source}"])
            subprocess.run([*command, "-c", str(path), "-o", str(made[-1])], check=True, cwd=source)
        return made

    def linked(self, deployment: Deployment, main: str, *flags: str) -> Path:
        """A program of the generated sources and `main`."""
        objects = self.object_files(deployment, *flags)
        (self.folder / "main.c").write_text(main, encoding="ascii")
        program = self.folder / "program"
        command = command_of(
            find_compiler(), ["-std=c11", "-Wall", "-Wextra", "-Werror", *flags, f"-I{self.folder / 'c'}"]
        )
        subprocess.run(
            [*command, "-o", str(program), str(self.folder / "main.c"), *map(str, objects), "-lm"], check=True
        )
        return program


def sections_of(program: Path) -> dict[str, int]:
    """Section -> bytes, as readelf says."""
    text = subprocess.run(["readelf", "-SW", str(program)], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"\]\s+(\S+)\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)", text)
    return {name: int(size, 16) for name, size in found}


def symbols_of(program: Path) -> dict[str, str]:
    """Symbol -> its section, as objdump says."""
    text = subprocess.run(["objdump", "-t", str(program)], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^[0-9a-f]+ .{7} (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$", text, re.MULTILINE)
    return {symbol: section for section, symbol in found}


@pytest.fixture(name="bench")
def _bench(tmp_path: Path) -> Bench:
    return Bench(folder=tmp_path)


@pytest.fixture(name="sections")
def _sections(tool: Callable[[str], str]) -> Callable[[Path], dict[str, int]]:
    tool("readelf")
    return sections_of


@pytest.fixture(name="symbols")
def _symbols(tool: Callable[[str], str]) -> Callable[[Path], dict[str, str]]:
    tool("objdump")
    return symbols_of
