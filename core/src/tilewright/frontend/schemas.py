"""Knows what ONNX demands of a node: the schema of its operator as the installed onnx has it, rules that only its texts
state (ranks, scalars, ranges), and whether the node keeps both.
Does not know what tilewright supports: what passes here keeps ONNX's rules, and may still be refused.

A line of rules is `OP-SINCE: RULE, RULE, ...` and holds from that version until the next line of the operator. A rule
is NAME and what must hold of it; it is left out where a version has neither an input nor an attribute of that name:

    NAME rank N          it has N axes; `rank >= N`: at least so many
    NAME scalar          it has one element, and at most one axis
    NAME extents >= N    every axis has at least N elements
    NAME >= N            so has every element of the attribute, or of the input where it is constant; also `>` and `<=`
    NAME in A B          it is one of these

Source: the texts of ONNX's operator documentation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.refusals import InvalidNode
from tilewright.ir.graphs.importing import OnnxNode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_WINDOW = (
    "X rank >= 3, auto_pad in NOTSET SAME_UPPER SAME_LOWER VALID, kernel_shape >= 1, strides >= 1, dilations >= 1, "
    "ceil_mode in 0 1"
)
_CONV = (
    "X rank >= 3, W rank >= 3, W extents >= 1, B rank 1, group >= 1, strides >= 1, dilations >= 1, kernel_shape >= 1, "
    "auto_pad in NOTSET SAME_UPPER SAME_LOWER VALID"
)
_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
_TABLE = f"""
ArgMax-1: keepdims in 0 1, select_last_index in 0 1
ArgMin-1: keepdims in 0 1, select_last_index in 0 1
AveragePool-1: {_WINDOW}, count_include_pad in 0 1
BatchNormalization-1: scale rank 1, B rank 1, mean rank 1, var rank 1, input_mean rank 1, input_var rank 1, epsilon >= 0
Clip-11: min scalar, max scalar
ConstantOfShape-9: input rank 1, input >= 0
Conv-1: {_CONV}
ConvTranspose-1: {_CONV}, output_padding >= 0, output_shape >= 0
CumSum-11: axis scalar
DepthToSpace-1: input rank 4, blocksize >= 1, mode in DCR CRD
Dropout-12: ratio scalar, training_mode scalar
Expand-8: shape rank 1, shape >= 0
Gather-1: data rank >= 1
Gemm-1: A rank 2, B rank 2, transA in 0 1, transB in 0 1
GlobalAveragePool-1: X rank >= 3
GlobalMaxPool-1: X rank >= 3
GroupNormalization-18: X rank >= 3, scale rank 1, bias rank 1, num_groups >= 1, epsilon >= 0
InstanceNormalization-1: input rank >= 3, scale rank 1, B rank 1, epsilon >= 0
LayerNormalization-17: X rank >= 1, epsilon >= 0
MatMul-1: A rank >= 1, B rank >= 1
MaxPool-1: {_WINDOW}, storage_order in 0 1
OneHot-9: depth scalar, values rank 1
Pad-1: mode in constant reflect edge wrap
Pad-11: pads rank 1, constant_value scalar, axes rank 1, mode in constant reflect edge wrap
Range-11: start scalar, limit scalar, delta scalar
Reshape-5: shape rank 1, shape >= -1, allowzero in 0 1
Resize-10: X rank >= 1, scales rank 1, scales > 0
Resize-11: X rank >= 1, roi rank 1, scales rank 1, scales > 0, sizes rank 1, sizes >= 0, antialias in 0 1
Slice-10: data rank >= 1, starts rank 1, ends rank 1, axes rank 1, steps rank 1
SpaceToDepth-1: input rank 4, blocksize >= 1, mode in DCR CRD
Split-1: input rank >= 1, split >= 0
Split-13: input rank >= 1, split rank 1, split >= 0, num_outputs >= 1
Squeeze-13: axes rank <= 1
Tile-6: repeats rank 1, repeats >= 0
TopK-10: X rank >= 1, K scalar, K >= 0
Trilu-14: input rank >= 2, k scalar
Unsqueeze-13: axes rank <= 1
Upsample-1: height_scale > 0, width_scale > 0, mode in nearest bilinear linear
Upsample-7: X rank >= 1, scales > 0, mode in nearest linear
Upsample-9: X rank >= 1, scales rank 1, scales > 0, mode in nearest linear
""" + "".join(f"Reduce{name}-1: axes rank 1, keepdims in 0 1, noop_with_empty_axes in 0 1\n" for name in _REDUCTIONS)
_LINE = re.compile(r"(\w+)-(\d+):\s*(.*)")
_RULE = re.compile(
    r"(?P<name>\w+) (?:(?P<kind>scalar)|in (?P<choices>.+)|"
    r"(?P<bounded>rank|extents)? ?(?P<sign>>=|<=|>|)\s*(?P<limit>-?\d+))"
)
_LEFT_OUT = frozenset({("Resize", "roi"), ("Resize", "scales")})  # by exporters, and later by ONNX too
_NAMES = {"float32": "float", "float64": "double"}  # numpy's names where ONNX has others
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "=": lambda value, limit: value == limit,
    ">=": lambda value, limit: limit <= value < math.inf,
    ">": lambda value, limit: limit < value < math.inf,
    "<=": lambda value, limit: -math.inf < value <= limit,
}


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
        definition = onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None
    option = onnx.defs.OpSchema.FormalParameterOption
    return Schema(
        op_type=op_type,
        since=definition.since_version,
        inputs=tuple(
            Parameter(
                name=item.name,
                types=frozenset(name.removeprefix("tensor(").removesuffix(")") for name in item.types),
                variable=item.type_str if item.is_homogeneous else "",
                optional=item.option == option.Optional,
                variadic=item.option == option.Variadic,
            )
            for item in definition.inputs
        ),
        outputs=tuple(item.type_str for item in definition.outputs),
        least_inputs=definition.min_input,
        most_inputs=definition.max_input,
        most_outputs=definition.max_output,
        attributes={
            name: item.type.name  # type: ignore[attr-defined]  # the stubs know no enumeration there
            for name, item in definition.attributes.items()
        },
        required=frozenset(name for name, item in definition.attributes.items() if item.required),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One demand on one input or attribute. `text` is how the table has it."""

    name: str
    kind: str  # "scalar", "rank", "extents", "value" or "choice"
    text: str
    sign: str = "="  # of "rank", "extents" and "value": "=", ">=", "<=" or ">"
    limit: int = 0
    choices: tuple[str, ...] = ()

    @property
    def demand(self) -> str:
        """The text without the name."""
        return self.text.removeprefix(f"{self.name} ")


def rules_of(op_type: str, version: int) -> tuple[Rule, ...]:
    """The rules of an operator of domain ai.onnx at a version of its set."""
    lines = rule_table().get(op_type, {})
    fitting = [since for since in lines if since <= version]
    return lines[max(fitting)] if fitting else ()


@cache
def rule_table() -> Mapping[str, Mapping[int, tuple[Rule, ...]]]:
    """Every rule, by op_type and the version it holds from."""
    table: dict[str, dict[int, tuple[Rule, ...]]] = {}
    for line in filter(None, _TABLE.split("\n")):
        parts = _LINE.fullmatch(line)
        if parts is None:
            raise ValueError(f"no rules: {line}")
        rules = tuple(_rule(text) for text in filter(None, parts[3].split(", ")))
        table.setdefault(parts[1], {})[int(parts[2])] = rules
    return MappingProxyType(table)


def _rule(text: str) -> Rule:
    parts = _RULE.fullmatch(text)
    if parts is None:
        raise ValueError(f"no rule: {text}")
    if parts["choices"]:
        return Rule(name=parts["name"], kind="choice", text=text, choices=tuple(parts["choices"].split()))
    if parts["kind"]:
        return Rule(name=parts["name"], kind="scalar", text=text)
    kind = parts["bounded"] or "value"
    return Rule(name=parts["name"], kind=kind, text=text, sign=parts["sign"] or "=", limit=int(parts["limit"]))


class KnownInputs:
    """What is known about a node's inputs, each by its position."""

    def __init__(
        self,
        node: OnnxNode,
        described: Callable[[str], tuple[str, tuple[int, ...]] | None],
        constant: Callable[[str], Array | None],
    ) -> None:
        self.node = node
        self._described, self._constant = described, constant

    def type_and_shape(self, index: int) -> tuple[str, tuple[int, ...]] | None:
        """ONNX's name of the type, and the shape; None for an absent input, or one that tilewright does not hold."""
        description = self._described(self.node.inputs[index]) if self.node.inputs[index] else None
        return (_NAMES.get(description[0], description[0]), description[1]) if description else None

    def values(self, index: int) -> list[float] | None:
        """The elements of a constant input; None for another."""
        array = self._constant(self.node.inputs[index]) if self.node.inputs[index] else None
        return None if array is None or array.dtype.kind not in "iuf" else array.reshape(-1).tolist()


def check_signature(inputs: KnownInputs, outputs: int) -> None:
    """Raise InvalidNode for the first thing that contradicts the definition of the node's operator, if onnx has one.

    `outputs` is how many the file names, those included that nothing reads.
    """
    node = inputs.node
    schema = schema_of(node.op_type, node.version, node.domain)
    if schema is None:
        return
    _check_counts(node, schema, outputs)
    _check_types(inputs, schema)
    for rule in () if node.domain else rules_of(node.op_type, node.version):
        _check_rule(rule, inputs, schema)


def _check_counts(node: OnnxNode, schema: Schema, outputs: int) -> None:
    if not schema.least_inputs <= len(node.inputs) <= schema.most_inputs:
        raise InvalidNode(f"it has {len(node.inputs)} inputs; {_span(schema.least_inputs, schema.most_inputs)}")
    if outputs > schema.most_outputs:
        raise InvalidNode(f"it has {outputs} outputs; at most {schema.most_outputs} are defined")
    for index, name in enumerate(node.inputs):
        parameter = schema.parameter(index)
        if not name and not parameter.optional and (node.op_type, parameter.name) not in _LEFT_OUT:
            raise InvalidNode(f"input {parameter.name} must be there")
    missing = schema.required - node.attributes.keys()
    if missing:
        raise InvalidNode(f"attribute {min(missing)} is missing")


def _span(least: int, most: int) -> str:
    return f"{least} are defined" if least == most else f"from {least} on" if most > 1000 else f"{least} to {most} are"


def _check_types(inputs: KnownInputs, schema: Schema) -> None:
    bound: dict[str, str] = {}  # type variable -> the type that the first input of it has
    for index in range(len(inputs.node.inputs)):
        known, parameter = inputs.type_and_shape(index), schema.parameter(index)
        if known is None:
            continue
        name = inputs.node.inputs[index]
        if known[0] not in parameter.types:
            raise InvalidNode(f"input {parameter.name} ({show(name)}) is {known[0]}, which version {schema.since} of "
                              f"the operator does not take")  # fmt: skip
        if parameter.variable and bound.setdefault(parameter.variable, known[0]) != known[0]:
            raise InvalidNode(
                f"input {parameter.name} ({show(name)}) is {known[0]}, another input is {bound[parameter.variable]}"
            )


def _check_rule(rule: Rule, inputs: KnownInputs, schema: Schema) -> None:
    if rule.name in schema.attributes:
        if rule.name in inputs.node.attributes and rule.kind in ("value", "choice"):
            _check_attribute(rule, inputs.node.attributes[rule.name])
        return
    for index in range(len(inputs.node.inputs)):
        if schema.parameter(index).name == rule.name:
            _check_input(rule, inputs, index)


def _check_attribute(rule: Rule, value: object) -> None:
    elements = value if isinstance(value, tuple) else (value,)
    if rule.kind == "choice":
        good = all(str(each) in rule.choices for each in elements)
    else:
        good = all(isinstance(each, int | float) and _HOLDS[rule.sign](each, rule.limit) for each in elements)
    if not good:
        shown = show(value) if isinstance(value, str) else str(list(value) if isinstance(value, tuple) else value)
        raise InvalidNode(f"attribute {rule.name} is {shown}; it must be {rule.demand}")


def _check_input(rule: Rule, inputs: KnownInputs, index: int) -> None:
    known = inputs.type_and_shape(index)
    if known is None:
        return
    shape = known[1]
    if rule.kind == "value":
        wrong = [each for each in inputs.values(index) or () if not _HOLDS[rule.sign](each, rule.limit)]
        if wrong:
            raise InvalidNode(f"input {rule.name} holds {wrong[0]:g}; it must be {rule.sign} {rule.limit}")
    elif rule.kind == "scalar":
        if math.prod(shape) != 1 or len(shape) > 1:
            raise InvalidNode(f"input {rule.name} is of shape {list(shape)}; it must have one element")
    elif not all(_HOLDS[rule.sign](each, rule.limit) for each in ((len(shape),) if rule.kind == "rank" else shape)):
        raise InvalidNode(f"input {rule.name} is of shape {list(shape)}; it must have {rule.demand}")
