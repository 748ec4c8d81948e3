"""The list of deviations from MISRA C:2012: a table of rules by number, where and why."""

from __future__ import annotations

import re
from typing import Any

from tilewright.exporters.misra import DEVIATIONS, misra

PARTS = {"kernels", "steps", "interface", "data"}


def test_every_deviation_is_a_line(toy: Any) -> None:
    program = toy.program(toy.graph())
    (name,) = files = misra(program.allocated, toy.artifact(program))
    text = files[name].decode()
    rows = re.findall(r"^\| (\d+\.\d+) \| (\w+) \| (.+) \| (.+) \|$", text, re.MULTILINE)
    assert name == "toy_misra.md" and rows == [(one.rule, one.part, one.what, one.why) for one in DEVIATIONS]
    assert all(len(line) <= 240 for line in text.split("\n"))


def test_a_rule_is_named_once_for_each_part() -> None:
    named = [(one.rule, one.part) for one in DEVIATIONS]
    assert len(set(named)) == len(named) and {part for _, part in named} <= PARTS
    assert named == sorted(named, key=lambda one: tuple(map(int, one[0].split("."))))
