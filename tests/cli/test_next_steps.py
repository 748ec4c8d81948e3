"""Every next step that is a command or a flag is typed here as it is printed, and does what it promises.

A step that is typed is made by `errors.typed`, or is such a line in a plugin. The codes that have one are read off the
sources: a new one without a case fails.
"""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from networks import network_file
from tilewright.allocate.solving import wrong_answer
from tilewright.errors import TilewrightError
from tilewright.ir.code_fragments import CodeFragment, ordered
from tilewright.ir.machines.platform import Memory, MemoryHierarchy, Platform
from tilewright.snapshot.saved_stage import _not_installed

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"TW\d{4}")
STEP = re.compile(r"(--[a-z]|tilewright )")
GAP = "     "  # between what is typed and what it gives
RIGHT = "check net.onnx -t generic"
QUANTISE = "quantize digits.onnx --calibration digits.npz -o int.onnx"

# Functions with steps whose code is given by who calls them, and steps that only broken programs of machines show.
CODE_OF = {
    "suggestions.py": "TW5001",
    "kernel_fallback.py": "TW5101",
    "no_tiling.py": "TW5101",
    "misfit.py": "TW5102",
    "faults.py": "TW8002",
    "catalogue.py": "TW8001",
    "declarations.py": "TW1205",
    "import_options.py": "TW1203",
    "graph_io.py": "TW1122",
    "sliding.py": "TW1128",
    "refusals.py": "TW2101",
    "external.py": "TW1210",
    "exporting.py": "TW1242",
    "ends_front.py": "TW5001",  # a line of the front: typed by `tests/cli/test_front.py`
    "planning.py": "TW5001",  # likewise
    "quantize_within.py": "TW1418",
}
ONLY_WHEN_BROKEN = {
    "TW7112": "plugins and kernels that race: core/tests/runners/test_twin.py",
    "TW5063": "a compiler that needs more stack than others: plugins/riscv/tests/test_stack_need.py",
    "TW5068": "a machine with banks: core/tests/allocate/test_bank_places.py",
    "TW1241": "a file of several networks: plugins/tflite/tests/test_importing.py",
    "TW1201": "a file of nearly that name, which is no step but its name: core/tests/frontend/reading/test_reader.py",
    "TW1242": "an application of TFLM's: plugins/tflite/tests/test_exporting.py",
    "TW1243": "a file of several networks: plugins/tflite/tests/test_importing.py",
    "TW8016": "a folder that is there: tests/vendor/test_new_packages.py",
    "TW1431": "a board whose tools have no name for it: core/tests/exporters/test_board_project.py",
    "TW7131": "a serial line that is not there: core/tests/runners/serial_line/test_serial_wire.py",
    "TW1251": "a network of the integer dialect: plugins/integer_dialect/tests",
}


def raised(make: Callable[[], object]) -> TilewrightError:
    """The error of something that no command line reaches."""
    with pytest.raises(TilewrightError) as caught:
        make()
    return caught.value


def other_board() -> TilewrightError:
    ram = Memory(name="ram", size_bytes=None)
    hierarchy = MemoryHierarchy(name="board", summary="", platform="generic", memories=(ram,))
    return raised(lambda: hierarchy.on(Platform(name="another", memories=(ram,))))


def clashing() -> TilewrightError:
    sections = (
        CodeFragment(name="a", text="int tw_f(void) { return 1; }"),
        CodeFragment(name="a", text="int tw_f(void);"),
    )
    return raised(lambda: ordered(sections))


def negative_dim() -> TilewrightError:
    from tilewright.config.options import Options
    from tilewright.deployment import Deployment

    return raised(lambda: Deployment("dyn.onnx", "generic", Options(dims={"N": -1})).imported)


def unknown_operator() -> TilewrightError:
    from tilewright.comparison.reference import run_site
    from tilewright.ir.graphs.graph import Node, Site

    node = Node(name="n", op="Nothing", inputs=(), outputs=())
    return raised(lambda: run_site(Site(node=node, inputs=(), outputs=(), constants={}), (), {}))


def moved_too_far() -> TilewrightError:
    from tilewright.comparison.verdicts import Drift, OutputVerdict, Verdict
    from tilewright.validation.verdict_text import mismatch

    output = OutputVerdict(name="y", elements=9, different=9, max_difference=9, argmax_equal=True, within=True)
    verdict = Verdict(steps=(), outputs=(output,), drift=(Drift(verdict=output, share=0.5, within=False),))
    return mismatch(verdict, lambda: "a-pass")


def something_else() -> TilewrightError:
    from tilewright.cli.against import demand_agreement
    from tilewright.comparison.other_runtime import NodeAgreement
    from tilewright.comparison.verdicts import Drift, OutputVerdict

    output = OutputVerdict(name="y", elements=9, different=9, max_difference=9, argmax_equal=True, within=False)
    drift = Drift(verdict=output, share=0.5, within=False)
    found = NodeAgreement(node="n", op="Op", drift=drift, output=True)
    return raised(lambda: demand_agreement([found], "onnx-reference", "net.onnx"))


# code -> lines that fail with it, or errors that only programs meet; what is typed is added to the line, or replaces
# what the line has of that flag and name
CASES: Mapping[str, Sequence[str | Callable[[], TilewrightError]]] = {
    "TW1004": (f"{RIGHT} --name int", f"{RIGHT} --name 'my net'"),
    "TW1100": ("chekc net.onnx", "check net.onnx --targte generic", "plan"),
    "TW1101": (
        "check dyn.onnx -t generic --dim N=one",
        f"{RIGHT} --io users",
        f"{RIGHT} --clock 80",
        f"{RIGHT} --optimize ram --optimize speed",
        "validate net.onnx -t generic --sets 1 --place-io users",
        "plan p.csv --plot 'my plan.png'",
        "plan p.csv --capacity ram=64",
    ),
    "TW1102": (f"{RIGHT} --set aling=8", f"{RIGHT} --set align=7", "check net.onnx -t siracusa --set stack=7",
               "check net.onnx -t siracusa --set weights=l3"),
    "TW1103": (f"{RIGHT} --memory sram=64K", f"{RIGHT} --pin conv=sram", "check net.onnx -t siracusa --memory l3=1M"),
    "TW1110": ("explain TW0000",),
    "TW1111": (f"{RIGHT} --code-pass profiel", f"{RIGHT} --code-pass zzz"),
    "TW1112": (
        f"{RIGHT} --code-pass profile:often=1",
        f"{RIGHT} --code-pass passthrough:memory=l9",
        "compile net.onnx -t generic -o out --code-pass print-tensors:tensors=nothing",
    ),
    "TW1115": (f"{RIGHT} --pool sram:64K --pool sram:32K",),
    "TW1116": (f"{RIGHT} --pin w=ram",),
    "TW1122": ("validate net.onnx -t generic --sets 1 --place-io y=push",
               f"{RIGHT} --io y=push", f"{RIGHT} --io x=pull", "check net.onnx -t siracusa --io push"),
    "TW1123": ("check kws.onnx -t siracusa --memory l1=16K --pin '*=l2'",),
    "TW1126": ("check wide.onnx -t generic --io-layout x=nhwc",),
    "TW1127": ("check kws.onnx -t generic --arithmetic tlfm",),
    "TW1128": ("check kws.onnx -t generic --slide 'input_1[1]=99'",),
    "TW1130": ("check net.onnx -t generic",),
    "TW1203": (f"{RIGHT} --limit nodes=1",),
    "TW1205": ("check open.onnx -t generic", "check names.onnx -t generic"),
    "TW1210": ("check external.onnx -t generic",),
    "TW1219": (negative_dim,),
    "TW1226": (f"{RIGHT} --bind x=many",),
    "TW1229": ("check dyn.onnx -t generic",),
    "TW1231": ("quantize kws.onnx --calibration samples.npz -o again.onnx",),
    "TW1403": (f"{RIGHT} --board b.toml",),
    "TW1410": ("compile --group nowhere.toml -o out",),
    "TW1418": (f"{QUANTISE} --weights mixed", f"{QUANTISE} --within ram=20K",
               f"{QUANTISE} --target cortex-m4 --within ms=2"),
    "TW1419": (f"{QUANTISE} --target generic --drop 7",),
    "TW1420": (f"{QUANTISE} --target generic --within ram=700,flash=1K",),
    "TW1421": (f"{QUANTISE} --target generic --activations int8 --weights 4 --drop 0%",),
    "TW2001": ("check doubles.onnx -t generic",),
    "TW2101": ("check strange.onnx -t generic", "check late.onnx -t generic"),
    "TW5001": (f"{RIGHT} --memory ram=500", f"{RIGHT} --memory ram=500 --pin x=ram",
               "validate net.onnx -t generic --sets 1 --memory ram=500", f"{RIGHT} --memory flash=1 --memory ram=100"),
    "TW5002": (
        f"{RIGHT} --pin x=ram --io user",
        "validate net.onnx -t generic --sets 1 --pin x=ram --place-io user",
    ),
    "TW5006": ("fit net.onnx --chips stm32l011k4 --ms 0.000001",),
    "TW5007": ("sweep net.onnx --target generic --memory ram=8 --cache none --processes 1",),
    "TW5020": ("compile views.onnx -t generic -o out --io user",),
    "TW5022": ("plan nowhere.csv",),
    "TW5034": ("check net.onnx -t siracusa --memory l1=1M",),
    "TW5039": ("check kws.onnx -t cortex-m4 --memory ram=6300",),
    "TW5101": ("check wide.onnx -t siracusa --memory l1=2K --set stacks=l2",),
    "TW5102": ("check wide.onnx -t siracusa --tiler cpsat --memory l1=2K --set stacks=l2",),
    "TW6001": ("validate net.onnx -t generic --sets 1 --io user",),
    "TW6003": (moved_too_far,),
    "TW6004": (something_else,),
    "TW7001": ("validate net.onnx -t generic",),
    "TW7006": ("validate net.onnx -t siracusa --on host --sets 1",),
    "TW7011": ("bench net.onnx -t generic",),
    "TW8001": ("check net.onnx -t zzz", lambda: _not_installed("operator", "Nothing")),
    "TW8002": ("check net.onnx -t generic",),
    "TW8012": (other_board,),
    "TW8015": ("new-target siracusa",),
    "TW8041": ("compile net.onnx -t generic -o out --emit pmsis",),
    "TW8050": (lambda: wrong_answer("acme", ("two blocks overlap",)),),
    "TW8060": (clashing,),
    "TW9020": (unknown_operator,),
}  # fmt: skip
ENVIRONMENT = {"TW7001": {"CC": "no-such-cc"}, "TW8002": {"TILEWRIGHT_BLOCK": "tilewright-cortexm"}}
PROJECT = {"TW1130": 'colour = "red"\n'}  # tilewright.toml
# What a step leaves of the environment and the line: it is taken where the mistake has been undone.
INSTEAD = {
    "TW1102": ("--set",), "TW1103": ("--memory",), "TW1127": ("--arithmetic",),
    "TW1004": ("--name",), "TW1101": ("--io", "--place-io", "--plot", "--capacity", "--clock", "--optimize"),
    "TW1111": ("--code-pass",),
    "TW1112": ("--code-pass",), "TW1116": ("--pin",), "TW6001": ("--io",), "TW7006": ("--on",),
    "TW8041": ("-t",), "TW5002": (), "TW1419": ("--drop",), "TW1421": ("--drop",),
}  # fmt: skip


@pytest.fixture(name="here")
def _here(desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The desk, and models that the cases need."""
    here = shutil.copytree(desk, tmp_path / "here")
    monkeypatch.chdir(here)
    node, floats = helper.make_node, TensorProto.FLOAT
    _save("names.onnx", [node("Relu", ["x"], ["y"])], {"x": ("batch size", "x;rm -rf")})
    _save("doubles.onnx", [node("Exp", ["x"], ["y"])], {"x": (1, 4)}, TensorProto.DOUBLE)
    _save("wide.onnx", [node("Softmax", ["x"], ["y"])], {"x": (1, 1000)})
    _save("strange.onnx", [node("Frobnicate", ["x"], ["y"])], {"x": (1, 4)})
    _save("late.onnx", [node("DynamicQuantizeMatMul", ["x"], ["y"])], {"x": (1, 4)})
    _save(
        "views.onnx",
        [node("Relu", ["x"], ["a"]), node("Split", ["a"], ["y", "z"], axis=0)],
        {"x": (8, 4)},
        floats,
        "yz",
    )
    _external("external.onnx")
    shutil.copy(network_file("kws_int8"), "kws.onnx")
    shutil.copy(ROOT / "examples" / "digits" / "digits_f32.onnx", "digits.onnx")
    with np.load(ROOT / "examples" / "digits" / "digits_test.npz") as digits:
        np.savez("digits.npz", image=digits["images"][:40])
    (here / "p.csv").write_text("id,lower,upper,size\na,0,2,16\nb,1,3,16\n", encoding="utf-8")
    (here / "b.toml").write_text('target = "siracusa"\n', encoding="utf-8")
    return here


def _save(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Any],
    kind: int = TensorProto.FLOAT,
    outputs: str = "y",
) -> None:
    ends = [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs.items()]
    results = [helper.make_tensor_value_info(name, kind, None) for name in outputs]
    graph = helper.make_graph(nodes, "net", ends, results)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), name)


def _external(name: str) -> None:
    weights = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1, 4], data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value="weights/w.bin")
    Path("weights").mkdir()
    Path("weights/w.bin").write_bytes(np.ones(4, np.float32).tobytes())
    _save(name, [helper.make_node("Add", ["x", "w"], ["y"])], {"x": (1, 4)})
    model = onnx.load(name)
    model.graph.initializer.append(weights)
    Path(name).write_bytes(model.SerializeToString())


@pytest.mark.parametrize(("code", "failing"), [(code, one) for code, lines in CASES.items() for one in lines],
                         ids=lambda value: value if isinstance(value, str) else value.__name__)  # fmt: skip
def test_what_is_printed_can_be_typed(
    code: str, failing: str | Callable[[], TilewrightError], here: Path, typed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ENVIRONMENT.get(code, {}).items():
        monkeypatch.setenv(name, value)
    if code in PROJECT:
        (here / "tilewright.toml").write_text(PROJECT[code], encoding="utf-8")
    message = typed(failing).err if isinstance(failing, str) else _message(failing)
    assert f"[{code}]" in message, message
    line = (
        failing if isinstance(failing, str) else f"check {'dyn' if failing is negative_dim else 'net'}.onnx -t generic"
    )
    steps = list(_steps(message))
    assert steps, message
    for name in ENVIRONMENT.get(code, {}):
        monkeypatch.delenv(name)
    for step in steps:
        command = (
            step.removeprefix("tilewright ")
            if step.startswith("tilewright ")
            else _with(line, step, INSTEAD.get(code, ()))
        )
        done = typed(command)
        assert done.code == 0, f"{command}\n{done.err}"
        assert f"[{code}]" not in done.err


def _message(failing: Callable[[], object]) -> str:
    found = failing()
    assert isinstance(found, TilewrightError)
    return str(found)


def _steps(message: str) -> Iterator[str]:
    """What a message says to type, without what it gives."""
    for line in message.split("\n"):
        if line.startswith("  try:  ") and STEP.match(line.removeprefix("  try:  ")):
            yield line.removeprefix("  try:  ").split(GAP)[0]


def _with(line: str, step: str, undone: Sequence[str]) -> str:
    """`line` with the flags of `step`: without flags that were the mistake, and what it says of the same names."""
    added = shlex.split(step)
    taken = {(flag, value.partition("=")[0]) for flag, value in pairwise(added)}
    words, kept = iter(shlex.split(line)), []
    for word in words:
        if not word.startswith("-"):
            kept.append(word)
            continue
        value = next(words, "")
        if word not in undone and (word, value.partition("=")[0]) not in taken:
            kept += [word, value]
    return shlex.join([*kept, *added])


def codes_with_steps() -> set[str]:
    """The codes of everything in the sources that has a step to type: of an error, or else of its function."""
    found: set[str] = set()
    for path in sorted([*ROOT.glob("core/src/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")]):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and function.name != "typed" and _has_step(function):
                errors = [node for node in ast.walk(function) if isinstance(node, ast.Call) and _own_code(node)]
                codes = {_own_code(error) for error in errors if _has_step(error)}
                around = {_own_code(error) for error in errors if not _has_step(error)}
                found |= codes or around or {CODE_OF[path.name]}
    return found


def _own_code(call: ast.Call) -> str:
    """The code that a call is given: of an error or a diagnostic."""
    given = [*call.args, *(word.value for word in call.keywords if word.arg == "code")]
    codes = [str(each.value) for each in given if isinstance(each, ast.Constant)]
    return next((code for code in codes if CODE.fullmatch(code)), "")


def _has_step(tree: ast.AST) -> bool:
    """Whether `typed` is called there, or a line for `fix` begins as one that is typed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "typed":
            return True
        if isinstance(node, ast.Yield) or (isinstance(node, ast.keyword) and node.arg == "fix"):
            texts = [each for each in ast.walk(node) if isinstance(each, (ast.Constant, ast.JoinedStr))]
            if any(STEP.match(_beginning(each)) for each in texts):
                return True
    return False


def _beginning(text: ast.Constant | ast.JoinedStr) -> str:
    first = text.values[0] if isinstance(text, ast.JoinedStr) and text.values else text
    return str(first.value) if isinstance(first, ast.Constant) else ""


def test_every_code_with_a_step_to_type_has_a_case() -> None:
    assert codes_with_steps() == set(CASES) | set(ONLY_WHEN_BROKEN)


def test_without_the_projects_file_the_next_command_is_without_it_too(here: Path, typed: Any) -> None:
    (here / "tilewright.toml").write_text('io = "user"\n', encoding="utf-8")
    done = typed("--no-project check net.onnx -t generic")
    following = done.out.rstrip().split("Next: tilewright ")[1]
    assert following.startswith("--no-project compile ")
    assert "tilewright.toml" not in typed(following).err


@pytest.mark.parametrize("name", ["my net (1).onnx", "it's.onnx", "$HOME;ls.onnx"])
def test_what_check_says_to_type_next_can_be_typed(here: Path, typed: Any, name: str) -> None:
    shutil.copy("net.onnx", name)
    done = typed(f"check {shlex.quote(name)} -t generic --pin 'con*=ram'")
    following = done.out.rstrip().split("Next: tilewright ")[1]
    assert typed(following).code == 0
