"""Knows where this package's C is kept. Does not know what is in it."""

from __future__ import annotations

from tilewright.api.kernel import CodeFragment, FragmentTemplate, c_functions, fragment_file, template_file

_PACKAGE = "tilewright_snitch.kernels"


def c_fragment(name: str) -> CodeFragment:
    """The C in a file beside this module."""
    return fragment_file(_PACKAGE, name)


def c_template(name: str, file: str, *needs: CodeFragment | FragmentTemplate) -> FragmentTemplate:
    """The section that the Mako in a file beside this module makes; `name` (Mako) is what it defines."""
    return template_file(_PACKAGE, file, name, needs)


def half_sections(kind: str) -> tuple[CodeFragment, ...]:
    """Functions of portable C that read and write floats of 16 bits ("f16" or "bf16")."""
    return c_functions(f"tw_f32_of_{kind}() tw_{kind}_of_f32()")


HALF_MODE = c_template("tw_sn_${kind}_mode", "half_mode.c.mako", c_fragment("streams.h"))
