"""The Acme NPU of `tests/vendor` as if it were installed, and its programs for the twin, right or with a mistake."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, emit
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.program import Program
from tilewright.runners.twin import TwinRunner
from tilewright.transform import HOOKS, LIFETIMES, transform

PROJECT = Path(__file__).parents[1] / "vendor" / "acme_npu"
RUNNER = TwinRunner(seeds=(0, 1))


def vendor() -> ModuleType:
    """The vendor's module, as if it were installed."""
    if "acme_npu" not in sys.modules:
        spec = importlib.util.spec_from_file_location("acme_npu", PROJECT / "acme_npu.py")
        assert spec is not None and spec.loader is not None
        sys.modules["acme_npu"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["acme_npu"])
    return sys.modules["acme_npu"]


def files(program: Program) -> Artifact:
    return emit(transform(program, (HOOKS, LIFETIMES), ("lifetimes",)), EmitOptions())


def edited(plan: Deployment, artifact: Artifact, old: str, new: str) -> Artifact:
    """The artifact with a mistake in the first place where `old` stands in its C."""
    name = f"{plan.prefix}.c"
    text = artifact.files[name].decode("ascii")
    assert old in text
    return replace(artifact, files={**artifact.files, name: text.replace(old, new, 1).encode("ascii")})
