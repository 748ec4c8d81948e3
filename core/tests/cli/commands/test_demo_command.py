"""`tilewright demo`: from the wheel alone to a checked program, kept where that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from row_networks import ONE_MEMORY
from tilewright.front_door import demonstration
from tilewright.plugins.catalogue import Catalogue, Offer, Package
from tilewright.testing.cluster import registry_for


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(ONE_MEMORY))
    offers = (Offer(kind="platform", name=ONE_MEMORY.name, reference="m"),)
    catalogue = Catalogue(packages=(Package(name="p", version="1", requirement="", offers=offers),))
    monkeypatch.setattr("tilewright.plugins.discover", lambda: catalogue, raising=False)


@pytest.mark.slow
def test_it_is_compiled_run_checked_and_kept(run: Any, tmp_path: Path) -> None:
    said = run("demo", "--target", ONE_MEMORY.name, "-o", tmp_path / "kept")
    assert said.code == 0 and "ran 360 test images with host: 351 digits recognised, 360 equal" in said.out
    assert {"digits.c", "digits.h", "digits_int8.onnx"} <= {file.name for file in (tmp_path / "kept").iterdir()}
    assert said.out.endswith(f"check {tmp_path}/kept/digits_int8.onnx --target {ONE_MEMORY.name} --layers\n")


@pytest.mark.slow
def test_a_wrong_bit_is_no_success(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one = demonstration.Demonstrated(images=3, equal=2, correct=3)
    monkeypatch.setattr(demonstration, "demonstrated", lambda *_: one)
    said = run("demo", "--target", ONE_MEMORY.name)
    assert said.code == 6 and "2 equal to the integer reference" in said.out and "error[TW6002]" in said.err


def test_without_targets_it_says_what_brings_some(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.plugins.discover", lambda: Catalogue(packages=()), raising=False)
    said = run("demo")
    assert said.code == 8 and "try:  pip install tilewright-cortexm" in said.err
