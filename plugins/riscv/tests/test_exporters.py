"""Exporters of clusters: named as the target and as the vendor's runtime, and for plans of that target alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.api import TilewrightError
from tilewright.api.exporter import Exporter
from tilewright.api.platform import Memory, Platform
from tilewright_riscv import exporters
from tilewright_riscv.exporters import bare_exporter, runtime_exporter

ACME: Any = SimpleNamespace(target="acme", package="tilewright_riscv")


def plan_for(target: str) -> Any:
    platform = Platform(name=target, memories=(Memory(name="ram", size_bytes=None),))
    return SimpleNamespace(tiled=SimpleNamespace(scheduled=SimpleNamespace(bound=SimpleNamespace(platform=platform))))


@pytest.mark.parametrize("exporter", [bare_exporter(ACME), runtime_exporter(ACME, "sdk", "")], ids=lambda one: one.name)
def test_another_targets_plan_is_refused(exporter: Exporter) -> None:
    with pytest.raises(TilewrightError) as refused:
        exporter.files(plan_for("other"), ACME)
    assert refused.value.code == "TW8041"
    assert "--target acme" in refused.value.fix


def test_the_vendors_runtime_is_of_the_machines_package(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runtime" / "sdk").mkdir(parents=True)
    for name in ("tw_rt_sdk.c", "tw_rt_sdk.h"):
        (tmp_path / "runtime" / "sdk" / name).write_text(name)
    monkeypatch.setattr(exporters, "files", lambda package: tmp_path if package == ACME.package else None)
    exporter = runtime_exporter(ACME, "sdk", "the vendor's")
    assert (exporter.name, exporter.summary) == ("sdk", "the vendor's")
    found = exporter.files(plan_for("acme"), ACME)
    assert found == {"sdk/tw_rt_sdk.c": b"tw_rt_sdk.c", "sdk/tw_rt_sdk.h": b"tw_rt_sdk.h"}
    assert bare_exporter(ACME).name == "acme"
