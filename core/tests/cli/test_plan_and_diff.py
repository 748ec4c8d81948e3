"""`tilewright plan` and `tilewright diff`: what they read, what they say, how they end."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.allocate.problem_files import problem_json, read_problem
from tilewright.cli.main import _run
from tilewright.errors import TilewrightError
from tilewright.testing.joined_problems import joined_problem

SHARED = Path(__file__).parents[4] / "shared" / "benchmarks" / "allocation"
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
    file = SHARED / "minimalloc" / "A.1048576.csv"
    if not file.exists():
        pytest.skip("the shared benchmarks are not here")
    code, out, err = run(
        "plan", file, "--capacity", "1M", "--allocator", "greedy-by-size,hill-climb", "--effort", "9999"
    )
    assert code == 10
    assert out.count("unknown") == 2
    assert "error[TW5023]" in err and "try:  --effort" in err


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


@pytest.mark.parametrize("file", sorted(SHARED.glob("*/*.json")), ids=lambda file: file.name)
def test_every_shared_graph_is_proved_optimal_in_a_second(run: Ran, file: Path) -> None:
    """With the core alone: TVM's hill climb leaves 112,384 B on DS-CNN in float."""
    code, out, _ = run("plan", file, "--allocator", "best-fit", "--json", "-")
    (row,) = json.loads(out)["results"]
    assert code == 0
    assert (row["status"], row["gap_percent"]) == ("optimal", 0)
    assert row["cpu_seconds"] < 1
    if "dscnn_f32" in file.name:
        assert row["peaks"]["global_workspace"] == 80_464


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False))
def test_our_own_form_keeps_everything(tmp_path_factory: pytest.TempPathFactory, chance: Any) -> None:
    problem = joined_problem(chance)
    data = problem_json(problem)
    schema = json.loads(files("tilewright.allocate").joinpath("problem-1.schema.json").read_text("utf-8"))
    jsonschema.validate(data, schema)
    file = tmp_path_factory.mktemp("problem") / "problem.json"
    file.write_text(json.dumps(data))
    assert read_problem(file) == problem


def test_all_columns_of_minimalloc_are_read(tmp_path: Path) -> None:
    file = tmp_path / "all.csv"
    file.write_text("id,lower,upper,size,alignment,offset,hint,gaps\nx,0,20,8,4,,12,7-9 12-14\ny,0,4,8,,16,-1,\n")
    x, y = read_problem(file).blocks
    assert (x.align, x.fixed_offset, x.hint, x.lifetimes) == (4, None, 12, ((0, 6), (9, 11), (14, 19)))
    assert (y.align, y.fixed_offset, y.hint, y.lifetimes) == (1, 16, None, ((0, 3),))


@pytest.mark.parametrize(
    "text", ["", "id,size\n1,2\n", "{", '{"a": 1}', "id,lower,upper,size\na,b,c,d\n", '{"buffers": [{}]}']
)
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad"
    file.write_text(text)
    with pytest.raises(TilewrightError) as caught:
        read_problem(file)
    assert caught.value.code == "TW5022"


def _report(file: Path, used: int, cycles: int, kernel: str = "portable.conv") -> Path:
    report = {
        "schema": "https://tilewright.dev/schema/report-1.json",
        "pools": [
            {"name": "sram", "kind": "ram", "used_bytes": used},
            {"name": "flash", "kind": "const", "used_bytes": 9},
        ],
        "cycles": {"total": cycles}, "macs": 5, "steps": [{"name": "/conv", "kernel": kernel}],
    }  # fmt: skip
    file.write_text(json.dumps(report))
    return file


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        ("", 0),
        ("ram+2%", 0),
        ("ram+1%", 9),
        ("ram+19", 9),
        ("ram+20", 0),
        ("pool.sram+1.9%", 9),
        ("cycles+0", 0),
        ("ram", 2),
        ("moon+2%", 2),
        ("flash+0,ram+0", 9),
    ],
)
def test_the_gate(run: Ran, tmp_path: Path, gate: str, code: int) -> None:
    old, new = _report(tmp_path / "old", 1000, 50), _report(tmp_path / "new", 1020, 40, "acme.conv")
    ended, out, err = run("diff", old, new, "--fail-on", gate)
    assert ended == code
    if code != 2:
        assert "1,000  1,020" in " ".join(out.split("\n")[1].split()).replace(" 1,020", "  1,020")
        assert "+2.00 %" in out and "-20.00 %" in out
        assert "~ step /conv: portable.conv -> acme.conv" in out
    if code == 9:
        assert "error[TW5024]" in err and "grew by 20" in err


def test_growth_from_nothing_breaks_every_relative_gate(run: Ran, tmp_path: Path) -> None:
    old, new = _report(tmp_path / "old", 0, 50), _report(tmp_path / "new", 1, 50)
    assert run("diff", old, new, "--fail-on", "ram+500%")[0] == 9
