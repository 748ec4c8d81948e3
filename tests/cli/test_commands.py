"""Every command on right input: results on stdout, the rest on stderr, files where they were asked for."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

FORMAT = Path(__file__).parents[2] / "docs" / "output-format.md"
Run = Callable[..., Any]


def valid(report: object) -> None:
    schema = json.loads((files("tilewright.report") / "report-2.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(report)


@pytest.fixture(scope="module", name="compiled")
def _compiled(process: Run, int8: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("compiled") / "digits"
    return folder, process("compile", int8, "-t", "generic", "-o", folder)


# check


def test_check_says_whether_it_fits_and_what_to_type_next(process: Run, int8: Path, tmp_path: Path) -> None:
    flags = ("--memory", "ram=64K", "--name", "eyes", "--set", "align=8", "--io", "user")
    finished = process("check", int8, "-t", "generic", *flags, "--layers", cwd=tmp_path)
    assert (finished.code, finished.err) == (0, "")
    head, *_, last = finished.out.rstrip().split("\n")
    assert head.startswith("eyes: ")
    assert "65,536 B" in finished.out
    assert "ONNX nodes" in finished.out
    prompt, command = last.split("Next: ")
    assert prompt.startswith("FITS.")
    words = command.split()
    assert words[:3] == ["tilewright", "compile", str(int8)]
    assert process(*words[1:], cwd=tmp_path).code == 0
    assert (tmp_path / "eyes" / "eyes.h").exists()


def test_check_writes_nothing(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    assert tilewright("check", int8, "-t", "generic", cwd=tmp_path).code == 0
    assert list(tmp_path.iterdir()) == []


def test_check_sends_its_report_to_stdout_or_a_file(tilewright: Run, int8: Path, tmp_path: Path, report: Any) -> None:
    finished = tilewright("check", int8, "-t", "generic", "--json", tmp_path / "new" / "report.json")
    assert "FITS" in finished.out
    assert json.loads((tmp_path / "new" / "report.json").read_text(encoding="utf-8")) == report
    valid(report)
    assert report["artifacts"] == []


# compile


def test_compile_writes_a_folder_and_names_it(compiled: tuple[Path, Any]) -> None:
    folder, finished = compiled
    assert (finished.code, finished.out) == (0, f"{folder}\n")
    assert "wrote 8 files" in finished.err or "wrote" in finished.err
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    valid(report)
    written = {path.name for path in folder.iterdir()}
    assert written == {
        "report.json",
        "report.html",
        "tilewright-manifest.json",
        *(item["path"] for item in report["artifacts"]),
    }
    assert {"digits_int8.h", "digits_int8.c", "tw_runtime.h", "CMakeLists.txt", "README.md"} <= written


def test_compile_writes_for_the_build_systems_named(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    finished = tilewright("compile", int8, "-t", "generic", "-o", folder, "--emit", "make, arduino,make", "-q")
    assert (finished.code, finished.err) == (0, "")
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    valid(report)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == {
        "report.json",
        "report.html",
        "tilewright-manifest.json",
        *(item["path"] for item in report["artifacts"]),
    }
    assert {"Makefile", "digits_int8.c", "arduino/digits_int8/library.properties"} <= written
    assert "CMakeLists.txt" not in written


def test_a_projects_target_is_none_of_a_group(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(f'target = "generic"\n[models]\na = "{int8}"\n', encoding="utf-8")
    (tmp_path / "tilewright.toml").write_text('target = "cortex-m4"\nname = "net"\n', encoding="utf-8")
    finished = tilewright("compile", "--group", "app.toml", "-o", "app", "-q", cwd=tmp_path)
    assert finished.code == 0, finished.err
    assert 'A_TARGET "generic"' in (tmp_path / "app" / "a" / "a.h").read_text()


def test_a_group_is_written_for_cmake(tilewright: Run, tmp_path: Path) -> None:
    finished = tilewright("compile", "--group", tmp_path / "none.toml", "-o", tmp_path / "out", "--emit", "make")
    assert finished.code == 2
    assert "leave --emit out" in finished.err


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "split"])
def test_every_layout_runs_the_network(tilewright: Run, int8: Path, tmp_path: Path, tool: Any, layout: str) -> None:
    """Make, CMake and the Arduino sources, built for real from one folder: the self-test says what is right."""
    layouts = (
        "--layout",
        layout,
        "--emit",
        "cmake,make,zephyr,platformio,arduino",
        "--const-format",
        "incbin",
        "--selftest",
    )
    folder = tmp_path / "out"
    assert tilewright("compile", int8, "-t", "generic", "-o", folder, *layouts, "-q").code == 0
    arduino = sorted((folder / "arduino" / "digits_int8" / "src").glob("*.c"))
    for command in (
        (tool("make"), "-C", folder, "check"),
        (tool("cmake"), "-S", folder, "-B", tmp_path / "build"),
        (tool("cmake"), "--build", tmp_path / "build"),
        (tmp_path / "build" / "digits_int8_selftest",),
        (tool("cc"), "-I", folder, *arduino, folder / "digits_int8_selftest.c", "-lm", "-o", tmp_path / "selftest"),
        (tmp_path / "selftest",),
    ):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("target", ["generic", "cortex-m4", "siracusa"])
def test_what_is_split_is_validated(tilewright: Run, int8: Path, target: str) -> None:
    finished = tilewright("validate", int8, "-t", target, "--layout", "split", "--sets", "1")
    assert finished.code == 0, finished.err
    assert "PASS" in finished.out


def test_json_on_stdout_is_alone_there(process: Run, int8: Path, tmp_path: Path) -> None:
    finished = process("compile", int8, "-t", "generic", "-o", tmp_path / "out", "--json", "-")
    report = finished.json()
    valid(report)
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8")) == report
    assert "wrote" in finished.err


def test_the_form_that_scripts_rely_on(report: Any) -> None:
    """Issue 2, item 12."""
    for pool in report["pools"]:
        assert {"name", "kind", "used_bytes", "limit_bytes", "lower_bound_bytes", "optimal"} <= pool.keys()
        assert pool["kind"] in ("ram", "const", "state")
    for step in report["steps"]:
        assert {"name", "op", "onnx_nodes", "kernel", "macs", "peak_bytes"} <= step.keys()
    assert report["macs"] == sum(step["macs"] for step in report["steps"]) > 0
    assert report["constants_bytes"] > 0
    ram = next(pool for pool in report["pools"] if pool["kind"] == "ram")
    assert max(step["peak_bytes"] for step in report["steps"]) <= ram["used_bytes"]
    assert ram["lower_bound_bytes"] <= ram["used_bytes"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda report: report.pop("pools"),
        lambda report: report.update(macs=-1),
        lambda report: report.update(schema="report-2.json"),
        lambda report: report["pools"][0].update(kind="rom"),
        lambda report: report["steps"][0].pop("peak_bytes"),
        lambda report: report["buffers"][0].update(size_bytes="many"),
        lambda report: report["diagnostics"].append({"code": "oops"}),
        lambda report: report["cycles"].update(kind="guess"),
    ],
    ids=range(8),
)
def test_the_schema_rejects_a_broken_report(report: Any, spoil: Callable[[Any], Any]) -> None:
    broken = json.loads(json.dumps(report))
    spoil(broken)
    with pytest.raises(jsonschema.ValidationError):
        valid(broken)


def test_quiet_says_only_the_result(tilewright: Run, float32: Path, tmp_path: Path) -> None:
    finished = tilewright("compile", float32, "-t", "generic", "-o", tmp_path / "out", "-q")
    assert (finished.out, finished.err) == (f"{tmp_path / 'out'}\n", "")


def test_compile_replaces_its_files_and_leaves_others(tilewright: Run, float32: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("int mine;\n", encoding="utf-8")
    assert tilewright("compile", float32, "-t", "generic", "-o", tmp_path).code == 0
    (tmp_path / "digits_f32.h").write_text("old", encoding="utf-8")
    assert tilewright("compile", float32, "-t", "generic", "-o", tmp_path).code == 0
    assert (tmp_path / "mine.c").read_text(encoding="utf-8") == "int mine;\n"
    assert (tmp_path / "digits_f32.h").read_text(encoding="utf-8") != "old"
    assert not list(tmp_path.glob(".tilewright-*"))


def test_the_documented_build_works_after_compiling_with_other_options(
    tilewright: Run, int8: Path, tmp_path: Path, tool: Any
) -> None:
    """The lines of docs/output-format.md: every source in the folder."""
    build = re.search(r"^Without any: `cc ([^`]*)`", FORMAT.read_text(encoding="utf-8"), re.MULTILINE)
    assert build
    for flags in (("--const-format", "incbin"), ("--const-format", "c", "--selftest"), ("--layout", "split")):
        folder = tmp_path / "net"
        assert tilewright("compile", int8, "-t", "generic", "-o", folder, *flags).code == 0
        listed = json.loads((folder / "tilewright-manifest.json").read_text())["files"]
        assert {path.name for path in folder.iterdir()} == {*listed, "tilewright-manifest.json"}
        command = f"{tool('cc')} {build[1].replace('DIR', str(folder)).replace(f' {folder}/*.S', '')}"
        command += f" {folder}/*.S" if list(folder.glob("*.S")) else ""
        subprocess.run(command, shell=True, check=True, cwd=tmp_path)
        (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
        objects = [path for path in tmp_path.glob("*.o") if "selftest" not in path.name]
        subprocess.run([tool("cc"), "-o", "program", "main.c", *map(str, objects), "-lm"], check=True, cwd=tmp_path)
        for path in tmp_path.glob("*.o"):
            path.unlink()


def test_a_changed_file_of_the_run_before_is_kept_and_said(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    compiling = ("compile", int8, "-t", "generic", "-o", tmp_path)
    assert tilewright(*compiling, "--const-format", "incbin").code == 0
    (tmp_path / "digits_int8_weights.S").write_text("# mine\n")
    strict = tilewright(*compiling, "--const-format", "c", "--strict")
    assert (strict.code, (tmp_path / "digits_int8_weights.c").exists()) == (2, False)
    finished = tilewright(*compiling, "--const-format", "c")
    assert (finished.code, "TW1121" in finished.err) == (0, True)
    assert "removed 1 of the run before" in finished.err
    assert (tmp_path / "digits_int8_weights.S").read_text() == "# mine\n"
    assert not (tmp_path / "digits_int8_flash.bin").exists()


@pytest.mark.parametrize(
    ("form", "expected"),
    [("c", "_weights.c"), ("incbin", "_weights.S"), ("bin", ".bin")],
)
def test_constants_come_in_the_form_asked_for(
    tilewright: Run, float32: Path, tmp_path: Path, form: str, expected: str
) -> None:
    assert tilewright("compile", float32, "-t", "generic", "-o", tmp_path, "--const-format", form).code == 0
    assert any(path.name.endswith(expected) for path in tmp_path.iterdir())


def test_a_self_test_can_be_had(tilewright: Run, float32: Path, tmp_path: Path) -> None:
    assert tilewright("compile", float32, "-t", "generic", "-o", tmp_path, "--selftest").code == 0
    assert (tmp_path / "digits_f32_selftest.c").exists()


@pytest.mark.parametrize("stage", ["imported", "rewritten", "bound", "scheduled", "tiled", "allocated", "program"])
def test_every_stage_can_be_printed(tilewright: Run, float32: Path, tmp_path: Path, stage: str) -> None:
    words = ("compile", float32, "-t", "generic", "-o", tmp_path / "out", "-q", "--dump-after", stage)
    finished = tilewright(*words)
    assert finished.out == f"{tmp_path / 'out'}\n"
    assert "conv1" in finished.err


@pytest.mark.parametrize("stage", ["rewritten", "bound", "scheduled", "tiled", "allocated"])
def test_a_state_continues_to_the_same_files(tilewright: Run, int8: Path, tmp_path: Path, stage: str) -> None:
    first, second, state = tmp_path / "first", tmp_path / "second", tmp_path / "state"
    common = ("compile", int8, "-t", "generic", "-q")
    assert tilewright(*common, "-o", first, "--export-state", f"{stage}={state}").code == 0
    finished = tilewright(*common, "-o", second, "--import-state", state)
    assert finished.code == 0, finished.err
    for path in first.glob("*.[chS]"):
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--io", "user"), "--io image=user: it has pool"),
        (("--io", "scores=user"), "--io scores=user: it has pool"),
        (("--pool", "fast:4K"), "--pool fast:4096: it has no such memory"),
    ],
)
def test_a_plan_that_was_saved_is_not_given_other_ends_or_pools(
    tilewright: Run, int8: Path, tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    common = ("compile", int8, "-t", "generic", "-q", "-o", tmp_path / "out")
    assert tilewright(*common, "--export-state", f"allocated={tmp_path / 'plan'}").code == 0
    finished = tilewright(*common, "--import-state", tmp_path / "plan", *flags)
    assert finished.code == 2
    assert "error[TW1223]" in finished.err
    assert said in finished.err


def test_flags_that_a_saved_plan_has_answered_are_named(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    common = ("compile", int8, "-t", "generic", "-q", "-o", tmp_path / "out")
    late, early = tmp_path / "plan", tmp_path / "rewritten"
    exports = ("--export-state", f"allocated={late}", "--export-state", f"rewritten={early}")
    assert tilewright(*common, "--io", "user", *exports).code == 0
    flags = ("--io", "user", "--optimize", "ram", "--pin", "conv1=ram")
    finished = tilewright(*common, "--import-state", late, *flags)
    assert finished.code == 0, finished.err
    assert "note[TW1227]" in finished.err
    assert "--optimize, --pin" in finished.err
    assert "TW1227" not in tilewright(*common, "--import-state", early, *flags).err


@pytest.mark.parametrize("stage", ["rewritten", "allocated"])
def test_a_saved_state_of_another_model(tilewright: Run, int8: Path, float32: Path, tmp_path: Path, stage: str) -> None:
    common = ("-t", "generic", "-q", "-o", tmp_path / "out")
    assert tilewright("compile", int8, *common, "--export-state", f"{stage}={tmp_path / 'plan'}").code == 0
    finished = tilewright("compile", float32, *common, "--import-state", tmp_path / "plan")
    assert finished.code == 2
    assert "error[TW1223]: the saved state is of another model" in finished.err


def test_what_is_printed_of_a_saved_state_is_its_own(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    common = ("compile", int8, "-t", "generic", "-q", "-o", tmp_path / "out")
    assert tilewright(*common, "--export-state", f"rewritten={tmp_path / 'graph'}").code == 0
    file = tmp_path / "graph" / "state.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"conv1"', '"edited"'), encoding="utf-8")
    finished = tilewright(*common, "--import-state", tmp_path / "graph", "--dump-after", "rewritten")
    assert finished.code == 0, finished.err
    assert "edited" in finished.err


def test_a_saved_plan_of_a_model_that_is_not_there(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    common = ("-t", "generic", "-q", "-o", tmp_path / "out")
    assert tilewright("compile", int8, *common, "--export-state", f"allocated={tmp_path / 'plan'}").code == 0
    finished = tilewright("compile", tmp_path / "nowhere.onnx", *common, "--import-state", tmp_path / "plan")
    assert finished.code == 3
    assert "error[TW1201]" in finished.err


def test_a_pinned_decision_is_kept(tilewright: Run, float32: Path, tmp_path: Path) -> None:
    (tmp_path / "pins.json").write_text('{"offsets": {"image": 4096}}', encoding="utf-8")
    finished = tilewright("check", float32, "-t", "generic", "--pin", tmp_path / "pins.json", "--json", "-")
    (image,) = (item for item in finished.json()["buffers"] if item["name"] == "image")
    assert image["offset_bytes"] == 4096


def test_inputs_and_outputs_can_stay_with_the_caller(tilewright: Run, int8: Path, report: Any) -> None:
    theirs = tilewright("check", int8, "-t", "generic", "--io", "user", "--json", "-").json()
    places = {item["name"]: item["pool"] for item in theirs["buffers"]}
    assert places["image"] is None
    assert theirs["pools"][0]["used_bytes"] <= report["pools"][0]["used_bytes"]


def test_strict_makes_warnings_errors(process: Run, float32: Path, tmp_path: Path) -> None:
    """A blocked name that is not installed is the simplest warning there is."""
    words = ("compile", float32, "-t", "generic", "-o", tmp_path / "out")
    environment = {"TILEWRIGHT_BLOCK": "nobody"}
    lenient = process(*words, "-q", env=environment)
    assert lenient.code == 0
    assert lenient.err.startswith("warning[TW8011]: ")
    strict = process(*words[:-1], tmp_path / "strict", "--strict", env=environment)
    assert strict.code == 2
    assert "error[TW1108]" in strict.err
    assert not (tmp_path / "strict").exists()


# validate


def test_validate_judges_every_step_and_output(process: Run, int8: Path) -> None:
    finished = process("validate", int8, "-t", "generic", "--on", "host", "--sets", "3", "--json", "-")
    assert finished.code == 0, finished.err
    verdict = finished.json()
    assert verdict["status"] == "pass"
    assert verdict["sets"] == 3
    for output in verdict["outputs"]:
        assert {"name", "elements", "different", "max_difference", "argmax_equal"} <= output.keys()
    assert verdict["outputs"][0]["elements"] == 30
    assert verdict["steps"]
    assert all(step["name"] and step["exact"] is True for step in verdict["steps"])


def test_flags_that_change_nothing_are_named(tilewright: Run, int8: Path) -> None:
    finished = tilewright("check", int8, "-t", "generic", "--buffering", "double", "--optimize", "ram")
    assert finished.code == 0, finished.err
    assert "note[TW1123]: these flags change nothing here: --buffering double" in finished.err
    assert "--optimize" not in finished.err
    assert "TW1123" not in tilewright("check", int8, "-t", "siracusa", "--buffering", "double").err


def test_memories_of_a_board_that_pools_end_are_named(tilewright: Run, int8: Path, tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text('[[memory]]\nname = "dtcm"\nsize = "8K"\n', encoding="utf-8")
    words = ("check", int8, "-t", "generic", "--board", board, "--pool", "fast:4K")
    finished = tilewright(*words)
    assert "note[TW1124]: memories of the board are not used, because --pool names others: dtcm" in finished.err
    assert "your pools: --pool dtcm\n" in finished.err
    again = tilewright(*words, "--pool", "dtcm")
    assert again.code == 0, again.err
    assert "TW1124" not in again.err


def test_validate_takes_vectors(tilewright: Run, float32: Path, tmp_path: Path) -> None:
    arrays = {f"set{k}/in/image": np.full((1, 1, 8, 8), k, np.float32) for k in range(2)}
    np.savez(tmp_path / "vectors.npz", **arrays)
    finished = tilewright("validate", float32, "-t", "generic", "--io", tmp_path / "vectors.npz")
    assert finished.out.rstrip().endswith("PASS"), finished.err
    assert "2 set(s)" in finished.err
    assert finished.code == 0


def test_validate_under_sanitizers(tilewright: Run, int8: Path) -> None:
    finished = tilewright("validate", int8, "-t", "generic", "--sanitize", "--sets", "1")
    assert finished.code == 0, finished.err


# report


def test_a_report_is_shown_again(tilewright: Run, compiled: tuple[Path, Any]) -> None:
    file = compiled[0] / "report.json"
    text = tilewright("report", file)
    assert (text.code, text.err) == (0, "")
    told = [line for line in compiled[1].err.splitlines() if line and not line.startswith("wrote ")]
    assert [line for line in text.out.splitlines() if line in told] == told
    assert "memory against cycles: tilewright check MODEL --target generic --front" in text.out
    rows = list(csv.DictReader(io.StringIO(tilewright("report", file, "--format", "csv").out)))
    steps = json.loads(file.read_text(encoding="utf-8"))["steps"]
    assert [int(row["macs"]) for row in rows] == [step["macs"] for step in steps]
    table = tilewright("report", file, "--format", "md").out
    assert table.count("\n| ") == len(steps) + 1
    root = ET.fromstring(tilewright("report", file, "--format", "svg").out)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


# what is installed


def test_targets(tilewright: Run) -> None:
    listed = tilewright("targets", "--json", "-").json()
    packages = {target["name"]: (target["package"], target["problem"]) for target in listed}
    assert packages["generic"] == ("tilewright-cortexm", "")
    assert packages["siracusa"] == ("tilewright-siracusa", "")
    assert re.search(r"^generic +tilewright-cortexm ", tilewright("targets").out, re.MULTILINE)
    one = tilewright("targets", "generic", "--json", "-").json()
    assert [memory["name"] for memory in one["memories"]] == ["ram", "flash"]
    assert "--set align=16" in tilewright("targets", "generic").out


def test_no_target(process: Run) -> None:
    finished = process("targets", env={"TILEWRIGHT_BLOCK": "tilewright-cortexm"})
    assert finished.code == 0
    assert "blocked" in finished.out


def test_ops(tilewright: Run) -> None:
    assert re.search(r"^Conv +Conv", tilewright("ops", "--target", "generic").out, re.MULTILINE)
    listed = tilewright("ops", "--target", "generic", "--format", "json").json()
    assert "Conv" in json.dumps(listed)
    assert "| Conv |" in tilewright("ops", "--target", "generic", "--format", "md").out


def test_plugins(process: Run) -> None:
    listed = {item["package"]: item for item in process("plugins", "list", "--json", "-").json()}
    assert "platform.generic" in listed["tilewright-cortexm"]["announced"]
    assert listed["tilewright-cortexm"]["offers"] == []  # nothing was imported
    assert "tilewright-cortexm" in process("plugins", "list").out
    found = {item["package"]: item for item in process("plugins", "doctor", "--json", "-").json()}
    assert found["tilewright"]["status"] == "ok"


def test_doctor(tilewright: Run) -> None:
    finished = tilewright("doctor")
    assert finished.code == 0
    assert re.search(r"^runner +host: ready; counts nothing$", finished.out, re.MULTILINE)
    found = tilewright("doctor", "--json", "-").json()
    assert {"tilewright", "python", "packages", "plugins", "compilers", "runners"} <= found.keys()
    assert found["compilers"]
