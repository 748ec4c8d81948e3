"""The trace has the structure that Perfetto reads: processes, named tracks that do not overlap, counters."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from tilewright.ir.programs.runner import Level, Timeline, TimeSpan
from tilewright.report.trace import ESTIMATE, MEASUREMENT, build_trace, estimated

REPORT: dict[str, Any] = {
    "target": {"name": "toy"},
    "steps": [
        {"name": "one", "cycles": {"total": 100.4, "compute": 60, "copy": 90, "kind": "estimate"}},
        {"name": "two", "cycles": {"total": 50, "kind": "estimate"}},
    ],
    "buffers": [
        {"kind": "activation", "pool": "l2", "size_bytes": 64, "first_step": 0, "last_step": 1},
        {"kind": "tile", "pool": "l1", "size_bytes": 16, "first_step": 0, "last_step": 0},
        {"kind": "tile", "pool": "l1", "size_bytes": 24, "first_step": 0, "last_step": 0},
        {"kind": "constant", "pool": "flash", "size_bytes": 999, "first_step": 0, "last_step": 1},
        {"kind": "input", "pool": None, "size_bytes": 7, "first_step": 0, "last_step": 0},
    ],
}
MEASURED = Timeline(
    spans=(
        TimeSpan(track="steps", name="one", step="one", begin=0, end=120),
        TimeSpan(track="copies of l1", name="l2 -> l1", step="one", begin=0, end=30, details={"bytes": 64, "rows": 2}),
        TimeSpan(track="copies of l1", name="l1 -> l2", step="one", begin=40, end=70),
        TimeSpan(track="cores", name="one", step="one", begin=30, end=120),
    ),
    levels=(Level(memory="l1", cycle=3, used_bytes=40), Level(memory="l1", cycle=99, used_bytes=0)),
)


def events(trace: dict[str, Any], phase: str, process: int) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event["ph"] == phase and event["pid"] == process]


def test_estimate() -> None:
    timeline = estimated(REPORT)
    assert [(span.track, span.name, span.begin, span.end) for span in timeline.spans] == [
        ("steps", "one", 0, 100),
        ("cores", "one", 0, 60),
        ("copies", "one", 0, 90),
        ("steps", "two", 100, 150),
    ]
    levels = [(level.memory, level.cycle, level.used_bytes) for level in timeline.levels]
    assert levels == [("l2", 0, 64), ("l1", 0, 40), ("l2", 100, 64), ("l1", 100, 0), ("l1", 150, 0), ("l2", 150, 0)]


def test_two_processes_with_named_tracks() -> None:
    trace = build_trace(REPORT, MEASURED, "the twin's virtual clock")
    assert trace["otherData"]["clock"] == "the twin's virtual clock"
    names = {event["pid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "process_name"}
    assert names == {ESTIMATE: "estimate of the plan", MEASUREMENT: "measured"}
    tracks = [event["args"]["name"] for event in events(trace, "M", MEASUREMENT) if event["name"] == "thread_name"]
    assert tracks == ["steps", "cores", "copies of l1"]
    counters = [(event["name"], event["ts"], event["args"]["bytes"]) for event in events(trace, "C", MEASUREMENT)]
    assert counters == [("bytes in l1", 3, 40), ("bytes in l1", 99, 0)]


def test_every_hop_has_its_track_and_ends_with_the_step() -> None:
    """Copies of two hops go on at the same time: together they may take longer than the step."""
    hops = [
        {"inner": "l2", "copy_cycles": 95.0},
        {"inner": "l1", "copy_cycles": 70.0},
        {"inner": "l0", "copy_cycles": 0.0},
    ]
    first, second = REPORT["steps"]
    timeline = estimated({**REPORT, "steps": [{**first, "hops": hops}, second]})
    copies = [(span.track, span.begin, span.end) for span in timeline.spans if span.track.startswith("copies")]
    assert copies == [("copies of l2", 0, 95), ("copies of l1", 0, 70)]
    late = {**first, "hops": [{"inner": "l1", "copy_cycles": 170.0}]}
    assert estimated({**REPORT, "steps": [late, second]}).spans[-2].end == 100


def test_a_measurement_without_levels_has_those_of_the_plan() -> None:
    trace = build_trace(REPORT, Timeline(spans=MEASURED.spans))
    counters = [(event["name"], event["ts"], event["args"]["bytes"]) for event in events(trace, "C", MEASUREMENT)]
    assert counters == [
        ("bytes in l2", 0, 64),
        ("bytes in l1", 0, 40),
        ("bytes in l1", 120, 0),
        ("bytes in l2", 120, 0),
    ]


@pytest.mark.parametrize("process", [ESTIMATE, MEASUREMENT])
def test_spans_are_complete_and_do_not_overlap(process: int) -> None:
    trace = build_trace(REPORT, MEASURED)
    spans = events(trace, "X", process)
    assert all({"name", "cat", "ts", "dur", "tid", "args"} <= set(span) for span in spans)
    for thread in {span["tid"] for span in spans}:
        mine = sorted((span["ts"], span["ts"] + span["dur"]) for span in spans if span["tid"] == thread)
        assert all(end <= start for (_, end), (start, _) in pairwise(mine))


def test_without_a_measurement() -> None:
    trace = build_trace(REPORT)
    assert events(trace, "X", ESTIMATE)
    assert not events(trace, "X", MEASUREMENT)
    assert trace["otherData"]["clock"] == "estimate"


def test_it_is_json() -> None:
    trace = build_trace(REPORT, MEASURED)
    assert json.loads(json.dumps(trace, allow_nan=False)) == trace
