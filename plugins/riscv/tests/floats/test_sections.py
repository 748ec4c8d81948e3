"""Sections of functions of floats: named for their machine, and with everything that they call before them."""

from __future__ import annotations

import re

import pytest

from tilewright.api.kernel import CodeFragment
from tilewright.ir.code_fragments import definitions, ordered
from tilewright_riscv.floats.functions import UNARY
from tilewright_riscv.floats.lanes import Dialect
from tilewright_riscv.floats.sections import base_section, function_section, gelu_section, root_section, scalar_section

FPU = CodeFragment(
    name="acme/fpu.h", text="TW_KERNEL float acme_f32_relu(float value)\n{\n    return value;\n}", owner="acme"
)
DIALECT = Dialect(prefix="acme", owner="acme", fpu=FPU)
OTHER = Dialect(prefix="other", owner="other", fpu=CodeFragment(name="other/fpu.h", text="", owner="other"))


def called(section: CodeFragment) -> set[str]:
    return set(re.findall(r"\bacme_f32_\w+(?=\()", section.text))


@pytest.mark.parametrize("section", [
    *(function_section(program, DIALECT) for program in UNARY.values()), gelu_section(DIALECT), base_section(DIALECT),
], ids=lambda section: section.name)  # fmt: skip
def test_what_is_called_is_there(section: CodeFragment) -> None:
    """Defined before it, or by the section itself."""
    found = ordered([section])
    assert found[-1] is section and section.owner == "acme"
    known: set[str] = set()
    for each in found:
        known |= definitions(each.text)
        assert called(each) <= known, each.name


def test_names_are_the_machines() -> None:
    for own, theirs in ((scalar_section(DIALECT), scalar_section(OTHER)), (root_section(DIALECT), root_section(OTHER))):
        assert "${" not in own.text and "other_" not in own.text
        assert not definitions(own.text) & definitions(theirs.text)
        assert own.name != theirs.name and FPU in own.needs
    assert {"acme_f32_fma", "acme_f32_max", "acme_f32_min", "acme_f32_abs", "acme_f32_signed"} <= definitions(
        scalar_section(DIALECT).text
    )
