"""What tests of several families of operators share: the onnx package's own cases."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import pytest
from onnx.backend.test.case.node import collect_testcases


@pytest.fixture(scope="session", name="onnx_cases")
def _onnx_cases() -> Mapping[str, Mapping[str, Any]]:
    """The cases of one node each, by operator and name, and those that write such a node with others (`_expanded`)."""
    with warnings.catch_warnings(action="ignore"):  # of numpy, where cases are about infinities
        every = {case.name: case for case in collect_testcases(None)}
    found: dict[str, dict[str, Any]] = {}
    for name, case in sorted(every.items()):
        (first, *others) = every.get(name.split("_expanded")[0], case).model.graph.node
        if not others and not first.domain:
            found.setdefault(first.op_type, {})[name] = case
    return found
