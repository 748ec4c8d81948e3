"""Knows how much work a node is to a kernel that has no cost model: what was measured of portable C, or its operations.
Does not know tiles.
"""

from __future__ import annotations

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Engine, Platform


def operations(kernel: Kernel, operator: Operator, site: Site, platform: Platform, engine: Engine) -> float:
    """Of a whole node, such that operations over `engine`'s throughput are what it takes.

    Portable C that the platform has measured counts as what would take that long.
    """
    known = platform.portable_cycles(site) if platform.portable_cycles and kernel.target == "*" else None
    if known is not None:
        return known * engine.operations_per_cycle / engine.cores
    return float(operator.macs(site) or site.output.elements)
