"""Which runner a name means."""

from __future__ import annotations

import pytest

from tilewright.validation.runner_choice import full_name

RUNNERS = ("twin", "qemu-riscv32", "gvsoc", "board-usb", "board-jtag")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("", "twin"),
        ("twin", "twin"),
        ("qemu", "qemu-riscv32"),
        ("qemu-riscv32", "qemu-riscv32"),
        ("qem", "qem"),
        ("board", "board"),
        ("host", "host"),
    ],
)
def test_a_name_may_leave_out_what_follows_the_dash_where_one_runner_is_meant(name: str, meant: str) -> None:
    assert full_name(name, RUNNERS) == meant


def test_a_runner_of_that_very_name_comes_first() -> None:
    assert full_name("twin", ("twin-race", "twin")) == "twin"
