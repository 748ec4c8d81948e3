"""`--layout split`: kernels in a header of their own, the same program otherwise."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.emit import EmitOptions, Vector
from tilewright.ir.programs.runner import Job
from tilewright.runners.host import HostRunner

STRICT = ("-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror")
SETS = tuple({"mfcc:0": np.random.default_rng(seed).integers(-128, 128, (1, 10), np.int8)} for seed in range(3))


def options(toy: Any, layout: Any, form: Any = "c") -> EmitOptions:
    graph, x = toy.graph(), SETS[0]["mfcc:0"]
    vector = Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(graph, x)})
    return EmitOptions(const_format=form, layout=layout, vectors=(vector,))


def files(toy: Any, layout: Any) -> dict[str, str]:
    artifact = toy.artifact(toy.program(toy.graph()), options(toy, layout))
    return {name: content.decode() for name, content in artifact.files.items()}


def test_the_kernels_are_apart(toy: Any) -> None:
    single, split = files(toy, "single"), files(toy, "split")
    assert split.keys() - single.keys() == {"toy_kernels.h"}
    assert {name for name in single if single[name] != split[name]} == {"toy.c", "README.md"}
    assert "TW_KERNEL void tw_toy_bias(" in single["toy.c"] and "TW_KERNEL" not in split["toy.c"]
    assert "TW_KERNEL void tw_toy_bias(" in split["toy_kernels.h"] and '#include "toy_kernels.h"' in split["toy.c"]
    assert "acme.toy_reverse  SPDX-License-Identifier: MIT" in split["toy_kernels.h"]
    assert "SPDX" not in split["toy.c"]


def test_a_program_without_kernels_has_no_header(toy: Any) -> None:
    program = replace(toy.program(toy.graph()), sources=())
    assert "toy_kernels.h" not in toy.artifact(program, EmitOptions(layout="split")).files


def test_the_header_compiles_alone(toy: Any, cc: Any, tmp_path: Path) -> None:
    folder = toy.write(toy.artifact(toy.program(toy.graph()), options(toy, "split")), tmp_path / "toy")
    (tmp_path / "alone.c").write_text('#include "toy_kernels.h"\n#include "toy_kernels.h"\ntypedef int something;\n')
    command = [*cc(*STRICT, "-I", str(folder)), "-c", "-o", str(tmp_path / "o"), str(tmp_path / "alone.c")]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""


@pytest.mark.parametrize("form", ["c", "incbin"])
def test_no_warning_and_the_selftest_passes(toy: Any, tmp_path: Path, form: Any) -> None:
    folder = toy.write(toy.artifact(toy.program(toy.graph()), options(toy, "split", form)), tmp_path / "toy")
    shutil.move(folder / "toy_selftest.c", tmp_path / "main.c")
    assert subprocess.run([toy.build([folder], tmp_path / "main.c", ("-O2",))], check=False).returncode == 0


@pytest.mark.slow
def test_both_layouts_give_the_same_outputs(toy: Any, tmp_path: Path) -> None:
    outputs = []
    for layout in ("single", "split"):
        program = toy.program(toy.graph())
        artifact = toy.artifact(program, EmitOptions(layout=layout))
        job = Job(artifact=artifact, plan=program.allocated, prefix="toy", input_sets=SETS, trace=True)
        (tmp_path / layout).mkdir()
        outputs.append(HostRunner().run(job, tmp_path / layout).outputs)
    for given, one, other in zip(SETS, *outputs, strict=True):
        np.testing.assert_array_equal(one["scores"], toy.expected(toy.graph(), given["mfcc:0"]))
        np.testing.assert_array_equal(one["scores"], other["scores"])
