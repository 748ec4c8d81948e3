"""Static allocation: the exact search in both forms, and MiniMalloc's own program beside it, in CPU seconds.

    python benchmarks/allocation.py [--minimalloc FOLDER] [--python] [--packings N] [--many]

Instances are read from ../shared/benchmarks/allocation where that folder is; perfect packings are made here and need
nothing. Every number is the user and system time of this process (or of the program that it ran) for one problem.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tilewright.allocate.auto import Auto
from tilewright.allocate.problems.problem_files import read_problem
from tilewright.allocate.solving import solved
from tilewright.api.allocator import Block, Budget, Pool, Problem, Solution
from tilewright.check.allocations.allocation import peaks, violations
from tilewright_minimalloc.exact import Exact
from tilewright_minimalloc.native import extension

SHARED = Path(__file__).parents[2] / "shared" / "benchmarks" / "allocation"
CAPACITY = 1048576
Row = tuple[int, int, int]  # lower, upper (half-open), size


def problem_of(rows: Sequence[Row], capacity: int) -> Problem:
    """Fit `rows` into one pool."""
    blocks = tuple(
        Block(name=f"b{number}", size_bytes=size, lifetimes=((lower, upper - 1),), pools=("ram",))
        for number, (lower, upper, size) in enumerate(rows)
    )
    return Problem(blocks=blocks, pools=(Pool(name="ram", capacity_bytes=capacity),), goal="fit")


def timed(problem: Problem, form: str, work: int = 2_000_000) -> tuple[float, Solution]:
    """CPU seconds and a checked answer."""
    started = time.process_time()
    solution = Exact(form=form).solve(problem, Budget(work=work))
    seconds = time.process_time() - started
    if solution.places and violations(problem, solution):
        raise SystemExit("a wrong plan")
    return seconds, solution


def timed_program(program: Path, rows: Sequence[Row], capacity: int, limit: int = 120) -> tuple[float, str]:
    """CPU seconds of MiniMalloc's program with its default settings, and whether it found a plan."""
    with tempfile.TemporaryDirectory() as folder:
        question, answered = Path(folder) / "in.csv", Path(folder) / "out.csv"
        with question.open("w", newline="") as stream:
            lines = csv.writer(stream, lineterminator="\n")
            lines.writerow(["id", "lower", "upper", "size"])
            lines.writerows((number, *row) for number, row in enumerate(rows))
        command = [
            program,
            f"--capacity={capacity}",
            f"--input={question}",
            f"--output={answered}",
            f"--timeout={limit}s",
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = done.returncode == 0 and answered.exists() and answered.stat().st_size > 0
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, "feasible" if result else "unknown"


def instances() -> dict[str, list[Row]]:
    """MiniMalloc's challenging problems."""
    result = {}
    for file in sorted((SHARED / "minimalloc").glob("*.csv")):
        with file.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        result[file.name[0]] = [(int(row["lower"]), int(row["upper"]), int(row["size"])) for row in rows]
    return result


def reversed_in_time(rows: Sequence[Row]) -> list[Row]:
    """The same problem seen from its end."""
    end = max(upper for _, upper, _ in rows)
    return [(end - upper, end - lower, size) for lower, upper, size in rows]


def shuffled(rows: Sequence[Row]) -> list[Row]:
    """The same problem in another order."""
    return random.Random(1).sample(rows, len(rows))


def cut_rectangle(count: int, times: int, height: int, seed: int) -> list[Row]:
    """`count` pieces of a full rectangle: at every moment the pool of a best plan is full to the last byte."""
    chance = random.Random(seed)
    pieces = [(0, times, 0, height)]
    while len(pieces) < count:
        areas = [(right - left) * (high - low) * chance.uniform(0.2, 1) for left, right, low, high in pieces]
        left, right, low, high = pieces.pop(areas.index(max(areas)))
        if right - left > 1 and (chance.random() < 0.5 or high - low < 4):
            cut = chance.randrange(left + 1, right)
            pieces += [(left, cut, low, high), (cut, right, low, high)]
        elif high - low > 1:
            cut = chance.randrange(low + 1, high)
            pieces += [(left, right, low, cut), (left, right, cut, high)]
        else:
            pieces.append((left, right, low, high))
    return [(left, right, high - low) for left, right, low, high in chance.sample(pieces, len(pieces))]


def challenging(forms: Sequence[str], program: Path | None) -> None:
    """The eleven, as they are, reversed, shuffled."""
    variants: tuple[tuple[str, Callable[[Sequence[Row]], list[Row]]], ...] = (
        ("as given", list),
        ("reversed", reversed_in_time),
        ("shuffled", shuffled),
    )
    for title, change in variants:
        for form in [*forms, *(["minimalloc program"] if program else [])]:
            cells, total = [], 0.0
            for letter, rows in instances().items():
                changed = change(rows)
                if form == "minimalloc program" and program:
                    seconds, status = timed_program(program, changed, CAPACITY)
                    nodes = ""
                else:
                    seconds, solution = timed(problem_of(changed, CAPACITY), form)
                    status, nodes = solution.status, f" ({solution.work})"
                total += seconds
                cells.append(f"{letter} {seconds:.3f}{nodes}{'' if status == 'feasible' else ' ' + status}")
            print(f"{title}, {form}: total {total:.3f}; {', '.join(cells)}", flush=True)
    for letter, capacity in (("C", 1039360), ("D", 1006592), ("D", 1000448), ("J", 1017856)):
        seconds, solution = timed(problem_of(instances()[letter], capacity), forms[0], work=200_000)
        print(
            f"{letter} at {capacity}, {forms[0]}: {solution.status}, {seconds:.2f} s, {solution.work} nodes", flush=True
        )


def packings(form: str, seeds: int) -> None:
    """Perfect packings: how many are found within 10 s each."""
    for count in (100, 200, 300):
        result, slowest, total = 0, 0.0, 0.0
        for seed in range(seeds):
            seconds, solution = timed(problem_of(cut_rectangle(count, 150, 1024, seed), 1024), form, work=400_000)
            result += solution.status == "feasible" and seconds <= 10
            slowest, total = max(slowest, seconds), total + seconds
        print(
            f"n={count}, {form}: {result} of {seeds} within 10 s; slowest {slowest:.2f} s, total {total:.2f} s",
            flush=True,
        )


def graphs(forms: Sequence[str]) -> None:
    """Graphs of real networks, minimised."""
    for form in forms:
        for file in sorted(SHARED.glob("*/*.json")):
            problem = read_problem(file)
            started = time.process_time()
            solution = solved(problem, Exact(form=form), Budget())
            seconds = time.process_time() - started
            print(f"{file.stem}, {form}: {solution.status} {peaks(problem, solution)}, {seconds:.3f} s", flush=True)


def many(count: int) -> None:
    """So many blocks, of which some fifty are alive at once, put to `auto`."""
    chance = random.Random(1)
    rows = [
        (start := chance.randrange(count), start + chance.randint(1, 100), 16 * chance.randint(1, 400))
        for _ in range(count)
    ]
    problem = problem_of(rows, CAPACITY)
    problem = replace(problem, goal="minimise", pools=(Pool(name="ram", capacity_bytes=None),))
    started = time.process_time()
    solution = solved(problem, Auto(exact=Exact()), Budget())
    seconds = time.process_time() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    ratio = peaks(problem, solution)["ram"] / solution.bounds["ram"]
    print(
        f"{count:,} blocks: {solution.status}, {ratio:.3f} of the bound, {seconds:.1f} s, at most {memory} MiB",
        flush=True,
    )


def main() -> None:
    """Everything that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minimalloc", type=Path, help="folder of MiniMalloc's program, to run it beside")
    parser.add_argument("--python", action="store_true", help="the Python form too, where the C form is built")
    parser.add_argument("--packings", type=int, default=10, metavar="N", help="seeds of perfect packings per size")
    parser.add_argument("--many", action="store_true", help="3,000 to a million blocks as well")
    options = parser.parse_args()
    forms = (["native"] if extension() else []) + (["python"] if options.python or not extension() else [])
    if SHARED.exists():
        challenging(forms, options.minimalloc / "minimalloc" if options.minimalloc else None)
        graphs(forms)
    packings(forms[0], options.packings)
    if options.many:
        for count in (3_000, 20_000, 60_000, 200_000, 1_000_000):
            many(count)


if __name__ == "__main__":
    main()
