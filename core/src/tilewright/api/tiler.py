"""For authors of tilers.

How steps are cut into groups and tiles: the question, the answer, and a list of good answers to choose from.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.plans.region import (
    Copy,
    Cut,
    Hop,
    InternalValue,
    LineBuffers,
    Region,
    RepeatedCalls,
    SplitReduction,
    Stripes,
)
from tilewright.ir.plans.stages import Group
from tilewright.ir.plans.tiler import Tiler, TilingRequest
from tilewright.tile.choices import TileChoices, Tiling
from tilewright.tile.search.no_tiling import Needs

__all__ = [
    "Copy",
    "Cut",
    "Group",
    "Hop",
    "InternalValue",
    "LineBuffers",
    "Needs",
    "Region",
    "RepeatedCalls",
    "SplitReduction",
    "Stripes",
    "TileChoices",
    "Tiler",
    "Tiling",
    "TilingRequest",
]
