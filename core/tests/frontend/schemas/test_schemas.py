"""What onnx says of an operator, and that imports take nothing that it does not have."""

from __future__ import annotations

from importlib import import_module

from tilewright.frontend.decompositions import composed, qoperator
from tilewright.frontend.nodes import legacy, structural
from tilewright.frontend.schemas.schemas import schema_of
from tilewright.operators.families import FAMILIES

OPERATORS = [operator for family in FAMILIES for operator in import_module(family).OPERATORS]
IMPORTS = [
    each
    for part in (*(operator.imports for operator in OPERATORS), structural.IMPORTS, composed.IMPORTS, qoperator.IMPORTS)
    for each in (*part, *legacy.IMPORTS, *structural.CONSTANT_ONLY)
]


def test_a_schema():
    conv, concat = schema_of("Conv", 11), schema_of("Concat", 13)
    assert conv is not None and concat is not None
    assert (conv.since, [one.name for one in conv.inputs], conv.least_inputs) == (11, ["X", "W", "B"], 2)
    assert conv.inputs[2].optional and conv.inputs[0].types == {"float16", "float", "double"}
    assert conv.inputs[0].variable == conv.inputs[1].variable
    assert concat.parameter(7).variadic and concat.required == {"axis"}
    assert schema_of("NoSuchOperator", 13) is None and schema_of("Gelu", 13) is None


def test_imports_take_attributes_that_the_schema_has_and_of_its_kind():
    for each in IMPORTS:
        schema = schema_of(each.op_type, each.since, each.domain)
        if schema is None:
            continue
        later = {**each.attributes, **schema.attributes}  # what a later version of one signature has may be declared
        wrong = {name: kind for name, kind in each.attributes.items() if later[name] != kind}
        assert wrong == {}, f"{each.op_type}-{each.since}"
