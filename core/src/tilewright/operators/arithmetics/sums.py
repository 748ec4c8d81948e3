"""Knows the range of the sums of any integer operator that is requantised, and its stored scales.
Does not know what an arithmetic makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.ir.graphs.arithmetic import OperatorFunction
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.operators.quantised.qconv import conv_bounds
from tilewright.operators.quantised.qelementwise import mul_bounds
from tilewright.operators.quantised.qgemm import gemm_bounds, matmul_bounds
from tilewright.operators.quantised.qpool import mean_bounds, pool_bounds

BOUNDS: Mapping[str, Callable[[Site], AccumulatorBounds]] = MappingProxyType(
    {
        "QAveragePool": pool_bounds,
        "QConv": conv_bounds,
        "QGemm": gemm_bounds,
        "QMatMul": matmul_bounds,
        "QMul": mul_bounds,
        "QReduceMean": mean_bounds,
    }
)
Requantised = Callable[[Requant, StoredScales, AccumulatorBounds], Requant | str]


def requantised(function: Requantised) -> OperatorFunction:
    """A function of an arithmetic that changes how sums are requantised, and nothing else."""

    def declared(site: Site) -> Mapping[str, Attribute] | str:
        requant = site.node.requant()
        if requant.stored is None:
            return "the scales of the file are not known here"
        found = function(requant, requant.stored, BOUNDS[site.node.op](site))
        return found if isinstance(found, str) else {"requant": found}

    return declared
