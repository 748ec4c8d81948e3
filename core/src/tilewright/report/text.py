"""Knows how a report is shown in a terminal: the verdict, the pools, the layer table, and short names of layers.
Does not know stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tilewright.comparison.moves import move_lines
from tilewright.comparison.verdicts import Move
from tilewright.ir.rounding import align_down
from tilewright.ir.short_names import short_names
from tilewright.report.cycles import cost_text, step_time
from tilewright.report.plain_text import Part, Table, plain

Report = Mapping[str, Any]
LASTING = {"state": "state", "resident": "copies of constants"}  # what lasts from run to run, by kind of pool


def summary(report: Report) -> str:
    """Model, pools with their limits and lower bounds, costs; a line for each quantised input and output."""
    return plain(summary_parts(report))


def summary_parts(report: Report) -> tuple[Part, ...]:
    """The same, where tables are still tables."""
    model, target = report["model"], report["target"]
    types = sorted({item["type"] for step in report["steps"] for item in step["outputs"]})
    head = (
        f"{model['name']}: {len(report['steps'])} steps, {report['macs']:,} multiply-accumulates, "
        f"{report['constants_bytes']:,} B of constants, {'/'.join(types)}; target {target['name']}"
    )
    rows = [("pool", "used", "of", "free", "what")]
    rows += [_pool_row(pool, report) for pool in report["pools"]]
    pools = Table(rows=rows, right=(1, 2, 3), indent=2)
    cost = [f"  {text}"] if (text := cost_text(report)) else []
    return (
        head,
        pools,
        *_all_ram(report),
        *cost,
        *_other_orders(report["order"]),
        *_spilled(report),
        *_quantised(model),
        *_streamed(model),
        *(f"  {line}" for line in move_lines([Move(**move) for move in report.get("moves", ())], "random sets")),
    )


def _all_ram(report: Report) -> Iterator[str]:
    """Pools and stack together, where a target knows its stack; and what there is for pools that leave it no room."""
    if ram := report.get("ram"):
        taken = f"{ram['pools_bytes']:,} B above and {ram['stack_bytes']:,} B of stack"
        yield f"  {ram['total_bytes']:,} B of RAM in all: {taken} ({ram['kind']}){_no_room(report['pools'], ram)}"


def _no_room(pools: Sequence[Mapping[str, Any]], ram: Mapping[str, Any]) -> str:
    """Nothing where the stack has room beside the pools, or no pool has a limit."""
    written = [pool for pool in pools if pool["kind"] != "const"]
    limits = [pool["limit_bytes"] for pool in written]
    if None in limits or ram["total_bytes"] <= sum(limits):
        return ""
    over, last = ram["total_bytes"] - sum(limits), written[-1]
    limit = align_down(last["limit_bytes"] - over, 8)
    if ram["pools_bytes"] > sum(limits) or limit <= 0:  # soft limits, or none that could be lowered
        return ""
    return f"; {over:,} B more than the limits: where the machine has no more, pools have {limit:,} B"


def _quantised(model: Mapping[str, Any]) -> Iterator[Table]:
    """What stored integers stand for."""
    rows = [
        (word, item["name"], f"{item['type']}{item['shape']}", meaning(item))
        for word, items in (("input", model.get("inputs", ())), ("output", model.get("outputs", ())))
        for item in items
        if "scale" in item
    ]
    if rows:
        yield Table(rows=rows, indent=2, headed=False)


def _streamed(model: Mapping[str, Any]) -> Iterator[Table]:
    """Streamed inputs and outputs, and how many of their rows are buffered."""
    rows = [
        (word, item["name"], streaming_of(item))
        for word, items in (("input", model.get("inputs", ())), ("output", model.get("outputs", ())))
        for item in items
        if "rows" in item
    ]
    if rows:
        yield Table(rows=rows, indent=2, headed=False)


def streaming_of(item: Mapping[str, Any]) -> str:
    """`arrives in 24 rows of 128 B, 1 at a time; 3 buffered, 384 B` for an input or output of a report; "" where it is
    whole. Inputs of the same turn come together, those of the next after them.
    """
    rows = item.get("rows")
    if rows is None:
        return ""
    verb = "arrives" if rows["direction"] == "push" else "is taken"
    turn = f"; turn {rows['turn']}" if "turn" in rows else ""
    buffered = "all" if rows["buffered_rows"] == rows["count"] else f"{rows['buffered_rows']:,}"
    text = f"{verb} in {rows['count']:,} rows of {rows['row_bytes']:,} B, {rows['rows_per_call']:,} at a time"
    return f"{text}; {buffered} buffered, {rows['buffered_bytes']:,} B{turn}"


def meaning(item: Mapping[str, Any]) -> str:
    """`real = 0.5 * (stored + 3)` for a quantised input or output of a report."""
    zero = item["zero_point"]
    moved = f"(stored {'+' if zero < 0 else '-'} {abs(zero)})" if zero else "stored"
    return f"real = {item['scale']:.9g} * {moved}"


def _spilled(report: Report) -> Iterator[str]:
    """How much is not where it is preferred, where anything is."""
    for field, what, over in (("spilled", "buffers", " for this order"), ("spilled_constants", "constants", "")):
        used, bound = report[field]["used_bytes"], report[field]["lower_bound_bytes"]
        if used:
            proof = f"no plan has less{over}" if used == bound else f"at least {bound:,} B"
            yield f"  not in their first pool: {used:,} B of {what}; {proof}"


def _other_orders(order: Mapping[str, Any]) -> Iterator[str]:
    """What is not known of them, where something is open."""
    used, bound = order["used_bytes"], order["lower_bound_bytes"]
    if bound is not None and not order["optimal"]:
        yield f"  other orders of the steps: none needs under {bound:,} B in all, here it is {used:,} B"


def layer_table(report: Report) -> str:
    """What `layer_parts` gives, as plain text."""
    return plain(layer_parts(report))


def layer_parts(report: Report) -> tuple[Part, ...]:
    """One line for each step: operator, kernel, work, live bytes, instructions and cycles (estimates), and the ONNX
    nodes it stands for; with tiles where they are copied, and estimated time where a clock is known. What a group takes
    stands with its last step; a line below says so, and one which steps run beside others.
    """
    steps = report["steps"]
    tiled = any(step["hops"] for step in steps)
    clocked = "time" in report
    executed = ("instructions",) if "instructions" in report else ()
    figures = (*(("tiles",) if tiled else ()), *executed, "cycles", "of all", *(("est. ms",) if clocked else ()))
    head = ("step", "operator", "kernel", "MACs", "of all", "live bytes", *figures, "ONNX nodes")
    rows: list[tuple[str, ...]] = [head]
    total = max(sum(step["cycles"]["total"] for step in steps), 1e-9)
    macs = max(sum(step["macs"] for step in steps), 1)
    last = {step["group"]: step["id"] for step in steps}
    shorts = shown_names(report)
    for step in steps:
        cycles, fused = step["cycles"]["total"], step["id"] != last[step["group"]]
        tiles = (f"{step['tiles']:,}",) if tiled else ()
        times = (step_time(step, report),) if clocked else ()
        counted = (f"{step['instructions']['total']:,.0f}",) if executed else ()
        figures = (*tiles, *counted, f"{cycles:,.0f}", f"{100 * cycles / total:.1f} %", *times)
        rows.append(
            (
                str(step["id"]),
                step["op"],
                step["kernel"],
                f"{step['macs']:,}",
                f"{100 * step['macs'] / macs:.1f} %",
                f"{step['peak_bytes']:,}",
                *("-" if fused else figure for figure in figures),
                nodes_of(step, shorts),
            )
        )
    return (Table(rows=rows, right=(0, *range(3, len(rows[0]) - 1))), *_groups(steps), *_forms(steps))


def piece_by_piece(steps: Sequence[Mapping[str, Any]]) -> str:
    """How steps of a report that run as one are computed: by tiles where these are copied, by rows on one memory."""
    return "tile by tile" if any(step.get("hops") for step in steps) else "row by row"


def _forms(steps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How values are stored that kernels want in forms of their own."""
    for value in (value for step in steps for value in step.get("outputs", ()) if "stored" in value):
        shape = ", ".join(map(str, value["shape"]))
        yield f"{value['name']} is stored as [{shape}]: {value['stored']}; {value['padding_bytes']:,} B of padding"


def _groups(steps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Which steps run as one, and which beside others, if any do."""
    members: dict[str, list[str]] = {}
    for step in steps:
        members.setdefault(step["group"], []).append(str(step["id"]))
    joined = [f"{', '.join(ids[:-1])} and {ids[-1]}" for ids in members.values() if len(ids) > 1]
    if joined:
        yield f"run as one, {piece_by_piece(steps)} (figures with the last): steps {'; '.join(joined)}"
    for step in (step for step in steps if "beside" in step):
        first, last = step["beside"][0], step["beside"][-1]
        others = f"step {first}" if first == last else f"steps {first} to {last}"
        hidden = f"{step['cycles'].get('hidden', 0):,.0f} cycles"
        yield f"step {step['id']} is computed by '{step['engine']}' beside {others}, which hides {hidden} of it"


def _pool_row(pool: Mapping[str, Any], report: Report) -> tuple[str, str, str, str, str]:
    limit, bound, soft = pool["limit_bytes"], pool["lower_bound_bytes"], pool.get("soft", False)
    lasting = pool["kind"] in LASTING
    planned = {level["name"]: level["planned_bytes"] for level in report["levels"]}
    free = "" if limit is None or lasting else f"{limit - planned[pool['name']]:,} B"
    if soft and pool.get("exceeded_bytes") and not lasting:
        free = f"-{pool['exceeded_bytes']:,} B"
    if lasting:
        what = LASTING[pool["kind"]]
    elif pool["kind"] == "const":
        what = "constants"
    else:
        gap = f", gap {100 * (pool['used_bytes'] - bound) / bound:.1f} %" if bound else ""
        over = "over all orders of these steps" if report["order"]["optimal"] else "for this order"
        proof = f": optimal {over}" if pool["used_bytes"] == bound else f"; the partition among pools is optimal {over}"
        what = f"activations and scratch (lower bound {bound:,}{proof if pool['optimal'] else gap})"
    return (
        pool["name"],
        f"{pool['used_bytes']:,} B",
        "" if lasting else "no limit" if limit is None else f"{limit:,} B{' soft' if soft else ''}",
        free,
        what,
    )


def shown_names(report: Mapping[str, Any]) -> dict[str, str]:
    """Short names of all steps, of the ONNX node that each stands for first, and of all buffers."""
    steps = report["steps"]
    nodes = (first_node(step) for step in steps)
    buffers = (buffer["name"] for buffer in report.get("buffers", ()))
    return short_names((*(step["name"] for step in steps), *nodes, *buffers))


def first_node(step: Mapping[str, Any]) -> str:
    """The first ONNX node that a step stands for."""
    return str((step["onnx_nodes"] or [step["name"]])[0])


def nodes_of(step: Mapping[str, Any], shorts: Mapping[str, str]) -> str:
    """The first of them, and how many more."""
    more = len(step["onnx_nodes"]) - 1
    return shorts[first_node(step)] + (f" (+{more})" if more > 0 else "")
