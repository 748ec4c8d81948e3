"""Knows how far apart outputs are from what they are over, and which way the rows of their steps go, so that chains of
them stay together. Does not know which steps are computed so, nor where anything is placed.

An output begins a little before what it is over; or, where the last row is computed first, it ends a little behind. A
chain of outputs that all begin before the other wanders through memory, and takes all of what it passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilewright.ir.rounding import align_down

_MOST_STATES = 32  # of a chain that are looked at together


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Buffer `taker` is over buffer `giver`. Distances are from the giver's start to the taker's, multiples of `grain`:
    at most `forward`, or at least `backward`, which is None where that way is not possible.
    """

    step: str
    taker: str
    giver: str
    forward: int
    backward: int | None
    grain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance:
    """What is chosen for a link."""

    size_bytes: int
    backward: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChainLayout:
    """The end of a chain: what the chain takes below the start of its last buffer, and from there on."""

    below: int
    above: int
    backward: int = 0  # distances of that kind
    last: Distance | None = None  # None: no link yet
    before: _ChainLayout | None = None

    @property
    def size_bytes(self) -> int:
        return self.below + self.above

    @property
    def merit(self) -> tuple[int, int]:
        return self.size_bytes, self.backward

    def chosen(self) -> list[Distance]:
        """From the first link on."""
        result, way = list[Distance](), self
        while way.last is not None and way.before is not None:
            result.append(way.last)
            way = way.before
        return result[::-1]


def distances(links: Sequence[Link], sizes: Mapping[str, int]) -> dict[str, Distance]:
    """By step. `links` are in the order of the steps; `sizes`: buffer -> bytes."""
    result: dict[str, Distance] = {}
    for chain in _chains(links):
        result.update(zip((link.step for link in chain), _narrowest(chain, sizes).chosen(), strict=True))
    return result


def widest(links: Sequence[Link], sizes: Mapping[str, int]) -> int:
    """Bytes that the longest of the chains takes."""
    return max((_narrowest(chain, sizes).size_bytes for chain in _chains(links)), default=0)


def _chains(links: Sequence[Link]) -> list[list[Link]]:
    """Who takes bytes may lose others to the next one."""
    chains: list[list[Link]] = []
    ending: dict[str, list[Link]] = {}
    for link in links:
        chain = ending.pop(link.giver, None)
        if chain is None:
            chain = []
            chains.append(chain)
        chain.append(link)
        ending[link.taker] = chain
    return chains


def _narrowest(chain: Sequence[Link], sizes: Mapping[str, int]) -> _ChainLayout:
    ways = [_ChainLayout(below=0, above=sizes[chain[0].giver])]
    for link in chain:
        longer = (longer_chain for way in ways for longer_chain in _longer(way, link, sizes[link.taker]))
        ways = _worth_going_on(sorted(longer, key=lambda layout: layout.merit))
    return ways[0]


def _worth_going_on(ways: Sequence[_ChainLayout]) -> list[_ChainLayout]:
    """The best ones; none that reaches as far as a better one both ways."""
    layouts: list[_ChainLayout] = []
    for way in ways:
        if all(way.below < better.below or way.above < better.above for better in layouts):
            layouts.append(way)
    return layouts[:_MOST_STATES]


def _longer(way: _ChainLayout, link: Link, size_bytes: int) -> Iterator[_ChainLayout]:
    """As near as may be, and at the end of what the chain takes anyway."""
    lowest = -align_down(way.below, link.grain)
    for distance in sorted({link.forward, min(link.forward, lowest)}):
        yield _with(way, Distance(size_bytes=distance, backward=False), size_bytes)
    if link.backward is None:
        return
    highest = align_down(way.above - size_bytes, link.grain)
    for distance in sorted({link.backward, max(link.backward, highest)}):
        yield _with(way, Distance(size_bytes=distance, backward=True), size_bytes)


def _with(way: _ChainLayout, distance: Distance, size_bytes: int) -> _ChainLayout:
    return _ChainLayout(
        below=max(0, way.below + distance.size_bytes),
        above=max(size_bytes, way.above - distance.size_bytes),
        backward=way.backward + distance.backward,
        last=distance,
        before=way,
    )
