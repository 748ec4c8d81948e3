"""Knows what can execute programs for clusters. Does not know how."""

from __future__ import annotations

from tilewright.api.runner import Runner
from tilewright_riscv.runners.gvsoc import GvsocRunner
from tilewright_riscv.runners.qemu import QemuRiscvRunner

RUNNERS: tuple[Runner, ...] = (QemuRiscvRunner(), GvsocRunner())
