"""Knows the trace that Perfetto and chrome://tracing show: tracks for steps, cores and copies, a counter per memory;
the estimate of the plan and what a runner measured stand in it as two processes. Does not know how either was made.

One cycle is shown as one microsecond.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tilewright.ir.programs.runner import Level, Timeline, TimeSpan

ESTIMATE, MEASUREMENT = 1, 2  # process numbers
STEPS, CORES = "steps", "cores"

Event = dict[str, Any]


def build_trace(report: Mapping[str, Any], measured: Timeline | None = None, clock: str = "") -> dict[str, Any]:
    """The trace of a network as plain data. `report` is what `build_report` returns; `clock` says whose cycles
    `measured` has.
    """
    events = list(_process(ESTIMATE, "estimate of the plan", estimated(report)))
    if measured is not None:
        events.extend(_process(MEASUREMENT, "measured", _with_levels(measured, report)))
    return {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {
            "target": report["target"]["name"],
            "unit": "one cycle is shown as one microsecond",
            "clock": clock or "estimate",
        },
    }


def estimated(report: Mapping[str, Any]) -> Timeline:
    """What the plan expects: steps one after the other; computation and copies from the beginning of each."""
    spans: list[TimeSpan] = []
    levels: list[Level] = []
    now = 0
    for index, step in enumerate(report["steps"]):
        cycles = step["cycles"]
        total = round(cycles["total"])
        copies = [(f"copies of {hop['inner']}", hop["copy_cycles"]) for hop in step.get("hops", ())]
        parts = ((STEPS, total), (CORES, cycles.get("compute")), *(copies or [("copies", cycles.get("copy"))]))
        spans.extend(
            TimeSpan(track=track, name=step["name"], step=step["name"], begin=now, end=now + min(round(length), total))
            for track, length in parts
            if length
        )
        levels.extend(_levels(report["buffers"], index, now))
        now += total
    return Timeline(spans=tuple(spans), levels=(*levels, *_emptied(levels, now)))


def _with_levels(measured: Timeline, report: Mapping[str, Any]) -> Timeline:
    """Where no runner has seen memories fill: what the plan has in them, when each step was measured to begin."""
    numbers = {step["name"]: index for index, step in enumerate(report["steps"])}
    steps = [span for span in measured.spans if span.track == STEPS and span.name in numbers]
    if measured.levels or not steps:
        return measured
    levels = [level for span in steps for level in _levels(report["buffers"], numbers[span.name], span.begin)]
    return replace(measured, levels=(*levels, *_emptied(levels, max(span.end for span in steps))))


def _levels(buffers: Sequence[Mapping[str, Any]], step: int, cycle: int) -> Iterator[Level]:
    for memory, size in _used(buffers, step).items():
        yield Level(memory=memory, cycle=cycle, used_bytes=size)


def _emptied(levels: Sequence[Level], cycle: int) -> Iterator[Level]:
    for memory in sorted({level.memory for level in levels}):
        yield Level(memory=memory, cycle=cycle, used_bytes=0)


def _used(buffers: Sequence[Mapping[str, Any]], step: int) -> dict[str, int]:
    """Bytes of the buffers that are alive during a step, by memory; constants are always there and are left out."""
    used: dict[str, int] = {}
    for buffer in buffers:
        if buffer["kind"] != "constant" and buffer["pool"]:
            alive = buffer["first_step"] <= step <= buffer["last_step"]
            used[buffer["pool"]] = used.get(buffer["pool"], 0) + (buffer["size_bytes"] if alive else 0)
    return used


def _process(number: int, name: str, timeline: Timeline) -> Iterator[Event]:
    yield {"ph": "M", "pid": number, "name": "process_name", "args": {"name": name}}
    yield {"ph": "M", "pid": number, "name": "process_sort_index", "args": {"sort_index": number}}
    tracks = _tracks(timeline.spans)
    for thread, track in enumerate(tracks, 1):
        yield {"ph": "M", "pid": number, "tid": thread, "name": "thread_name", "args": {"name": track}}
        yield {"ph": "M", "pid": number, "tid": thread, "name": "thread_sort_index", "args": {"sort_index": thread}}
    threads = {track: thread for thread, track in enumerate(tracks, 1)}
    for span in timeline.spans:
        yield {
            "ph": "X",
            "pid": number,
            "tid": threads[span.track],
            "name": span.name,
            "cat": span.track,
            "ts": span.begin,
            "dur": span.end - span.begin,
            "args": {"step": span.step, **span.details},
        }
    for level in timeline.levels:
        yield {
            "ph": "C",
            "pid": number,
            "name": f"bytes in {level.memory}",
            "ts": level.cycle,
            "args": {"bytes": level.used_bytes},
        }


def _tracks(spans: Sequence[TimeSpan]) -> list[str]:
    """Steps, then cores, then what copies."""
    result = dict.fromkeys(span.track for span in spans)
    return [*(track for track in (STEPS, CORES) if track in result), *sorted(result.keys() - {STEPS, CORES})]
