"""Knows the C with which a runner's `main` hands over and takes rows: of every other set, one, two and three at a time.
Does not know what is around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from tilewright.c_text.templates import template
from tilewright.ir.programs.program import Port
from tilewright.ir.programs.runner import Job


def run_by_rows(job: Job, inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """The function `run(set)`, for a `main` that has `ctx`, `inputs` and `outputs`; "" where nothing passes in rows."""
    io = job.plan.decisions.io
    arriving = [port for port in inputs if io.get(port.value) == "push"]
    leaving = [port for port in outputs if io.get(port.value) == "pull"]
    if not arriving and not leaving:
        return ""

    def port_macro(port: Port) -> str:
        return f"{job.prefix}_{'IN' if port in arriving else 'OUT'}_{port.member}".upper()

    names = {"arriving": arriving, "leaving": leaving, "port_macro": port_macro, "p": job.prefix}
    return str(template(_text()).render(**names)).strip("\n")


@cache
def _text() -> str:
    return (files("tilewright.runners") / "text" / "run_by_rows.mako").read_text(encoding="utf-8")
