"""For whoever reads a plan; observers.

The frozen values that one stage hands to the next, and what is decided rather than derived. Tilers, exporters and
runners are given them; an observer is told of each.

Made by tools/build_api.py: change tools/api.toml, not this file.
"""

from tilewright.ir.graphs.operator import OperandSource
from tilewright.ir.plans.decisions import Decisions, Recomputation, Staging
from tilewright.ir.plans.layer import Layer
from tilewright.ir.plans.stages import (
    Allocated,
    Artifact,
    Binding,
    Bound,
    Buffer,
    BytesAway,
    Candidate,
    PackageFacts,
    Placement,
    PoolUse,
    Scheduled,
    Step,
    Storage,
    TensorParameter,
    Tiled,
)
from tilewright.plugins.offers import StageEvent

__all__ = [
    "Allocated",
    "Artifact",
    "Binding",
    "Bound",
    "Buffer",
    "BytesAway",
    "Candidate",
    "Decisions",
    "Layer",
    "OperandSource",
    "PackageFacts",
    "Placement",
    "PoolUse",
    "Recomputation",
    "Scheduled",
    "StageEvent",
    "Staging",
    "Step",
    "Storage",
    "TensorParameter",
    "Tiled",
]
