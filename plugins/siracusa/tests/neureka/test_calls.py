"""What a job and what the cores finish are told, in the C of layers on N-EUREKA."""

from __future__ import annotations

import re

import numpy as np
import pytest
from byte_convolutions import Draft

from tilewright.config.options import Options
from tilewright.deployment import Deployment

pytestmark = pytest.mark.slow


def fields(group: int, side: int, stride: int, kind: str) -> dict[str, str]:
    """Those of the only job of a layer at 9x9 with 32 channels, or of what the cores finish of it."""
    draft = Draft(np.uint8, (1, 32, 9, 9), 0)
    draft.conv(32, side, stride, pads=side // 2, group=group)
    options = Options(settings={"engine": "neureka", "cores": "1", "dma_core": "first"}, memory={"l1": 64 << 10})
    text = b"".join(Deployment(draft.model(), "siracusa", options).files.values()).decode()
    found = re.search(rf"\(\({kind}\)\{{(.*?)\}}", text, re.DOTALL)
    assert found
    return dict(re.findall(r"\.(\w+) = (.*?),\s", found[1]))


@pytest.mark.parametrize(("side", "group", "mode"), [(3, 1, 0), (3, 32, 1), (1, 1, 2)])
def test_registers_have_the_mode_and_the_bits_of_weights(side: int, group: int, mode: int) -> None:
    conf = int(fields(group, side, 1, "tw_neureka_job")["conf"].removesuffix("u"), 16)
    assert (conf >> 5 & 3, conf & 7) == (mode, 7)


def test_the_engine_computes_windows_with_a_stride_of_one() -> None:
    job = fields(1, 3, 2, "tw_neureka_job")
    assert (job["rows"], job["columns"], job["x_column"]) == ("9", "9", "32")
    sums = fields(1, 3, 2, "tw_neureka_sums")
    assert (sums["rows"], sums["columns"]) == ("5", "5")
    assert sums["sum_column"].replace("(32)", "32") == "2 * 32"


def test_the_engine_reads_every_second_pixel_of_points() -> None:
    job = fields(1, 1, 2, "tw_neureka_job")
    assert (job["rows"], job["columns"], job["x_column"]) == ("5", "5", "64")
    assert fields(1, 1, 2, "tw_neureka_sums")["sum_column"].replace("(32)", "32") == "1 * 32"
