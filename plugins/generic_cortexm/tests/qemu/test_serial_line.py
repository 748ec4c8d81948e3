"""`bench --on serial:PORT` and `--on mlperf-tiny:PORT` of the firmware on an emulated board, over its UART: from the
command line, over a socket that loses bytes, and through a reset of the board.
"""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilewright.api import TilewrightError
from tilewright.cli.main import tilewright
from tilewright_cortexm.cores import core_named
from tilewright_cortexm.qemu.machines import MACHINES
from tilewright_cortexm.qemu.runner import OWN, SILENT

DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits" / "digits_int8.onnx"
HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.slow


def command(*words: object) -> str:
    done = CliRunner().invoke(tilewright, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(name="firmware", scope="module")
def _firmware(tmp_path_factory: pytest.TempPathFactory, tool: Callable[[str], str]) -> Path:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(name)
    folder = tmp_path_factory.mktemp("firmware") / "digits"
    command("compile", DIGITS, "--target", "cortex-m4", "--emit", "bench", "-o", folder)
    for name in OWN:
        (folder / name).write_bytes((files("tilewright_cortexm.qemu") / name).read_bytes())
    (folder / "harness_main.c").write_bytes((HERE / "uart_board.c").read_bytes())
    core, machine = core_named("m4"), MACHINES["m4"]
    sources = sorted(
        path.name for path in folder.glob("*.[cS]") if path.name not in ("copies.c", "digits_int8_simple.c")
    )
    link = ("-nostartfiles", "-T", "sections.ld", "-Wl,--no-warn-rwx-segments", "-Wl,--defsym=STACK_SIZE=16384")
    flags = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror", SILENT)
    subprocess.run(
        [
            "arm-none-eabi-gcc",
            *flags,
            *core.flags,
            "-I.",
            *link,
            *machine.link_flags,
            "-o",
            "bench.elf",
            *sources,
            "-lm",
        ],
        cwd=folder,
        check=True,
    )
    return folder / "bench.elf"


@contextmanager
def emulated(firmware: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A board whose UART is a socket, and its monitor on the standard input."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    listener.close()
    serial = f"tcp:127.0.0.1:{port},server=on,wait=off,nodelay=on"
    words = ["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-serial", serial, "-monitor", "stdio"]
    board = subprocess.Popen([*words, "-kernel", firmware], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert board.stdout is not None
    board.stdout.read(1)  # the monitor greets when everything is open
    try:
        yield port, board
    finally:
        board.kill()
        board.communicate()


@contextmanager
def between(port: int, passed: Callable[[int, int], bytes]) -> Iterator[int]:
    """A line to that port on which `passed` says what arrives of every byte, by its number."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_relay, args=(listener, port, passed), daemon=True).start()
        yield listener.getsockname()[1]


def _relay(listener: socket.socket, port: int, passed: Callable[[int, int], bytes]) -> None:
    ours, _ = listener.accept()
    board = socket.create_connection(("127.0.0.1", port))
    back = threading.Thread(target=_pump, args=(board, ours, passed), daemon=True)
    back.start()
    _pump(ours, board, passed)
    board.close()
    back.join()


def _pump(source: socket.socket, target: socket.socket, passed: Callable[[int, int], bytes]) -> None:
    number = 0
    try:
        while content := source.recv(4096):
            for byte in content:
                number += 1
                target.sendall(passed(number, byte))
    except OSError:
        return  # the other side is gone


def bench(port: int, runner: str = "serial") -> dict[str, object]:
    on = f"{runner}:socket://127.0.0.1:{port}"
    found: dict[str, object] = json.loads(command("bench", DIGITS, "--target", "cortex-m4", "--on", on, "--json", "-"))
    return found


def test_steps_are_measured_and_outputs_compared(firmware: Path) -> None:
    with emulated(firmware) as (port, _):
        found = bench(port)
    assert found["outputs"] == "outputs: 10 of 10 elements equal the reference"
    assert found["kind"] == "measured"
    steps = found["steps"]
    assert isinstance(steps, list)
    assert len(steps) == 8
    assert all("microseconds" in step for step in steps)


def test_a_line_that_loses_bytes_gives_the_same_outputs(firmware: Path) -> None:
    def lost(number: int, byte: int) -> bytes:
        if number % 211 == 0:
            return b""
        return bytes([byte ^ 4 if number % 307 == 0 else byte])

    with emulated(firmware) as (port, _), between(port, lost) as line:
        found = bench(line)
    assert found["outputs"] == "outputs: 10 of 10 elements equal the reference"


def test_a_board_that_is_reset_begins_again(firmware: Path) -> None:
    with emulated(firmware) as (port, board):

        def passed(number: int, byte: int) -> bytes:
            if number == 250 and board.stdin is not None:  # among the answers to the inputs, or what is asked
                board.stdin.write(b"system_reset\n")
            return bytes([byte])

        with between(port, passed) as line:
            found = bench(line)
    assert found["outputs"] == "outputs: 10 of 10 elements equal the reference"


def test_mlperf_tiny_measures_the_whole(firmware: Path) -> None:
    with emulated(firmware) as (port, _):
        found = bench(port, "mlperf-tiny")
    assert "microseconds" in found
    assert found["outputs"] == "outputs are not compared: the firmware does not send them as they are"


def test_another_network_is_refused(firmware: Path) -> None:
    with emulated(firmware) as (port, _):
        words = ["bench", str(DIGITS), "--target", "cortex-m4", "--optimize", "ram"]
        done = CliRunner().invoke(tilewright, [*words, "--on", f"serial:socket://127.0.0.1:{port}"])
    assert isinstance(done.exception, TilewrightError)
    assert done.exception.code == "TW7133"
