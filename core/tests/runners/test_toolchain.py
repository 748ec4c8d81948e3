"""Which compiler is used, and what is said when there is none."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tilewright.errors import TilewrightError
from tilewright.runners import toolchain
from tilewright.runners.toolchain import compilers, describe_compilers, execute, find_compiler, missing_compiler


def tool(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\nexit 0\n")
    (folder / name).chmod(0o755)


def test_order(tmp_path: Path) -> None:
    for name in ("gcc", "clang", "mine"):
        tool(tmp_path, name)
    names = [one.name for one in compilers({"PATH": str(tmp_path), "CC": "mine -O0"})]
    assert names[:3] == ["$CC", "gcc", "clang"]
    assert find_compiler({"PATH": str(tmp_path), "CC": "mine -O0"}).command == ("mine", "-O0")
    assert find_compiler({"PATH": str(tmp_path)}).name == "gcc"


def test_the_wheel_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_spec", lambda name: object())
    found = find_compiler({"PATH": str(tmp_path)})
    assert found.command == (sys.executable, "-m", "ziglang", "cc")
    assert not found.sanitizers


def test_nothing_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_spec", lambda name: None)
    assert missing_compiler({"PATH": str(tmp_path)})
    with pytest.raises(TilewrightError) as refused:
        find_compiler({"PATH": str(tmp_path)})
    assert refused.value.code == "TW7001"
    assert "pip install ziglang" in refused.value.fix[0]


def test_a_wrong_cc_is_no_reason_to_take_another(tmp_path: Path) -> None:
    tool(tmp_path, "gcc")
    assert "wrong" in str(missing_compiler({"PATH": str(tmp_path), "CC": "wrong"}))


@pytest.mark.slow
def test_doctor_lines() -> None:
    assert all(": " in line for line in describe_compilers())


def test_the_words_of_a_tool_are_kept_but_not_all_of_them(tmp_path: Path) -> None:
    script = "import sys\nfor n in range(500): print('line', n, file=sys.stderr)\nsys.exit(4)"
    with pytest.raises(TilewrightError) as failed:
        execute([sys.executable, "-c", script], tmp_path, code="TW7002", what="the test", timeout_seconds=30)
    assert failed.value.message == "the test failed with exit status 4"
    assert failed.value.details[0] == "line 0"
    assert len(failed.value.details) == toolchain.SHOWN_LINES


def test_data_among_the_words_of_what_failed_are_left_out(tmp_path: Path) -> None:
    script = "print('DATA 00ff'); print('DATA 00too small'); raise SystemExit(3)"
    with pytest.raises(TilewrightError) as caught:
        execute(
            [sys.executable, "-c", script],
            tmp_path,
            code="TW7003",
            what="the test",
            timeout_seconds=30,
            data=re.compile("DATA [0-9a-f]*\n*"),
        )
    assert caught.value.details == ("too small",)
