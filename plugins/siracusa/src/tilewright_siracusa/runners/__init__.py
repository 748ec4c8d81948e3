"""Knows what can execute programs for the cluster. Does not know how."""

from __future__ import annotations

from tilewright.api.runner import Runner
from tilewright_siracusa.runners.gvsoc import GvsocRunner
from tilewright_siracusa.runners.qemu import QemuRiscvRunner

RUNNERS: tuple[Runner, ...] = (QemuRiscvRunner(), GvsocRunner())
