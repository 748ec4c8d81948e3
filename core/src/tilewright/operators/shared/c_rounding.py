"""Knows how portable C requantises a sum, whatever its rounding: which function, how many words a channel has, and
what is in them. Does not know operators, nor how a word of the formula `onnx` is found (`arithmetic.requant_form`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.arithmetic.requant_form import RequantForm, requant_form
from tilewright.c_text.literals import c_int
from tilewright.ir.code_fragments import CodeFragment, FragmentTemplate
from tilewright.ir.machines.kernel import CodeFragments, Operand
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import DoubleRounding, Float32HalfEven, MultiplyShift, Rational
from tilewright.operators.c_code.c_elements import c_initialiser
from tilewright.operators.c_code.c_source import REQUANT_INT, c_fragment, c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Words = npt.NDArray[np.int32]

_LARGEST_PRODUCT = 2**62
NULL_WORDS = "(const int32_t *)0"


@dataclass(frozen=True, slots=True, kw_only=True)
class CRounding:
    """One layer's requantisation for templates. `words` is how many of 32 bits a channel has."""

    function: str
    section: CodeFragment | FragmentTemplate
    words: int = 1
    suffix: str = ""  # of the functions that call it
    halves: str = ""  # of a multiply-shift: how it rounds, its register, and what happens beyond
    register: int = 0
    overflow: str = ""

    def of(self, accumulator: str, words: str, index: str, parameters: str) -> str:
        """C for the result; `words` is where those of channel 0 stand."""
        place = f"{words}[{index}]" if self.words == 1 else f"&{words}[({index}) * {self.words}]"
        return f"{self.function}({accumulator}, {place}, {parameters})"

    def at(self, words: str, index: str) -> str:
        """C for where the words of a channel begin."""
        return f"{words} + {index}" if self.words == 1 else f"{words} + ({index} * {self.words})"

    @property
    def word_type(self) -> str:
        """The C type in which one channel's words are handed on, ready for a name."""
        return "int32_t " if self.words == 1 else "const int32_t *"

    def handed(self, accumulator: str, word: str, parameters: str) -> str:
        """C for the result, of a channel's words that were handed on."""
        return f"{self.function}({accumulator}, {word}, {parameters})"

    def picked(self, words: str, index: str) -> str:
        """C for the words of a channel, to hand on."""
        return f"{words}[{index}]" if self.words == 1 else f"&{words}[({index}) * {self.words}]"


def c_rounding(requant: Requant, accumulator_bits: int = 32) -> CRounding:
    """What requantises sums of that many bits."""
    rounding = requant.rounding
    if isinstance(rounding, Float32HalfEven):
        return CRounding(function=f"tw_requant_int{accumulator_bits}", section=REQUANT_INT)
    if isinstance(rounding, DoubleRounding):
        section = c_fragment("requant_tflm.h")
        return CRounding(function="tw_requant_tflm", section=section, words=2, suffix="_tflm")
    if isinstance(rounding, Rational):
        name, section = f"rational_{rounding.halves}", c_fragment("requant_rational.h")
        return CRounding(function=f"tw_requant_{name}", section=section, words=4, suffix=f"_{name}")
    name = f"shift_{rounding.rounding.replace('-', '_')}_{rounding.overflow}{rounding.bits}"
    return CRounding(
        function=f"tw_requant_{name}",
        section=c_template("${rounding.function}", "requant_shift.c.mako"),
        words=4,
        suffix=f"_{name}",
        halves=rounding.rounding,
        register=rounding.bits,
        overflow=rounding.overflow,
    )


def sums_of(bias: object, bits: int) -> tuple[str, str]:
    """Of sums of `bits` that begin with a bias (an operand, or none): its C type, and the part of a function's name."""
    wide = isinstance(bias, Operand) and bias.dtype is DType.I64
    return ("int64_t", f"acc{bits}_b64") if wide else ("int32_t", f"acc{bits}")


def requant_source(part: str, whole: str, *needs: CodeFragment | FragmentTemplate) -> Callable[..., CodeFragments]:
    """The Mako of a part or of everything at once, by the value `part`, with the requantisation of `rounding`."""

    def source(values: Mapping[str, Any]) -> CodeFragments:
        file = part if values["part"] else whole
        return (c_template("${function}", file, values["rounding"].section, *needs),)

    return source


def channel_words(requant: Requant, bounds: AccumulatorBounds, where: str) -> Words:
    """What is stored for the channels: [channels], or [channels, words]. `where` is the node's name."""
    if isinstance(requant.rounding, Float32HalfEven):
        return requant_form(requant, bounds, where).array()
    channels = len(bounds.lowest)
    return np.array([_words(requant, channel) for channel in range(channels)], np.int32)


def words_shape(requant: Requant, channels: int) -> tuple[int, ...]:
    """The shape of `channel_words`."""
    words = c_rounding(requant).words
    return (channels,) if words == 1 else (channels, words)


def words_index(requant: Requant, loop: str) -> str:
    """The index of `channel_words` in a map, of the channel `loop`."""
    return f"R[{loop}]" if c_rounding(requant).words == 1 else f"R[{loop},:]"


def _words(requant: Requant, channel: int) -> tuple[int, ...]:
    rounding = requant.rounding
    if isinstance(rounding, Rational):
        return (*_halves(_one(rounding.numerator, channel)), *_halves(_one(rounding.denominator, channel)))
    if isinstance(rounding, MultiplyShift):
        addend = _halves(_one(rounding.addend, channel))
        return _one(rounding.multiplier, channel), _one(rounding.shift, channel), *addend
    scale = requant.scale[0 if len(requant.scale) == 1 else channel]
    return rounding.numbers(scale) if isinstance(rounding, DoubleRounding) else ()


def _one(values: tuple[int, ...], channel: int) -> int:
    return values[0 if len(values) == 1 else channel]


def _halves(value: int) -> tuple[int, int]:
    """64 bits as two signed words, the lower one first."""
    low = value & 0xFFFFFFFF
    return low - ((low >> 31) << 32), value >> 32


def c_words(words: Words) -> str:
    """The words of one channel as C: a number, or an array."""
    return c_int(int(words)) if words.ndim == 0 else f"(const int32_t[]){{{', '.join(c_int(int(w)) for w in words)}}}"


def c_requant(requant: Requant, bounds: AccumulatorBounds, where: str) -> str:
    """A `tw_requant` initialiser (requant.h); roundings other than `onnx` read its zero point and limits only."""
    limits = {"zero_point": requant.zero_point, "low": requant.low, "high": requant.high}
    if not isinstance(requant.rounding, Float32HalfEven):
        return c_initialiser(limits)
    form = requant_form(requant, bounds, where)
    forms = {"fixed": int(any(form.proved)), "exact": int(not all(form.proved))}
    return c_initialiser({"shift": form.shift, **limits, **forms})


def described(requant: Requant, bounds: AccumulatorBounds, where: str, accumulator_bits: int = 32) -> dict[str, object]:
    """What the report says about a layer's arithmetic: its rounding, widths, and which channels are proved."""
    if not isinstance(requant.rounding, Float32HalfEven):
        facts: dict[str, object] = {"channels": len(bounds.lowest), "rounding": requant.rounding.name}
        return {"accumulator_bits": accumulator_bits, "requant": facts}
    return described_form(requant_form(requant, bounds, where), accumulator_bits)


def described_form(form: RequantForm, accumulator_bits: int) -> dict[str, object]:
    """The same of a form of `onnx`."""
    return {
        "accumulator_bits": accumulator_bits,
        "requant": {
            "channels": len(form.words),
            "proved": sum(form.proved),
            "shift": form.shift,
            "ranges": [str(part) for part in form.ranges()],
        },
    }


def too_wide(requant: Requant, bounds: AccumulatorBounds) -> str | None:
    """Why portable C cannot requantise these sums, or None: products of 64 bits, for some roundings sums of 32."""
    least, most = min(bounds.lowest, default=0), max(bounds.highest, default=0)
    rounding, reach = requant.rounding, max(abs(least), abs(most), 1)
    if isinstance(rounding, DoubleRounding) and not -(2**31) <= least <= most < 2**31:
        return "its sums leave the 32 bits that tflm has for them"
    factor, added = 0, 0
    if isinstance(rounding, MultiplyShift):
        factor, added = max(map(abs, rounding.multiplier)), max(map(abs, rounding.addend)) + (1 << max(rounding.shift))
        if factor >= 2**31 or not 0 <= min(rounding.shift) <= max(rounding.shift) <= 62:
            return "portable C multiplies with 32 bits, and shifts by 0 to 62"
    if isinstance(rounding, Rational):
        factor, added = max(map(abs, rounding.numerator)), max(rounding.denominator)
    return "its products need more than 64 bits" if reach * factor + added >= _LARGEST_PRODUCT else None
