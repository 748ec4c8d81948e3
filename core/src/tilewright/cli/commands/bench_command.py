"""Knows `tilewright bench`: run the generated code and say what it costs, in all and step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tilewright.cli.flags import io_flag, model_flags, runner_flag, target_of, trace_flag, write_trace
from tilewright.cli.log_display import PLANNING, RUNNING, working
from tilewright.cli.option import examples, option
from tilewright.cli.output import demand_writable_files, progress, say, send_json, show_diagnostics
from tilewright.errors import TilewrightError, typed, unsupported_error
from tilewright.front_door.options_from_flags import files_read, options_from
from tilewright.report.cycles import milliseconds, time_text
from tilewright.report.plain_text import Table

if TYPE_CHECKING:
    from tilewright.deployment import Deployment
    from tilewright.ir.programs.runner import Runner, RunResult

MODELLED = "modelled_cycles"  # of what was executed, by latencies: nobody has measured them
TOGETHER = "-"  # in the place of counts that only the whole group has


@click.command(
    "bench",
    epilog=examples(
        "bench model.onnx --target cortex-m4 --clock 80MHz",
        "bench model.onnx --target siracusa --on twin --trace trace.json",
        "bench model.onnx --board nucleo-f446re --on serial:/dev/ttyACM0",
    ),
)
@model_flags
@io_flag("--io")
@runner_flag
@trace_flag
@option("--json", "json_target", metavar="FILE|-", help="Write the counts as JSON.")
def command(runner_name: str, trace_file: Path | None, json_target: str | None, **flags: Any) -> None:
    """Build MODEL's generated code, run one inference on random inputs (--seed), and count.

    What is counted depends on the runner: instructions or cycles, and the most stack that was in use. Cycles that a
    runner models of the instructions that were executed are called so. `--on serial:PORT` asks a board: its firmware
    comes from `compile --emit bench`.
    """
    from tilewright.deployment import Deployment
    from tilewright.ir.programs.runner import PortRunner, counted_units
    from tilewright.validation.board_outputs import demand_right_outputs
    from tilewright.validation.runner_choice import ready_runner

    demand_writable_files(json_target, trace_file, read=files_read(flags))
    options = options_from(flags)
    deployment = Deployment(flags["model"], target_of(flags, options), options)
    runner = ready_runner(deployment, runner_name)
    if counted_units(runner) == ():
        raise _uncounted(runner)
    with working(PLANNING):
        deployment.compile()
    show_diagnostics(deployment.diagnostics, flags["strict"])
    progress(f"running one inference on {runner.name}")
    with working(RUNNING):
        result, inputs = measure(deployment, runner, timeline=trace_file is not None)
    if result.kind == "none":
        raise _uncounted(runner)
    bench = as_json(deployment, runner.name, result)
    if isinstance(runner, PortRunner):
        board = options.board.name if options.board else ""
        bench |= {"board": board, "outputs": demand_right_outputs(deployment, inputs, result)}
    if trace_file:
        write_trace(deployment, result, trace_file)
    if json_target:
        send_json(bench, json_target)
    if json_target != "-":
        _show(bench)


def _uncounted(runner: Runner) -> TilewrightError:
    fix = typed("tilewright", "doctor", gives="lists the runners; choose one that counts with --on")
    return unsupported_error("TW7011", f"runner '{runner.name}' counts nothing", fix=(fix,))


def measure(deployment: Deployment, runner: Runner, *, timeline: bool = False) -> tuple[RunResult, Mapping[str, Any]]:
    """One inference on the inputs that the seed gives, and these."""
    from tilewright.comparison.vectors import random_vectors
    from tilewright.ir.log_span import INFO, log_span
    from tilewright.ir.programs.runner import Job
    from tilewright.snapshot.atomic_folder import temporary_folder
    from tilewright.validation.blame import run_on

    (drawn,) = random_vectors(deployment.inputs, 1, deployment.options.seed, deployment.graph)
    job = Job(
        artifact=deployment.artifact,
        plan=deployment.allocated,
        prefix=deployment.prefix,
        input_sets=(drawn.inputs,),
        timeline=timeline,
        flash=deployment.options.board.flash_waits if deployment.options.board else None,
        clock_hz=deployment.options.clock_hz,
    )
    with temporary_folder() as folder, log_span(INFO, "run: runner '%s'", runner.name):
        return run_on(runner, job, folder, deployment), drawn.inputs


def as_json(deployment: Deployment, runner: str, result: RunResult) -> dict[str, Any]:
    """The counts as plain data: those of the whole run, and of each step in the order of execution."""
    bindings, macs = deployment.scheduled.bound.bindings, _macs(deployment)
    groups = {step: group.name for group in deployment.tiled.groups for step in group.steps}
    return {
        "model": deployment.prefix,
        "target": {"name": deployment.platform.name, "settings": dict(sorted(deployment.platform.settings.items()))},
        "runner": runner,
        "kind": result.kind,
        **({"clock": result.clock} if result.clock else {}),
        **({"cycles_model": result.model} if result.model else {}),
        **_time(deployment.options.clock_hz, result),
        "macs": sum(macs.values()),
        **_nested(result.counts),
        "steps": [
            {
                "id": index,
                "name": step.name,
                "kernel": bindings[step.name].kernel.name,
                "macs": macs[step.name],
                "group": groups[step.name],
                **_nested(result.step_counts.get(step.name, {})),
            }
            for index, step in enumerate(deployment.scheduled.steps)
        ],
    }


def _time(clock_hz: int | None, result: RunResult) -> dict[str, Any]:
    """What the cycles take on the clock that was given, where the runner has counted or modelled cycles."""
    unit = next((unit for unit in ("cycles", MODELLED) if unit in result.counts), "")
    if clock_hz is None or not unit:
        return {}
    kind = "modelled" if unit == MODELLED else result.kind
    return {"time": {"clock_hz": clock_hz, "milliseconds": milliseconds(result.counts[unit], clock_hz), "kind": kind}}


def _macs(deployment: Deployment) -> dict[str, int]:
    operators, graph = deployment.registry.operators, deployment.scheduled.bound.graph
    sites = {site.node.name: site for site in graph.sites()}
    return {
        step.name: operators[sites[step.name].node.op].macs(sites[step.name]) for step in deployment.scheduled.steps
    }


def _nested(counts: Mapping[str, int]) -> dict[str, Any]:
    """`instructions.load: 3` becomes an entry of `instructions_by_class`."""
    plain: dict[str, Any] = {}
    for name, count in counts.items():
        unit, dot, kind = name.partition(".")
        if dot:
            plain.setdefault(f"{unit}_by_class", {})[kind] = count
        else:
            plain[name] = count
    return plain


def _show(bench: Mapping[str, Any]) -> None:
    units = [unit for unit in ("instructions", "cycles") if unit in bench]
    counts = [*units, *(name for name in (MODELLED, "microseconds", "stack_bytes") if name in bench)]
    rows = [("step", "kernel", "MACs", *counts, *(f"{unit}/MAC" for unit in units), "name")]
    rows += _step_rows(bench["steps"], counts, units)
    rows.append(_row("all", "", "", bench, counts, units, bench))
    say(Table(rows=rows, right=range(2, len(rows[0]) - 1)))
    if any(row[3] == TOGETHER for row in rows):
        say(f"{TOGETHER}  counted with the last step of the group, whose rates are those of the whole group")
    settings = " ".join(f"{name}={value}" for name, value in bench["target"]["settings"].items())
    code = f", {bench['code_bytes']:,} B of code" if "code_bytes" in bench else ""
    say(f"{bench['model']} for {bench['target']['name']} ({settings}) on {bench['runner']}: {bench['kind']}{code}")
    if "cycles_model" in bench:
        say(f"cycles are modelled: {bench['cycles_model']}")
    if said := time_text(bench):
        say(said)
    if "outputs" in bench:
        say(bench["outputs"])


def _step_rows(steps: Sequence[Mapping[str, Any]], counts: list[str], units: list[str]) -> list[tuple[str, ...]]:
    """What steps of a group take, nobody can tell apart: the last one has the sum."""
    together: dict[str, dict[str, int]] = {}
    last = {step["group"]: step["id"] for step in steps}
    rows = []
    for step in steps:
        whole = together.setdefault(step["group"], {})
        for name in ("macs", *units, MODELLED, "microseconds"):
            if name in step:
                whole[name] = whole.get(name, 0) + step[name]
        shown = {**step, **{unit: whole[unit] for unit in (*units, MODELLED, "microseconds") if unit in whole}}
        inner = step["id"] != last[step["group"]]
        rows.append(_row(str(step["id"]), step["kernel"], step["name"], shown, counts, units, whole, inner=inner))
    return rows


def _row(
    number: str,
    kernel: str,
    name: str,
    item: Mapping[str, Any],
    counts: list[str],
    units: list[str],
    whole: Mapping[str, Any],
    *,
    inner: bool = False,
) -> tuple[str, ...]:
    """`whole` has the counts and the multiply-accumulates that rates are made of."""
    figures = (TOGETHER if inner else f"{item[count]:,}" if count in item else "" for count in counts)
    rates = (
        f"{whole[unit] / whole['macs']:.2f}" if unit in whole and whole["macs"] and not inner else "" for unit in units
    )
    return (number, kernel, f"{item['macs']:,}", *figures, *rates, name[-48:])
