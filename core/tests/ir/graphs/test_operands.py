"""Names of operands: as many as a node has inputs."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.graphs.operands import input_names
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of


@pytest.mark.parametrize(
    ("op", "count", "names"),
    [("Add", 2, ("A", "B")), ("Gemm", 2, ("A", "B")), ("Gemm", 3, ("A", "B", "C")), ("Concat", 3, ("X0", "X1", "X2"))],
)
def test_absent_inputs_at_the_end_have_no_name_and_lists_are_spelled_out(
    op: str, count: int, names: tuple[str, ...]
) -> None:
    site = site_of(vocabulary()[op], [np.zeros((4, 4), np.float32)] * count, {"axis": 0} if op == "Concat" else {})
    assert input_names(vocabulary()[op], site) == names
