"""Knows the files that hold allocation problems: MiniMalloc's CSV, buffers as JSON (TVM's USMP, operator level), and
tilewright's own JSON (`problem-1.schema.json`). Does not know how they are solved.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.ir.codec import Codec
from tilewright.ir.plans.allocation import Block, Pool, Problem, Solution

SCHEMA = "https://tilewright.dev/schema/problem-1.json"
_POOL = "memory"  # the only pool of a CSV
_CSV_NAMES = {"buffer": "id", "buffer_id": "id", "begin": "lower", "start": "lower", "end": "upper"}
_ALIGNED_TO = 4096  # pools of files that do not say how their pools are aligned


def read_problem(file: Path, *, inclusive: bool = False) -> Problem:
    """The problem in `file`, by its form. `inclusive`: the last column of a CSV's lifetime still belongs to it.

    TilewrightError TW5022 (exit 2) when it cannot be read, or is JSON where `inclusive` is asked for.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise _unreadable(file, error.strerror or "") from None
    except UnicodeDecodeError:
        raise _unreadable(file, "it is no UTF-8 text") from None
    try:
        if text.lstrip()[:1] == "{":
            if inclusive:
                raise ValueError("--inclusive is about a CSV, and this is JSON, whose lifetimes are half-open")
            return _from_json(json.loads(text))
        return _from_csv(text, inclusive)
    except (ValueError, KeyError, TypeError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise _unreadable(file, missing) from None


def problem_json(problem: Problem) -> dict[str, Any]:
    """tilewright's own form."""
    data = _codec().encode(problem, Problem)
    return {"schema": SCHEMA, **data} if isinstance(data, dict) else {}


def solution_csv(problem: Problem, solution: Solution) -> str:
    """`id,lower,upper,size,alignment,pool,offset`, lifetimes half-open: MiniMalloc's columns and ours."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "lower", "upper", "size", "alignment", "pool", "offset"])
    for block in problem.blocks:
        place = solution.places[block.name]
        low = min((first for first, _ in block.lifetimes), default=0)
        high = max((last for _, last in block.lifetimes), default=0) + 1
        writer.writerow([block.name, low, high, block.size_bytes, block.align, place.pool, place.offset_bytes])
    return text.getvalue()


def _from_csv(text: str, inclusive: bool) -> Problem:
    """A column `end` names the last moment of a lifetime and of gaps, `upper` the first after it."""
    lines = text.splitlines()
    lines = lines[: lines.index("")] if "" in lines else lines  # an empty line ends the table
    rows = csv.reader(lines)
    head = next(rows, [])
    names = [_CSV_NAMES.get(name.strip(), name.strip()) for name in head]
    if len(set(names)) < len(names) or not {"id", "lower", "upper", "size"} <= set(names):
        raise ValueError("the first line must name the columns id, lower, upper and size, each once")
    closed = inclusive or "end" in head
    blocks = tuple(_csv_block(dict(zip(names, row, strict=True)), closed) for row in rows)
    return Problem(blocks=blocks, pools=(Pool(name=_POOL, capacity_bytes=None, align=_ALIGNED_TO),))


def _csv_block(row: Mapping[str, str], closed: bool) -> Block:
    low, high = int(row["lower"]), int(row["upper"]) - (not closed)
    offset, hint = row.get("offset") or "", row.get("hint") or ""
    return Block(
        name=row["id"],
        size_bytes=int(row["size"]),
        align=int(row.get("alignment") or 1),
        lifetimes=_without(low, high, row.get("gaps") or "", closed),
        pools=(_POOL,),
        fixed_offset=int(offset) if offset else None,
        hint=int(hint) if hint and int(hint) >= 0 else None,
    )


def _without(low: int, high: int, gaps: str, closed: bool) -> tuple[tuple[int, int], ...]:
    """A closed lifetime with gaps such as `7-9 12-14` cut out. A gap with a window, `7-9@2:8`, in which bytes 2 to 7
    are kept, is left in: nothing of the block is given up."""
    lifetimes = []
    for gap in gaps.split():
        match = re.fullmatch(r"(\d+)-(\d+)(@\d+:\d+)?", gap)
        if match is None:
            raise ValueError(f"the gap '{gap}' is not of the form 7-9 or 7-9@2:8")
        if match[3]:
            continue
        if int(match[1]) > low:
            lifetimes.append((low, int(match[1]) - 1))
        low = int(match[2]) + closed
    return (*lifetimes, (low, high)) if low <= high or not lifetimes else tuple(lifetimes)


def _from_json(data: Any) -> Problem:
    if "buffers" in data:
        return _from_buffers(data["buffers"])
    if not str(data.get("schema", "")).endswith("problem-1.json"):
        raise ValueError("it has neither buffers nor a schema that ends in problem-1.json")
    return _codec().decode({key: value for key, value in data.items() if key != "schema"}, Problem)


def _from_buffers(buffers: Sequence[Mapping[str, Any]]) -> Problem:
    """`name, size, align, pools, conflicts` and, where known, `lower, upper` (half-open). Offsets are not read."""
    pools = dict.fromkeys(pool for item in buffers for pool in item.get("pools") or (_POOL,))
    lifetimes = {
        item["name"]: (((int(item["lower"]), int(item["upper"]) - 1),) if "lower" in item else ()) for item in buffers
    }
    pairs = dict.fromkeys(
        (min(item["name"], other), max(item["name"], other))
        for item in buffers
        for other in item.get("conflicts", ())
        if not any(f <= last and first <= g for f, g in lifetimes[item["name"]] for first, last in lifetimes[other])
    )
    blocks = tuple(
        Block(
            name=item["name"],
            size_bytes=int(item["size"]),
            align=int(item.get("align", 1)),
            lifetimes=lifetimes[item["name"]],
            pools=tuple(item.get("pools") or (_POOL,)),
        )
        for item in buffers
    )
    return Problem(
        blocks=blocks,
        pools=tuple(Pool(name=name, capacity_bytes=None, align=_ALIGNED_TO) for name in pools),
        conflicts=tuple(pairs),
    )


def _codec() -> Codec:
    def nothing(_: Any) -> Any:
        raise ValueError("a problem holds no arrays")

    return Codec(put=nothing, get=nothing)


def _unreadable(file: Path, reason: str) -> TilewrightError:
    return usage_error(
        "TW5022", "cannot read the allocation problem", where=str(file), details=(reason,),
        fix=(typed("tilewright", "explain", "TW5022", gives="describes the forms"),),
    )  # fmt: skip
