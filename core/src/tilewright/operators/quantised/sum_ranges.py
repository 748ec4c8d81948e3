"""Knows the range of the sums of every integer operator that is requantised. Does not know how they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.ir.graphs.graph import Site
from tilewright.operators.quantised.qconv import conv_bounds
from tilewright.operators.quantised.qelementwise import mul_bounds
from tilewright.operators.quantised.qgemm import gemm_bounds, matmul_bounds
from tilewright.operators.quantised.qpool import mean_bounds, pool_bounds
from tilewright.operators.quantised.qrescale import rescale_bounds
from tilewright.operators.quantised.qresize import resize_bounds

BOUNDS: Mapping[str, Callable[[Site], AccumulatorBounds]] = MappingProxyType(
    {
        "QAveragePool": pool_bounds,
        "QConv": conv_bounds,
        "QGemm": gemm_bounds,
        "QMatMul": matmul_bounds,
        "QMul": mul_bounds,
        "QReduceMean": mean_bounds,
        "QRescale": rescale_bounds,
        "QResizeLinear": resize_bounds,
    }
)
