"""Every rule is about something that the operator has."""

from __future__ import annotations

import onnx.defs
import pytest

from tilewright.frontend.schemas.rules import Rule, rule_table, rules_of
from tilewright.frontend.schemas.schemas import schema_of


@pytest.mark.parametrize("op_type", sorted(rule_table()))
def test_every_name_is_an_input_or_an_attribute(op_type):
    newest = onnx.defs.onnx_opset_version()
    starts = sorted(rule_table()[op_type])
    for since, following in zip(starts, [*starts[1:], newest + 1], strict=True):
        schemas = [schema_of(op_type, version) for version in range(since, following)]
        assert schemas[0] is not None and (schemas[0].since == since or since in starts[1:])
        known = {name for each in schemas if each for name in (*each.attributes, *(one.name for one in each.inputs))}
        assert {rule.name for rule in rules_of(op_type, since)} <= known


def test_a_line_is_read():
    rules = {rule.name: rule for rule in rules_of("Pad", 21)}
    assert rules["pads"] == Rule(name="pads", kind="rank", text="pads rank 1", limit=1)
    assert rules["constant_value"].kind == "scalar"
    assert rules["mode"].words == ("constant", "reflect", "edge", "wrap")
    assert rules_of("Relu", 14) == ()
    (height, *_) = rules_of("Upsample", 6)
    assert (height.kind, height.sign, height.limit, height.demand) == ("value", ">", 0, "> 0")
