"""Knows the arithmetics that the core has. Does not know those of platforms."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilewright.ir.graphs.arithmetic import Arithmetic
from tilewright.operators.arithmetics.onnx import ONNX
from tilewright.operators.arithmetics.shifts import PULP_SHIFT
from tilewright.operators.arithmetics.tflm import TFLM

ARITHMETICS: Mapping[str, Arithmetic] = MappingProxyType({each.name: each for each in (ONNX, TFLM, PULP_SHIFT)})
