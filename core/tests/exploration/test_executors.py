"""Who works points out: each once, whatever dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tilewright.errors import TilewrightError, usage_error
from tilewright.exploration.executors import Executor, Processes, ThisProcess, local_executor

TASKS = {number: f"task {number}" for number in range(5)}


def shouted(text: str) -> str:
    return text.upper()


def dies_once(mark: str) -> str:
    """Kills its process the first time that it is asked for what it marks."""
    if mark.startswith("/") and not Path(mark).exists():
        Path(mark).write_text("", encoding="ascii")
        os.kill(os.getpid(), signal.SIGKILL)
    return mark


def dies(_: str) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


@pytest.mark.parametrize("executor", [ThisProcess(), Processes(count=2)], ids=str)
def test_every_task_has_its_answer(executor: Executor) -> None:
    assert sorted(executor.results(shouted, TASKS)) == [(number, task.upper()) for number, task in TASKS.items()]


def test_a_process_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    tasks = {0: "a", 1: str(tmp_path / "killed"), 2: "b", 3: "c"}
    found = list(Processes(count=2).results(dies_once, tasks))
    assert sorted(found) == sorted(tasks.items())


def test_a_task_that_kills_every_process_is_said() -> None:
    with pytest.raises(TilewrightError, match="TW1414"):
        list(Processes(count=1).results(dies, {0: "x"}))


def refused(text: str) -> str:
    raise usage_error("TW1101", f"no {text}", fix=("ask for something else",))


@pytest.mark.parametrize("executor", [ThisProcess(), Processes(count=2)], ids=str)
def test_an_error_comes_back_as_it_was(executor: Executor) -> None:
    with pytest.raises(TilewrightError, match="no a") as caught:
        list(executor.results(refused, {0: "a", 1: "a"}))
    assert caught.value.fix == ("ask for something else",)


def test_no_more_processes_than_tasks() -> None:
    assert [local_executor(4, tasks) for tasks in (0, 1, 3)] == [ThisProcess(), ThisProcess(), Processes(count=3)]
