"""Knows how points are worked out by the workers of a Dask cluster, on this machine or others: the network's files and
a text go there, a text comes back. Does not know what a point takes.

Source: Dask's distributed scheduler, https://distributed.dask.org: a task of a worker that is lost runs on another.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilewright.errors import Exit, TilewrightError, usage_error
from tilewright.exploration.executors import Work
from tilewright.exploration.sweep.cache import installed_versions, named_files
from tilewright.frontend.reading.model_digest import files_beside
from tilewright.snapshot.atomic_folder import write_folder

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"  # instead of an address: workers of this machine, for as long as the sweep takes
_ATTEMPTS = 3  # of a point whose worker was lost
_MOST_TOGETHER = 8  # points of a task: what Dask does for each would be a good part of a small one
_SHARES = 4  # tasks for each worker in what is left: the last ones are small, and end together
# Nobody looks at samples of what workers do, nor at how often their loops turn; rows are small and stay where they are.
_LOCAL_SETTINGS = MappingProxyType(
    {
        "distributed.worker.profile.enabled": False,
        "distributed.worker.memory.monitor-interval": "1s",
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.tick.limit": "30s",
        "distributed.admin.system-monitor.interval": "10s",
        "distributed.scheduler.active-memory-manager.start": False,
    }
)
_PATIENCE = "10s"  # with a scheduler that does not answer
Files = Mapping[str, bytes]  # path below a folder -> content
Batch = tuple[str, tuple[int, ...]]  # a model, and the numbers of points of it
_unpacked: dict[str, tempfile.TemporaryDirectory[str]] = {}  # of a worker: digest -> its folder


@dataclass(frozen=True, slots=True, kw_only=True)
class DaskWorkers:
    """Of one cluster. Each network goes there once."""

    client: Client

    def results(self, work: Work, tasks: Mapping[int, str]) -> Iterator[tuple[int, str]]:
        """As they come. TilewrightError TW1414 (exit 7) for points that end every worker which takes them."""
        _demand_same_versions(self.client)
        workers = len(self.client.scheduler_info(n_workers=-1)["workers"])
        models = {number: json.loads(task)["model"] for number, task in tasks.items()}
        sent = {
            model: self.client.scatter(files_of(Path(model)), broadcast=True, hash=True)
            for model in dict.fromkeys(models.values())
        }
        left = yield from self._done(work, batches(models, workers), tasks, sent)
        alone = [(model, (number,)) for model, numbers in left if len(numbers) > 1 for number in numbers]
        lost = [*(yield from self._done(work, alone, tasks, sent)), *(batch for batch in left if len(batch[1]) == 1)]
        if lost:
            raise TilewrightError(
                "TW1414",
                f"{len(lost)} points of the sweep were lost with every worker that took them",
                fix=(
                    "see the workers' logs: memory may be short",
                    "start again: what is known is not worked out again",
                ),
                exit_code=Exit.TOOLCHAIN,
            )

    def _done(
        self, work: Work, those: Sequence[Batch], tasks: Mapping[int, str], sent: Mapping[str, Any]
    ) -> Generator[tuple[int, str], None, list[Batch]]:
        """Results as they come; in the end the batches that ended every worker which took them."""
        from distributed import as_completed

        versions, lost = installed_versions(), list[Batch]()
        futures = {
            self.client.submit(
                at_worker,
                work,
                [tasks[number] for number in numbers],
                sent[model],
                versions,
                pure=False,
                retries=_ATTEMPTS - 1,
            ): (model, numbers)
            for model, numbers in those
        }
        for future in as_completed(list(futures)):
            batch = futures[future]
            if future.status in {"error", "cancelled"}:
                lost.append(batch)
            else:  # of a worker that ended before it handed its results over, another works them out meanwhile
                yield from zip(batch[1], future.result(), strict=True)
        return lost


def batches(models: Mapping[int, str], workers: int) -> tuple[Batch, ...]:
    """The points, each by its number with the model that it is of, in tasks: a few points of one model, fewer towards
    the end.
    """
    result, waiting, left = list[Batch](), list[int](), len(models)
    for number, model in models.items():
        size = min(_MOST_TOGETHER, max(1, (left + len(waiting)) // (_SHARES * max(1, workers))))
        if waiting and (len(waiting) >= size or models[waiting[0]] != model):
            result.append((models[waiting[0]], tuple(waiting)))
            waiting = []
        waiting.append(number)
        left -= 1
    return (*result, *([(models[waiting[0]], tuple(waiting))] if waiting else []))


@contextmanager
def dask_workers(address: str, count: int) -> Iterator[DaskWorkers]:
    """The workers of the scheduler at `address`, or `count` of this machine for `local`. TilewrightError TW1415
    (exit 7) where Dask is not installed, nobody answers, or the workers have other packages.
    """
    try:
        import dask.config
        from distributed import Client, LocalCluster
    except ImportError:
        raise _unusable("Dask is not installed", "pip install 'tilewright[dask]'") from None
    if address == LOCAL:
        with (
            dask.config.set(_LOCAL_SETTINGS),
            LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield DaskWorkers(client=client)
        return
    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise _unusable(f"there is no scheduler at {address}: {error}", "start one: dask scheduler") from None
    with client:
        yield DaskWorkers(client=client)


def at_worker(work: Work, tasks: Sequence[str], files: Files, versions: Mapping[str, str]) -> list[str]:
    """`work` of each task, with their network from a folder of the worker's own."""
    if installed_versions() != dict(versions):  # a worker that has come since the sweep began
        raise RuntimeError("this worker has other packages than who asks")
    folder, points = _folder_with(files), [json.loads(task) for task in tasks]
    moved = ({**point, "model": str(folder / Path(point["model"]).name)} for point in points)
    return [work(json.dumps(point, sort_keys=True)) for point in moved]


def files_of(model: Path) -> dict[str, bytes]:
    """The model and the files with its tensors. TilewrightError TW1201 where the model cannot be read."""
    from tilewright.frontend.reading.reader import read_bytes
    from tilewright.ir.graphs.model_formats import Limits

    beside = {file: file.relative_to(model.parent) for file in files_beside(model) if file.is_file()}
    return {model.name: read_bytes(model, Limits())} | {str(name): file.read_bytes() for file, name in beside.items()}


def _folder_with(files: Files) -> Path:
    """A folder of this process, which is gone when it ends; the same for the same files."""
    digest = sha256(b"\0".join(name.encode() + b"\0" + files[name] for name in sorted(files))).hexdigest()
    if digest not in _unpacked:
        _unpacked[digest] = tempfile.TemporaryDirectory(prefix="tilewright-sweep-")
        write_folder(Path(_unpacked[digest].name), files)
    return Path(_unpacked[digest].name)


def demand_no_files(flags: Mapping[str, Any]) -> None:
    """TilewrightError TW1415 (exit 2) where flags name files: these are on this machine only."""
    named = sorted(map(str, named_files(flags)))
    if named:
        reason = f"a flag names '{named[0]}', a file of this machine"
        raise usage_error(
            "TW1415", f"the cluster cannot be used: {reason}", fix=("leave --scheduler out: processes of this machine",)
        )


def _demand_same_versions(client: Client) -> None:
    mine = installed_versions()
    for worker, theirs in client.run(installed_versions).items():
        if theirs != mine:
            others = sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
            said = (f"{name}: {mine.get(name, 'none')} here, {theirs.get(name, 'none')} there" for name in others)
            raise _unusable(f"worker {worker} has other packages", "install the same ones there", tuple(said))


def _unusable(reason: str, fix: str, details: tuple[str, ...] = ()) -> TilewrightError:
    return TilewrightError(
        "TW1415", f"the cluster cannot be used: {reason}", details=details, fix=(fix,), exit_code=Exit.TOOLCHAIN
    )
