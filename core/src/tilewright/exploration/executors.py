"""Knows how much is worked out at the same time: in this process, or in several, of which one that dies costs nothing
but time. Does not know other machines, nor what a task is. Texts go there and come back: JSON, never live objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Protocol

from tilewright.errors import Exit, TilewrightError

Work = Callable[[str], str]
_ATTEMPTS = 3  # of tasks whose process died


class Executor(Protocol):
    """Works out tasks, each in whatever order and place, and each once."""

    def results(self, work: Work, tasks: Mapping[int, str]) -> Iterator[tuple[int, str]]:
        """`work` of every task, with its number, as they come. `work` is a function of a module."""
        ...


@dataclass(frozen=True, slots=True)
class ThisProcess:
    """One after the other."""

    def results(self, work: Work, tasks: Mapping[int, str]) -> Iterator[tuple[int, str]]:
        """In order."""
        for number, task in tasks.items():
            yield number, work(task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """As many at a time as there are processes."""

    count: int

    def results(self, work: Work, tasks: Mapping[int, str]) -> Iterator[tuple[int, str]]:
        """As they come. Tasks of a process that died go to others; TilewrightError TW1414 where these die, too."""
        waiting = dict(tasks)
        for _ in range(_ATTEMPTS):
            for number, result in self._of_one_pool(work, waiting):
                del waiting[number]
                yield number, result
            if not waiting:
                return
        raise TilewrightError(
            "TW1414",
            f"{len(waiting)} tasks have ended their process {_ATTEMPTS} times",
            details=("memory may be short: each process holds a network of its own",),
            fix=("work on fewer at a time: --processes 1",),
            exit_code=Exit.TOOLCHAIN,
        )

    def _of_one_pool(self, work: Work, waiting: Mapping[int, str]) -> Iterator[tuple[int, str]]:
        """What a pool gets done until one of its processes dies."""
        with ProcessPoolExecutor(max_workers=min(self.count, len(waiting))) as pool:
            futures = {pool.submit(work, task): number for number, task in waiting.items()}
            try:
                for future in as_completed(futures):
                    if isinstance(future.exception(), BrokenProcessPool):
                        continue
                    yield futures[future], future.result()
            finally:
                pool.shutdown(cancel_futures=True)


def local_executor(processes: int, tasks: int) -> Executor:
    """So many processes of this machine, but no more than there are tasks; one is this one."""
    count = min(processes, tasks)
    return Processes(count=count) if count > 1 else ThisProcess()
