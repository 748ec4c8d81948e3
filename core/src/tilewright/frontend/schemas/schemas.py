"""Knows what the installed onnx says about an operator of one version: inputs, types, attributes that must be there.
Does not know what its texts say besides; `signatures` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One formal input. `types` are ONNX's names without `tensor()`; inputs of one `variable` have one type."""

    name: str
    types: frozenset[str]
    variable: str
    optional: bool
    variadic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """One version of one operator. `attributes` maps every name to its kind (INT, FLOATS, ...)."""

    op_type: str
    since: int
    inputs: tuple[Parameter, ...]
    outputs: tuple[str, ...]  # the type variable of each formal output
    least_inputs: int
    most_inputs: int
    most_outputs: int
    attributes: dict[str, str]
    required: frozenset[str]

    def parameter(self, index: int) -> Parameter:
        """The formal input at a position; a variadic one stands for all that follow."""
        return self.inputs[min(index, len(self.inputs) - 1)]


@cache
def schema_of(op_type: str, version: int, domain: str = "") -> Schema | None:
    """The definition in force at `version` of an operator set; None where onnx has none."""
    import onnx.defs

    try:
        found = onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None
    option = onnx.defs.OpSchema.FormalParameterOption
    return Schema(
        op_type=op_type,
        since=found.since_version,
        inputs=tuple(
            Parameter(
                name=item.name,
                types=frozenset(name.removeprefix("tensor(").removesuffix(")") for name in item.types),
                variable=item.type_str if item.is_homogeneous else "",
                optional=item.option == option.Optional,
                variadic=item.option == option.Variadic,
            )
            for item in found.inputs
        ),
        outputs=tuple(item.type_str for item in found.outputs),
        least_inputs=found.min_input,
        most_inputs=found.max_input,
        most_outputs=found.max_output,
        attributes={
            name: item.type.name  # type: ignore[attr-defined]  # the stubs know no enumeration there
            for name, item in found.attributes.items()
        },
        required=frozenset(name for name, item in found.attributes.items() if item.required),
    )
