"""For authors of tilers.

How steps are cut into groups and tiles: the question, the answer, and a list of good answers to choose from.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.plans.region import (
    Copy,
    Cut,
    FlattenedRows,
    Hop,
    InternalValue,
    LineBuffer,
    LineBuffers,
    Region,
    RepeatedCalls,
    SplitReduction,
    Stripes,
    Tiles,
    Whole,
)
from tilewright.ir.plans.stages import Group
from tilewright.ir.plans.tiler import Tiler, TilingRequest
from tilewright.tile.choices import TileChoices, Tiling
from tilewright.tile.search.no_tiling import Needs

__all__ = [
    "Copy",
    "Cut",
    "FlattenedRows",
    "Group",
    "Hop",
    "InternalValue",
    "LineBuffer",
    "LineBuffers",
    "Needs",
    "Region",
    "RepeatedCalls",
    "SplitReduction",
    "Stripes",
    "TileChoices",
    "Tiler",
    "Tiles",
    "Tiling",
    "TilingRequest",
    "Whole",
]
