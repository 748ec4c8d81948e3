"""Knows where this package's C is kept, and how a kernel names the sections it needs. Does not know what is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.api.kernel import Section, SectionTemplate, section_file, template_file

_PACKAGE = "tilewright_cortexm.kernels"


def c_section(name: str) -> Section:
    """The C in a file beside this module."""
    return section_file(_PACKAGE, name)


def c_template(name: str, file: str, *needs: Section | SectionTemplate) -> SectionTemplate:
    """The sections that the Mako in a file beside this module makes; `name` (Mako) is what each defines."""
    return template_file(_PACKAGE, file, name, needs)


NARROW = c_template("${narrow}", "narrow.c.mako")  # clamp(v >> shift, low, high)

WIDEN = c_template("tw_dsp_widen_${widen}", "dsp_widen.c.mako")  # bytes to pairs of 16-bit halves
BLOCK = c_template("${block}", "dsp_block.c.mako")  # products of columns and rows of weights, requantised
MVE_BLOCK = c_template("${block}", "mve_block.c.mako")  # the same with vectors


def narrowed(shift: int, low: int, high: int) -> tuple[str, SectionTemplate]:
    """A function that is clamp(v >> shift, low, high): its name, and its section."""
    name = f"tw_narrow_{shift}_{low}_{high}".replace("-", "m")
    return name, NARROW.of(narrow=name, narrow_shift=shift, low=low, high=high)


def each_of(template: SectionTemplate, shapes: Sequence[Mapping[str, object]]) -> tuple[SectionTemplate, ...]:
    """The template once for each of the shapes."""
    return tuple(template.of(**shape) for shape in shapes)
