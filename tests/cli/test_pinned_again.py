"""The decisions of a plan, saved and pinned, give it again; parts of them are kept, or refused by what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from networks import network_file

Run = Callable[..., Any]
MACHINES = {
    "whole values": ("-t", "generic"),
    "rows": ("-t", "generic", "--optimize", "ram"),
    "64 KiB": ("-t", "siracusa", "--memory", "l1=64K"),
    "16 KiB": ("-t", "siracusa", "--memory", "l1=16K"),
    "two hops": ("-t", "siracusa", "--set", "home=l3", "--memory", "l1=24K"),
    "eight streams": ("-t", "snitch", "--memory", "tcdm=32K"),
}
SLOW = "resnet8_f32"
NAMES = ("kws_int8", "ad_int8", pytest.param(SLOW, marks=pytest.mark.long))


def saved(tilewright: Run, network: Path, machine: tuple[str, ...], folder: Path, *more: object) -> dict[str, Any]:
    """The decisions of the plan that is compiled into `folder`."""
    state = folder.with_name(f"{folder.name}_state")
    done = tilewright("compile", network, *machine, "-o", folder, "--export-state", f"allocated={state}", *more)
    assert done.code == 0, done.err
    decisions: dict[str, Any] = json.loads((state / "state.json").read_text())["value"]["decisions"]
    return decisions


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", NAMES)
def test_all_of_them_give_the_same_program(tilewright: Run, tmp_path: Path, name: str, machine: str) -> None:
    network, pins = network_file(name), tmp_path / "pins.json"
    decisions = saved(tilewright, network, MACHINES[machine], tmp_path / "first")
    pins.write_text(json.dumps(decisions))
    again = saved(tilewright, network, MACHINES[machine], tmp_path / "again", "--pin", pins)
    assert {**again, "allocator": ""} == {**decisions, "allocator": ""}  # any allocator finds what is decided
    code = [tmp_path / folder / f"{network.stem}.c" for folder in ("first", "again")]
    assert code[0].read_text() == code[1].read_text()


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_places_settle_what_is_in_place(tilewright: Run, tmp_path: Path, machine: str) -> None:
    network, pins = network_file("kws_int8"), tmp_path / "pins.json"
    decisions = saved(tilewright, network, MACHINES[machine], tmp_path / "first")
    pins.write_text(json.dumps({**decisions, "in_place": {}}))
    again = saved(tilewright, network, MACHINES[machine], tmp_path / "again", "--pin", pins)
    assert again["offsets"] == decisions["offsets"]


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_any_part_is_kept_or_refused(tilewright: Run, tmp_path: Path, machine: str) -> None:
    network, pins, out = network_file("kws_int8"), tmp_path / "pins.json", tmp_path / "part"
    decisions = saved(tilewright, network, MACHINES[machine], tmp_path / "first")
    parts = [{key: value} for key, value in decisions.items() if value]
    parts += [{key: value for key, value in decisions.items() if key != without} for without in decisions]
    kept = 0
    for part in parts:
        pins.write_text(json.dumps(part))
        done = tilewright("compile", network, *MACHINES[machine], "-o", out, "-q", "--pin", pins)
        kept += done.code == 0
        assert done.code == 0 or (done.code in (2, 5) and "try:" in done.err and "[TW9" not in done.err), (
            part,
            done.err,
        )
    assert kept > len(parts) // 2
