"""The portable C: what is beside the operator families is what they name, and a template makes what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from mako.template import Template

import tilewright.operators
from tilewright.ir.code_fragments import FragmentTemplate, definitions
from tilewright.operators.c_code.c_source import ELEMENTWISE, REQUANT_INT, c_fragment, c_template

FOLDER = Path(tilewright.operators.__file__).parent
C_FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.suffix in (".c", ".h", ".mako"))


def test_a_file_and_what_it_needs() -> None:
    section = c_fragment("functions/tw_expf.h")
    assert (section.name, section.owner) == ("tilewright/functions/tw_expf.h", "tilewright")
    assert "tw_expf" in definitions(section.text)
    assert [need.name for need in section.needs] == ["tilewright/functions/tw_exp2_int.h"]


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
