"""Knows the mark that makes a function implement a hook, and the error of a function of a plugin that has returned
what it may not: which plugin's it is, where it stands, and what it may return. Does not know the hooks
(`plugins.hookspecs`), nor when a function is called.

It is apart from the plugin host because every plugin needs the mark, and the host takes long to import.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

from pluggy import HookimplMarker

from tilewright.errors import TilewrightError, plugin_error

PROJECT = "tilewright"

hookimpl = HookimplMarker(PROJECT)


Wanted = TypeVar("Wanted")
Names = TypeVar("Names", bound=Mapping[str, Any])


def wrong_answer(owner: str, function: object, name: str, answer: object, wanted: str) -> TilewrightError:
    """The error TW8062 (exit 8). `owner` is "kernel 'acme.relu'", `name` what it calls `function`, `wanted` a noun."""
    kind, shown = type(answer).__name__, reprlib.repr(answer)
    described = shown if answer is None or shown.startswith(kind) else f"{kind} {shown}"
    return plugin_error(
        "TW8062",
        f"{owner}: {name} must return {wanted}, found {described}",
        where=place_of(function),
        fix=(f"correct {name} if {owner} is yours; otherwise report it to the author of its package",),
    )


def demand_type(answer: object, expected: type[Wanted], owner: str, function: object, name: str) -> Wanted:
    """`answer`, which must be of the type `expected`. TilewrightError TW8062."""
    if not isinstance(answer, expected):
        raise wrong_answer(owner, function, name, answer, f"a {expected.__name__}")
    return answer


def demand_mapping(answer: Names, owner: str, function: object, name: str) -> Names:
    """`answer`, which must be a mapping. TilewrightError TW8062."""
    if not isinstance(answer, Mapping):
        raise wrong_answer(owner, function, name, answer, "a mapping from names")
    return answer


def demand_bytes(answer: int, owner: str, function: object, name: str) -> int:
    """`answer`, which must be a whole number of bytes. TilewrightError TW8062."""
    if not isinstance(answer, Integral) or answer < 0:
        raise wrong_answer(owner, function, name, answer, "a whole number of bytes, 0 or more")
    return answer


def demand_cost(answer: float, owner: str, function: object, name: str) -> float:
    """`answer`, which must be a number that can be compared. TilewrightError TW8062."""
    if not isinstance(answer, Real) or math.isnan(answer) or answer < 0:
        raise wrong_answer(owner, function, name, answer, "a number of cycles, 0 or more")
    return answer


def demand_array(answer: object, owner: str, function: object, name: str) -> None:
    """`answer` must be a numpy array of a type that C has: a list would be stored as what numpy makes of it.
    TilewrightError TW8062.
    """
    import numpy as np

    from tilewright.ir.tensors.dtypes import DType

    if not isinstance(answer, (np.ndarray, np.generic)):  # numpy makes scalars of arrays without axes
        raise wrong_answer(owner, function, name, answer, "a numpy array")
    try:
        DType.from_numpy(answer.dtype)
    except ValueError:
        wanted = f"an array of one of {', '.join(dtype.value for dtype in DType)}"
        raise wrong_answer(owner, function, name, answer.dtype, wanted) from None


def demand_pairs(
    answer: tuple[tuple[str, str], ...],
    first: Iterable[str],
    second: Iterable[str],
    owner: str,
    function: object,
    name: str,
) -> tuple[tuple[str, str], ...]:
    """What a function of a kernel answers: pairs of one of `first` and one of `second`. TilewrightError TW8062."""
    inputs, outputs = tuple(first), tuple(second)
    pairs = isinstance(answer, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in answer)
    if not pairs or any(source not in inputs or target not in outputs for source, target in answer):
        wanted = f"a tuple of pairs (input, output) of {', '.join(inputs)} and {', '.join(outputs)}"
        raise wrong_answer(owner, function, name, answer, wanted)
    return answer


def place_of(function: object) -> str:
    """File and line where a function begins, the file by its last two parts; "" where it is none of Python."""
    function = getattr(function, "__wrapped__", function)
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        return ""
    file = "/".join(code.co_filename.replace("\\", "/").split("/")[-2:])
    return f"{file}:{code.co_firstlineno}"
