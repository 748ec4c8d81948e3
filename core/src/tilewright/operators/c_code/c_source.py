"""Knows where the portable C of the operator families is kept. Does not know what is in it."""

from __future__ import annotations

from tilewright.c_text.fragment_files import fragment_file, template_file
from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate

_PACKAGE = "tilewright.operators.c_code"


def c_fragment(name: str) -> CodeFragment:
    """The C in a file beside the operator families."""
    return fragment_file(_PACKAGE, name)


def c_template(name: str, file: str, *needs: CodeFragment | FragmentTemplate) -> FragmentTemplate:
    """The sections that the Mako in a file beside the operator families makes; `name` (Mako) is what each defines."""
    return template_file(_PACKAGE, file, name, needs)


REQUANT_INT = c_template("tw_requant_int${bits}", "requant_int.c.mako")
DOT = c_template("${dot}", "qdot.c.mako")
ELEMENTWISE = c_template("${function}", "elementwise.c.mako")  # one statement over all elements; see `walk`
