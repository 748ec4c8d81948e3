"""`tilewright why`: the facts of a step for people, and as JSON; a step that is not there says what to type."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("on_cluster")


def first_step(run: Any, model: Path) -> str:
    return str(json.loads(run("check", model, "-t", "cluster-test", "--json", "-").out)["steps"][0]["name"])


def test_a_step_is_explained(run: Any, model: Path) -> None:
    name = first_step(run, model)
    said = run("why", model, name, "-t", "cluster-test")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"step '{name}' (")
    assert "no other kernel takes it" in said.out
    facts = json.loads(run("why", model, name, "-t", "cluster-test", "--json", "-").out)
    assert (facts["step"], facts["engine"]) == (name, "cluster")


def test_a_step_that_is_not_there_says_how_to_see_all(run: Any, model: Path) -> None:
    said = run("why", model, "nothing", "-t", "cluster-test", "--memory", "l1=8K")
    assert said.code == 2 and "error[TW8017]" in said.err
    typed = said.err.split("try:")[1].split("     lists")[0]
    again = run(*shlex.split(typed)[1:])
    assert again.code == 0 and "ONNX nodes" in again.out
