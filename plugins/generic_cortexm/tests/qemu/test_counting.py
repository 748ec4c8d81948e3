"""What the counting plugin is told and what it answers, as text: nothing is built or started."""

from __future__ import annotations

import pytest

from tilewright.api.runner import ElfSymbol
from tilewright.errors import Exit, TilewrightError
from tilewright_cortexm.qemu.counting import BETWEEN, OUTSIDE, first_counted, region_lines, step_functions

SOURCE = b"""
TW_STEP void net_0_conv(const uint8_t *x)
{
    TW_STEP void net_9_inside(void);
}
static void net_helper(void) {}
TW_STEP void net_1_relu(void)
{
}
"""


def test_functions_in_the_order_of_the_steps() -> None:
    assert step_functions(SOURCE) == ("net_0_conv", "net_1_relu")


def symbol(name: str, address: int, size: int = 16, function: bool = True) -> ElfSymbol:
    return ElfSymbol(name=name, address=address, size_bytes=size, is_function=function)


def test_regions() -> None:
    """Clones belong to their step; a function without a size has one instruction, and data has none."""
    found = [
        symbol("net_run", 0x100), symbol("net_go_on", 0x200, 0), symbol("other", 0x300), symbol("net_0_conv", 0x400),
        symbol("net_0_conv.isra.0", 0x500), symbol("net_1_relu.constprop.3.isra.0", 0x600),
        symbol("net_1_relu", 0x700, function=False), symbol("net_0_conv2", 0x800),
        symbol("board_harness_start", 0x900, 0), symbol("board_harness_end", 0xA00, 0),
    ]  # fmt: skip
    lines = region_lines(found, "net", ("net_0_conv", "net_1_relu")).splitlines()
    assert lines == [
        f"100 110 {BETWEEN}", f"200 202 {BETWEEN}", "400 410 1", "500 510 1", "600 610 2", f"900 a00 {OUTSIDE}",
    ]  # fmt: skip


def answer(*visits: tuple[int, int, int]) -> str:
    """The file of the plugin: classes, then region and instructions by class, visit by visit."""
    return "\n".join(("region all loads", *(" ".join(map(str, visit)) for visit in visits)))


HARNESS = (OUTSIDE, 9, 9)
HOOKED = (
    (BETWEEN, 1, 0),
    HARNESS,
    (1, 50, 50),
    HARNESS,
    (BETWEEN, 1, 1),
    HARNESS,
    (2, 50, 50),
    HARNESS,
    (BETWEEN, 1, 0),
)


def test_the_first_inference_that_no_hook_cuts() -> None:
    """Two steps cut the run before into five stays in the network; between the steps counts for the total only."""
    plain = ((BETWEEN, 3, 1), (1, 20, 5), (BETWEEN, 2, 0), (2, 7, 4), (BETWEEN, 1, 1))
    counts = first_counted(answer(HARNESS, *HOOKED, HARNESS, *plain, HARNESS, (1, 99, 99)), 2, 2)
    assert counts.total == {"all": 33, "loads": 11}
    assert counts.steps == ({"all": 20, "loads": 5}, {"all": 7, "loads": 4})


@pytest.mark.parametrize(("plain", "executed"), [((), 0), (((1, 20, 5),), 1), (((1, 2, 0), (2, 2, 0), (1, 2, 0)), 3)])
def test_other_steps_than_those_of_the_plan(plain: tuple[tuple[int, int, int], ...], executed: int) -> None:
    with pytest.raises(TilewrightError, match=f"the counted run has {executed} steps, the plan 2") as caught:
        first_counted(answer(HARNESS, *HOOKED, HARNESS, *plain), 2, 2)
    assert (caught.value.code, caught.value.exit_code) == ("TW7010", Exit.TOOLCHAIN)


def test_a_step_that_another_one_computes_has_no_code() -> None:
    counts = first_counted(answer(HARNESS, *HOOKED, HARNESS, (1, 20, 5)), 2, 1)
    assert counts.steps == ({"all": 20, "loads": 5},)
