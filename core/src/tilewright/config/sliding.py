"""Knows `--slide INPUT[AXIS]=HOP`: an input of which a call gets HOP new elements along an axis, and not a window.
Does not know what of the window before is still right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.errors.suggestions import did_you_mean
from tilewright.ir.graphs.graph import Graph

FORM = "--slide INPUT[AXIS]=HOP"
_WRITTEN = re.compile(r"(?P<input>.+)\[(?P<axis>-?\d+)\]=(?P<hop>\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sliding:
    """From call to call the window of `input` moves on by `hop` elements of `axis`."""

    input: str
    axis: int
    hop: int

    @property
    def written(self) -> str:
        """As it is typed behind the flag."""
        return f"{self.input}[{self.axis}]={self.hop}"


def sliding_of(text: str, graph: Graph) -> Sliding:
    """What the flag means for `graph`. TilewrightError TW1128 (exit 2) where it cannot be read, or names what is no
    input, no axis of it, or no part of the window.
    """
    written = _WRITTEN.fullmatch(text)
    if written is None:
        raise cannot_slide(f"'{text}' cannot be read", text, fix=_works(graph))
    name, axis, hop = written["input"], int(written["axis"]), int(written["hop"])
    if name not in graph.inputs:
        known = (*did_you_mean(name, graph.inputs), f"it has: {', '.join(graph.inputs)}")
        raise cannot_slide(f"the model has no input '{name}'", text, known, fix=_works(graph))
    shape = graph.tensors[name].shape
    if not -len(shape) <= axis < len(shape):
        raise cannot_slide(f"'{name}' has {len(shape)} axes, {list(shape)}", text, fix=_works(graph, name))
    length = shape[axis]
    if not 1 <= hop < length:
        gives = f"a HOP may be 1 to {length - 1}"
        fix = typed("--slide", f"{name}[{axis}]=1", gives=gives) if length > 1 else ""
        raise cannot_slide(f"a window of {length} elements cannot move on by {hop}", text, fix=fix)
    return Sliding(input=name, axis=axis % len(shape), hop=hop)


def _works(graph: Graph, wanted: str = "") -> str:
    """An example for this network: the first axis of one of its inputs along which something can move on."""
    for name in (wanted,) if wanted else graph.inputs:
        for axis, extent in enumerate(graph.tensors[name].shape):
            if extent > 1:
                return typed(
                    "--slide", f"{name}[{axis}]=1", gives=f"is written as {FORM}; this input has {extent} there"
                )
    return ""


def other_slide(text: str, saved: Graph) -> Iterator[str]:
    """What contradicts a saved graph, whose calls already take what is new."""
    written = _WRITTEN.fullmatch(text)
    if written is None:
        return
    name, axis, hop = written["input"], int(written["axis"]), int(written["hop"])
    shape = saved.tensors[name].shape if name in saved.inputs else ()
    if not -len(shape) <= axis < len(shape) or shape[axis] != hop:
        yield f"--slide {text}: a call of it takes {list(shape)} of '{name}'"


def cannot_slide(reason: str, text: str, details: tuple[str, ...] = (), fix: str = "") -> TilewrightError:
    """The refusal of a `--slide`, which is `text`."""
    steps = (fix or f"write it as {FORM}, as in --slide x[2]=1",)
    where = f"--slide {text}"
    return usage_error("TW1128", f"the window cannot slide: {reason}", where=where, details=details, fix=steps)
