"""Knows the exporters `siracusa` and `pmsis`. Does not know what the generated code computes."""

from __future__ import annotations

from tilewright_riscv.exporters import bare_exporter, runtime_exporter
from tilewright_siracusa.metal import MACHINE

EXPORTERS = (bare_exporter(MACHINE), runtime_exporter(MACHINE, "pmsis", "the runtime for the PULP SDK, below pmsis/"))
