"""C in files is shown to be C: what a compiler says of one file, of sections together, and which sections there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.c_text.fragment_files import CORE
from tilewright.ir.code_fragments import CodeFragment
from tilewright.testing.kernels.fragment_checks import c_files, compile_alone, compile_together, fragments_of
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.operator_sites import Sample


def section(name: str, text: str) -> CodeFragment:
    return CodeFragment(name=name, text=text)


def test_files_are_found_below_a_package_in_order() -> None:
    found = c_files(CORE)
    assert "prelude.h" in found and list(found) == sorted(found)
    assert {Path(name).suffix for name in found} <= {".c", ".h"}


def test_a_file_that_is_c_has_nothing_said_about_it(tmp_path: Path) -> None:
    assert compile_alone(CORE, "prelude.h", tmp_path) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("static int one(void)\n{\n    return 1;\n}", ""),
        ("static int one(void)\n{\n    return missing;\n}", "missing"),
        ("static int one(long value)\n{\n    return value;\n}", "conversion"),
    ],
)
def test_sections_together_are_compiled_strictly(tmp_path: Path, text: str, said: str) -> None:
    found = compile_together([section("one", text)], "", tmp_path)
    assert said in found and bool(found) is bool(said)


def test_a_section_sees_the_prelude_and_stands_once(tmp_path: Path) -> None:
    one = section("one", "static type_of_prelude one(void)\n{\n    return 1;\n}")
    assert compile_together([one, one], "typedef int type_of_prelude;", tmp_path) == ""


def test_sections_are_those_of_layers_that_a_kernel_accepts() -> None:
    floats = Sample(op="Neg", inputs=(np.ones(3, np.float32),))
    kernel = portable_kernels()["portable.neg"]
    found = list(fragments_of([kernel], vocabulary(), [floats]))
    assert found and all(isinstance(one, CodeFragment) for one in found)
    assert list(fragments_of([replace(kernel, match=lambda _: "never")], vocabulary(), [floats])) == []
    assert list(fragments_of([replace(kernel, pattern=("Abs", "Neg"))], vocabulary(), [floats])) == []
    assert list(fragments_of([portable_kernels()["portable.matmul_f32"]], vocabulary(), [floats])) == []
