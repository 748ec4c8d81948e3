"""Programs that the runner needs: what is missing, which compiler is taken, and the counter, built once and kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright_cortexm.qemu.tools import GCC, QEMU, arm_compiler, counter_plugin, demand_tools, missing_tools


def test_the_counter_is_built_once_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    built = counter_plugin(tmp_path)
    before = built.stat().st_mtime_ns
    assert counter_plugin(tmp_path) == built
    assert built.stat().st_mtime_ns == before
    assert [path.name for path in built.parent.iterdir()] == [built.name]


def test_without_a_cache_it_is_built_beside_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="ascii")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert counter_plugin(tmp_path).parent == tmp_path


def program(folder: Path, name: str, answer: str = "") -> None:
    (folder / name).write_text(f"#!/bin/sh\necho '{answer}'\n", encoding="ascii")
    (folder / name).chmod(0o755)


def test_only_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path, GCC)
    said = str(missing_tools())
    assert said.startswith(f"{QEMU} not on PATH: apt install qemu-system-arm ")
    with pytest.raises(TilewrightError, match="runner 'qemu-cortex-m' cannot run here") as caught:
        demand_tools()
    assert (caught.value.code, caught.value.exit_code, caught.value.details) == ("TW7001", Exit.TOOLCHAIN, (said,))


def test_the_compiler_that_was_chosen() -> None:
    assert arm_compiler({}) == arm_compiler({"TILEWRIGHT_ARM_CC": ""}) == (GCC,)
    assert arm_compiler({"TILEWRIGHT_ARM_CC": "ccache 'my gcc' -g"}) == ("ccache", "my gcc", "-g")


def test_clang_takes_the_headers_of_gccs_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the sysroot has none, those that stand beside the compiler."""
    inside = tmp_path / "lib" / "gcc" / "arm-none-eabi" / "include"
    headers = tmp_path / "arm-none-eabi" / "include"
    for folder in (inside, headers):
        folder.mkdir(parents=True)
    tools = tmp_path / "bin"
    tools.mkdir()
    script = f"#!/bin/sh\ncase $1 in *file*) echo {tmp_path}/lib/gcc/arm-none-eabi/include;; *) echo /nowhere;; esac\n"
    (tools / GCC).write_text(script, encoding="utf-8")
    (tools / GCC).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    found = arm_compiler({"TILEWRIGHT_ARM_CC": "clang-14 -g"})
    assert found == ("clang-14", "-g", "--target=arm-none-eabi", f"-isystem{headers}")
