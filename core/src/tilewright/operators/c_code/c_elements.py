"""Knows how C reads and writes an element of each type, the sum that says where it is, and a structure of members.
Does not know what is computed.

A float of 16 bits is stored as its bits, and computed in float. The numbers of a sum are added up beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilewright.ir.code_fragments import CodeFragment
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_fragment


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """Elements of one type, for templates: `load` and `store` are C, for the place of an element."""

    dtype: DType

    @property
    def stored(self) -> str:
        """The C type of an element in memory."""
        return self.dtype.c_type

    @property
    def real(self) -> str:
        """The C type of an element while something is computed."""
        return self.dtype.computed_in.c_type

    def load(self, place: str) -> str:
        """The value of the element at `place`."""
        return f"tw_f32_of_{self.dtype.value}({place})" if self.dtype.is_half else place

    def rounded(self, value: str) -> str:
        """What is stored for a value."""
        return f"tw_{self.dtype.value}_of_f32({value})" if self.dtype.is_half else value


def conversions(*dtypes: DType) -> tuple[CodeFragment, ...]:
    """The functions that `load` and `rounded` call for these types."""
    halves = dict.fromkeys(dtype for dtype in dtypes if dtype.is_half)
    return tuple(
        section for half in halves for section in (loading(half), c_fragment(f"functions/tw_{half.value}_of_f32.h"))
    )


def loading(half: DType) -> CodeFragment:
    """The function that `load` calls for floats of 16 bits."""
    return c_fragment(f"functions/tw_f32_of_{half.value}.h")


def element_names(dtype: DType) -> Mapping[str, str | Callable[[str], str] | tuple[CodeFragment, ...]]:
    """What a kernel's template needs to be made for any float: names in its `values`."""
    own = Elements(dtype=dtype)
    return {
        "kind": dtype.value,
        "stored": own.stored,
        "real": own.real,
        "load": own.load,
        "rounded": own.rounded,
        "conversions": conversions(dtype),
    }


def c_sum(constant: int, *terms: tuple[int, str]) -> str:
    """`constant + factor * primary + ...` as a C expression of type int32_t, without what is 0."""
    parts = []
    for factor, expression in terms:
        if expression.isdigit():
            constant += factor * int(expression)
        elif factor:
            parts.append((factor, expression))
    text = str(constant) if constant or not parts else ""
    for factor, expression in parts:
        product = expression if abs(factor) == 1 else f"{abs(factor)} * {expression}"
        sign = "-" if factor < 0 else "+"
        text = f"{text} {sign} {product}" if text else (product if factor > 0 else f"-{product}")
    return text


def c_moved(pointer: object, *terms: tuple[int, str]) -> str:
    """`pointer` moved by a sum, as C."""
    offset = c_sum(0, *terms)
    if offset == "0":
        return str(pointer)
    return f"{pointer} + ({offset})" if len(terms) > 1 and not offset.isdigit() else f"{pointer} + {offset}"


def c_initialiser(fields: Mapping[str, object]) -> str:
    """A structure of C from its members."""
    return "{" + ", ".join(f".{name} = {value}" for name, value in fields.items()) + "}"
