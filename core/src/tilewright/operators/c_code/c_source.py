"""Knows where the portable C of the operator families is kept, and which of the small C functions an expression calls.
Does not know what the C computes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tilewright.c_text.fragment_files import fragment_file, template_file
from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate
from tilewright.ir.machines.kernel import CodeFragments

_PACKAGE = "tilewright.operators.c_code"


def c_fragment(name: str) -> CodeFragment:
    """The C in a file beside the operator families."""
    return fragment_file(_PACKAGE, name)


def c_template(name: str, file: str, *needs: CodeFragment | FragmentTemplate) -> FragmentTemplate:
    """The sections that the Mako in a file beside the operator families makes; `name` (Mako) is what each defines."""
    return template_file(_PACKAGE, file, name, needs)


REQUANT_INT = c_template("tw_requant_int${bits}", "requant_int.c.mako")
DOT = c_template("${dot}", "qdot.c.mako")
PACKED_WEIGHT = c_template("tw_weight_${weight_bits}", "packed_weight.c.mako")
PACKED_DOT = c_template("${dot}", "qdot_packed.c.mako", PACKED_WEIGHT)  # the same of weights that share bytes
ELEMENTWISE = c_template("${function}", "elementwise.c.mako")  # one statement over all elements; see `walk`


_CALL = re.compile(r"\btw_\w+(?=\()")


def c_functions(expression: str) -> tuple[CodeFragment, ...]:
    """A section for every function that the C expression calls, in the order of their names."""
    return tuple(c_fragment(f"functions/{name}.h") for name in sorted(set(_CALL.findall(expression))))


def elementwise_source(values: Mapping[str, Any]) -> CodeFragments:
    """What `elementwise_values` and `ELEMENTWISE_CALL` need."""
    return (*c_functions(values["expression"]), *values["conversions"], ELEMENTWISE)
