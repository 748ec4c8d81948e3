"""Knows which nodes may have kernels that are faster with more constants (`Kernel.more_constants`): those that gain
most for each byte, as far as the platform lets constants grow. Does not know what such kernels compute.

A kernel that keeps weights of 4 bits in 8 is such a one, beside kernels that keep them as they are
(`Kernel.weight_bits`). Where a platform says nothing about growth, its own kernels may be bound so, portable ones not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tilewright.bind.candidates import NodeCandidates
from tilewright.errors import Diagnostic, Refusal
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.layer import Layer

Candidates = Mapping[str, NodeCandidates]  # by node


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """A kernel of a node: what it takes beyond the smallest constants, and how long it computes."""

    kernel: str
    more_bytes: int
    cycles: float


def within_growth(candidates: Candidates, platform: Platform) -> dict[str, NodeCandidates]:
    """The same without kernels for whose constants there is no room; these are refused. Kernels that are ruled out or
    pinned elsewhere change nothing about it: every binding of a graph has the same candidates.
    """
    choices = {node: _choices(candidate, platform) for node, candidate in candidates.items()}
    if not any(choice.more_bytes for mine in choices.values() for choice in mine):
        return dict(candidates)
    room = platform.constant_growth(platform, _smallest_bytes(candidates, platform)) if platform.constant_growth else 0
    taken = _taken(choices, room)
    left = room - sum(choice.more_bytes for choice in taken.values())
    return {
        node: _allowed(candidate, taken[node], left, platform) if node in taken else candidate
        for node, candidate in candidates.items()
    }


def growth_notes(bound: Mapping[str, Layer], candidates: Candidates, platform: Platform) -> Iterator[Diagnostic]:
    """The note TW5050 for constants that grew: by how much, and what that saves."""
    grown = {node: more for node, layer in bound.items() if (more := more_bytes(layer, candidates[node], platform))}
    if not grown:
        return
    saved = sum(
        _smallest(_choices(candidates[node], platform)).cycles - _cycles(candidates[node], bound[node])
        for node in grown
    )
    total = sum(_cycles(candidates[node], layer) for node, layer in bound.items()) + saved
    steps = "1 step has" if len(grown) == 1 else f"{len(grown)} steps have"
    yield Diagnostic(
        code="TW5050",
        severity="note",
        message=f"{steps} {sum(grown.values()):,} B more constants, for about {100 * saved / total:.0f} % fewer cycles "
        "(estimate)",
        fix=(platform.constant_growth_fix,) if platform.constant_growth_fix else (),
    )


def more_bytes(layer: Layer, candidates: NodeCandidates, platform: Platform) -> int:
    """What a kernel's constants take beyond those of the node's other candidates."""
    more = layer.kernel.more_constants(layer.site)
    widened = bool(platform.constant_growth) or layer.kernel.target == "*"
    return more + _widened_bytes(layer, candidates) if widened else more


def _widened_bytes(layer: Layer, candidates: NodeCandidates) -> int:
    """What constants take because weights have more bits than the node says, where others keep them as they are."""
    bits = layer.site.node.weight_bits
    if bits in layer.kernel.weight_bits:
        return 0
    kept = [_bytes(other) for other in candidates.layers if bits in other.kernel.weight_bits]
    return max(0, _bytes(layer) - min(kept)) if kept else 0


def _bytes(layer: Layer) -> int:
    return sum(array.nbytes for array in (layer.packed or layer.site.constants).values())


def _choices(candidates: NodeCandidates, platform: Platform) -> list[_Choice]:
    """By cycles; only those that are faster than all with fewer bytes."""
    kept = list[_Choice]()
    for candidate, layer in zip(candidates.candidates, candidates.layers, strict=True):
        more = more_bytes(layer, candidates, platform)
        if not kept or more < kept[-1].more_bytes:
            kept.append(_Choice(kernel=candidate.kernel.name, more_bytes=more, cycles=candidate.cycles))
    return kept


def _smallest(choices: list[_Choice]) -> _Choice:
    return choices[-1]


def _cycles(candidates: NodeCandidates, layer: Layer) -> float:
    return next(candidate.cycles for candidate in candidates.candidates if candidate.kernel.name == layer.kernel.name)


def _smallest_bytes(candidates: Candidates, platform: Platform) -> int:
    """Of all constants, where no node's grow. Equal layers are the same, and have theirs once."""
    return sum(
        map(
            _bytes,
            {
                _layer(candidate, _smallest(_choices(candidate, platform)).kernel)
                for candidate in candidates.values()
                if candidate.candidates
            },
        )
    )


def _layer(candidates: NodeCandidates, kernel: str) -> Layer:
    return next(layer for layer in candidates.layers if layer.kernel.name == kernel)


def _taken(choices: Mapping[str, list[_Choice]], room: int) -> dict[str, _Choice]:
    """Of nodes with a choice the one that is taken: again and again what saves most cycles for each byte."""
    taken = {node: _smallest(mine) for node, mine in choices.items() if len(mine) > 1}
    while True:
        better = [
            (node, choice)
            for node, now in taken.items()
            for choice in choices[node]
            if now.more_bytes < choice.more_bytes <= room + now.more_bytes
        ]
        if not better:
            return taken
        node, choice = max(better, key=lambda pair: _gain(taken[pair[0]], pair[1]))
        room -= choice.more_bytes - taken[node].more_bytes
        taken[node] = choice


def _gain(now: _Choice, other: _Choice) -> float:
    return (now.cycles - other.cycles) / (other.more_bytes - now.more_bytes)


def _allowed(candidates: NodeCandidates, most: _Choice, left: int, platform: Platform) -> NodeCandidates:
    """Without the kernels whose constants take more than the one that is taken."""
    triples = [
        (candidate, layer, more_bytes(layer, candidates, platform) - most.more_bytes)
        for candidate, layer in zip(candidates.candidates, candidates.layers, strict=True)
    ]
    kept = [(candidate, layer) for candidate, layer, beyond in triples if beyond <= 0]
    refused = [
        Refusal(candidate=candidate.kernel.name, reason=_reason(beyond, left))
        for candidate, _, beyond in triples
        if beyond > 0
    ]
    return replace(
        candidates,
        candidates=tuple(candidate for candidate, _ in kept),
        layers=tuple(layer for _, layer in kept),
        refusals=(*candidates.refusals, *refused),
    )


def _reason(needed: int, left: int) -> str:
    return f"takes {needed:,} more bytes of constants, for speed; {max(left, 0):,} are left for that"
