"""Knows the required rules of MISRA C:2012 that generated code deviates from: which, in which parts of it, and why.
Does not know the texts of the rules, which are not free: they are named by number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.ir.plans.stages import Allocated, Artifact

KERNELS, STEPS, INTERFACE, DATA = "kernels", "steps", "interface", "data"


@dataclass(frozen=True, slots=True)
class Deviation:
    """A rule, the part of a source in which code deviates from it, what that code is, and why it is so."""

    rule: str
    part: str
    what: str
    why: str


_BYTES = "a plan places values of all types in one pool of bytes; its checker proves every place aligned for its type"
_SUMS = "sums, products and shifts are of the widths that were proved enough at compile time"
_FLAGS = "a condition is kept as 0 or 1 in an integer, where it is used in sums or in several places"

DEVIATIONS = (
    Deviation("1.4", DATA, "the attribute that aligns a pool or constants", "a pool is aligned as its plan was made"),
    Deviation("2.2", KERNELS, "an operation that changes nothing here", "one text makes kernels of all sizes"),
    Deviation("7.2", KERNELS, "constants of UINT32_C", "the macro of stdint.h gives them their type"),
    Deviation("7.2", STEPS, "constants of UINT32_C", "the macro of stdint.h gives them their type"),
    Deviation("9.3", KERNELS, "sums that begin with a bias, or at 0", "what is not named begins at 0"),
    Deviation("10.1", DATA, "a shift in a static assertion", "it asserts what kernels need of shifts"),
    Deviation("10.1", KERNELS, "shifts of signed numbers", "a static assertion holds that they are arithmetic"),
    Deviation("10.3", KERNELS, "conditions in integers", _FLAGS),
    Deviation("10.4", KERNELS, "operands of unlike essential types", _SUMS),
    Deviation("10.4", STEPS, "a count of rows beside a number", "counts are kept in 16 bits, and promoted to int"),
    Deviation("10.5", KERNELS, "casts of conditions", _FLAGS),
    Deviation("10.6", KERNELS, "a product that is stored in a wider type", _SUMS),
    Deviation("10.7", KERNELS, "a product that is used in a wider type", _SUMS),
    Deviation("10.8", KERNELS, "a count of bytes that is cast to size_t", "it is never negative"),
    Deviation("11.3", KERNELS, "bytes that are read as words", _BYTES),
    Deviation("11.3", STEPS, "the address of an operand in its pool", _BYTES),
    Deviation("11.3", INTERFACE, "the address of an input or output in its pool", _BYTES),
    Deviation("11.6", INTERFACE, "the address of which the alignment is checked", "C has no other way to check it"),
    Deviation("11.8", KERNELS, "what is written through a const structure", "the structure is, not what it shows"),
    Deviation("11.8", INTERFACE, "the caller's output", "the structure of addresses is const, not what they show"),
    Deviation("11.9", KERNELS, "a bias or zero points that are not there", "the macro NULL would need a header"),
    Deviation("11.9", STEPS, "a bias or zero points that are not there", "the macro NULL would need a header"),
    Deviation("14.2", KERNELS, "a loop that advances by what its body has done", "blocks of four, then what is left"),
    Deviation("14.4", KERNELS, "numbers as conditions", "they are 0 where there is nothing to do"),
    Deviation("14.4", STEPS, "answers of tw_rt.h as conditions", "the interface answers 0 or 1"),
    Deviation("15.6", KERNELS, "an else in front of a loop or condition", "one text makes kernels with it and without"),
    Deviation("15.7", KERNELS, "a chain of conditions without a last branch", "there is nothing left to do"),
    Deviation("17.7", KERNELS, "the result of memcpy or memmove", "it is the target, which is known"),
    Deviation("20.7", KERNELS, "assembler that macros put together", "it is text, in which parentheses mean something"),
)


def misra(_plan: Allocated, artifact: Artifact) -> Mapping[str, bytes]:
    """`PREFIX_misra.md`: the list of deviations."""
    text = "\n".join(_lines(artifact.prefix)) + "\n"
    return {f"{artifact.prefix}_misra.md": text.encode("ascii")}


def _lines(prefix: str) -> Iterator[str]:
    yield from (
        f"# MISRA C:2012: what {prefix} deviates from",
        "",
        f"`{prefix}.c` and the files beside it meet the required rules of MISRA C:2012 but for those below, in the",
        "parts that each line names. Parts are those between the lines `/* ---- ... ---- */`; `data` is what is before",
        "the first of them, and files without such lines. `cppcheck --addon=misra` finds no other; what it finds of",
        "advisory rules is not listed. The texts of the rules are MISRA's.",
        "",
        "| rule | part | what | why |",
        "|---|---|---|---|",
    )
    for deviation in DEVIATIONS:
        yield f"| {deviation.rule} | {deviation.part} | {deviation.what} | {deviation.why} |"
