"""What plugins offer beside stages: values that import nothing until they are used."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from typing import Any

import click
import pytest

from tilewright.builtin import tilewright_exporters
from tilewright.emit import EmitOptions
from tilewright.exporters.export import export
from tilewright.plugins.offers import Command, Exporter, StageEvent


def test_an_exporter_adds_files_to_those_of_the_network(toy: Any) -> None:
    program = toy.program(toy.graph())
    artifact = toy.artifact(program, EmitOptions())
    own = Exporter(name="own", summary="", files=lambda plan, made: {"own/list.txt": "\n".join(made.files).encode()})
    found = export([own], program.allocated, artifact)
    assert found["own/list.txt"].decode().split("\n") == list(artifact.files)
    assert set(artifact.files) <= set(found) or "own/list.txt" in found
    assert {one.name for one in tilewright_exporters()} >= {"cmake", "make", "zephyr"}


def test_a_command_is_loaded_when_it_is_asked_for() -> None:
    loaded = []

    def load() -> click.Command:
        loaded.append(1)
        return click.Command("own")

    command = Command(name="own", summary="mine", load=load)
    assert loaded == [] and command.load().name == "own" and loaded == [1]


def test_an_event_cannot_be_changed_by_whoever_hears_it() -> None:
    event = StageEvent(stage="bind", value=())
    with pytest.raises(FrozenInstanceError):
        event.value = 1  # type: ignore[misc]


def test_they_bring_neither_click_nor_numpy() -> None:
    code = "import sys, tilewright.plugins.offers; print([m for m in ('click', 'numpy', 'onnx') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
