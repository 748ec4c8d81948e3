"""Knows what a job of N-EUREKA takes, in cycles from its start to its end. Does not know layers.

Fitted to 20 jobs measured on GVSoC (209c147), of which 18 are within 0.5 % and all within 3 %: inputs and outputs in
L1, 8 bits of each but for sums of 32 bits. Waiting for banks of L1 is not in it, as it is not in GVSoC, nor is anything
that the weight memory would take beyond a word a cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tilewright.api import ceil_div
from tilewright_siracusa.neureka.packing import BITS, OUTPUTS, POINT_INPUTS, TAP_INPUTS

Mode = Literal["taps", "channels", "points"]  # 3x3, depthwise 3x3, 1x1

PIXELS = 6  # rows and columns of a tile of the engine
_FIXED = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What time depends on: outputs are of 8 bits where the engine scales them by `scale_bits`, else sums."""

    mode: Mode
    rows: int
    columns: int
    inputs: int
    outputs: int
    scale_bits: int = 0
    weight_bits: int = BITS
    weight_memory: bool = False  # else weights are in L1


def job_cycles(job: Job) -> float:
    """Cycles of a job: for every tile of outputs the loads and products of all inputs, scaling, and stores."""
    step = TAP_INPUTS if job.mode == "channels" else OUTPUTS
    heights, widths = _cut(job.rows, PIXELS), _cut(job.columns, PIXELS)
    return _FIXED + sum(
        count * tall * wide * _tile(job, outputs, rows, columns)
        for outputs, count in _cut(job.outputs, step)
        for rows, tall in heights
        for columns, wide in widths
    )


def _cut(extent: int, size: int) -> list[tuple[int, int]]:
    """Sizes of parts, and how many there are of each."""
    full, rest = divmod(extent, size)
    return [(size, full)] * bool(full) + [(rest, 1)] * bool(rest)


def _tile(job: Job, outputs: int, rows: int, columns: int) -> float:
    words = 1 if job.scale_bits else ceil_div(outputs, 8)
    scaled = (ceil_div(outputs, 4) if job.scale_bits == 8 else outputs) + 21 if job.scale_bits else 0
    stored = ((rows - 1) * PIXELS + columns) * words + 3 * (job.mode == "points")
    if job.mode == "points":
        return ceil_div(job.inputs, POINT_INPUTS) * (48 + outputs + 10) + scaled + stored
    load = (rows + 2) * (columns + 2) + 6
    if job.mode == "channels":
        words_read = job.weight_bits * (outputs if job.weight_memory else 1)  # GVSoC: in L1 those of one channel
        return load + 34 + words_read + scaled + stored
    return ceil_div(job.inputs, TAP_INPUTS) * (load + outputs * job.weight_bits + 14) + scaled + stored
