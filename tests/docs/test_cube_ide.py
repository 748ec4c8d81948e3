"""The folder for STM32CubeIDE builds as the IDE builds it, with what the page says and no more: a path and a flag."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "build-systems.md"
SECTION = PAGE.read_text("utf-8").partition("## STM32CubeIDE")[2].partition("\nWhich of these pages")[0]
COMMAND = re.search(r"^tilewright compile .*$", SECTION, re.MULTILINE)
CALLED = re.search(r"USER CODE BEGIN 2 \*/\n(.*?)/\* USER CODE END 2", SECTION, re.DOTALL)
MACHINE = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "--specs=nano.specs"]
OF_THE_IDE = ["-std=gnu11", "-g3", "-DDEBUG", "-DUSE_HAL_DRIVER", "-DSTM32F407xx", "-ffunction-sections",
              "-fdata-sections", "-Wall", "-fstack-usage"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("more", "optimise"), [("", "-O0"), ("--const-format incbin --selftest", "-Os")])
def test_it_builds_and_links(reader: Any, tool: Any, more: str, optimise: str) -> None:
    gcc = tool("arm-none-eabi-gcc")
    assert COMMAND and CALLED and "-ffp-contract=off" in SECTION

    def run(*words: str) -> None:
        done = subprocess.run(
            words, cwd=reader.folder, env=reader.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "warning: implicit" not in done.stderr

    run("sh", "-c", f"{COMMAND[0]} {more}")
    (reader.folder / "main.c").write_text(
        f'#include "digits_int8.h"\nint main(void)\n{{\n{CALLED[1]}return (int)status;\n}}\n'
    )
    sources = [path for path in sorted((reader.folder / "network").rglob("*.[cS]")) if "selftest" not in path.name]
    objects = []
    for source in (*sources, reader.folder / "main.c"):
        objects.append(f"{source.stem}.o")
        flags = [*OF_THE_IDE, optimise, "-ffp-contract=off"] if source.suffix == ".c" else ["-x", "assembler-with-cpp"]
        run(gcc, *MACHINE, *flags, "-Inetwork", "-c", "-o", objects[-1], str(source))
    run(gcc, *MACHINE, "--specs=nosys.specs", "-Wl,--gc-sections", "-o", "app.elf", *objects, "-lm")
    assert (reader.folder / "app.elf").stat().st_size > 10_000
