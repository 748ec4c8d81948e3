"""The page about generated files: what it says that a code pass puts into the program is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tilewright

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "output-format.md").read_text(encoding="utf-8")
DIGITS = ROOT / "examples" / "digits" / "digits_int8.onnx"
PASSES = dict(re.findall(r"^\| `([a-z-]+)`[^|]*\| (.*) \|$", PAGE.partition("## 12. Code passes")[2], re.MULTILINE))
NAME = re.compile(r"\b(?:TW|tw)_\w+")


@pytest.mark.parametrize("code_pass", ["lifetimes", "profile"])
def test_what_a_pass_puts_there_is_there(code_pass: str) -> None:
    compiled = tilewright.compile(DIGITS, "siracusa", memory={"l1": "16K"}, code_pass=[code_pass])
    program = compiled.files["digits_int8.c"].decode()
    named = set(NAME.findall(PASSES[code_pass]))
    assert len(named) > 3
    assert sorted(name for name in named if not re.search(rf"\b{name}\b", program)) == []


def test_every_pass_is_there() -> None:
    assert {"hooks", "lifetimes", "profile", "print-tensors", "passthrough"} == set(PASSES)
