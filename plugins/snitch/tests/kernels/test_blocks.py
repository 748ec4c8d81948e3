"""Instructions of a block: every sum once, nothing in the streams' registers, what is dense needs no steps."""

from __future__ import annotations

import pytest

from tilewright_snitch.kernels.blocks import (
    CLOBBERED,
    LIMITS,
    MARKS,
    OTHERS,
    SUMS,
    WIDTHS,
    ZERO,
    finish_lines,
    product_lines,
)


def test_registers_are_all_others() -> None:
    own = (*SUMS, *OTHERS, *MARKS, *LIMITS, ZERO)
    assert len(set(own)) == len(own)
    assert not {"ft0", "ft1", "ft2"} & set(own)
    assert {"ft0", "ft1", "ft2"} < set(CLOBBERED)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_products_are_repeated(width: int, double: bool) -> None:
    lines = product_lines(width, double=double)
    assert len(lines) == 2 * width + 1
    assert lines[width] == f'TW_SN_REPEAT("%[times]", {width})'
    assert all("ft0, ft1" in line for line in (*lines[:width], *lines[width + 1 :]))


@pytest.mark.parametrize("clip", ["none", "low", "both"])
def test_a_finished_block(clip: str) -> None:
    lines = finish_lines(4, double=False, bias=True, clip=clip, dense=True)
    assert sum("fsw" in line for line in lines) == 4
    assert sum("fmin.s" in line for line in lines) == (4 if clip == "both" else 0)
    assert sum("fmax.s" in line for line in lines) == (0 if clip == "none" else 4)
    assert not any("step" in line for line in lines)
    apart = finish_lines(4, double=True, bias=True, clip=clip, dense=False)
    assert sum("y_step" in line for line in apart) == sum("c_step" in line for line in apart) == 4
    assert not any("lanes" in line for line in apart)
