"""Knows what must hold of inputs and attributes of ONNX operators beyond what schemas say: ranks, scalars, ranges.
Does not know how a rule is checked, nor what tilewright supports.

A line is `OP-SINCE: RULE, RULE, ...` and holds from that version until the next line of the operator. A rule is NAME
and what must hold of it; it is left out where a version has neither an input nor an attribute of that name:

    NAME rank N          it has N axes; `rank >= N`: at least so many
    NAME scalar          it has one element, and at most one axis
    NAME extents >= N    every axis has at least N elements
    NAME >= N            so has every element of the attribute, or of the input where it is constant; also `>` and `<=`
    NAME in A B          it is one of these words

Source: the texts of ONNX's operator documentation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

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
    r"(?P<name>\w+) (?:(?P<kind>scalar)|in (?P<words>.+)|"
    r"(?P<bounded>rank|extents)? ?(?P<sign>>=|<=|>|)\s*(?P<limit>-?\d+))"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One demand on one input or attribute. `text` is how the table has it."""

    name: str
    kind: str  # "scalar", "rank", "extents", "value" or "word"
    text: str
    sign: str = "="  # of "rank", "extents" and "value": "=", ">=", "<=" or ">"
    limit: int = 0
    words: tuple[str, ...] = ()

    @property
    def demand(self) -> str:
        """The text without the name."""
        return self.text.removeprefix(f"{self.name} ")


def rules_of(op_type: str, version: int) -> tuple[Rule, ...]:
    """What must hold of an operator of domain ai.onnx at a version of its set."""
    lines = rule_table().get(op_type, {})
    fitting = [since for since in lines if since <= version]
    return lines[max(fitting)] if fitting else ()


@cache
def rule_table() -> Mapping[str, Mapping[int, tuple[Rule, ...]]]:
    """Every rule, by op_type and the version it holds from."""
    table: dict[str, dict[int, tuple[Rule, ...]]] = {}
    for line in filter(None, _TABLE.split("\n")):
        op_type, since, rules = _parts(line)
        table.setdefault(op_type, {})[since] = tuple(_rule(text) for text in filter(None, rules.split(", ")))
    return MappingProxyType(table)


def _parts(line: str) -> tuple[str, int, str]:
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"no rules: {line}")
    return found[1], int(found[2]), found[3]


def _rule(text: str) -> Rule:
    found = _RULE.fullmatch(text)
    if found is None:
        raise ValueError(f"no rule: {text}")
    if found["words"]:
        return Rule(name=found["name"], kind="word", text=text, words=tuple(found["words"].split()))
    if found["kind"]:
        return Rule(name=found["name"], kind="scalar", text=text)
    kind = found["bounded"] or "value"
    return Rule(name=found["name"], kind=kind, text=text, sign=found["sign"] or "=", limit=int(found["limit"]))
