"""Which arithmetic is asked for: names of the core and of the target, and one that nobody has."""

from __future__ import annotations

import pytest

from tilewright.config.arithmetics import arithmetic_choice
from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.arithmetic import Arithmetic
from tilewright.ir.machines.platform import Memory, Platform

CORE = {name: Arithmetic(name=name, summary=f"that of {name}", functions={}) for name in ("onnx", "tflm")}
OWN = Arithmetic(name="acme", summary="of the unit", functions={})
PLATFORM = Platform(name="board", memories=(Memory(name="ram", size_bytes=None),), arithmetics=(OWN,))


def test_a_target_brings_its_own() -> None:
    choice = arithmetic_choice(Options(arithmetic=(("*", "acme"), ("a*", "tflm"))), PLATFORM, CORE, "onnx")
    assert (choice.own, choice.rules, set(choice.known)) == (
        "onnx", (("*", "acme"), ("a*", "tflm")), {"onnx", "tflm", "acme"}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "fix"), [(("*", "acne"), "--arithmetic acme"), (("conv", "x"), "--arithmetic conv=onnx")]
)
def test_a_name_that_nobody_has(rule: tuple[str, str], fix: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        arithmetic_choice(Options(arithmetic=(rule,)), PLATFORM, CORE, "onnx")
    assert caught.value.code == "TW1127"
    assert "acme: of the unit" in caught.value.details
    assert ("did you mean 'acme'?" in caught.value.details) == (rule[1] == "acne")
    assert any(fix in line for line in caught.value.fix)
