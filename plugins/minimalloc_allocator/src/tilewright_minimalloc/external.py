"""Knows how to drive an installed `minimalloc` program: find it, write its CSV, run it, read its CSV.
Does not know how it searches, and believes of its answer only what the core's checker will confirm.

Source of the form of the files and the options: the program's README, https://github.com/google/minimalloc.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tilewright.api import TilewrightError, toolchain_error
from tilewright.api.allocator import Budget, Place, Problem, Solution
from tilewright_minimalloc.greedy import height, quick
from tilewright_minimalloc.pool import Task, make_task

INSTALL_DIR = "MINIMALLOC_INSTALL_DIR"
_PROGRAM = "minimalloc"
_FIX = (f"set {INSTALL_DIR} to the folder that holds the program", "use --allocator minimalloc, which needs no program")


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    """Minimises the peak of every pool by asking the program for ever smaller capacities.

    It cannot count its work, so each question has a time limit: what an answer is depends on the machine, and no
    plan is called optimal unless it meets the lower bound. Blocks go into their first candidate pool. One unit of
    work is one question.
    """

    name: str = "minimalloc-external"
    summary: str = f"the installed minimalloc program ({INSTALL_DIR} or PATH), one question for each capacity"
    seconds: float = 10.0  # for one question
    questions: int = 12  # for one pool

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """See `Allocator.solve`.

        TilewrightError (exit 7): TW7020 the program is missing, TW7021 it failed or its answer cannot be read, TW7022
        the problem has something that the program's files cannot say.
        """
        program = find_program()
        _demand_expressible(problem)
        places: dict[str, Place] = {}
        optimal, work = problem.goal != "fit", 0
        for pool in problem.pools:
            inside = [block for block in problem.blocks if block.pools[:1] == (pool.name,)]
            places.update(
                {block.name: Place(pool=pool.name, offset_bytes=0) for block in inside if not block.size_bytes}
            )
            task = make_task(problem, pool, [block for block in inside if block.size_bytes])
            offsets, questions = self._placed(program, task, any_plan=problem.goal == "fit")
            work += questions
            if offsets is None:
                reason = f"the program found no plan within pool '{pool.name}' in its time"
                return Solution(status="unknown", work=work, reason=reason)
            places.update(_places(task, offsets))
            optimal = optimal and height(task.instance, offsets) <= task.floor
        return Solution(status="optimal" if optimal else "feasible", places=places, work=work)

    def _placed(self, program: Path, task: Task, *, any_plan: bool) -> tuple[list[int] | None, int]:
        """The lowest plan for one pool, in grains, and how often the program was asked."""
        best: list[int] | None = quick(task.instance)
        low, high = task.floor, height(task.instance, best or [])
        if task.capacity is not None and high > task.capacity:
            best, high = None, task.capacity + 1
        questions = 0
        while low < high and questions < self.questions and not (any_plan and best is not None):
            capacity = (low + high - 1) // 2 if best is not None or questions else high - 1
            offsets = self._asked(program, task, capacity)
            questions += 1
            if offsets is None and best is None:
                return None, questions
            if offsets is None:
                low = capacity + 1
            else:
                best, high = offsets, height(task.instance, offsets)
        return best, questions

    def _asked(self, program: Path, task: Task, capacity: int) -> list[int] | None:
        """The plan within `capacity` grains that the program finds, if it does in its time."""
        with tempfile.TemporaryDirectory() as folder:
            question, answered = Path(folder) / "problem.csv", Path(folder) / "plan.csv"
            _write(question, task)
            command = [
                str(program),
                f"--capacity={capacity}",
                f"--input={question}",
                f"--output={answered}",
                f"--timeout={self.seconds:g}s",
            ]
            try:
                done = subprocess.run(command, capture_output=True, timeout=self.seconds + 60, check=False)
            except OSError as error:
                raise _failed(program, error.strerror or "it cannot be started") from None
            except subprocess.TimeoutExpired:
                return None
            if done.returncode < 0 or not answered.exists() or not answered.stat().st_size:
                words = done.stderr.decode(errors="replace").strip().splitlines()[-3:]
                if done.returncode == 1 and not words:
                    return None  # its way of saying that it found nothing
                raise _failed(program, f"it ended with status {done.returncode}", tuple(words))
            return _read(program, answered, task)


def find_program() -> Path:
    """The program, from MINIMALLOC_INSTALL_DIR (its folder, or that folder's `bin`) or PATH. TW7020 where it is not."""
    folder = os.environ.get(INSTALL_DIR)
    if folder:
        for place in (Path(folder), Path(folder) / "bin"):
            result = shutil.which(_PROGRAM, path=str(place))
            if result:
                return Path(result)
        raise toolchain_error("TW7020", f"{INSTALL_DIR} is '{folder}', and no program '{_PROGRAM}' is there", fix=_FIX)
    result = shutil.which(_PROGRAM)
    if result is None:
        raise toolchain_error(
            "TW7020", f"the program '{_PROGRAM}' is not on PATH, and {INSTALL_DIR} is not set", fix=_FIX
        )
    return Path(result)


def _failed(program: Path, what: str, details: tuple[str, ...] = ()) -> TilewrightError:
    return toolchain_error("TW7021", f"'{program.name}' gave no answer: {what}", details=details, fix=_FIX[1:])


def _demand_expressible(problem: Problem) -> None:
    """One lifetime for each block, and nothing that lifetimes do not say."""
    gaps = [block.name for block in problem.blocks if len(block.lifetimes) != 1]
    what = ""
    if problem.conflicts or problem.compatible:
        what = "conflicts that do not follow from lifetimes"
    elif gaps:
        what = f"block '{gaps[0]}', which has not just one lifetime"
    elif any(pool.reserved for pool in problem.pools):
        what = "reserved ranges"
    elif any(block.fixed_offset is not None for block in problem.blocks):
        what = "blocks at fixed offsets"
    if what:
        raise toolchain_error("TW7022", f"'{_PROGRAM}' cannot be told of {what}", fix=_FIX[1:])


def _write(file: Path, task: Task) -> None:
    """`id,lower,upper,size,alignment` in grains, lifetimes half-open."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(["id", "lower", "upper", "size", "alignment"])
        for number, block in enumerate(task.movable):
            (first, last) = block.lifetimes[0]
            instance = task.instance
            rows.writerow([number, first, last + 1, instance.sizes[number], instance.aligns[number]])


def _read(program: Path, file: Path, task: Task) -> list[int]:
    with file.open(newline="", encoding="utf-8") as stream:
        try:
            offsets = {int(row["id"]): int(row["offset"]) for row in csv.DictReader(stream)}
            return [offsets[number] for number in range(len(task.movable))]
        except (KeyError, ValueError, TypeError):
            raise _failed(program, "the file it wrote has no offset for every block") from None


def _places(task: Task, offsets: Sequence[int]) -> dict[str, Place]:
    grain, pool = task.instance.grain, task.pool.name
    return {
        block.name: Place(pool=pool, offset_bytes=offset * grain)
        for block, offset in zip(task.movable, offsets, strict=True)
    }
