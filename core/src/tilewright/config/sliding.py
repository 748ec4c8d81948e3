"""Knows `--slide INPUT[AXIS]=HOP`: an input of which a call gets HOP new elements along an axis, and not a window.
Does not know what of the window before is still right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm

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
        raise cannot_slide(f"'{text}' cannot be read", text)
    name, axis, hop = written["input"], int(written["axis"]), int(written["hop"])
    if name not in graph.inputs:
        known = (*did_you_mean(name, graph.inputs), f"it has: {', '.join(graph.inputs)}")
        raise cannot_slide(f"the model has no input '{name}'", text, known)
    shape = graph.tensors[name].shape
    if not -len(shape) <= axis < len(shape):
        raise cannot_slide(f"'{name}' has {len(shape)} axes, {list(shape)}", text)
    length = shape[axis]
    if not 1 <= hop < length:
        fix = f"write a HOP of 1 to {length - 1}: --slide {name}[{axis}]=1" if length > 1 else ""
        raise cannot_slide(f"a window of {length} elements cannot move on by {hop}", text, fix=fix)
    return Sliding(input=name, axis=axis % len(shape), hop=hop)


def other_slide(text: str, saved: Graph) -> Iterator[str]:
    """What contradicts a saved graph, whose calls already take what is new."""
    written = _WRITTEN.fullmatch(text)
    if written is None:
        return
    name, axis, hop = written["input"], int(written["axis"]), int(written["hop"])
    shape = saved.tensors[name].shape if name in saved.inputs else ()
    if not -len(shape) <= axis < len(shape) or shape[axis] != hop:
        yield f"--slide {text}: a call of it takes {list(shape)} of '{name}'"


def demand_whole_shifts(sliding: Sliding, unit: int, layer: str, graph: Graph) -> None:
    """A hop by which every value moves on by whole elements: a multiple of `unit`, for which `layer` is the first to
    ask. TilewrightError TW1128 (exit 2).
    """
    if sliding.hop % unit == 0:
        return
    length = graph.tensors[sliding.input].shape[sliding.axis]
    near = max(1, round(sliding.hop / unit)) * unit
    fits = near if near < length else (length - 1) // unit * unit
    named = typed("--slide", f"{sliding.input}[{sliding.axis}]={fits}", gives="the nearest HOP that works")
    raise cannot_slide(
        f"'{layer}' would move on by a part of an element",
        sliding.written,
        details=(
            f"strides before the last layer that has the axis make {unit}: HOP must be a multiple of that",
            f"calls would take turns in {lcm(sliding.hop, unit) // sliding.hop} phases, for which no code is made",
        ),
        fix=named if fits else "leave --slide out: the network is called with whole windows",
    )


def cannot_slide(reason: str, text: str, details: tuple[str, ...] = (), fix: str = "") -> TilewrightError:
    """The refusal of a `--slide`, which is `text`."""
    steps = (fix or f"write it as {FORM}, as in --slide x[2]=1",)
    where = f"--slide {text}"
    return usage_error("TW1128", f"the window cannot slide: {reason}", where=where, details=details, fix=steps)
