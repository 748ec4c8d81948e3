"""`tilewright report`: every form says what the report says, and a file that is none is told from one that is."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("on_cluster")


@pytest.fixture(name="file")
def _file(run: Any, model: Path, tmp_path: Path) -> Path:
    file = tmp_path / "report.json"
    assert run("check", model, "-t", "cluster-test", "--json", file).code == 0
    return file


def test_every_form_says_the_same(run: Any, file: Path) -> None:
    (step,) = json.loads(file.read_text())["steps"]
    (row,) = csv.DictReader(io.StringIO(run("report", file, "--format", "csv").out))
    assert (row["name"], int(row["macs"]), int(row["peak_bytes"])) == ("mul|tiply", 64, step["peak_bytes"])
    assert row["onnx_nodes"].split() == step["onnx_nodes"] and float(row["estimated_cycles"]) == step["cycles"]["total"]
    assert f"{step['peak_bytes']:,}" in run("report", file).out
    assert ET.fromstring(run("report", file, "--format", "svg").out).tag.endswith("svg")
    assert run("report", file, "--format", "html").out.startswith("<!doctype html>")


def test_a_name_does_not_break_the_table_of_markdown(run: Any, file: Path) -> None:
    """The layer is called `mul|tiply`."""
    *_, head, rule, row = run("report", file, "--format", "md").out.rstrip().split("\n")
    assert r"mul\|tiply" in row
    assert {line.replace(r"\|", "").count("|") for line in (head, rule, row)} == {7}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot read the report"),
        ("{", "the report is no JSON"),
        ("[1]", "the file is no tilewright report"),
        ('{"schema": "https://tilewright.dev/schema/report-1.json"}', "of another version of tilewright"),
        ('{"schema": "other-1.json"}', "the file is no tilewright report"),
        ('{"schema": "https://tilewright.dev/schema/report-2.json"}', "a report is not complete"),
        ('{"schema": "https://tilewright.dev/schema/group-1.json", "models": {}}', "the report of a group of models"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(run: Any, tmp_path: Path, content: str | None, told: str) -> None:
    file = tmp_path / "report.json"
    if content is not None:
        file.write_text(content)
    said = run("report", file)
    assert said.code == 2 and "error[TW1109]" in said.err and told in said.err and str(file) in said.err
    assert "  try:  " in said.err
