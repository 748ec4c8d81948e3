"""The time of jobs beside what GVSoC took."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright_siracusa.neureka.timing import Job, job_cycles

MEASURED: list[tuple[dict[str, Any], int]] = [  # weights in L1 or, where that is the same, in the weight memory
    ({"mode": "points", "rows": 8, "columns": 8, "inputs": 32, "outputs": 32, "scale_bits": 8}, 603),
    ({"mode": "points", "rows": 6, "columns": 6, "inputs": 32, "outputs": 32, "scale_bits": 8}, 167),
    ({"mode": "points", "rows": 12, "columns": 12, "inputs": 64, "outputs": 64, "scale_bits": 8}, 1993),
    ({"mode": "points", "rows": 8, "columns": 8, "inputs": 32, "outputs": 32, "scale_bits": 32}, 681),
    ({"mode": "points", "rows": 8, "columns": 8, "inputs": 32, "outputs": 32}, 733),
    ({"mode": "points", "rows": 1, "columns": 1, "inputs": 640, "outputs": 128, "scale_bits": 8}, 7341),
    ({"mode": "taps", "rows": 6, "columns": 6, "inputs": 28, "outputs": 32, "scale_bits": 8}, 414),
    ({"mode": "taps", "rows": 32, "columns": 32, "inputs": 16, "outputs": 16, "scale_bits": 8}, 9214),
    ({"mode": "taps", "rows": 8, "columns": 8, "inputs": 64, "outputs": 64, "scale_bits": 8}, 7767),
    ({"mode": "channels", "rows": 16, "columns": 16, "inputs": 64, "outputs": 64, "scale_bits": 8}, 4203),
    (
        {
            "mode": "channels",
            "rows": 16,
            "columns": 16,
            "inputs": 64,
            "outputs": 64,
            "scale_bits": 8,
            "weight_memory": True,
        },
        8595,
    ),
    (
        {"mode": "taps", "rows": 6, "columns": 6, "inputs": 28, "outputs": 32, "scale_bits": 8, "weight_bits": 4},
        286,
    ),
]


@pytest.mark.parametrize(("job", "cycles"), MEASURED)
def test_within_three_percent(job: dict[str, Any], cycles: int) -> None:
    """But for padding, which the model does not know: it takes a row or column less at an end."""
    assert job_cycles(Job(**job)) == pytest.approx(cycles, rel=0.03)
