"""Work in several processes: every answer with its number, and an error of one is the error of all."""

from __future__ import annotations

import os

import pytest

from tilewright.errors import TilewrightError, usage_error
from tilewright.exploration.processes import in_processes


def shouted(text: str) -> str:
    return text.upper()


def whose(text: str) -> str:
    return f"{text} {os.getpid()}"


def refused(text: str) -> str:
    raise usage_error("TW1101", f"no {text}", fix=("ask for something else",))


@pytest.mark.parametrize("processes", [1, 3])
def test_every_task_has_its_answer(processes: int) -> None:
    tasks = [f"task {number}" for number in range(7)]
    assert sorted(in_processes(shouted, tasks, processes)) == [(at, task.upper()) for at, task in enumerate(tasks)]
    assert list(in_processes(shouted, [], processes)) == []


def test_one_process_is_this_one_and_several_are_others() -> None:
    here = str(os.getpid())
    assert [answer.split()[1] for _, answer in in_processes(whose, ["a", "b"], 1)] == [here, here]
    assert here not in {answer.split()[1] for _, answer in in_processes(whose, ["a", "b"], 2)}


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_comes_back_as_it_was(processes: int) -> None:
    with pytest.raises(TilewrightError, match="no a") as caught:
        list(in_processes(refused, ["a", "a"], processes))
    assert (caught.value.code, caught.value.fix) == ("TW1101", ("ask for something else",))
