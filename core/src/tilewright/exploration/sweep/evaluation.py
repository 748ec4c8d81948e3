"""Knows what one point of a sweep takes: every figure as `tilewright check` says it of the same flags alone.
Does not know in which process that is worked out, nor what other points take.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.exploration.sweep.points import typed_flags, with_own_memories
from tilewright.front_door.compile_keywords import options_of
from tilewright.report.report_json import build_report

# Keywords that change a plan and nothing before it: with these alone, a network is read and rewritten once.
_OF_PLANS = frozenset(
    {"memory", "optimize", "allocator", "tiler", "buffering", "groups", "recompute", "effort", "seed", "clock"}
)
_MOST_KEPT = 4  # networks, of which a process keeps what has been read
_kept: OrderedDict[str, Deployment] = OrderedDict()


def evaluated(text: str) -> str:
    """The row of a point, both as JSON. What is wrong with the point is in the row, with its code."""
    point = json.loads(text)
    target, flags = point["target"], point["flags"]
    try:
        row = _row(Path(point["model"]), target, flags)
    except TilewrightError as error:
        row = _refused(target, flags, error.code, error.message)
    except Exception as error:  # a bug costs its point, and no other
        row = _refused(target, flags, "TW9001", f"internal error: {type(error).__name__}: {error}")
    return json.dumps(row, sort_keys=True)


def figures(report: Mapping[str, Any]) -> dict[str, Any]:
    """Of a report, what a table of many has. Bytes are the plan's; cycles and instructions are estimates."""
    pools = {pool["name"]: pool["used_bytes"] for pool in report["pools"]}
    time, moves = report.get("time"), report.get("moves", [])
    return {
        "used_bytes": pools,
        "ram_bytes": _of_kind(report, "ram"),
        "flash_bytes": _of_kind(report, "const"),
        "stack_bytes": report["ram"]["stack_bytes"] if "ram" in report else None,
        "cycles": report["cycles"]["total"],
        "instructions": report["instructions"]["total"] if "instructions" in report else None,
        "milliseconds": time["milliseconds"] if time else None,
        "kind": report["cycles"]["kind"],
        "drift_steps": max((move["largest"] for move in moves if move["in_steps"]), default=0.0),
        "plan_id": report["plan_id"],
    }


def _row(model: Path, target: str, flags: Mapping[str, Any]) -> dict[str, Any]:
    options = options_of(flags)
    name = target or (options.board.target if options.board else "")
    first = Deployment(model, name, options)
    own = with_own_memories(flags, first.registry.platforms[name])
    deployment = Deployment(model, name, options_of(own), first.registry)
    known = _known(model, name, own, deployment)
    if known is not deployment:
        deployment.imported, deployment.rewritten = known.imported, known.rewritten
    deployment.compile()  # as `check`: what cannot be lowered or written must not pass
    report = build_report(deployment, artifacts=False)
    warnings = [item.code for item in deployment.diagnostics if item.severity == "warning"]
    shown = {"target": name, "flags": typed_flags(target, own), "fits": True, "code": "", "reason": ""}
    return {**shown, "warnings": warnings, **figures(report)}


def _known(model: Path, target: str, flags: Mapping[str, Any], deployment: Deployment) -> Deployment:
    """A deployment that was read with the same flags; else this one, which is kept."""
    stat = model.stat() if model.is_file() else None
    version = (stat.st_mtime_ns, stat.st_size) if stat else ()
    reading = {word: value for word, value in flags.items() if word not in _OF_PLANS}
    key = json.dumps([str(model), version, target, reading], sort_keys=True)
    kept = _kept.setdefault(key, deployment)
    _kept.move_to_end(key)
    while len(_kept) > _MOST_KEPT:
        _kept.popitem(last=False)
    return kept


def _refused(target: str, flags: Mapping[str, Any], code: str, reason: str) -> dict[str, Any]:
    return {"target": target, "flags": typed_flags(target, flags), "fits": False, "code": code, "reason": reason}


def _of_kind(report: Mapping[str, Any], kind: str) -> int:
    return sum(pool["used_bytes"] for pool in report["pools"] if (pool["kind"] == "const") == (kind == "const"))
