"""What a lowering adds: a bias as a constant, with a note only where it was rounded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft
from tilewright.rewrite.qdq.weights import Bias
from tilewright.rewrite.qdq.work import Work
from tilewright.testing.sketch import Sketch


@pytest.mark.parametrize(("moved", "notes"), [(0.0, []), (0.0042, ["at most 4.2e-03 of a step"])])
def test_a_bias(moved: float, notes: list[str], sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    graph = s.finish(s.node("Clip", (s.input("x", DType.F32, (4,)),), name="main"))
    work = Work(draft=Draft(graph=graph))
    name = work.bias(graph.nodes[0], "b", Bias(array=np.array([1, -2], np.int32), nodes=(), moved=moved))
    assert work.draft.constants[name].tolist() == [1, -2] and name.startswith("b_int32")
    found = [(each.code, each.severity, each.where) for each in work.diagnostics]
    assert found == [("TW3003", "note", "main")] * len(notes)
    assert all(text in each.message for text, each in zip(notes, work.diagnostics, strict=True))
