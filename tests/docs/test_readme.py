"""What the README shows is what happens."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from networks import network_file

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


EXECUTED = re.compile(r"[\d,]+(?= instructions)")


def executed(line: str) -> int:
    """The instructions that a line of the demonstration speaks of."""
    found = EXECUTED.search(line)
    assert found, line
    return int(found[0].replace(",", ""))


def fenced(after: str, language: str) -> str:
    """The first block of a language after some text."""
    found = re.search(rf"^```{language}\n(.*?)^```$", README.partition(after)[2], re.MULTILINE | re.DOTALL)
    assert found, f"no {language} block after {after!r}"
    return found[1]


def test_the_main_job_prints_what_is_shown(tool: Any) -> None:
    pytest.importorskip("onnxruntime")
    tool("cc")
    command = [sys.executable, str(ROOT / "examples" / "digits" / "run.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *printed, emulated = done.stdout.splitlines()
    *shown, figure = fenced("<!-- demo -->", "text").splitlines()
    assert printed == shown
    if not emulated.startswith("cortex-m4: not run, "):  # says what to install
        assert EXECUTED.sub("N", emulated) == EXECUTED.sub("N", figure)
        assert executed(emulated) == pytest.approx(executed(figure), rel=0.1)  # compilers differ a little


def typed(after: str, reader: Any) -> list[str]:
    """What the commands of a section print, in order, of a model that is there."""
    shutil.copy(ROOT / "examples" / "digits" / "digits_int8.onnx", reader.folder / "model.onnx")
    said = []
    for command in (line for line in fenced(after, "sh").splitlines() if line.startswith("tilewright")):
        done = subprocess.run(
            command,
            shell=True,
            cwd=reader.folder,
            env=reader.environment,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert done.returncode == 0, command
        said.append(done.stdout)
    return said


@pytest.mark.parametrize(("after", "count"), [("## Compile your own", 3), ("## Larger than the fast", 2)])
def test_the_commands_work_on_a_model(after: str, count: int, reader: Any, tool: Any) -> None:
    tool("cc")
    assert len(typed(after, reader)) == count


def test_a_check_is_layer_by_layer_and_says_what_rows_would_take(reader: Any) -> None:
    layers, rows = typed("## In a third of the memory", reader)
    used = [int(found) for said in (layers, rows) for found in re.findall(r"^  ram +(\d+) B", said, re.MULTILINE)]
    assert used[0] > used[1]
    assert f"row by row in {used[1]} B" in layers


def test_the_c_compiles(reader: Any, tool: Any) -> None:
    image = helper.make_tensor_value_info("image", TensorProto.INT8, [1, 1, 8, 8])
    scores = helper.make_tensor_value_info("scores", TensorProto.INT8, [1, 1, 4, 4])
    pool = helper.make_node("MaxPool", ["image"], ["scores"], kernel_shape=[2, 2], strides=[2, 2])
    model = helper.make_model(
        helper.make_graph([pool], "m", [image], [scores]), opset_imports=[helper.make_opsetid("", 17)]
    )
    onnx.save(model, reader.folder / "model.onnx")
    (reader.folder / "classify.c").write_text(fenced("## Compile your own", "c"), encoding="utf-8")
    flags = "-std=c11 -Wall -Wextra -Wconversion -pedantic -Werror -Iout -c classify.c"
    command = f"tilewright compile model.onnx --target generic -o out -q && {tool('cc')} {flags}"
    assert subprocess.run(command, shell=True, cwd=reader.folder, env=reader.environment, check=False).returncode == 0


def test_the_picture_is_the_plan_of_today(reader: Any) -> None:
    commands = (
        f"tilewright check {network_file('kws_int8')} --target generic --json r.json",
        "tilewright report r.json --format svg",
    )
    done = subprocess.run(
        " && ".join((f"{commands[0]} >log", commands[1])),
        shell=True,
        cwd=reader.folder,
        env=reader.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == (ROOT / "docs" / "images" / "memory-plan.svg").read_text(encoding="utf-8"), done.stderr
