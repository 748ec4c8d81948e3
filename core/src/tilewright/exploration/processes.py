"""Knows how much is planned at the same time: pieces of work in several processes, results as they come.
Does not know what is worked out. Texts go there and come back: JSON, never live objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed


def in_processes(work: Callable[[str], str], tasks: Sequence[str], processes: int) -> Iterator[tuple[int, str]]:
    """`work` of every task, with the task's number, in the order in which they end; with one process here, in order.

    `work` is a function of a module. What it raises, this raises; the tasks that have not begun then are not begun.
    """
    if processes <= 1 or len(tasks) <= 1:
        yield from enumerate(map(work, tasks))
        return
    with ProcessPoolExecutor(max_workers=min(processes, len(tasks))) as pool:
        waiting = {pool.submit(work, task): number for number, task in enumerate(tasks)}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)
