"""What an importer is asked, and what it hands on: frozen values."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from tilewright.ir.graphs.model_formats import ImportedModel, KeptState, Limits


def test_no_file_is_given_512_mib() -> None:
    limits = Limits()
    largest = (limits.file_bytes, limits.tensor_bytes, limits.constant_bytes, limits.fold_total_bytes)
    assert sum(largest) < 512 << 20
    assert limits.fold_bytes <= limits.fold_total_bytes and limits.unrolled < limits.nodes


def test_a_model_has_no_state_and_onnx_arithmetic_unless_its_file_says_so() -> None:
    imported = ImportedModel(model=None)
    assert (imported.states, imported.arithmetic, imported.diagnostics) == ((), "onnx", ())
    with pytest.raises(FrozenInstanceError):
        imported.states = (KeptState(output="y", input="x"),)  # type: ignore[misc]  # what must fail
