"""Knows whether the tiles of a region overlap with the jobs that its first step has on an engine with a queue: the job
of one tile runs while the cores finish the tile before, and compute the other steps of the region for that.
Does not know what a job takes, nor in which order things are generated.
"""

from __future__ import annotations

from math import prod

from tilewright.ir.plans.region import key_of
from tilewright.tile.cost.footprint import member_scratch
from tilewright.tile.cost.tile_boxes import Boxes
from tilewright.tile.space.fusion import RegionAnalysis


def jobs_overlap(boxes: Boxes) -> bool:
    """Whether one job is started before another is waited for: each operand of the first step that changes with the
    tiles has two buffers. What is not copied yet is taken to have them.
    """
    analysis, start = boxes.analysis, boxes.starts[-2] if len(boxes.starts) > 1 else 0
    if not may_overlap(analysis) or prod(boxes.extents[start:]) == 1:
        return False
    first, others = analysis.members[0], range(1, len(analysis.members))
    few = boxes.copy_level(0) < len(boxes.extents) or any((high <= low).any() for low, high in boxes.runs[0].values())
    if others and few:
        return False  # its jobs are fewer than the tiles
    if any(member_scratch(boxes, number) for number in others):
        return False  # the scratch of a region is its jobs'
    for item in first.space.copied:
        copy = boxes.hops[-1].copies.get(key_of(first.step.name, item.name))
        if copy is None or (others and item.written):
            continue
        resident = prod(boxes.extents[start : start + copy.level]) == 1
        if copy.window == "rolling" or not (resident or copy.buffers > 1):
            return False
    return True


def may_overlap(analysis: RegionAnalysis) -> bool:
    """The same of tiles that are not known. Of several steps, the first one's jobs leave what the cores finish, so that
    no job writes what others read; and the others are computed by cores.
    """
    first, *others = (member.space for member in analysis.members)
    if not first.kernel.wait or first.engine.queue < 2:
        return False
    return not others or (first.kernel.finish is not None and not any(space.kernel.wait for space in others))
