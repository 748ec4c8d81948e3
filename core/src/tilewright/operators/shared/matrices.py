"""Knows how a Gemm or MatMul reads a constant B that is stored as [N, K], so that the products of a sum are neighbours,
and how it is stored so. Does not know how anything is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def gemm_access(site: Site) -> Access:
    """What a Gemm reads for each element of Y: B as [N, K], whatever `transB` says, and C where it has one."""
    a, y = site.input(0).shape, site.output.shape
    rows = [f"m{axis}" for axis in range(len(y) - 1)]
    shapes, bias = {"A": a, "B": (y[-1], a[-1]), "Y": y}, ""
    if site.has_input(2):
        shapes["C"] = c = site.input(2).shape
        loops = [*rows, "n"][len(y) - len(c) :]
        bias = ",".join("0" if own == 1 else loop for own, loop in zip(c, loops, strict=True))
    text = f"{' '.join(rows)} n k : A[{','.join([*rows, 'k'])}] B[n,k] C[{bias}] -> Y[{','.join([*rows, 'n'])}]"
    return parse_map(text).bind(shapes)


def pack_gemm(site: Site) -> Mapping[str, Array]:
    """The constants of a Gemm for `gemm_access`: B as [N, K] with alpha in it, C with beta in it, in the type that sums
    are computed in. Empty where B is no constant.
    """
    import numpy as np

    b, c = site.constant(1), site.constant(2)
    if b is None:
        return {}
    real = site.output.dtype.computed_in.numpy
    alpha, beta = (np.asarray(site.node.number(name, 1.0), real) for name in ("alpha", "beta"))
    matrix = np.multiply(b.astype(real), alpha)
    packed: dict[str, Array] = {"B": np.ascontiguousarray(matrix if site.node.integer("transB") else matrix.T)}
    return packed if c is None else {**packed, "C": np.multiply(c.astype(real), beta)}


def matmul_access(site: Site) -> Access:
    """What a MatMul by one matrix reads for each element of Y: B as [N, K]."""
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape[::-1], "Y": site.output.shape}
    return parse_map("m n k : A[...,m,k] B[n,k] -> Y[...,m,n]").bind(shapes)


def computed_matmul_access(site: Site) -> Access:
    """What a MatMul by a matrix that is computed, or by several of them, reads: B as it is."""
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    return parse_map("m n k : A[...,m,k] B[...,k,n] -> Y[...,m,n]").bind(shapes)


def pack_matmul(site: Site) -> Mapping[str, Array]:
    """The constant matrix of a MatMul for `matmul_access`, in the type that sums are computed in. Empty without one."""
    import numpy as np

    b = site.constant(1)
    return {} if b is None else {"B": np.ascontiguousarray(b.T.astype(site.output.dtype.computed_in.numpy))}
