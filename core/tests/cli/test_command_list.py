"""What the command line says of itself, and what it costs to ask."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from tilewright import __version__
from tilewright.cli.main import COMMANDS, tilewright

MAIN = "from tilewright.cli import main; main()"
HEAVY = ("numpy", "onnx", "mako", "tilewright.deployment")


def run(*words: str, before: str = "", after: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"{before}\ntry:\n    {MAIN}\nfinally:\n    pass\n    {after or 'pass'}", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def commands() -> Iterator[tuple[str, ...]]:
    """Every command and subcommand, as words."""
    context = click.Context(tilewright)
    for name in COMMANDS:
        command = tilewright.get_command(context, name)
        yield (name,)
        if isinstance(command, click.Group):
            yield from ((name, inner) for inner in command.commands)


@pytest.mark.parametrize("words", [(), *commands()], ids=" ".join)
def test_every_command_has_help(words: tuple[str, ...]) -> None:
    finished = run(*words, "--help")
    assert (finished.returncode, finished.stderr) == (0, "")
    assert "Usage: tilewright" in finished.stdout
    assert "Examples:\n    tilewright" in finished.stdout
    assert max(map(len, finished.stdout.splitlines())) <= 120


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
def test_every_flag_is_explained(words: tuple[str, ...]) -> None:
    command: click.Command | None = tilewright
    for word in words:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None
    assert command.help
    unexplained = [each.opts for each in command.params if isinstance(each, click.Option) and not each.help]
    assert unexplained == [] or unexplained == [["--format"]]


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("explain",), ("plugins", "list")], ids=" ".join)
def test_help_and_listings_import_nothing_heavy(words: tuple[str, ...]) -> None:
    finished = run(
        *words, before="import sys", after=f"sys.stderr.write(str([m for m in {HEAVY} if m in sys.modules]))"
    )
    assert finished.stderr == "[]"


def test_the_list_of_commands_brings_no_plugin_host() -> None:
    host = ("packaging", "pluggy", "tilewright.plugins.catalogue")
    finished = run(
        "--help", before="import sys", after=f"sys.stderr.write(str([m for m in {host} if m in sys.modules]))"
    )
    assert finished.stderr == "[]"


def test_a_highlighter_of_pages_that_nobody_sees_is_not_imported() -> None:
    """Mako takes it where it is installed, as it is beside rich; it takes longer to import than Mako."""
    after = "import mako.exceptions; sys.stderr.write(str('pygments' in sys.modules))"
    assert run("--help", before="import sys", after=after).stderr == "False"


def modules(program: str) -> int:
    """How many a Python process has imported at its end."""
    counted = f"import atexit, sys\natexit.register(lambda: sys.stderr.write(str(len(sys.modules))))\n{program}"
    command = [sys.executable, "-c", counted, "--help"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stderr)


@pytest.mark.slow
@pytest.mark.parametrize(("program", "limit"), [(MAIN, 0.5), ("import tilewright.api", 0.25)], ids=["help", "api"])
def test_asking_imports_a_part_of_what_onnx_does(program: str, limit: float) -> None:
    """What that takes is measured by `benchmarks/compile_time.py`."""
    bare = modules("pass")
    assert modules(program) - bare <= limit * (modules("import onnx") - bare)


def test_the_version_is_the_package_s() -> None:
    assert run("--version").stdout == f"tilewright, version {__version__}\n"


def test_the_words_of_other_tools_are_understood_and_not_listed() -> None:
    context = click.Context(tilewright)
    assert tilewright.get_command(context, "analyze") is tilewright.get_command(context, "check")
    assert tilewright.get_command(context, "generate") is tilewright.get_command(context, "compile")
    assert not {"analyze", "generate"} & set(tilewright.list_commands(context))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("chekc",), "there is no command 'chekc': did you mean 'check'?"),
        (("check",), "Missing argument 'MODEL'"),
        (("check", "m.onnx"), "Missing option '-t' / '--target'"),
        (("check", "m.onnx", "-t", "generic", "--bogus"), "No such option"),
        (("compile", "m.onnx", "--place-io", "user"), "--place-io is the name in `validate`; here it is --io"),
        (("report", "r.json", "--format", "png"), "is not one of 'text', 'md', 'csv', 'svg'"),
        (("compile", "m.onnx", "-t", "x", "-o", "y", "--effort", "0"), "0 is not in the range x>=1"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_command_line_is_an_error_with_a_code(words: tuple[str, ...], expected: str) -> None:
    finished = run(*words)
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr.startswith("error[TW1100]: ")
    assert expected in finished.stderr
    assert "  try:  tilewright" in finished.stderr


def test_no_command_shows_the_help_and_is_an_error() -> None:
    finished = run()
    assert finished.returncode == 2
    assert "Commands:" in finished.stderr + finished.stdout


def test_an_unexpected_exception_asks_for_a_report() -> None:
    finished = run("explain", before="import tilewright.errors.catalogue as c\n"
                   "def broken(): raise ZeroDivisionError('boo')\nc.catalogue = broken")  # fmt: skip
    assert finished.returncode == 1
    assert "Traceback" in finished.stderr
    *_, error, _, step = finished.stderr.rstrip().split("\n")
    assert error == "error[TW9001]: internal error: ZeroDivisionError: boo"
    assert step.startswith("  try:  report it")


def test_a_reader_that_leaves_is_no_error() -> None:
    listing = subprocess.Popen(
        [sys.executable, "-c", MAIN, "explain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert listing.stdout is not None
    assert listing.stderr is not None
    listing.stdout.close()
    assert (listing.stderr.read(), listing.wait(timeout=30)) == ("", 0)
    listing.stderr.close()
