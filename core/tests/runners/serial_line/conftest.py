"""A toy network's firmware as a process of this machine, at the end of a line that loses what a test wants."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.exporters.bench_firmware import bench
from tilewright.ir.programs.runner import Job

HERE = Path(__file__).resolve().parent


@dataclass
class Board:
    """A process that is a board, and the line to it: `lost` says of every byte what arrives of it."""

    program: Path
    lost: Callable[[int, int], bytes] = lambda _number, byte: bytes([byte])
    resets: list[int] = field(default_factory=list)  # before these bytes to the board
    sent: int = 0
    came: int = 0

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()

    def read(self, seconds: float) -> bytes:
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        ready, _, _ = select.select([pipe], [], [], seconds)
        content = os.read(pipe, 4096) if ready else b""
        arrived = b"".join(self.lost(self.came + at, byte) for at, byte in enumerate(content))
        self.came += len(content)
        return arrived

    def write(self, content: bytes) -> None:
        for byte in content:
            if self.sent in self.resets:
                self.stop()
                self.start()
            self.sent += 1
            assert self.process.stdin is not None
            self.process.stdin.write(self.lost(self.sent, byte))

    def close(self) -> None:
        self.stop()


@pytest.fixture(name="job")
def _job(toy: Any, request: pytest.FixtureRequest) -> Job:
    graph = toy.graph()
    program = toy.program(graph, io=getattr(request, "param", "pool"))
    x = np.array([[0x7E, 0x7D, 0x25, 3, 4, 5, -1, -128, 127, 0x5E]], np.int8)
    sets = ({"mfcc:0": x}, {"mfcc:0": x[:, ::-1].copy()})
    return Job(artifact=toy.artifact(program), plan=program.allocated, prefix="toy", input_sets=sets)


@pytest.fixture(name="program")
def _program(toy: Any, job: Job, tmp_path: Path) -> Path:
    folder = toy.write(job.artifact, tmp_path / "toy")
    for name, content in bench(job.plan, job.artifact).items():
        (folder / name).write_bytes(content)
    main = tmp_path / "main" / "board_on_host.c"
    main.parent.mkdir()
    main.write_bytes((HERE / "board_on_host.c").read_bytes())
    return Path(toy.build([folder], main))


@pytest.fixture(name="boards")
def _boards(program: Path) -> Iterator[Callable[..., Callable[[str], Board]]]:
    made: list[Board] = []

    def opener(**how: Any) -> Callable[[str], Board]:
        def opened(_port: str) -> Board:
            made.append(Board(program, **how))
            return made[-1]

        return opened

    yield opener
    for board in made:
        board.stop()
