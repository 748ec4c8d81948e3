"""What PyTorch exports: a model, and its weights in a file beside it. Every command that opens a model reads both, and
none reads more than it may.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tilewright as package
from tilewright.errors import TilewrightError
from tilewright.onnx_backend import prepare

Run = Callable[..., Any]


@pytest.fixture(name="desk")
def _desk(float32: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: `m.onnx` with `m.onnx.data` beside it, and `whole.onnx`, which is the same in one file."""
    model = onnx.load(float32)
    for name in ("m", "whole"):
        beside = {"save_as_external_data": True, "location": "m.onnx.data", "size_threshold": 0} if name == "m" else {}
        onnx.save(model, tmp_path / f"{name}.onnx", **beside)
        model = onnx.load(float32)
    assert (tmp_path / "m.onnx").stat().st_size < 5000 < (tmp_path / "m.onnx.data").stat().st_size
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(typed: Run, file: str, *words: str) -> dict[str, bytes]:
    finished = typed(f"compile {file} -t generic -n net -o out {' '.join(words)}")
    assert finished.code == 0, finished.err
    found = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    shutil.rmtree("out")
    return found


def test_the_program_is_that_of_the_whole_model(desk: Path, typed: Run) -> None:
    one, other = compiled(typed, "m.onnx"), compiled(typed, "whole.onnx")
    assert one.keys() == other.keys()
    about_the_file = {"report.json", "report.html", "tilewright-manifest.json"}
    assert {name for name in one if one[name] != other[name]} == about_the_file


def test_the_report_tells_other_weights_apart(desk: Path, typed: Run) -> None:
    words, found = "check m.onnx -t generic --json -", []
    for _ in range(2):
        found.append(typed(words).json()["model"]["sha256"])
        data = bytearray(Path("m.onnx.data").read_bytes())
        data[0] ^= 1
        Path("m.onnx.data").write_bytes(data)
    assert len(set(found)) == 2


@pytest.mark.parametrize("runtime", ["onnxruntime", "onnx-reference"])
def test_it_is_validated_beside_another_runtime(desk: Path, typed: Run, tool: Any, runtime: str) -> None:
    tool("cc")
    if runtime == "onnxruntime":
        pytest.importorskip("onnxruntime")
    finished = typed(f"validate m.onnx -t generic --sets 1 --against {runtime} --json verdict.json")
    assert finished.code == 0, finished.err
    assert json.loads(Path("verdict.json").read_text("utf-8"))["against"]["agrees"]


def test_another_runtime_is_given_nothing_that_may_not_be_read(desk: Path, typed: Run, tool: Any) -> None:
    """A constant that no node reads, and whose type tilewright does not hold, is not read by `compile`."""
    tool("cc")
    model = onnx.load("m.onnx", load_external_data=False)
    odd = onnx.TensorProto(name="odd", data_type=onnx.TensorProto.COMPLEX64, dims=[2])
    odd.data_location = onnx.TensorProto.EXTERNAL
    odd.external_data.add(key="location", value="pipe")
    model.graph.initializer.append(odd)
    onnx.save(model, "m.onnx")
    os.mkfifo("pipe")
    assert typed("check m.onnx -t generic").code == 0
    finished = typed("validate m.onnx -t generic --sets 1 --against onnx-reference")
    assert finished.code == 3
    assert "error[TW1210]" in finished.err
    assert "is a pipe" in finished.err


def test_models_of_a_group(desk: Path, typed: Run) -> None:
    Path("group.toml").write_text("target = 'generic'\n[models]\none = 'm.onnx'\ntwo = 'whole.onnx'\n")
    assert typed("compile --group group.toml -o out").code == 0
    finished = typed("compile --group group.toml -o out --no-external")
    assert (finished.code, "error[TW1210]" in finished.err) == (3, True)


def test_a_project_may_refuse_it(desk: Path, typed: Run) -> None:
    Path("tilewright.toml").write_text("target = 'generic'\nno-external = true\n")
    finished = typed("check m.onnx")
    assert (finished.code, "error[TW1210]" in finished.err) == (3, True)
    assert typed("check m.onnx --allow-external").code == typed("--no-project check m.onnx -t generic").code == 0


def test_the_front_door_has_the_same_defaults(desk: Path) -> None:
    one, other = (package.compile(name, "generic", name="net").report.data for name in ("m.onnx", "whole.onnx"))
    assert one["plan_id"] == other["plan_id"]
    with pytest.raises(TilewrightError, match="TW1210"):
        package.compile("m.onnx", "generic", allow_external=False)
    bare = onnx.load("m.onnx", load_external_data=False)
    for model in (bare, bare.SerializeToString()):
        with pytest.raises(TilewrightError, match="was given as bytes"):
            package.compile(model, "generic")
    with pytest.raises(TilewrightError, match="was given as bytes"):
        prepare(bare)
    assert package.compile(onnx.load("m.onnx"), "generic", name="net").report.data["plan_id"] == one["plan_id"]


def test_a_state_goes_on_with_the_model_that_it_is_of(desk: Path, typed: Run) -> None:
    assert typed("compile m.onnx -t generic -o out --export-state allocated=state").code == 0
    assert typed("compile m.onnx -t generic -o out --import-state state").code == 0
    data = bytearray(Path("m.onnx.data").read_bytes())
    data[0] ^= 1
    Path("m.onnx.data").write_bytes(data)
    finished = typed("compile m.onnx -t generic -o out --import-state state")
    assert (finished.code, "error[TW1223]" in finished.err) == (2, True)


@pytest.mark.parametrize("line", [
    "check m.onnx -t generic --json m.onnx.data",
    "compile m.onnx -t generic -o out --json m.onnx.data",
    "validate m.onnx -t generic --json ./m.onnx.data",
    "quantize m.onnx --calibration s.npz -o m.onnx.data",
])  # fmt: skip
def test_nothing_is_written_over_the_weights(desk: Path, typed: Run, line: str) -> None:
    before = Path("m.onnx.data").read_bytes()
    finished = typed(line)
    assert (finished.code, "error[TW1125]" in finished.err) == (2, True)
    assert Path("m.onnx.data").read_bytes() == before


@pytest.fixture(name="samples")
def _samples(desk: Path) -> Iterator[Path]:
    pytest.importorskip("onnxruntime")
    with np.load(Path(__file__).parents[2] / "examples" / "digits" / "digits_test.npz") as digits:
        np.savez("s.npz", image=digits["images"][:20])
    yield desk


def test_it_is_quantised(samples: Path, typed: Run) -> None:
    for name in ("m", "whole"):
        finished = typed(f"quantize {name}.onnx --calibration s.npz -o {name}.int8.onnx")
        assert finished.code == 0, finished.err
    assert Path("m.int8.onnx").read_bytes() == Path("whole.int8.onnx").read_bytes()
    assert typed("check m.int8.onnx -t generic --no-external").code == 0


@pytest.mark.parametrize(
    ("words", "spoil", "code", "reason"),
    [
        ("--no-external", lambda data: None, "TW1210", "(--no-external)"),
        ("--limit file=4K", lambda data: None, "TW1203", "--limit file=1M"),
        ("", lambda data: data.unlink(), "TW1210", "there is no file 'm.onnx.data'"),
        ("", lambda data: data.rename("x") and data.symlink_to("x"), "TW1210", "symbolic link"),
        ("", lambda data: data.unlink() or os.mkfifo(data), "TW1210", "is a pipe"),
        ("", lambda data: data.write_bytes(b"12"), "TW1210", "has 2"),
        ("--limit size=4K", lambda data: None, "TW1101", "there is no limit 'size'"),
    ],
)
def test_what_may_not_be_read_is_not_quantised(
    samples: Path, typed: Run, words: str, spoil: Callable[[Path], Any], code: str, reason: str
) -> None:
    spoil(Path("m.onnx.data"))
    finished = typed(f"quantize m.onnx --calibration s.npz -o int8.onnx {words}")
    assert finished.code == (2 if code == "TW1101" else 3)
    assert f"error[{code}]" in finished.err
    assert reason in finished.err
    assert not Path("int8.onnx").exists()


def test_what_cannot_be_quantised_is_named_as_it_was_typed(samples: Path, typed: Run) -> None:
    Path("bad.onnx").write_bytes(b"no network")
    for name, words in (("bad.onnx", "at    bad.onnx"), ("none.onnx", "does not exist")):
        finished = typed(f"quantize {name} --calibration s.npz -o int8.onnx")
        assert finished.code == 3
        assert words in finished.err
        assert "tilewright-" not in finished.err
