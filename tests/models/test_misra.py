"""MISRA C:2012: cppcheck's addon finds no required rule that the list of deviations does not name, nor 12.1 or 12.3."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tilewright.exporters.misra import DEVIATIONS

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
# What is not here is required or mandatory.
ADVISORY = """
    2.3 2.4 2.5 2.6 2.7 4.2 5.9 8.7 8.9 8.11 8.13 10.5 11.4 11.5 12.1 12.3 12.4 13.3 13.4 15.1 15.4 15.5 17.5 17.8 18.4
    18.5 19.2 20.1 20.5 20.10 21.12
"""
DEFINED = (
    "CHAR_BIT=8",
    "INT32_MIN=(-2147483647-1)",
    "UINT32_C(x)=x##u",
    "UINT64_C(x)=x##ull",
    "INT64_C(x)=x##ll",
    "FLT_EVAL_METHOD=0",
)
PROGRAMS = (
    ("digits_int8", "generic", ()),
    ("digits_f32", "generic", ()),
    ("digits_int8", "cortex-m4", ()),
    ("digits_int8", "cortex-m0plus", ()),
    ("digits_int8", "cortex-m55", ()),
    ("digits_int8", "siracusa", ("--memory", "l1=16K")),
    ("digits_int8", "snitch", ()),
    ("digits_f32", "siracusa", ()),
    ("digits_f32", "snitch", ()),
)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "target", "flags"), PROGRAMS, ids=lambda one: one if isinstance(one, str) else "")
def test_what_is_found_is_in_the_list(
    tmp_path: Path, tool: Callable[[str], str], model: str, target: str, flags: Sequence[str]
) -> None:
    asked = ["compile", DIGITS / f"{model}.onnx", "--target", target, *flags, "--name", "net", "--emit", "misra"]
    subprocess.run([sys.executable, "-m", "tilewright", *map(str, asked), "-o", str(tmp_path)], check=True)
    listed = set(re.findall(r"^\| ([\d.]+) \| (\w+) \|", (tmp_path / "net_misra.md").read_text(), re.MULTILINE))
    assert listed == {(one.rule, one.part) for one in DEVIATIONS}
    found = list(findings(tool("cppcheck"), tmp_path))
    assert len(found) > 5, "the addon has looked"
    assert [one for one in found if one[0] not in ADVISORY.split() and one[:2] not in listed] == []
    # the addon takes a negative number beside a comparison for an operator
    assert [one for one in found if one[0] in ("12.1", "12.3") and "0.5f" not in one[2]] == []


def findings(cppcheck: str, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Rule, part, and the line, of the network and its simple API."""
    command = [cppcheck, "--addon=misra", "--std=c11", "--enable=style", "-q", *(f"-D{one}" for one in DEFINED)]
    done = subprocess.run(
        [*command, "-I.", "net.c", "net_simple.c"], cwd=folder, capture_output=True, text=True, check=True
    )
    for file, line, rule in re.findall(r"^([\w.]+):(\d+):\d+: style: .*\[misra-c2012-([\d.]+)\]$", done.stderr, re.M):
        lines = (folder / file).read_text().split("\n")
        yield rule, part_of(lines[: int(line)], file), f"{file}:{line}: {lines[int(line) - 1].strip()}"


def part_of(before: Sequence[str], file: str) -> str:
    """The part of a source that the last of these lines is in."""
    heads = [match[1] for line in before if (match := re.match(r"/\* ---- (\w+)", line))]
    return heads[-1] if heads and heads[-1] in ("kernels", "steps", "interface") and file.endswith(".c") else "data"


def test_parts_of_a_source() -> None:
    assert part_of(["int a;"], "net.c") == "data"
    assert part_of(["/* ---- where buffers begin ---- */", "int a;"], "net.c") == "data"
    assert part_of(["/* ---- kernels ---- */", "/* ---- steps ---- */", "int a;"], "net.c") == "steps"
