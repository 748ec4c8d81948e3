"""Where every order passes the same moment, a task is two."""

from __future__ import annotations

from tilewright.schedule.order_subgraphs import ancestors, joined, subgraphs
from tilewright.schedule.order_task import OrderTask


def _task(reads: tuple[tuple[int, ...], ...], sizes: tuple[int, ...], views: tuple[int, ...] = ()) -> OrderTask:
    """Node n writes piece n and reads those of earlier nodes; `views` touch nothing."""
    touches = tuple(
        () if n in views else tuple({*(r for r in row if r not in views), n}) for n, row in enumerate(reads)
    )
    return OrderTask(
        nodes=tuple(f"n{n}" for n in range(len(reads))),
        needs=tuple(sum(1 << source for source in row) for row in reads),
        touches=touches,
        in_place=((),) * len(reads),
        scratch=(0,) * len(reads),
        sizes=sizes,
        touched_by=tuple(sum(1 << n for n, row in enumerate(touches) if p in row) for p in range(len(reads))),
        from_start=frozenset(),
        to_end=frozenset({len(reads) - 1}),
    )


DIAMONDS = _task(((), (0,), (0,), (1, 2), (3,), (3,), (4, 5)), (4, 5, 6, 7, 8, 9, 10))


def test_a_task_is_cut_where_every_node_needs_all_before() -> None:
    assert [section.nodes for section in subgraphs(DIAMONDS)] == [(0,), (1, 2), (3,), (4, 5), (6,)]


def test_nodes_that_meet_without_a_bottleneck_node_are_cut_too() -> None:
    crossed = _task(((), (), (0, 1), (0, 1), (2, 3)), (1, 1, 1, 1, 1))
    assert [section.nodes for section in subgraphs(crossed)] == [(0, 1), (2, 3), (4,)]


def test_the_peaks_of_the_sections_are_that_of_the_whole() -> None:
    parts = subgraphs(DIAMONDS)
    for swapped in (False, True):
        order = [0, 2, 1, 3, 5, 4, 6] if swapped else list(range(7))
        peaks = [part.task.peak(sorted(range(len(part.nodes)), reverse=swapped)) for part in parts]
        assert max(peaks) == DIAMONDS.peak(order)


def test_what_is_only_carried_past_counts_in_between() -> None:
    skipping = _task(((), (0,), (1,), (0, 2)), (100, 1, 1, 1))
    assert [section.task.alive_at_start for section in subgraphs(skipping)] == [0, 100, 101, 101]


def test_nodes_that_touch_nothing_run_as_early_as_they_can() -> None:
    task = _task(((), (0,), (1,), (0,), (2, 3)), (4, 4, 4, 4, 4), views=(1,))
    assert [section.nodes for section in subgraphs(task)] == [(0,), (2, 3), (4,)]
    assert joined(task, (0, 3, 2, 4)) == (0, 1, 3, 2, 4)


def test_ancestors_are_all_that_must_have_run() -> None:
    assert ancestors(DIAMONDS)[6] == 0b111111
    assert ancestors(DIAMONDS)[2] == 0b1
