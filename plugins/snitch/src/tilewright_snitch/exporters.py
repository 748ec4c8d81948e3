"""Knows the exporters `snitch` and `snrt`. Does not know what the generated code computes."""

from __future__ import annotations

from tilewright_riscv.exporters import bare_exporter, runtime_exporter
from tilewright_snitch.metal import MACHINE

EXPORTERS = (
    bare_exporter(MACHINE),
    runtime_exporter(MACHINE, "snrt", "the runtime over the Snitch cluster's own, below snrt/"),
)
