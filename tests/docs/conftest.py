"""Runs the fenced blocks of a page, in order, in a folder of its own.

    ```sh run            the commands run, and must end well
    ```console run       lines after `$ ` run; what they print is compared, `...` stands for anything
    ```python run        the program runs
    ```pycon run         all of a page are one session, which comes last; what it prints is compared
    ```c file=main.c     the block is written to that file; any language will do
    ```toml              any other block is only shown

Where a page of plugins says `pip install ./folder`, it is really installed, beside the running Python's packages.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block and what its info string asks for."""

    language: str
    order: str
    text: str

    @property
    def file(self) -> str:
        """Where to write it; "" when it is not a file."""
        return self.order.removeprefix("file=") if self.order.startswith("file=") else ""


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page that are not only shown."""
    for language, order, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if order:
            yield Block(language=language, order=order, text=text)


def transcript(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown."""
    command, shown = "", ""
    for line in text.splitlines(keepends=True):
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], ""
        elif command.endswith("\\\n") and not shown:
            command += line
        else:
            shown += line
    if command:
        yield command, shown


def matches(shown: str, printed: str) -> bool:
    """`...` stands for any text."""
    pattern = ".*".join(re.escape(part) for part in shown.split("..."))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Somebody who does what a page says."""

    folder: Path
    environment: dict[str, str]

    def do(self, page: Path) -> int:
        """Follow the whole page; how many blocks there were to follow."""
        count = 0
        for block in blocks(page):
            count += 1
            if block.language == "pycon":
                continue
            if block.file:
                self._write(block)
            elif block.language == "console":
                self._type(block)
            else:
                self._run([sys.executable, "-"] if block.language == "python" else ["sh", "-eu", "-s"], block.text)
        session = [block.text for block in blocks(page) if block.language == "pycon"]
        if session:
            self._talk("\n".join(session))
        return count

    def _write(self, block: Block) -> None:
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def _type(self, block: Block) -> None:
        for command, shown in transcript(block.text):
            done = self._started(["sh", "-c", command], "")
            assert matches(shown, done.stdout), f"$ {command}{done.stdout}"

    def _talk(self, session: str) -> None:
        (self.folder / "session.txt").write_text(session, encoding="utf-8")
        self._run([sys.executable, "-m", "doctest", "-o", "ELLIPSIS", "session.txt"], "")

    def _run(self, command: list[str], text: str) -> None:
        done = self._started(command, text)
        assert done.returncode == 0, f"{text}\n{done.stdout}"

    def _started(self, command: list[str], text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            input=text,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )


@pytest.fixture(name="reader")
def _reader(tmp_path: Path) -> Reader:
    """In a folder that holds models and a script of `examples`. `pip install ./x` reaches nobody else."""
    site = tmp_path / "site"
    site.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    for name in ("digits_f32.onnx", "digits_int8.onnx", "digits_int8.tflite", "digits_test.npz"):
        shutil.copy(ROOT / "examples" / "digits" / name, work)
    shutil.copy(ROOT / "examples" / "streams" / "networks.py", work)
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    pip = {"PIP_TARGET": str(site), "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("TILEWRIGHT_", "PIP_"))},
        **pip,
        "PIP_QUIET": "2",
        "PIP_UPGRADE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONPATH": os.pathsep.join(paths),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))),
    }
    return Reader(folder=work, environment=environment)


@pytest.fixture(scope="session", name="pages")
def _pages() -> Callable[[str], list[Path]]:
    """The pages of one folder of the documentation."""
    return lambda folder: sorted((ROOT / "docs" / folder).glob("*.md"))
