"""Scripts of `benchmarks/` and `tools/` say what they are for when they are asked, and do nothing then."""

from __future__ import annotations

import runpy
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    script.relative_to(ROOT).as_posix()
    for folder in ("benchmarks", "tools")
    for script in sorted((ROOT / folder).glob("*.py"))
    if '__name__ == "__main__"' in script.read_text("utf-8")
]


def test_there_are_scripts() -> None:
    assert {"benchmarks/compile_time.py", "tools/install.py"} < set(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_shows_the_document(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str((ROOT / script).parent))
    monkeypatch.setattr(sys, "argv", [script, "--help"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(ROOT / script), run_name="__main__")
    said = capsys.readouterr().out
    assert left.value.code == 0
    assert said.startswith("usage: ")
    document = (ROOT / script).read_text("utf-8").split('"""')[1]
    assert " ".join(document.split()) in " ".join(said.split())
    assert list(tmp_path.iterdir()) == []


def test_everything_that_is_drawn_says_what_it_is(
    benchmark_script: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fuzz = benchmark_script("fuzz")
    files = {
        path.stem for path in (ROOT / "benchmarks" / "fuzzing").glob("*.py") if "FUZZ = " in path.read_text("utf-8")
    }
    assert files == set(fuzz.WHAT)
    for name in fuzz.WHAT:
        monkeypatch.setattr(sys, "argv", ["fuzz.py", "--what", name, "--help"])
        with pytest.raises(SystemExit) as left:
            fuzz.main()
        said = " ".join(capsys.readouterr().out.split())
        assert left.value.code == 0 and " ".join(fuzz.chosen(name).about.split()) in said


def test_what_is_wrong_is_said_counted_and_kept(
    benchmark_script: Callable[[str], Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    frame = benchmark_script("fuzzing.frame")

    def outcomes(seeds: Sequence[int], _: Namespace, folder: Path) -> Iterator[Any]:
        for seed in seeds:
            (folder / str(seed)).touch()
            wrong = "why" if seed == 3 else ""
            yield frame.Outcome(f"seed {seed}", "odd" if seed % 2 else "even", wrong, row="r", sums={"n": seed})

    asked = Namespace(seeds="1:6", keep=tmp_path, what="numbers")
    assert frame.run(frame.Fuzz(about="", outcomes=outcomes, batch=2), asked) == 1
    assert capsys.readouterr().out.splitlines() == [
        "seed 3: odd: why", "| | cases | n |", "|---|---:|---:|", "| r | 5 | 15 |", "{'odd': 3, 'even': 2}",
    ]  # fmt: skip
    kept = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert kept == ["numbers_3", "numbers_3/3", "numbers_3/4"]


def test_the_network_of_the_tutorial_is_what_its_script_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    made = runpy.run_path(str(ROOT / "tools" / "digits_tflite.py"))["digits"]()
    assert made == (ROOT / "examples" / "digits" / "digits_int8.tflite").read_bytes()
