"""Programs of floats: their coefficients are those that a tool derives, or the core's."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from tilewright.operators.c_code import c_source
from tilewright_riscv.floats import functions


def test_coefficients_are_derived() -> None:
    found = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "error_function.py"))
    programs = {"erf": functions.UNARY["Erf"], "tail": functions.BELOW_RELU}
    for name, program in programs.items():
        fit = found["FITS"][name]
        assert found["literals"](fit) == [program.constants[f"c{power}"] for power in range(fit.degree + 1)]
    assert programs["erf"].constants["centre"] == f"-{found['FITS']['erf'].centre}f"
    assert programs["tail"].constants["middle"] == f"{found['FITS']['tail'].centre}f"
    core = "".join(path.read_text() for path in Path(c_source.__file__).parent.glob("functions/*.h"))
    numbers = {float.fromhex(number) for number in re.findall(r"0x[0-9a-f.]+p[+-]?\d+", core)}
    exponential = functions.UNARY["Exp"].constants
    names = ["log2e", "ln2_high", "ln2_low", *(f"c{power}" for power in range(3, 7))]
    assert {float.fromhex(exponential[name].removesuffix("f")) for name in names} <= numbers
    assert {abs(float.fromhex(text.removesuffix("f"))) for text in functions.EXPM1[1:]} <= numbers
