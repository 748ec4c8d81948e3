"""What has no firmware that measures it. That the firmware answers: core/tests/runners/serial_line."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.emit import EmitOptions
from tilewright.errors import TilewrightError
from tilewright.exporters.bench_firmware import bench


def test_the_firmware_is_two_files(toy: Any) -> None:
    program = toy.program(toy.graph())
    files = bench(program.allocated, toy.artifact(program))
    assert sorted(files) == ["toy_bench.c", "toy_bench.h"]


def test_constants_of_a_file_are_refused(toy: Any) -> None:
    program = toy.program(toy.graph())
    with pytest.raises(TilewrightError) as refused:
        bench(program.allocated, toy.artifact(program, EmitOptions(const_format="bin")))
    assert refused.value.code == "TW7136"
    assert "--const-format bin" in str(refused.value)
