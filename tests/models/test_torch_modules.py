"""Ten kinds of PyTorch modules, by both exporters: compiled for two targets, and right there. Needs torch and
onnxscript, which only .ci/nightly installs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from torch_modules import MODULES, made

import tilewright

pytestmark = pytest.mark.long


@pytest.mark.parametrize("older", [False, True], ids=["exporter", "older exporter"])
@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_right_on_two_targets(name: str, older: bool, monkeypatch: pytest.MonkeyPatch, tool: Any) -> None:
    if older and name == "transformer":
        pytest.skip("torch's older exporter has no rule for its own fused layer")
    if older:
        monkeypatch.setitem(sys.modules, "onnxscript", None)
    module, args = made(name)
    host = tilewright.compile(module, "generic", args=args)
    assert host.validate(sets=1).passed
    tool("qemu-system-arm")
    assert tilewright.compile(module, "cortex-m4", args=args).validate(sets=1).passed


def test_a_file_with_its_weights_beside_it(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    module, args = made("embedding")
    torch.onnx.export(module, args, str(tmp_path / "m.onnx"), dynamo=True, external_data=True)
    assert tilewright.compile(tmp_path / "m.onnx", "generic").validate(sets=1).passed
