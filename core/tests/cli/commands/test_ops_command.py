"""`tilewright ops`: every operator once, with the kernels that would be offered, in three forms that agree."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tilewright.cli.commands.ops_command import _computes, _onnx
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import portable_kernels, vocabulary


def test_every_operator_is_there_with_the_kernels_for_every_target(run: Any) -> None:
    rows = {row["operator"]: row for row in json.loads(run("ops", "--format", "json").out)}
    assert rows.keys() >= vocabulary().keys()
    for name, row in rows.items():
        kernels = {kernel["name"] for kernel in row["kernels"]}
        assert kernels >= {each.name for each in portable_kernels().values() if each.op == name and each.target == "*"}


def test_text_markdown_and_json_agree(run: Any, tmp_path: Any) -> None:
    rows = json.loads(run("ops", "--format", "json").out)
    assert run("ops", "--json", tmp_path / "ops.json").out == ""
    assert json.loads((tmp_path / "ops.json").read_text()) == rows
    head, rule, *table = run("ops", "--format", "md").out.splitlines()
    assert [line.split(" | ")[0] for line in table] == [f"| {row['operator']}" for row in rows]
    assert {line.replace(r"\|", "").count("|") for line in (head, rule, *table)} == {5}  # Abs is |X|
    names = [line.split()[0] for line in run("ops").out.splitlines()]
    assert names[1:] == [row["operator"] for row in rows]


@pytest.mark.parametrize(("target", "offered"), [("*", True), ("cluster-test", True), ("other", False)])
def test_kernels_are_those_that_the_target_runs(target: str, offered: bool) -> None:
    operator = vocabulary()["Relu" if "Relu" in vocabulary() else next(iter(vocabulary()))]
    kernel = replace(next(iter(portable_kernels().values())), op=operator.name, target=target)
    assert _computes(kernel, operator, CLUSTER) is offered
    assert _computes(kernel, operator, None) is (target == "*")
    assert not _computes(replace(kernel, op="Another"), operator, CLUSTER)


def test_onnx_names_have_the_oldest_version_and_their_domain() -> None:
    items = [("Relu", "", 14), ("Relu", "", 6), ("Gelu", "com.microsoft", 1)]
    row = {"onnx": [{"op_type": kind, "domain": domain, "since": since} for kind, domain, since in items]}
    assert _onnx(row) == "Relu-6.., com.microsoft.Gelu-1.."
    assert _onnx({"onnx": []}) == "(by rewriting)"


def test_a_target_that_nobody_offers_is_an_error(run: Any) -> None:
    said = run("ops", "--target", "nowhere")
    assert said.code == 8 and "nowhere" in said.err
