"""What the core offers through its own hooks."""

from __future__ import annotations

import pytest

from tilewright import builtin
from tilewright.plugins import examine_all


@pytest.mark.slow
def test_the_core_is_a_healthy_plugin_of_itself() -> None:
    report = next(report for report in examine_all() if report.package == "tilewright")
    assert (report.status, report.detail) == ("ok", "")


def test_every_operator_has_a_portable_kernel() -> None:
    kernels = [kernel for kernel in builtin.tilewright_kernels() if kernel.target == "*"]
    missing = {operator.name for operator in builtin.tilewright_operators()} - {kernel.op for kernel in kernels}
    assert missing == set()
