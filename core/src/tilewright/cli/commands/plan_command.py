"""Knows `tilewright plan`: an allocation problem alone, put to one allocator after another."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tilewright.cli.log_display import verbose_flag, working
from tilewright.cli.option import FiniteRange, examples, names_option, option
from tilewright.cli.output import complain, demand_writable_files, progress, send_json, send_result
from tilewright.config.memory_pools import parse_bytes
from tilewright.errors import Exit, TilewrightError, memory_error, typed, usage_error
from tilewright.front_door.options_from_flags import names_from
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.ir.plans.allocation import Budget, Problem, Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What one allocator made of the problem."""

    allocator: str
    solution: Solution
    cpu_seconds: float
    cut_short: bool = False  # by the time limit: another machine may find another plan
    fault: TilewrightError | None = None  # of an allocator that failed

    @property
    def status(self) -> str:
        """The word for the table."""
        return "failed" if self.fault else self.solution.status


@click.command(
    "plan",
    epilog=examples(
        "plan blocks.csv --allocator best-fit,hill-climb", "plan blocks.csv --capacity 64K --plot plan.svg"
    ),
)
@click.argument("problem", type=click.Path(path_type=Path))
@names_option("--allocator", "names", default="auto", show_default=True, metavar="A[,B...]", help="Whom to ask.")
@option("--capacity", "capacities", multiple=True, metavar="[POOL=]BYTES", help="Fit into this instead of minimising.")
@option("--inclusive", is_flag=True, help="`upper` in a CSV is the last moment of a lifetime, not the first after.")
@option("--effort", type=click.IntRange(min=1), default=200_000, show_default=True, help="Work units for each.")
@option("--time-limit", "seconds", type=FiniteRange(min=0, min_open=True), help="Seconds for each, beside --effort.")
@option("--seed", type=int, default=0, show_default=True, help="Seed of randomised strategies.")
@option("--json", "json_target", metavar="FILE|-", help="Write the comparison as JSON.")
@option("-o", "--solution", "solution_file", type=click.Path(path_type=Path), help="Write the best plan as CSV.")
@option("--problem-json", "problem_file", type=click.Path(path_type=Path), help="Write the problem as JSON.")
@option("--plot", type=click.Path(path_type=Path), help="Draw the best plan: FILE.html or FILE.svg.")
@verbose_flag
def command(
    problem: Path,
    names: str,
    capacities: tuple[str, ...],
    inclusive: bool,
    effort: int,
    seconds: float | None,
    seed: int,
    json_target: str | None,
    solution_file: Path | None,
    problem_file: Path | None,
    plot: Path | None,
) -> None:
    """Place the blocks of PROBLEM (MiniMalloc CSV, buffers as JSON, or tilewright's JSON) and compare allocators.

    Exit 5 when it is proved that no plan fits, 10 when none was found within the budget, 8 when an allocator failed,
    7 when its program is missing.
    """
    from tilewright.allocate.problems.problem_files import problem_json, read_problem, solution_csv
    from tilewright.ir.plans.allocation import Budget
    from tilewright.snapshot.atomic_folder import write_file

    _demand_drawable(plot)
    demand_writable_files(solution_file, problem_file, plot, json_target, read=(problem,))
    allocators = names_from("--allocator", names, "best-fit,hill-climb")
    limited = _limited(read_problem(problem, inclusive=inclusive), capacities)
    with working("placing: asking one allocator after the other"):
        attempts = _attempts(limited, allocators, Budget(work=effort, seed=seed), seconds)
    best = _best(limited, attempts)
    send_result(as_json(problem.name, limited, attempts), json_target, *_shown(problem.name, limited, attempts))
    if problem_file is not None:
        send_json(problem_json(limited), str(problem_file))
    if best and solution_file is not None:
        write_file(solution_file, solution_csv(limited, best.solution).encode())
        progress(f"wrote the plan of {best.allocator} to {solution_file.name}")
    if best and plot is not None:
        _draw(plot, problem.name, limited, best)
    _demand_sound(attempts)
    if best is None:
        raise _nothing_found(attempts)


def _demand_drawable(plot: Path | None) -> None:
    if plot is not None and plot.suffix not in (".html", ".svg"):
        fix = typed("--plot", str(plot.with_suffix(".svg")))
        raise usage_error("TW1101", f"'--plot {plot.name}' must end in .html or .svg", fix=(fix,))


def _limited(problem: Problem, capacities: Sequence[str]) -> Problem:
    """With the capacities of the command line, which also change the goal."""
    limits: dict[str, int] = {}
    known = [pool.name for pool in problem.pools]
    for text in capacities:
        name, equals, size = text.rpartition("=")
        if equals and name not in known:
            fix = typed("--capacity", f"{known[0]}={size}") if known else "leave --capacity out"
            raise usage_error("TW1101", f"'--capacity {text}': the pools are {', '.join(known)}", fix=(fix,))
        given_limits = dict.fromkeys([name] if equals else known, parse_bytes(size))
        repeated = [pool for pool, limit in given_limits.items() if limits.get(pool, limit) != limit]
        if repeated:
            fix = "name each pool once: --capacity POOL=BYTES"
            raise usage_error("TW1101", f"'--capacity {text}': '{repeated[0]}' has another one already", fix=(fix,))
        limits.update(given_limits)
    pools = tuple(replace(p, capacity_bytes=limits.get(p.name, p.capacity_bytes)) for p in problem.pools)
    return replace(problem, pools=pools, goal="fit" if limits else problem.goal)


def _attempts(problem: Problem, names: Sequence[str], budget: Budget, seconds: float | None) -> list[Attempt]:
    from tilewright.allocate.auto import EXACT, chosen
    from tilewright.cli.time_limit import solved_in_time
    from tilewright.ir.plans.allocation import Solution
    from tilewright.plugins import load_named

    welcome = (("allocator", EXACT),) if "auto" in names else ()
    registry = load_named(*(("allocator", name) for name in names), welcome=welcome)
    attempts = []
    for name in names:
        started = time.process_time()
        fault, cut = None, False
        try:
            solution, cut = solved_in_time(problem, chosen(registry.allocators, name), budget, seconds)
        except Exception as error:  # whatever it is: the others are asked, too
            fault = _fault(error)
            solution = Solution(status="unknown", reason=fault.message)
        spent = time.process_time() - started
        attempts.append(Attempt(allocator=name, solution=solution, cpu_seconds=spent, cut_short=cut, fault=fault))
    return attempts


def _fault(error: Exception) -> TilewrightError:
    """An allocator's error as it is shown. Raised again where it is none's: a wrong problem, or a bug of ours."""
    from tilewright.plugins import discover
    from tilewright.plugins.host import plugin_failure

    if isinstance(error, TilewrightError) and error.exit_code in (Exit.PLUGIN, Exit.TOOLCHAIN):
        return error
    failure = None if isinstance(error, TilewrightError) else plugin_failure(error, discover().packages)
    if failure is None:
        raise error
    return failure


def _demand_sound(attempts: Sequence[Attempt]) -> None:
    """Say what failed. TilewrightError (exit 8; 7 where a program is missing or fails) where anything has."""
    faults = [attempt.fault for attempt in attempts if attempt.fault]
    for fault in faults[:-1]:
        complain(fault)
    if faults:
        raise faults[-1]


def _is_solved(attempt: Attempt) -> bool:
    return attempt.solution.status in ("optimal", "feasible")


def _best(problem: Problem, attempts: Sequence[Attempt]) -> Attempt | None:
    solved = [attempt for attempt in attempts if _is_solved(attempt)]
    return min(solved, key=lambda attempt: _row(problem, attempt, ())["peak_bytes"], default=None)


def as_json(name: str, problem: Problem, attempts: Sequence[Attempt]) -> dict[str, Any]:
    """The comparison, and the place of every block in the best plan."""
    best = _best(problem, attempts)
    places = {} if best is None else best.solution.places
    return {
        "problem": name,
        "blocks": len(problem.blocks),
        "goal": problem.goal,
        "pools": [{"name": pool.name, "capacity_bytes": pool.capacity_bytes} for pool in problem.pools],
        "results": [_row(problem, attempt, attempts) for attempt in attempts],
        "best": None if best is None else best.allocator,
        "places": {key: {"pool": place.pool, "offset_bytes": place.offset_bytes} for key, place in places.items()},
    }


def _row(problem: Problem, attempt: Attempt, attempts: Sequence[Attempt]) -> dict[str, Any]:
    """What is printed of one attempt. A bound that any allocator proved counts for all."""
    from tilewright.check.allocations.allocation import peaks

    solution = attempt.solution
    bounds = dict(solution.bounds)
    for other in attempts:
        bounds = {name: max(bound, other.solution.bounds.get(name, 0)) for name, bound in bounds.items()}
    used = peaks(problem, solution) if _is_solved(attempt) else {}
    peak, bound = sum(used.values()) if used else None, sum(bounds.values())
    return {
        "allocator": attempt.allocator,
        "found_by": solution.found_by,
        "status": attempt.status,
        "cut_short": attempt.cut_short,
        "peak_bytes": peak,
        "lower_bound_bytes": bound,
        "gap_percent": None if peak is None else round(100 * (peak - bound) / max(bound, 1), 3),
        "peaks": used,
        "lower_bounds": bounds,
        "work": solution.work,
        "cpu_seconds": round(attempt.cpu_seconds, 4),
        "reason": solution.reason,
    }


def _shown(name: str, problem: Problem, attempts: Sequence[Attempt]) -> tuple[Part, ...]:
    pools = ", ".join(
        f"{p.name} {'without limit' if p.capacity_bytes is None else f'{p.capacity_bytes:,} B'}" for p in problem.pools
    )
    rows = [("allocator", "peak", "lower bound", "gap", "status", "work", "CPU")]
    for row in (_row(problem, attempt, attempts) for attempt in attempts):
        solved = row["peak_bytes"] is not None
        signed = row["allocator"] if row["found_by"] in ("", row["allocator"]) else f"auto: {row['found_by']}"
        rows.append(
            (
                signed,
                f"{row['peak_bytes']:,} B" if solved else "-",
                f"{row['lower_bound_bytes']:,} B",
                f"{row['gap_percent']:.1f} %" if solved else "-",
                f"{row['status']}, cut short" if row["cut_short"] else row["status"],
                f"{row['work']:,}",
                f"{row['cpu_seconds']:.2f} s",
            )
        )
    head = f"{name}: {len(problem.blocks)} blocks, {problem.goal}; {pools}"
    return (head, Table(rows=rows, right=(1, 2, 3, 5, 6), indent=2))


def _nothing_found(attempts: Sequence[Attempt]) -> TilewrightError:
    """Exit 5 where anybody proved that there is no plan, else exit 10."""
    for attempt in attempts:
        if attempt.solution.status == "infeasible":
            reason = attempt.solution.reason
            return memory_error("TW5004", f"no placement is possible: {reason}", fix=("give more --capacity",))
    reasons = tuple(f"{attempt.allocator}: {attempt.solution.reason}" for attempt in attempts)
    fix = ("give more work units with --effort, or more --capacity", "ask another allocator with --allocator")
    return TilewrightError("TW5023", "no plan was found within the budget", "", reasons, fix, Exit.TIME_LIMIT)


def _draw(file: Path, name: str, problem: Problem, attempt: Attempt) -> None:
    from tilewright.report.drawing.chart import plan_svg
    from tilewright.report.drawing.html import plan_page
    from tilewright.report.drawing.panels import panels_of_plan
    from tilewright.snapshot.atomic_folder import write_file

    panels = panels_of_plan(problem, attempt.solution)
    row: Mapping[str, Any] = _row(problem, attempt, ())
    verdict = f"{attempt.allocator}: {row['peak_bytes']:,} B, lower bound {row['lower_bound_bytes']:,} B"
    text = plan_svg(panels) if file.suffix == ".svg" else plan_page(name, f"{verdict}, {row['status']}", panels)
    write_file(file, text.encode())
    progress(f"drew the plan of {attempt.allocator} to {file.name}")
