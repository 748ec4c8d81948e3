"""Knows which rule is for which operator. Does not know what rules do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilewright_integer_dialect.chains import JOINED
from tilewright_integer_dialect.file_nodes import FileNode
from tilewright_integer_dialect.rules import elementwise, movement, products, requantisation, rows
from tilewright_integer_dialect.writing import Writing

Rule = Callable[[FileNode, Writing], None]

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        JOINED: requantisation.floored_chain,
        "Add": elementwise.add,
        "Cast": elementwise.cast,
        "Clip": elementwise.clip,
        "Concat": movement.concat,
        "Constant": movement.constant,
        "Conv": products.conv,
        "Expand": movement.moving(),
        "Flatten": movement.moving("axis"),
        "Gather": movement.gather,
        "Gemm": products.gemm,
        "ITAMax": rows.ita_max,
        "ITAPartialMax": rows.ita_partial_max,
        "Identity": elementwise.cast,
        "IntegerDiv": elementwise.integer_div,
        "IntegerMean": rows.mean,
        "MatMul": products.matmul,
        "MaxPool": movement.max_pool,
        "Mul": elementwise.mul,
        "Neg": elementwise.neg,
        "Pad": movement.pad,
        "RQIntegerDiv": elementwise.requantized_div,
        "ReduceMean": rows.mean,
        "ReduceSum": rows.total,
        "Relu": elementwise.relu,
        "RequantShift": requantisation.requant_shift,
        "RequantizedAdd": elementwise.requantized_add,
        "RequantizedConv": products.requantized_conv,
        "RequantizedGemm": products.requantized_gemm,
        "RequantizediGELU": elementwise.requantized_gelu,
        "RequantizediHardswish": elementwise.requantized_hardswish,
        "Reshape": movement.moving("allowzero"),
        "Slice": movement.sliced,
        "Squeeze": movement.with_axes,
        "Sub": elementwise.sub,
        "Transpose": movement.moving("perm"),
        "TrueIntegerDiv": elementwise.true_integer_div,
        "Unsqueeze": movement.with_axes,
        "iGELU": elementwise.gelu,
        "iHardswish": elementwise.hardswish,
        "iLayerNorm": rows.layer_norm,
        "iNoNorm": elementwise.no_norm,
        "iRMSNorm": rows.rms_norm,
        "iSoftmax": rows.softmax,
    }
)
