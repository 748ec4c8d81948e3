"""Knows which of the small C functions in `functions` an expression calls: each is a section of its own.
Does not know what the functions compute.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.machines.kernel import CodeFragments
from tilewright.operators.c_code.c_source import ELEMENTWISE, c_fragment

_CALL = re.compile(r"\btw_\w+(?=\()")


def c_functions(expression: str) -> tuple[CodeFragment, ...]:
    """A section for every function that the C expression calls, in the order of their names."""
    return tuple(c_fragment(f"functions/{name}.h") for name in sorted(set(_CALL.findall(expression))))


def elementwise_source(values: Mapping[str, Any]) -> CodeFragments:
    """What `elementwise_values` and `ELEMENTWISE_CALL` need."""
    return (*c_functions(values["expression"]), *values["conversions"], ELEMENTWISE)
