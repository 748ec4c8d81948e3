"""Knows where a task of ordering falls apart: at moments that every order passes through, it is two smaller tasks.
Does not know how a section is ordered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from tilewright.schedule.order_task import OrderTask, members


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """Nodes that run after everything before them and before everything after them, as a task of their own."""

    nodes: tuple[int, ...]  # of the whole task, ascending; node i of `task` is nodes[i]
    task: OrderTask


def subgraphs(task: OrderTask) -> tuple[Subgraph, ...]:
    """In the order in which they run; nodes that touch nothing are in none. Every order of the whole is one order of
    each section, and its peak is the highest of theirs."""
    before = ancestors(task)
    nodes = [node for node, pieces in enumerate(task.touches) if pieces]
    result, done, alive = [], 0, task.alive_at_start
    for some in _cut(nodes, before):
        result.append(_subgraph(task, some, before, done, alive))
        for node in some:
            _, alive = task.run(node, done, alive)
            done |= 1 << node
    return tuple(result)


def joined(task: OrderTask, order: Iterable[int]) -> tuple[int, ...]:
    """An order of the nodes that touch something, with the others as early as they can run."""
    free = [node for node, pieces in enumerate(task.touches) if not pieces]
    whole: list[int] = []
    done = 0
    for node in order:
        done = _run_free(task, free, whole, done)
        whole.append(node)
        done |= 1 << node
    _run_free(task, free, whole, done)
    return tuple(whole)


def ancestors(task: OrderTask) -> list[int]:
    """By node, all nodes that run before it in every order. Nodes are numbered in some order that is possible."""
    result: list[int] = []
    for needs in task.needs:
        reached, rest = needs, needs
        while rest:
            node = rest.bit_length() - 1
            rest &= ~(1 << node) & ~result[node]
            reached |= result[node]
        result.append(reached)
    return result


def _run_free(task: OrderTask, free: list[int], whole: list[int], done: int) -> int:
    """Free nodes depend on earlier numbers only, so one look in their order finds all that can run."""
    ready = []
    for node in free:
        if task.needs[node] & ~done == 0:
            ready.append(node)
            done |= 1 << node
    for node in ready:
        free.remove(node)
    whole.extend(ready)
    return done


def _cut(nodes: Sequence[int], before: Sequence[int]) -> Iterator[list[int]]:
    """A moment that every order passes is a beginning of this one, after which each node needs all of it."""
    common = [-1] * (len(nodes) + 1)
    for place in range(len(nodes) - 1, -1, -1):
        common[place] = common[place + 1] & before[nodes[place]]
    section: list[int] = []
    done = 0
    for place, node in enumerate(nodes):
        if section and done & ~common[place] == 0:
            yield section
            section = []
        section.append(node)
        done |= 1 << node
    if section:
        yield section


def _subgraph(task: OrderTask, nodes: Sequence[int], before: Sequence[int], done: int, alive: int) -> Subgraph:
    here = _bits(nodes)
    number = {node: place for place, node in enumerate(nodes)}
    pieces = tuple(dict.fromkeys(piece for node in nodes for piece in task.touches[node]))
    local = {piece: place for place, piece in enumerate(pieces)}
    after = ~(done | here)
    from_start = [piece for piece in pieces if piece in task.from_start or task.touched_by[piece] & done]
    carried = alive - sum(task.sizes[piece] for piece in from_start)
    rest = len(pieces)  # a last piece stands for everything that is only carried past
    part = replace(
        task,
        nodes=tuple(task.nodes[node] for node in nodes),
        needs=tuple(_local(before[node] & here, number) for node in nodes),
        touches=tuple(tuple(local[piece] for piece in task.touches[node]) for node in nodes),
        in_place=tuple(tuple((local[a], local[b]) for a, b in task.in_place[node]) for node in nodes),
        scratch=tuple(task.scratch[node] for node in nodes),
        sizes=(*(task.sizes[piece] for piece in pieces), carried),
        touched_by=(*(_local(task.touched_by[piece] & here, number) for piece in pieces), 0),
        from_start=frozenset((*(local[piece] for piece in from_start), rest)),
        to_end=frozenset(
            (*(local[piece] for piece in pieces if piece in task.to_end or task.touched_by[piece] & after), rest)
        ),
    )
    return Subgraph(nodes=tuple(nodes), task=part)


def _bits(nodes: Iterable[int]) -> int:
    bits = 0
    for node in nodes:
        bits |= 1 << node
    return bits


def _local(bits: int, number: dict[int, int]) -> int:
    """A set of nodes in other numbers."""
    return _bits(number[node] for node in members(bits))
