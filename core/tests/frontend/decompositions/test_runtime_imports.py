"""Operators of onnxruntime's own domain."""

from __future__ import annotations

from tilewright.frontend.decompositions.runtime_imports import MICROSOFT, runtime_imports
from tilewright.ir.graphs.importing import Conversion, OnnxNode


def converted(node: OnnxNode, graph: Conversion) -> None:
    raise NotImplementedError


def test_a_row_is_one_signature_of_that_domain() -> None:
    one, other = runtime_imports(("Gelu", {}, converted, 1, 1), ("QGemm", {"alpha": "FLOAT"}, converted, 6, 9))
    assert (one.op_type, one.domain, one.since, one.min_inputs, one.max_inputs) == ("Gelu", MICROSOFT, 1, 1, 1)
    assert (other.attributes, other.convert, other.max_inputs) == ({"alpha": "FLOAT"}, converted, 9)
