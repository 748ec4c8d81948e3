"""Rows and points of sweeps, made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tilewright.exploration.sweep.flow import Row
from tilewright.exploration.sweep.points import Point


def point(model: Path | str = "net.onnx", target: str = "plain", **flags: Any) -> Point:
    return Point(model=Path(model), target=target, flags=flags, values={"target": target, **flags})


def row(ram: int = 1, flash: int = 1, cycles: int = 1, drift: float = 0.0, **more: Any) -> Row:
    values = {"model": "net.onnx", "target": "plain", "values": {}, "fits": True, "code": "", "reason": ""}
    figures = {"ram_bytes": ram, "flash_bytes": flash, "cycles": cycles, "drift_steps": drift}
    return {**values, "flags": "--target plain", "used_bytes": {"ram": ram}, **figures, **more}


def refused(**more: Any) -> Row:
    why = {"fits": False, "code": "TW5001", "reason": "it does not fit"}
    return {"model": "net.onnx", "target": "plain", "values": {}, "flags": "--target plain", **why, **more}
