"""What a runner's `main` does where rows pass. `core/tests/lower/test_departures.py` executes it."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(("io", "called"), [("push", "net_push_"), ("pull", "net_pull_"), ("pool", "")])
def test_rows_pass_in_turns(io: str, called: str) -> None:
    from tilewright.ir.graphs.graph import Tensor
    from tilewright.ir.plans.decisions import Decisions
    from tilewright.ir.programs.program import Port
    from tilewright.ir.tensors.dtypes import DType
    from tilewright.runners.streamed_run import run_by_rows

    class Plan:
        decisions = Decisions(io={"x": io, "y": io})  # type: ignore[dict-item]  # of the parameters above

    class Asked:
        plan, prefix = Plan, "net"

    job: Any = Asked
    x, y = (
        Port(value=name, member=name, tensor=Tensor(name=name, dtype=DType.F32, shape=(4,)), align=4) for name in "xy"
    )
    text = run_by_rows(job, (x,), (y,))
    assert called in text and bool(text) == bool(called)
