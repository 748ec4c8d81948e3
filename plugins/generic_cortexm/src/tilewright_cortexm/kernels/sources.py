"""Knows where this package's C is kept, and how a kernel names the sections it needs. Does not know what is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.api.kernel import CodeFragment, FragmentTemplate, fragment_file, template_file

_PACKAGE = "tilewright_cortexm.kernels"


def c_fragment(name: str) -> CodeFragment:
    """The C in a file beside this module."""
    return fragment_file(_PACKAGE, name)


def c_template(name: str, file: str, *needs: CodeFragment | FragmentTemplate) -> FragmentTemplate:
    """The sections that the Mako in a file beside this module makes; `name` (Mako) is what each defines."""
    return template_file(_PACKAGE, file, name, needs)


NARROW = c_template("${narrow}", "narrow.c.mako")  # clamp(v >> shift, low, high)

WIDEN = c_template("tw_dsp_widen_${widen}", "dsp_widen.c.mako")  # bytes to pairs of 16-bit halves
_BLOCK_PARTS = (
    c_template("TW_DSP_${shape}", "dsp_block_text.c.mako"),
    c_template("TW_DSP_${shape}_END_${end}", "dsp_block_end.c.mako"),
    c_template("${products}", "dsp_block_products.c.mako"),
)
BLOCK = c_template("${block}", "dsp_block.c.mako", *_BLOCK_PARTS)  # columns times rows of weights, requantised
_MVE_PARTS = (
    c_template("TW_MVE_${shape}", "mve_block_text.c.mako"),
    c_template("TW_MVE_${shape}_END_${end}", "mve_block_end.c.mako"),
    c_template("${products}", "mve_block_products.c.mako"),
)
MVE_BLOCK = c_template("${block}", "mve_block.c.mako", *_MVE_PARTS)  # the same with vectors
_MVE_WORDS = (*_MVE_PARTS[:2], c_template("${products}", "mve_words_products.c.mako"))
MVE_WORDS_BLOCK = c_template("${block}", "mve_block.c.mako", *_MVE_WORDS)  # of values of 16 bits


def narrowed(shift: int, low: int, high: int) -> tuple[str, FragmentTemplate]:
    """A function that is clamp(v >> shift, low, high): its name, and its section."""
    name = f"tw_narrow_{shift}_{low}_{high}".replace("-", "m")
    return name, NARROW.of(narrow=name, narrow_shift=shift, low=low, high=high)


def each_of(template: FragmentTemplate, shapes: Sequence[Mapping[str, object]]) -> tuple[FragmentTemplate, ...]:
    """The template once for each of the shapes."""
    return tuple(template.of(**shape) for shape in shapes)


def limits_name(low: int, high: int) -> str:
    """Part of a macro's name: what results are clamped to."""
    return f"{low}_{high}".replace("-", "M")


def dsp_block(
    block: str,
    pixels: int,
    channels: int,
    *,
    more: bool = False,
    bytes_of: str = "",
    paired: bool = False,
    nibbles: bool = False,
    twice: bool = False,
) -> dict[str, object]:
    """What BLOCK is given of its shape. `block` is its name, the others are explained in dsp_block.h, dsp_pairs,
    dsp_nibbles and dsp_twice.
    """
    words = "_nibbles" if nibbles else "_paired" if paired else ""
    kind = f"{'_more' if more else ''}{words}{bytes_of and f'_{bytes_of}'}"
    return {
        "block": block,
        "shape": f"{pixels}X{channels}{kind.upper()}",
        "products": f"tw_dsp_products{kind}{'_twice' if twice else ''}",
        "pixels": pixels,
        "channels": channels,
        "more": more,
        "bytes_of": bytes_of,
        "paired": paired,
        "nibbles": nibbles,
    }


def mve_block(
    block: str,
    pixels: int,
    channels: int,
    *,
    more: bool = False,
    nibbles: bool = False,
    words: bool = False,
    suffix: str = "",
) -> dict[str, object]:
    """What MVE_BLOCK is given of its shape, or MVE_WORDS_BLOCK with `words`. `block` is its name, the rest is explained
    in mve_block.h, dsp_nibbles and mve_requant.
    """
    kind = f"{'_more' if more else ''}{'_nibbles' if nibbles else ''}{'_words' if words else ''}"
    return {
        "block": block,
        "shape": f"{pixels}X{channels}{kind.upper()}",
        "products": f"tw_mve_products{kind}{suffix}",
        "pixels": pixels,
        "channels": channels,
        "more": more,
        "nibbles": nibbles,
        "words": words,
        "lanes": 8 if words else 16,
    }
