"""The portable C: what is beside the operator families is what they name, and a template makes what it says."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from mako.template import Template

import tilewright.operators.c_code
from core.tests.operators.plain_calls import plain_call
from tilewright.ir.code_fragments import FragmentTemplate, definitions
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import (
    ELEMENTWISE,
    REQUANT_INT,
    c_fragment,
    c_functions,
    c_template,
    elementwise_source,
)
from tilewright.operators.c_code.walk import elementwise_values

FOLDER = Path(tilewright.operators.c_code.__file__).parent
C_FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.suffix in (".c", ".h", ".mako"))


def test_a_file_and_what_it_needs() -> None:
    section = c_fragment("functions/tw_expf.h")
    assert (section.name, section.owner) == ("tilewright/functions/tw_expf.h", "tilewright")
    assert "tw_expf" in definitions(section.text)
    assert [need.name for need in section.needs] == ["tilewright/functions/tw_exp2_int.h"]


def test_the_functions_are_found() -> None:
    assert sum(name.startswith("functions/") for name in C_FILES) > 40


@pytest.mark.parametrize("name", [name for name in C_FILES if name.startswith("functions/") and name.endswith(".h")])
def test_a_function_is_in_the_file_of_its_name(name: str) -> None:
    assert Path(name).stem in definitions(c_fragment(name).text)


def test_templates_bring_what_they_are_given() -> None:
    need = c_fragment("functions/tw_expf.h")
    found = c_template("${function}", "elementwise.c.mako", need)
    assert found.needs[-1] is need and found.text == ELEMENTWISE.text


@pytest.mark.parametrize(("template", "values"), [
    (REQUANT_INT, {"bits": 32}), (REQUANT_INT, {"bits": 64}),
    (ELEMENTWISE, {
        "function": "tw_any_1", "depth": 1, "inputs": [("x", "float")], "read": {"x": ("float", str)},
        "output": ("y", "float"), "scalars": [], "expression": "x",
    }),
], ids=["requant32", "requant64", "elementwise"])  # fmt: skip
def test_a_template_defines_its_name(template: FragmentTemplate, values: dict[str, object]) -> None:
    name = Template(template.name).render(**values)
    text = Template(template.text, strict_undefined=True).render(**values)
    assert name in definitions(text.strip())


def test_every_function_once_in_the_order_of_names() -> None:
    found = c_functions("tw_max_f32(tw_expf(x), tw_expf(tw_erff (y)) + tw_pi * sqrtf(z))")
    assert [section.name for section in found] == [
        "tilewright/functions/tw_expf.h",
        "tilewright/functions/tw_max_f32.h",
    ]
    assert c_functions("x + 1.0f") == ()


def test_a_function_that_nobody_wrote() -> None:
    with pytest.raises(FileNotFoundError, match="tw_missing"):
        c_functions("tw_missing(x)")


def test_functions_then_conversions_then_the_loops() -> None:
    call = plain_call({"X": (DType.BF16, (4,)), "Y": (DType.BF16, (4,))})
    names = [section.name for section in elementwise_source(elementwise_values(call, "e", "tw_expf(x)"))]
    assert names[-1] == ELEMENTWISE.name
    assert {"tilewright/functions/tw_expf.h", "tilewright/functions/tw_f32_of_bf16.h"} <= set(names)


def test_no_operator_asks_a_library_for_a_function_of_floats() -> None:
    """A bare machine has no libm, and the headers of its runtime declare nothing of it but fabsf."""
    asked = re.compile(r"(?<![\w.])(?!tw_|fabsf\()[a-z]\w*f\(")
    home = Path(str(files("tilewright.operators")))
    texts = {file: file.read_text(encoding="utf-8") for file in home.rglob("*") if file.suffix in (".c", ".h", ".mako")}
    code = {file: re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL) for file, text in texts.items()}
    assert len(code) > 100
    assert [(file.name, found) for file, text in sorted(code.items()) for found in asked.findall(text)] == []
