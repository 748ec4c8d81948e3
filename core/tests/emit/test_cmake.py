"""The generated CMakeLists.txt builds the library and runs the self-test, on its own and inside another project."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.emit import EmitOptions, Vector

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("form", "layout"), [("c", "single"), ("incbin", "single"), ("c", "split")])
def test_builds_and_tests_itself(toy: Any, tmp_path: Path, cmake: Any, form: Any, layout: Any) -> None:
    x = np.arange(10, dtype=np.int8)[None]
    graph = toy.graph()
    vector = Vector(inputs={"mfcc:0": x}, outputs={"scores": toy.expected(graph, x)})
    options = EmitOptions(const_format=form, layout=layout, vectors=(vector,))
    files = toy.write(toy.artifact(toy.program(graph), options), tmp_path / "toy")
    cmake(files, tmp_path / "build")
    subprocess.run([tmp_path / "build" / "toy_selftest"], check=True, capture_output=True)


def test_two_models_inside_another_project(toy: Any, tmp_path: Path, cmake: Any) -> None:
    toy.write(toy.artifact(toy.program(toy.graph(), "one"), EmitOptions(const_format="incbin")), tmp_path / "one")
    toy.write(toy.artifact(toy.program(toy.float_graph(), "two")), tmp_path / "two")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(app C)\nadd_subdirectory(one)\nadd_subdirectory(two)\n"
        "add_executable(app main.c)\ntarget_link_libraries(app PRIVATE one two)\n"
    )
    (tmp_path / "main.c").write_text(
        '#include "one.h"\n#include "two.h"\nint main(void)\n{\n    static int8_t x[10], y[10];\n'
        "    static float a[5], b[5];\n    return one(x, y) != TW_OK || two(a, b) != TW_OK;\n}\n"
    )
    cmake(tmp_path, tmp_path / "build")
    subprocess.run([tmp_path / "build" / "app"], check=True, capture_output=True)
