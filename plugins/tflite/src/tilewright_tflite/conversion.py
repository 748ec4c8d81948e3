"""Knows what a conversion of an operator is: a function, the options that it reads, and its newest version.
Does not know any operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilewright_tflite.model import Operator
from tilewright_tflite.network import Network

Convert = Callable[[Operator, Network], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """How one operator becomes nodes of ONNX."""

    code: str
    convert: Convert
    options_type: int = 0  # of the union in the file; 0: it reads no options
    newest: int = 9  # version that is known


def conversion(code: str, convert: Convert, options_type: int = 0, newest: int = 9) -> Conversion:
    """The same in a line."""
    return Conversion(code=code, convert=convert, options_type=options_type, newest=newest)
