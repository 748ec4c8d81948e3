"""Every example of every `--help` is typed, in a folder that has the files it names."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from tilewright.cli.main import COMMANDS, tilewright

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
NEEDED = {"bench model.onnx --target cortex-m4": "qemu-system-arm"}


def helps(group: click.Group, *words: str) -> Iterator[tuple[str, str]]:
    """Every command with the text of its help."""
    yield " ".join(words), group.get_help(click.Context(group, info_name="tilewright"))
    for name in COMMANDS if group is tilewright else group.commands:
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from helps(command, *words, name)
        elif command is not None:
            yield " ".join((*words, name)), command.get_help(click.Context(command, info_name=name))


HELPS = dict(helps(tilewright))
EXAMPLES = list(
    dict.fromkeys(line for text in HELPS.values() for line in re.findall(r"^ +tilewright (.*)$", text, re.MULTILINE))
)


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory, typed: Callable[[str], Any]) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    shutil.copy(DIGITS / "digits_int8.onnx", folder / "model.onnx")
    shutil.copy(DIGITS / "digits_f32.onnx", folder / "float.onnx")
    with np.load(DIGITS / "digits_test.npz") as digits:
        images, labels = digits["images"], digits["labels"]
    np.savez(folder / "samples.npz", image=images[:32])
    np.savez(folder / "test.npz", image=images[32:64], labels=labels[32:64])
    np.savez(folder / "vectors.npz", **{"set0/in/image": images[:1]})
    np.savez(folder / "device.npz", **{"set0/in/image": images[:1], "set0/out/scores": np.zeros((1, 10), np.float32)})
    rows = {f"set{call}/in/image": images[0, None, :, 2 * call : 2 * call + 2] for call in range(3)}
    scores = {f"set{call}/out/scores": np.zeros((1, 10), np.float32) for call in range(3)}
    np.savez(folder / "stream.npz", **rows, **scores)
    for name in ("kws", "vww"):
        shutil.copy(folder / "model.onnx", folder / f"{name}.onnx")
    (folder / "prices.csv").write_text("stm32f446re,3.20\n")
    (folder / "blocks.csv").write_text("id,lower,upper,size\na,0,2,10\nb,1,3,20\n")
    (folder / "app.toml").write_text('target = "cortex-m4"\n[models]\none = "model.onnx"\ntwo = "float.onnx"\n')
    with contextlib.chdir(folder):
        assert typed("compile model.onnx -t cortex-m4 -o model").code == 0
    shutil.copy(folder / "model" / "report.json", folder / "before.json")
    return folder


@pytest.mark.parametrize("command", HELPS)
def test_every_help_has_examples_of_its_own_command(command: str) -> None:
    *_, shown = HELPS[command].partition("Examples:\n")
    lines = [line.strip() for line in shown.splitlines()]
    assert lines
    assert all(line.startswith(f"tilewright {command}".rstrip()) for line in lines)


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_works(line: str, folder: Path, typed: Callable[[str], Any], tool: Callable[[str], str]) -> None:
    for begins, program in NEEDED.items():
        if line.startswith(begins):
            tool(program)
    with contextlib.chdir(folder):
        done = typed(line)
    if "serial:/dev/" in line:  # no board is connected
        assert (done.code, "TW7131" in done.err) == (7, True), done.err
    else:
        assert done.code == 0, done.err
