"""What templates of exporters see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tilewright.exporters.texts import render
from tilewright.ir.plans.stages import PackageFacts


def test_a_package_is_called_as_the_user_says_or_as_the_network(toy: Any) -> None:
    artifact = toy.artifact(toy.program(toy.graph()))
    named = replace(artifact, package=PackageFacts(name="kws", version="2.0.0"))
    assert render("arduino_properties.mako", artifact).startswith("name=toy\nversion=0.0.0\n")
    assert render("arduino_properties.mako", named).startswith("name=kws\nversion=2.0.0\n")
