"""What wrong input gets: an error of one screen with code, place, reason and next step, the documented exit code, and
nothing written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

Fails = Callable[..., str]
Graph = Callable[..., onnx.ModelProto]

node = helper.make_node


@pytest.fixture(name="fails")
def _fails(tilewright: Any, process: Any, tmp_path: Path) -> Fails:
    """`fails(words, code, exit_code)` runs a command that must fail properly, and returns what it said; with `env` in a
    process that has it."""

    def run(*words: object, code: str, exit_code: int, env: Mapping[str, str] | None = None) -> str:
        finished = process(*words, cwd=tmp_path, env=env) if env else tilewright(*words, cwd=tmp_path)
        text: str = finished.err
        assert (finished.code, finished.out) == (exit_code, ""), text
        lines = text.rstrip("\n").split("\n")
        assert lines[0].startswith(f"error[{code}]: "), text
        assert len(lines) <= 24, text
        assert max(map(len, lines)) <= 120, text
        assert any(line.startswith("  try:  ") for line in lines), text
        assert text.isascii()
        assert not list(tmp_path.rglob("out*")), "partial output"
        assert not list(tmp_path.rglob(".tilewright-*")), "a temporary folder is left"
        return text

    return run


@pytest.fixture(name="refuses")
def _refuses(fails: Fails, tmp_path: Path) -> Fails:
    """`compile` of a model (or of bytes) fails."""

    def run(model: onnx.ModelProto | bytes, code: str, exit_code: int = 3, *flags: str) -> str:
        file = tmp_path / "model.onnx"
        file.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
        return fails("compile", "model.onnx", "-t", "generic", "-o", "out", *flags, code=code, exit_code=exit_code)

    return run


# the file


def test_a_missing_file(fails: Fails) -> None:
    text = fails("check", "nowhere.onnx", "-t", "generic", code="TW1201", exit_code=3)
    assert "at    nowhere.onnx" in text


def test_a_folder(fails: Fails, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert "folder" in fails("check", "folder", "-t", "generic", code="TW1201", exit_code=3)


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 64, b"\x89PNG\r\n\x1a\n", b"TFL3" * 8, b"hello", os.urandom(4096)], ids=range(6)
)
def test_not_onnx(refuses: Fails, content: bytes) -> None:
    assert "model.onnx" in refuses(content, "TW1202")


def test_a_pointer_of_git_lfs_says_what_to_type(refuses: Fails) -> None:
    assert "git lfs pull" in refuses(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "TW1202")


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.99])
def test_a_truncated_file(refuses: Fails, int8: Path, share: float) -> None:
    whole = int8.read_bytes()
    assert "model.onnx" in refuses(whole[: int(len(whole) * share)], "TW1202")


def test_corrupt_bytes_never_crash(tilewright: Any, int8: Path, tmp_path: Path) -> None:
    whole, random = int8.read_bytes(), np.random.default_rng(1)
    for index in range(6):
        damaged = bytearray(whole)
        for place in random.integers(0, 2000, 30):
            damaged[place] = int(random.integers(256))
        file = tmp_path / f"damaged{index}.onnx"
        file.write_bytes(bytes(damaged))
        finished = tilewright("check", file, "-t", "generic")
        assert finished.code in (0, 3, 4), finished.err
        assert finished.code == 0 or finished.err.startswith("error[TW") or "\nerror[TW" in finished.err


# the graph


def test_an_unknown_operator(refuses: Fails, graph: Graph) -> None:
    text = refuses(graph([node("Frobnicate", ["x"], ["y"], name="/head/frob")]), "TW2101", 4)
    assert "/head/frob" in text
    assert "Frobnicate" in text


def test_all_unknown_operators_in_one_run(refuses: Fails, graph: Graph) -> None:
    nodes = [node("Foo", ["x"], ["a"]), node("Bar", ["a"], ["b"]), node("Foo", ["b"], ["y"])]
    text = refuses(graph(nodes), "TW2101", 4)
    assert "Foo" in text
    assert "Bar" in text


def test_a_hundred_unknown_operators_fit_on_a_screen(refuses: Fails, graph: Graph) -> None:
    nodes = [node(f"Op{i}", [f"v{i}"], [f"v{i + 1}"], name=f"/a/rather/long/name/of/a/node/{i}") for i in range(100)]
    refuses(graph(nodes, inputs={"v0": (1, 4)}, outputs=("v100",)), "TW2101", 4)


def test_an_unsupported_attribute(refuses: Fails, graph: Graph) -> None:
    text = refuses(graph([node("Relu", ["x"], ["y"], name="r", colour="red")]), "TW2101", 4)
    assert "colour" in text


def test_a_symbol_without_a_value(refuses: Fails, graph: Graph) -> None:
    text = refuses(graph([node("Relu", ["x"], ["y"])], inputs={"x": (1, "length")}), "TW1205")
    assert "try:  --dim length=1" in text


def test_a_symbol_with_a_value_compiles(tilewright: Any, graph: Graph, tmp_path: Path) -> None:
    onnx.save(graph([node("Relu", ["x"], ["y"])], inputs={"x": ("batch", 4)}), tmp_path / "m.onnx")
    finished = tilewright("check", tmp_path / "m.onnx", "-t", "generic", "--dim", "batch=3", "--json", "-")
    assert finished.json()["model"]["inputs"][0]["shape"] == [3, 4]


def test_a_dynamic_shape(refuses: Fails, graph: Graph) -> None:
    nodes = [node("NonZero", ["x"], ["n"]), node("Cast", ["n"], ["y"], to=1)]
    assert "NonZero" in refuses(graph(nodes), "TW2101", 4)


def test_a_dimension_without_a_name(refuses: Fails, graph: Graph) -> None:
    assert "x[1]" in refuses(graph([node("Relu", ["x"], ["y"])], inputs={"x": (4, None)}), "TW1205")


@pytest.mark.parametrize("shape", [(1, -4), (1 << 20, 1 << 20), (1 << 62, 4), (0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF)])
def test_absurd_shapes(refuses: Fails, graph: Graph, shape: tuple[int, ...]) -> None:
    assert "x" in refuses(graph([node("Relu", ["x"], ["y"])], inputs={"x": shape}), "TW1206")


def test_a_circle(refuses: Fails, graph: Graph) -> None:
    nodes = [node("Add", ["x", "b"], ["a"], name="first"), node("Relu", ["a"], ["b"], name="second")]
    text = refuses(graph(nodes, outputs=("b",)), "TW1207")
    assert "first" in text


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_scales(refuses: Fails, graph: Graph, scale: float) -> None:
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"], name="quant"),
        node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    model = graph(nodes, constants={"s": np.float32(scale), "z": np.int8(0)})
    assert "quant" in refuses(model, "TW3051")


@pytest.mark.parametrize("place", ["../secret.bin", "/etc/passwd", "a/../../b", "secret.bin"])
def test_external_data_outside_the_folder(refuses: Fails, graph: Graph, place: str, tmp_path: Path) -> None:
    (tmp_path.parent / "secret.bin").write_bytes(b"\1" * 16)
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1, 4], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value=place)
    model = graph([node("Add", ["x", "w"], ["y"])])
    model.graph.initializer.append(weights)
    for words in ((), ("--allow-external",), ("--no-external",)):
        refuses(model, "TW1210", 3, *words)


HOSTILE = (
    "int",
    "while",
    "*/ evil(); /*",
    'a"; system("id"); "',
    "a\nb",
    "a\\",
    "",
    "main",
    "tw_status",
    "%s%n",
    "${x}",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_compile_safely(tilewright: Any, graph: Graph, tmp_path: Path, name: str) -> None:
    nodes = [node("Relu", [name or "x"], [f"{name}2"], name=name), node("Relu", [f"{name}2"], [f"{name}y"], name=name)]
    model = graph(nodes, inputs={name or "x": (1, 4)}, outputs=(f"{name}y",))
    onnx.save(model, tmp_path / "m.onnx")
    finished = tilewright("validate", tmp_path / "m.onnx", "-t", "generic", "--json", "-")
    assert finished.code == 0, finished.err
    assert finished.json()["status"] == "pass"


def test_a_hostile_file_name_becomes_a_prefix(tilewright: Any, float32: Path, tmp_path: Path) -> None:
    file = tmp_path / "int-8 (final); rm.onnx"
    file.write_bytes(float32.read_bytes())
    finished = tilewright("compile", file, "-t", "generic", "-o", tmp_path / "result")
    assert finished.code == 0, finished.err
    assert (tmp_path / "result" / "int_8_final_rm.h").exists()


@pytest.mark.parametrize("name", ["int", "a-b", "9a", "printf", "x" * 41])
def test_a_prefix_that_c_does_not_take(fails: Fails, float32: Path, name: str) -> None:
    fails("compile", float32, "-t", "generic", "-o", "out", "--name", name, code="TW1004", exit_code=2)


# the memory


def _flags(line: str) -> list[str]:
    """What a `try:` line says to type; what it gives follows after a gap."""
    return line.removeprefix("  try:  ").split("   ")[0].split()


def test_a_model_that_does_not_fit_says_why(fails: Fails, tilewright: Any, int8: Path, report: Any) -> None:
    smallest = json.loads(tilewright("check", int8, "-t", "generic", "--optimize", "ram", "--json", "-").out)
    (used,) = (pool["used_bytes"] for pool in smallest["pools"] if pool["name"] == "ram")
    limit = used - 16
    text = fails(
        "compile", int8, "-t", "generic", "-o", "out", "--memory", f"ram={limit}", code="TW5001", exit_code=5
    )  # fmt: skip
    assert f"needs {used:,} B, has {limit:,} B (16 B too many)" in text
    live = [line for line in text.split("\n") if "(live " in line and not line.lstrip().startswith("tile ")]
    assert len(live) >= 2
    names = {tensor["name"] for step in report["steps"] for tensor in step["outputs"]}
    assert all(line.split()[1].removesuffix("_channels_last") in names | {"image"} for line in live)
    ways = [_flags(line) for line in text.split("\n") if "  try:" in line]
    assert ways
    for way in ways:
        flags = way if way[0] == "--memory" else ["--memory", f"ram={limit}", *way]
        assert tilewright("check", int8, "-t", "generic", *flags).code == 0, way


def test_constants_that_do_not_fit(fails: Fails, tilewright: Any, int8: Path) -> None:
    words = ("-t", "generic", "--memory", "flash=1K", "--memory", "ram=100")
    text = fails("check", int8, *words, code="TW5001", exit_code=5)
    ways = [_flags(line) for line in text.split("\n") if "  try:" in line]
    assert ways
    assert [tilewright("check", int8, "-t", "generic", *way).code for way in ways] == [0] * len(ways)


# the flags


@pytest.mark.parametrize(
    ("flags", "code", "expected"),
    [
        (("--memory", "ram"), "TW1101", "write it as --memory NAME=VALUE"),
        (("--memory", "ram=many"), "TW1101", "65536, 64K or 1M"),
        (("--memory", "ram=-5"), "TW1101", "65536, 64K or 1M"),
        (("--memory", "ram=1.5K"), "TW1101", "65536, 64K or 1M"),
        (("--memory", "sram=1K"), "TW1103", "it has: flash, ram"),
        (("--groups", "4"), "TW1117", "has no scratchpad"),
        (("--memory", "ram=64K", "--memory", "ram=32K"), "TW1101", "given twice, as 64K and as 32K"),
        (("--set", "align=4", "--set", "align=8"), "TW1101", "given twice"),
        (("--code-pass", "nothing"), "TW1111", "hooks, lifetimes, passthrough"),
        (("--code-pass", "profile:every=tile"), "TW1112", "has no setting 'every'"),
        (("--code-pass", "print-tensors:memory=l9"), "TW1112", "nothing to print"),
        (("--dim", "batch=x"), "TW1101", "whole number"),
        (("--dim", "batch"), "TW1101", "NAME=VALUE"),
        (("--dim", "batch=1"), "TW1219", "batch"),
        (("--set", "speed=9"), "TW1102", "it has: align"),
        (("--set", "align=3"), "TW1102", "4, 8, 16, 32, 64"),
        (("--export-state", "soup=x"), "TW1101", "STAGE is one of"),
        (("--allocator", "best-fti"), "TW8001", "did you mean 'best-fit'?"),
        (("--tiler", "holw"), "TW8001", "did you mean 'whole'?"),
        (("--emit", "cmake,zepyhr"), "TW8001", "did you mean 'zephyr'?"),
        (("--emit", "cmake,"), "TW1101", "names and commas"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_values_of_flags(fails: Fails, int8: Path, flags: tuple[str, ...], code: str, expected: str) -> None:
    exit_code = 8 if code == "TW8001" else 2
    words = ("compile", int8, "-t", "generic", "-o", "out", *flags)
    assert expected in fails(*words, code=code, exit_code=exit_code)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "TW1106"),
        ("{", "TW1106"),
        ("[1, 2]", "TW1106"),
        ('{"colour": {}}', "TW1106"),
        ('{"kernels": 3}', "TW1106"),
        ('{"kernels": {"conv1": "acme.fast"}}', "TW1104"),
        ('{"order": ["conv1"]}', "TW1105"),
        ('{"memories": {"image": "flush"}}', "TW5002"),
        ('{"offsets": {"nothing": 0}}', "TW5003"),
    ],
)
def test_wrong_pins(fails: Fails, float32: Path, tmp_path: Path, content: str, code: str) -> None:
    (tmp_path / "pins.json").write_text(content, encoding="utf-8")
    fails("compile", float32, "-t", "generic", "-o", "out", "--pin", "pins.json", code=code, exit_code=2)


def test_pins_that_are_not_there(fails: Fails, float32: Path) -> None:
    fails("check", float32, "-t", "generic", "--pin", "nowhere.json", code="TW1106", exit_code=2)


# targets and tools


def test_an_unknown_target(fails: Fails, int8: Path) -> None:
    text = fails("compile", int8, "-t", "genric", "-o", "out", code="TW8001", exit_code=8)
    assert "did you mean 'generic'?" in text


HIDES_SIRACUSA = """
import importlib_metadata
every = importlib_metadata.distributions
importlib_metadata.distributions = lambda **asked: (
    found for found in every(**asked) if found.metadata["Name"] != "tilewright-siracusa"
)
"""


def test_a_target_that_is_not_installed_names_its_package(fails: Fails, int8: Path, tmp_path: Path) -> None:
    environment = {"TILEWRIGHT_BLOCK": "tilewright-cortexm"}
    text = fails("check", int8, "-t", "generic", code="TW8002", exit_code=8, env=environment)
    assert "tilewright-cortexm" in text
    (tmp_path / "sitecustomize.py").write_text(HIDES_SIRACUSA, encoding="utf-8")
    path = os.pathsep.join((str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])))
    text = fails("check", int8, "-t", "siracusa", code="TW8001", exit_code=8, env={"PYTHONPATH": path})
    assert "pip install tilewright-siracusa" in text


def test_no_compiler(fails: Fails, int8: Path, tmp_path: Path) -> None:
    hide = "import sys\nsys.modules['ziglang'] = None\n"  # the wheel that brings a compiler may be installed
    (tmp_path / "sitecustomize.py").write_text(hide, encoding="utf-8")
    path = os.pathsep.join((str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])))
    environment = {"PATH": str(tmp_path), "CC": "", "PYTHONPATH": path}
    text = fails("validate", int8, "-t", "generic", code="TW7001", exit_code=7, env=environment)
    assert "pip install ziglang" in text


def test_a_compiler_that_does_not_exist(fails: Fails, int8: Path) -> None:
    text = fails("validate", int8, "-t", "generic", code="TW7001", exit_code=7, env={"CC": "no-such-cc"})
    assert "no-such-cc" in text


def test_an_unknown_runner(fails: Fails, int8: Path) -> None:
    text = fails("validate", int8, "-t", "generic", "--on", "hots", code="TW8001", exit_code=8)
    assert "did you mean 'host'?" in text


# where to write


@pytest.mark.parametrize("place", ["a-file", "a-file/below", "/proc/tilewright"])
def test_folders_that_cannot_be_written(fails: Fails, int8: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "a-file").write_text("mine", encoding="utf-8")
    text = fails("compile", int8, "-t", "generic", "-o", place, code="TW1107", exit_code=2)
    assert f"at    {place}" in text
    assert (tmp_path / "a-file").read_text(encoding="utf-8") == "mine"


def test_a_report_that_cannot_be_written_is_noticed_before_any_work(fails: Fails, int8: Path, tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("mine", encoding="utf-8")
    words = ("compile", int8, "-t", "generic", "-o", "out", "--json")
    fails(*words, "a-file/report.json", code="TW1107", exit_code=2)
    fails(*words, tmp_path, code="TW1107", exit_code=2)


def test_an_interrupted_run_writes_nothing(script: str, graph: Graph, tmp_path: Path) -> None:
    """A network whose buffers are so many that the allocator would work for minutes."""
    random = np.random.default_rng(3)
    nodes, values = [], ["x"]
    for index in range(400):
        a, b = (values[int(random.integers(max(0, len(values) - 40), len(values)))] for _ in range(2))
        nodes.append(node("Concat" if index % 3 else "Add", [a, b] if index % 3 else [a, a], [f"v{index}"], axis=1)
                     if index % 3 else node("Add", [a, a], [f"v{index}"]))  # fmt: skip
        nodes.append(node("Slice", [f"v{index}", "from", "to", "axis"], [f"s{index}"]))
        values.append(f"s{index}")
    nodes.append(node("Sum", values[-300:], ["y"]))
    constants = {"from": np.array([0]), "to": np.array([64]), "axis": np.array([1])}
    onnx.save(graph(nodes, inputs={"x": (1, 64)}, constants=constants), tmp_path / "big.onnx")
    command = [script, "compile", "big.onnx", "-t", "generic", "-o", "new/out", "--effort", "2000000000"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # where a shell ignores it for what it starts
    run = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, before)
    time.sleep(2.5)
    assert run.poll() is None, run.communicate()
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert (run.returncode, out, err) == (130, "", "interrupted: nothing was written\n")
    assert [path.name for path in tmp_path.iterdir()] == ["big.onnx"]


# what goes in beside the model


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({}, "no test vectors"),
        ({"image": np.zeros((1, 1, 8, 8), np.float32)}, "its keys are: image"),
        ({"set0/in/picture": np.zeros((1, 1, 8, 8), np.float32)}, "lack 'set0/in/image'"),
        ({"set0/in/image": np.zeros((1, 1, 8, 8), np.float64)}, "float64[1, 1, 8, 8]"),
        ({"set0/in/image": np.zeros((1, 1, 8, 9), np.float32)}, "float32[1, 1, 8, 9]"),
        ({"set0/in/image": np.array([{}], dtype=object)}, "cannot read"),
        (
            {"set0/in/image": np.zeros((1, 1, 8, 8), np.float32), "set0/out/scores": np.zeros(3, np.float32)},
            "'set0/out/scores' does not fit",
        ),
    ],
)
def test_bad_vectors(fails: Fails, float32: Path, tmp_path: Path, arrays: Any, expected: str) -> None:
    np.savez(tmp_path / "vectors.npz", **arrays)
    words = ("validate", float32, "-t", "generic", "--io", "vectors.npz")
    assert expected in fails(*words, code="TW6001", exit_code=2)


@pytest.mark.parametrize("content", [b"", b"PK\3\4 cut off", b"hello"])
def test_vectors_that_are_no_archive(fails: Fails, float32: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "vectors.npz").write_bytes(content)
    fails("validate", float32, "-t", "generic", "--io", "vectors.npz", code="TW6001", exit_code=2)


def test_vectors_of_another_model_are_a_mismatch(tilewright: Any, int8: Path, tmp_path: Path) -> None:
    arrays = {"set0/in/image": np.ones((1, 1, 8, 8), np.float32), "set0/out/scores": np.full((1, 10), 9, np.float32)}
    np.savez(tmp_path / "vectors.npz", **arrays)
    finished = tilewright("validate", int8, "-t", "generic", "--io", tmp_path / "vectors.npz")
    assert finished.code == 6
    assert "error[TW6002]" in finished.err
    assert "output 'scores'" in finished.err
    assert "FAIL" in finished.out


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda state: (state / "state.json").unlink(), "TW1220"),
        (lambda state: (state / "state.json").write_text("{", encoding="utf-8"), "TW1220"),
        (lambda state: (state / "arrays.npz").unlink(), "TW1220"),
        (lambda state: (state / "arrays.npz").write_bytes((state / "arrays.npz").read_bytes()[:500]), "TW1220"),
        (lambda state: _edit(state, '"version": 2', '"version": 99'), "TW1221"),
        (lambda state: _edit(state, '"offset_bytes": 0', '"offset_bytes": 1'), "TW1222"),
    ],
    ids=["no-json", "cut-json", "no-arrays", "cut-arrays", "version", "moved-buffer"],
)
def test_a_state_that_was_tampered_with(
    fails: Fails, tilewright: Any, float32: Path, tmp_path: Path, damage: Any, code: str
) -> None:
    state = tmp_path / "state"
    made = tilewright(
        "compile", float32, "-t", "generic", "-o", tmp_path / "made", "--export-state", f"allocated={state}"
    )
    assert made.code == 0, made.err
    damage(state)
    words = ("compile", float32, "-t", "generic", "-o", "out", "--import-state", "state")
    fails(*words, code=code, exit_code=3)


def _edit(state: Path, old: str, new: str) -> None:
    text = (state / "state.json").read_text(encoding="utf-8")
    assert old in text
    (state / "state.json").write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": "something else"}', '{"schema": 3}'])
def test_files_that_are_no_report(fails: Fails, tmp_path: Path, content: str) -> None:
    (tmp_path / "report.json").write_text(content, encoding="utf-8")
    assert "report.json" in fails("report", "report.json", code="TW1109", exit_code=2)


def test_a_report_that_is_not_there(fails: Fails) -> None:
    assert "nowhere.json" in fails("report", "nowhere.json", code="TW1109", exit_code=2)
