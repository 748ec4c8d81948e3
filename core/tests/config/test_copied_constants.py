"""`--stage`: what is read, what it decides, what is refused."""

from __future__ import annotations

import pytest

from tilewright.config.copied_constants import CopyRule, copied_constants, parse_copy
from tilewright.config.name_patterns import KnownNames, Meaning
from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Staging

RAM, ROM = Memory(name="ram", size_bytes=None), Memory(name="rom", size_bytes=None, kind="const")
TCM = Memory(name="tcm", size_bytes=None)
PLAIN = Platform(name="plain", memories=(RAM, TCM, ROM))
NAMES = KnownNames(
    meanings={"fc": Meaning(constants=("w", "b")), "w": Meaning(constants=("w",)), "x": Meaning(values=("x",))}
)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("fc=ram", CopyRule(pattern="fc", memory="ram")),
        ("fc=ram,when=use", CopyRule(pattern="fc", memory="ram", when="use")),
        ("a=b=ram,when=init", CopyRule(pattern="a=b", memory="ram")),
    ],
)
def test_what_is_read(text: str, rule: CopyRule) -> None:
    assert parse_copy(text) == rule


@pytest.mark.parametrize("text", ["", "fc", "fc=", "=ram", "fc=ram,when=later", "fc=ram,x", ",when=use"])
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        parse_copy(text)
    assert caught.value.code == "TW1101"


def test_later_rules_overrule_earlier_ones() -> None:
    rules = (parse_copy("fc=ram"), parse_copy("w=tcm,when=use"))
    assert copied_constants(rules, NAMES, PLAIN) == {
        "w": Staging(memory="tcm", when="use"),
        "b": Staging(memory="ram", when="init"),
    }


@pytest.mark.parametrize(("text", "code"), [("fc=moon", "TW1103"), ("x=ram", "TW1116"), ("fc=rom", "TW5033")])
def test_what_is_refused(text: str, code: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        copied_constants((parse_copy(text),), NAMES, PLAIN)
    assert caught.value.code == code
