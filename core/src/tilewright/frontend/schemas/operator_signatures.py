"""Knows how a node is held against the signature of its operator: arity, types, attributes that must be there, rules.
Does not know what tilewright supports: what passes here keeps ONNX's rules, and may still be refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.refusals import InvalidNode
from tilewright.frontend.schemas.rules import Rule, rules_of
from tilewright.frontend.schemas.schemas import Schema, schema_of
from tilewright.ir.graphs.importing import OnnxNode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_LEFT_OUT = frozenset({("Resize", "roi"), ("Resize", "scales")})  # by exporters, and later by ONNX too
_NAMES = {"float32": "float", "float64": "double"}  # numpy's names where ONNX has others
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "=": lambda value, limit: value == limit,
    ">=": lambda value, limit: limit <= value < math.inf,
    ">": lambda value, limit: limit < value < math.inf,
    "<=": lambda value, limit: -math.inf < value <= limit,
}


class Given:
    """What is known about a node's inputs, each of them by its position: asked for by the checks."""

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
        found = self._described(self.node.inputs[index]) if self.node.inputs[index] else None
        return (_NAMES.get(found[0], found[0]), found[1]) if found else None

    def values(self, index: int) -> list[float] | None:
        """The elements where they are known."""
        array = self._constant(self.node.inputs[index]) if self.node.inputs[index] else None
        return None if array is None or array.dtype.kind not in "iuf" else array.reshape(-1).tolist()


def check_signature(given: Given, outputs: int) -> None:
    """Raise InvalidNode for the first thing that contradicts the definition of the node's operator, if onnx has one.

    `outputs` is how many the file names, those included that nothing reads.
    """
    node = given.node
    schema = schema_of(node.op_type, node.version, node.domain)
    if schema is None:
        return
    _check_counts(node, schema, outputs)
    _check_types(given, schema)
    for rule in () if node.domain else rules_of(node.op_type, node.version):
        _check_rule(rule, given, schema)


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


def _check_types(given: Given, schema: Schema) -> None:
    bound: dict[str, str] = {}  # type variable -> the type that the first input of it has
    for index in range(len(given.node.inputs)):
        found, parameter = given.type_and_shape(index), schema.parameter(index)
        if found is None:
            continue
        name = given.node.inputs[index]
        if found[0] not in parameter.types:
            raise InvalidNode(f"input {parameter.name} ({show(name)}) is {found[0]}, which version {schema.since} of "
                              f"the operator does not take")  # fmt: skip
        if parameter.variable and bound.setdefault(parameter.variable, found[0]) != found[0]:
            raise InvalidNode(
                f"input {parameter.name} ({show(name)}) is {found[0]}, another input is {bound[parameter.variable]}"
            )


def _check_rule(rule: Rule, given: Given, schema: Schema) -> None:
    if rule.name in schema.attributes:
        if rule.name in given.node.attributes and rule.kind in ("value", "word"):
            _check_attribute(rule, given.node.attributes[rule.name])
        return
    for index in range(len(given.node.inputs)):
        if schema.parameter(index).name == rule.name:
            _check_input(rule, given, index)


def _check_attribute(rule: Rule, value: object) -> None:
    elements = value if isinstance(value, tuple) else (value,)
    if rule.kind == "word":
        good = all(str(each) in rule.words for each in elements)
    else:
        good = all(isinstance(each, int | float) and _HOLDS[rule.sign](each, rule.limit) for each in elements)
    if not good:
        raise InvalidNode(f"attribute {rule.name} is {_shown(value)}; it must be {rule.demand}")


def _check_input(rule: Rule, given: Given, index: int) -> None:
    found = given.type_and_shape(index)
    if found is None:
        return
    shape = found[1]
    if rule.kind == "value":
        wrong = [each for each in given.values(index) or () if not _HOLDS[rule.sign](each, rule.limit)]
        if wrong:
            raise InvalidNode(f"input {rule.name} holds {wrong[0]:g}; it must be {rule.sign} {rule.limit}")
    elif rule.kind == "scalar":
        if math.prod(shape) != 1 or len(shape) > 1:
            raise InvalidNode(f"input {rule.name} is of shape {list(shape)}; it must have one element")
    elif not all(_HOLDS[rule.sign](each, rule.limit) for each in ((len(shape),) if rule.kind == "rank" else shape)):
        raise InvalidNode(f"input {rule.name} is of shape {list(shape)}; it must have {rule.demand}")


def _shown(value: object) -> str:
    return show(value) if isinstance(value, str) else str(list(value) if isinstance(value, tuple) else value)
