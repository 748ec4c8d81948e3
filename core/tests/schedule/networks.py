"""Knows how to draw tasks of ordering like those of four families of networks, and a plain program to solve them."""

from __future__ import annotations

import random
from collections.abc import Iterable

from tilewright.schedule.order_task import OrderTask


class Draft:
    """Nodes that write one value each and read earlier ones; a concatenation may be a view of what it reads."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, ...]] = []
        self.sizes: list[int] = []
        self.in_place: list[bool] = []
        self.inside: dict[int, int] = {}  # value -> the concatenation that it is a part of
        self.views: set[int] = set()

    def add(self, reads: Iterable[int], size: int, in_place: bool = False) -> int:
        self.reads.append(tuple(dict.fromkeys(reads)))
        self.sizes.append(size)
        self.in_place.append(in_place)
        return len(self.sizes) - 1

    def concat(self, parts: list[int], view: bool) -> int:
        whole = self.add(parts, sum(self.sizes[part] for part in dict.fromkeys(parts)))
        if view:
            self.views.add(whole)
            self.inside.update(dict.fromkeys(parts, whole))
        return whole

    def task(self) -> OrderTask:
        """The first value is the input, the last one the output."""
        count = len(self.sizes)
        piece = [self.inside.get(value, value) for value in range(count)]
        touches = [
            () if node in self.views else tuple(dict.fromkeys(piece[value] for value in (*row, node)))
            for node, row in enumerate(self.reads)
        ]
        return OrderTask(
            nodes=tuple(f"n{node}" for node in range(count)),
            needs=tuple(sum(1 << value for value in row) for row in self.reads),
            touches=tuple(touches),
            in_place=tuple(
                tuple((value, node) for value in row if self._may_overwrite(value, node))
                for node, row in enumerate(self.reads)
            ),
            scratch=(0,) * count,
            sizes=tuple(self.sizes),
            touched_by=tuple(sum(1 << node for node, row in enumerate(touches) if p in row) for p in range(count)),
            from_start=frozenset({piece[0]}),
            to_end=frozenset({piece[-1]}),
        )

    def _may_overwrite(self, value: int, node: int) -> bool:
        apart = value not in self.inside and node not in self.inside and node not in self.views
        return self.in_place[node] and apart and self.sizes[value] == self.sizes[node]


def inception(chance: random.Random) -> OrderTask:
    """Blocks of parallel chains that are concatenated."""
    draft = Draft()
    last = draft.add((), chance.randint(8, 64) * 64)
    for _ in range(chance.randint(1, 3)):
        ends = []
        for _ in range(chance.randint(3, 6)):
            value = last
            for _ in range(chance.randint(1, 4)):
                value = draft.add((value,), chance.randint(4, 96) * 64, chance.random() < 0.3)
            ends.append(value)
        joint = draft.concat(ends, view=chance.random() < 0.7)
        last = draft.add((joint,), chance.randint(8, 64) * 64)
    return draft.task()


def random_wiring(chance: random.Random) -> OrderTask:
    """Sums of values drawn among the last ones."""
    draft = Draft()
    values = [draft.add((), 1024)]
    for _ in range(chance.randint(12, 24)):
        reads = {chance.choice(values[-6:]) for _ in range(chance.choice([1, 1, 2, 2, 3]))}
        values.append(draft.add(sorted(reads), chance.choice([256, 512, 1024, 1024, 2048]), chance.random() < 0.4))
    read = {value for row in draft.reads for value in row}
    draft.add([value for value in values if value not in read], 1024)
    return draft.task()


def nasnet_cells(chance: random.Random) -> OrderTask:
    """Cells of five sums over what is there, and of what is left over."""
    draft = Draft()
    before = draft.add((), 2048)
    last = draft.add((before,), 2048)
    for _ in range(chance.randint(1, 4)):
        hidden = [before, last]
        read = set()
        for _ in range(5):
            pair = chance.choice(hidden), chance.choice(hidden)
            read |= {*pair}
            ends = []
            for value in pair:
                end = value
                for _ in range(chance.randint(0, 2)):
                    end = draft.add((end,), chance.choice([1024, 2048]))
                ends.append(end)
            hidden.append(draft.add(sorted(ends), 1024, in_place=True))
        joint = draft.concat([value for value in hidden[2:] if value not in read], view=False)
        before, last = last, draft.add((joint,), 2048)
    return draft.task()


def fan_out(chance: random.Random) -> OrderTask:
    """One value, many short chains from it, one concatenation."""
    draft = Draft()
    first = draft.add((), 4096)
    ends = []
    for _ in range(chance.randint(5, 9)):
        value = draft.add((first,), chance.randint(1, 16) * 256)
        if chance.random() < 0.8:
            value = draft.add((value,), chance.randint(1, 16) * 256)
        if chance.random() < 0.5:
            value = draft.add((value,), chance.randint(1, 8) * 256)
        ends.append(value)
    joint = draft.concat(ends, view=chance.random() < 0.3)
    draft.add((joint,), 512)
    return draft.task()


FAMILIES = (inception, random_wiring, nasnet_cells, fan_out)


def solved_plainly(task: OrderTask, most_sets: int) -> int | None:
    """The lowest peak, from all sets of nodes that can have run, by number of nodes; None: there are too many sets."""
    front = {0: (0, task.alive_at_start)}
    sets = 0
    for _ in task.nodes:
        following: dict[int, tuple[int, int]] = {}
        for done, (peak, alive) in front.items():
            for node, needs in enumerate(task.needs):
                if done >> node & 1 or needs & ~done:
                    continue
                during, after = task.run(node, done, alive)
                reached = done | 1 << node
                if reached not in following or max(peak, during) < following[reached][0]:
                    following[reached] = (max(peak, during), after)
        front = following
        sets += len(front)
        if sets > most_sets:
            return None
    return front[task.everything][0]
