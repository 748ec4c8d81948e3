"""The integer networks of the PULP world for tilewright: what the plugin offers. Does not know how they are read.

Nothing heavy is imported before a model is seen: every ONNX file is shown to the dialect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tilewright.api import hookimpl
from tilewright.api.graph import DType
from tilewright.api.importer import Dialect, ImportedModel, Limits
from tilewright.api.kernel import Kernel
from tilewright.api.operator import Operator
from tilewright.api.passes import GraphPass


def _speaks(model: Any, types: Mapping[str, DType]) -> bool:
    from tilewright_integer_dialect.recognition import speaks

    return speaks(model, types)


def _translate(model: Any, types: Mapping[str, DType], limits: Limits) -> ImportedModel:
    from tilewright_integer_dialect.translation import translate

    return translate(model, types, limits)


DIALECT = Dialect(
    name="integer",
    summary="whole numbers in floats, requantised by RequantShift: Deeploy, quantlib, NEMO",
    speaks=_speaks,
    translate=_translate,
)


def _speaks_floats(model: Any, types: Mapping[str, DType]) -> bool:
    from tilewright_integer_dialect.training.translation import speaks

    return speaks(model, types)


def _translate_floats(model: Any, types: Mapping[str, DType], limits: Limits) -> ImportedModel:
    from tilewright_integer_dialect.training.translation import translate

    return translate(model, types, limits)


FLOATS = Dialect(
    name="training",
    summary="steps of training with their gradients, and float networks as Deeploy writes them",
    speaks=_speaks_floats,
    translate=_translate_floats,
)


def _speaks_qonnx(model: Any, types: Mapping[str, DType]) -> bool:
    from tilewright_integer_dialect.qonnx import speaks

    return speaks(model, types)


def _translate_qonnx(model: Any, types: Mapping[str, DType], limits: Limits) -> ImportedModel:
    from tilewright_integer_dialect.qonnx import translate

    return translate(model, types, limits)


QONNX = Dialect(
    name="qonnx",
    summary="floats that a node Quant rounds to a grid: Brevitas, FINN",
    speaks=_speaks_qonnx,
    translate=_translate_qonnx,
)


@hookimpl
def tilewright_dialects() -> Iterable[Dialect]:
    """Whole numbers, floats, and floats on a grid: no file is two of them."""
    return (DIALECT, FLOATS, QONNX)


@hookimpl
def tilewright_operators() -> Iterable[Operator]:
    """Operators that exist in this dialect alone, and signatures of such as are made of the core's."""
    from tilewright_integer_dialect.vocabulary import OPERATORS

    return OPERATORS


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """Portable C of these operators."""
    from tilewright_integer_dialect.vocabulary import KERNELS

    return KERNELS


@hookimpl
def tilewright_graph_passes() -> Iterable[GraphPass]:
    """Products and sums with their requantisation as one step each, and functions of a byte as tables."""
    from tilewright_integer_dialect.fusing import FUSE
    from tilewright_integer_dialect.pairing import PAIRS
    from tilewright_integer_dialect.tables import TABLES

    return (FUSE, TABLES, PAIRS)
