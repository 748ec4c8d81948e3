"""Knows where this package's C is kept, and the sections that several kernels share. Does not know what is in them."""

from __future__ import annotations

from tilewright.api.kernel import CodeFragment, FragmentTemplate, fragment_file, template_file
from tilewright_riscv.floats.lanes import Dialect
from tilewright_riscv.floats.sections import scalar_section

_PACKAGE = "tilewright_siracusa.kernels"


def c_fragment(name: str) -> CodeFragment:
    """The C in a file beside this module."""
    return fragment_file(_PACKAGE, name)


def c_template(name: str, file: str, *needs: CodeFragment | FragmentTemplate) -> FragmentTemplate:
    """The sections that the Mako in a file beside this module makes; `name` (Mako) is what each defines."""
    return template_file(_PACKAGE, file, name, needs)


FINISH = c_template("tw_xp_finish_${limit}", "finish.c.mako")
WORD_FINISH = c_template("tw_xp_finish_${limit}", "word_finish.c.mako")
DOT = c_template("tw_xp_dot_${kind}${'_nibbles' if nibbles else ''}${'_apart' if apart else ''}", "dot.c.mako")
TOTALS = c_template("tw_xp_totals_${kind}", "totals.c.mako")
TURN = c_template("tw_xp_turn_${kind}_${'taps' if weighted else 'ones'}", "turn.c.mako")
LANES = c_template("${function}", "lanes.c.mako", FINISH, TURN)
STRIPS = c_template("${function}", "strips.c.mako", FINISH)
DIALECT = Dialect(
    prefix="tw_xp", owner="tilewright_siracusa", fpu=c_fragment("float_fpu.h"), stepping=True,
    within=c_fragment("float_within.h"),
)  # fmt: skip
FLOAT_FINISH = c_template("tw_xp_f32_finish_${clip}", "float_finish.c.mako")
FLOAT_DOT = c_template("tw_xp_f32_dot_${form}", "float_dot.c.mako", scalar_section(DIALECT))
