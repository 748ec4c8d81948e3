"""`tilewright plan`: what it reads, what it says, how it ends."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from problems import OF_NETWORKS, buffers_file, challenging_file
from tilewright.allocate.solving import solved, wrong_answer
from tilewright.cli.main import _run
from tilewright.errors import toolchain_error, usage_error

Ran = Callable[..., tuple[int, str, str]]
CSV = "id,lower,upper,size\na,0,2,16\nb,1,3,16\nc,2,4,16\n"


@pytest.fixture(name="run")
def _runner(capsys: pytest.CaptureFixture[str]) -> Ran:
    def run(*words: Any) -> tuple[int, str, str]:
        code = _run([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture(name="problem")
def _problem(tmp_path: Path) -> Path:
    file = tmp_path / "three.csv"
    file.write_text(CSV)
    return file


def test_allocators_are_compared(run: Ran, problem: Path) -> None:
    code, out, _ = run("plan", problem, "--allocator", "greedy-by-size,auto")
    assert code == 0
    head, columns, first, second = out.rstrip().split("\n")
    assert head == "three.csv: 3 blocks, minimise; memory without limit"
    assert columns.split()[:2] == ["allocator", "peak"]
    assert first.split()[0] == "greedy-by-size"
    assert "32 B" in second and "optimal" in second and "auto: best-fit" in second


def test_the_json_says_all_and_is_the_same_every_time(run: Ran, problem: Path) -> None:
    _, out, _ = run("plan", problem, "--json", "-")
    found = json.loads(out)
    (row,) = found["results"]
    assert (row["status"], row["peak_bytes"], row["lower_bound_bytes"], row["gap_percent"]) == ("optimal", 32, 32, 0)
    assert found["places"].keys() == {"a", "b", "c"}
    again = json.loads(run("plan", problem, "--json", "-")[1])
    for one in (found, again):
        one["results"][0].pop("cpu_seconds")
    assert found == again


def test_lifetimes_are_half_open_unless_told_otherwise(run: Ran, problem: Path) -> None:
    assert json.loads(run("plan", problem, "--json", "-")[1])["results"][0]["peak_bytes"] == 32
    assert json.loads(run("plan", problem, "--inclusive", "--json", "-")[1])["results"][0]["peak_bytes"] == 48


@pytest.mark.parametrize(("capacity", "code"), [("32", 0), ("memory=1K", 0), ("31", 5), ("moon=1K", 2), ("huge", 2)])
def test_exit_codes(run: Ran, problem: Path, capacity: str, code: int) -> None:
    assert run("plan", problem, "--capacity", capacity)[0] == code


def test_unknown_within_the_budget_is_exit_10(run: Ran) -> None:
    code, out, err = run(
        "plan",
        challenging_file("A"),
        "--capacity",
        "1M",
        "--allocator",
        "greedy-by-size,hill-climb",
        "--effort",
        "9999",
    )
    assert code == 10
    assert out.count("unknown") == 2
    assert "error[TW5023]" in err and "work units with --effort" in err


def test_solution_problem_and_pictures_are_written(run: Ran, problem: Path, tmp_path: Path) -> None:
    out, again, page, drawing = (tmp_path / name for name in ("out.csv", "again.json", "plan.html", "plan.svg"))
    assert run("plan", problem, "--solution", out, "--problem-json", again, "--plot", page)[0] == 0
    assert run("plan", again, "--plot", drawing, "--json", "-")[0] == 0
    rows = list(csv.DictReader(out.open()))
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert {row["offset"] for row in rows} == {"0", "16"}
    assert "<!doctype html>" in page.read_text() and "http" not in page.read_text().replace("http-equiv", "")
    assert drawing.read_text().startswith("<svg")
    assert run("plan", problem, "--plot", tmp_path / "plan.png")[0] == 2


@pytest.mark.parametrize("name", OF_NETWORKS)
def test_every_network_is_proved_optimal_in_a_second(run: Ran, name: str, tmp_path: Path) -> None:
    """With the core alone."""
    code, out, _ = run("plan", buffers_file(name, tmp_path), "--allocator", "best-fit", "--json", "-")
    (row,) = json.loads(out)["results"]
    assert code == 0
    assert (row["status"], row["gap_percent"]) == ("optimal", 0)
    assert row["cpu_seconds"] < 1


def test_a_plan_is_written_to_the_file_after_o(run: Ran, problem: Path, tmp_path: Path) -> None:
    assert run("plan", problem, "-o", tmp_path / "plan.csv", "--time-limit", "60")[0] == 0
    assert (tmp_path / "plan.csv").read_text().startswith("id,lower,upper,size,alignment,pool,offset\n")


@pytest.fixture(name="failing")
def _failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Exception]], None]:
    """Allocators that end with these errors, by name; the others work."""

    def fail(errors: dict[str, Exception]) -> None:
        def put(problem: Any, allocator: Any, budget: Any) -> Any:
            if allocator.name in errors:
                raise errors[allocator.name]
            return solved(problem, allocator, budget)

        monkeypatch.setattr("tilewright.cli.time_limit.solved", put)

    return fail


def test_one_that_fails_leaves_the_others_their_table(
    run: Ran, problem: Path, tmp_path: Path, failing: Callable[..., None]
) -> None:
    failing({"hill-climb": wrong_answer("hill-climb", ("two blocks overlap",))})
    plan = tmp_path / "plan.csv"
    code, out, err = run("plan", problem, "--allocator", "hill-climb,best-fit", "-o", plan)
    assert code == 8
    rows = [line.split() for line in out.rstrip().split("\n")[2:]]
    assert [(row[0], row[1], "failed" in row) for row in rows] == [("hill-climb", "-", True), ("best-fit", "32", False)]
    assert "error[TW8050]: allocator 'hill-climb' returned a plan that is wrong" in err
    assert plan.read_text().startswith("id,")
    code, out, _ = run("plan", problem, "--allocator", "best-fit,hill-climb", "--json", "-")
    found = json.loads(out)
    assert (code, found["best"], [row["status"] for row in found["results"]]) == (8, "best-fit", ["optimal", "failed"])


def test_a_program_that_is_missing_leaves_the_others_their_table(
    run: Ran, problem: Path, failing: Callable[..., None]
) -> None:
    failing({"hill-climb": toolchain_error("TW7020", "the program is not on PATH")})
    code, out, err = run("plan", problem, "--allocator", "best-fit,hill-climb")
    assert (code, out.count("failed"), out.count("optimal"), err.count("error[TW7020]")) == (7, 1, 1, 1)


def test_all_that_fail_are_told(run: Ran, problem: Path, failing: Callable[..., None]) -> None:
    names = ("hill-climb", "best-fit")
    failing({name: wrong_answer(name, ("two blocks overlap",)) for name in names})
    code, out, err = run("plan", problem, "--allocator", ",".join(names))
    assert (code, out.count("failed"), err.count("error[TW8050]")) == (8, 2, 2)


@pytest.mark.parametrize(
    ("error", "code"), [(usage_error("TW5025", "a problem that makes no sense"), 2), (ZeroDivisionError("ours"), 1)]
)
def test_what_is_no_allocator_s_fault_ends_it(
    run: Ran, problem: Path, failing: Callable[..., None], error: Exception, code: int
) -> None:
    failing({"hill-climb": error})
    ended, out, err = run("plan", problem, "--allocator", "best-fit,hill-climb")
    assert (ended, out) == (code, "")
    assert str(error) in err
