"""Knows how a network that is called with what is new of a window is told: what calls of other hops would cost, and the
memory beside that of whole windows. Does not know how any of it is worked out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tilewright.deployment import Deployment
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.rewrite.slide.slide import Cost, Slid

_MOST_HOPS = 6


def hop_costs(deployment: Deployment) -> tuple[Cost, ...]:
    """Of the hop that is asked for, and of others that make sense, the smallest first; () where nothing slides."""
    from tilewright.rewrite.slide.slide import costs, hop_unit

    slid = deployment.slid
    if slid is None:
        return ()
    operators = deployment.registry.operators
    unit, _ = hop_unit(slid.window, operators, slid.sliding, slid.axis)
    others = [hop for hop in _sensible(unit, slid) if hop != slid.hop]
    result = (slid.cost, *costs(slid.window, operators, slid.sliding, slid.axis, others))
    return tuple(sorted(result, key=lambda cost: cost.hop))


def hops_json(deployment: Deployment, costs: Sequence[Cost]) -> dict[str, Any]:
    """For `check --json`: every hop, calls that fill the window, bytes of memories beside those of whole windows."""
    if deployment.slid is None:
        return {}
    sizes = {name: dict(candidate.worst_case_buffer_size) for name, candidate in _both(deployment)}
    return {"slide": {"hops": [asdict(cost) for cost in costs], "calls_to_fill": deployment.slid.warm_up, **sizes}}


def hop_parts(deployment: Deployment, costs: Sequence[Cost]) -> Iterator[Part]:
    """A table of hops; the memory of the one that is asked for; what padding along the axis costs."""
    slid = deployment.slid
    if slid is None:
        return
    rows: list[tuple[str, ...]] = [("HOP", "products a call", "of a window", "state", "phases", "without padding")]
    rows += [_row(cost, slid) for cost in costs]
    yield Table(rows=rows, right=(0, 1, 2, 3, 4, 5))
    sizes = {name: candidate.worst_case_buffer_size for name, candidate in _both(deployment)}
    for memory, size in sizes["stream_bytes"].items():
        whole = sizes["window_bytes"].get(memory, 0)
        yield f"{memory}: {size:,} B, {whole:,} B with whole windows"
    if slid.cost.unpadded < slid.cost.least:
        yield (
            f"what padding along axis {slid.axis} reaches is computed in every call: trained without it, layers take "
            f"{slid.cost.unpadded:,} products"
        )


def _sensible(unit: int, slid: Slid) -> Iterator[int]:
    """The unit and its doubles, as far as a window has two of them."""
    length, hop = slid.window.tensors[slid.sliding].shape[slid.axis], unit
    for _ in range(_MOST_HOPS):
        if 2 * hop > length:
            return
        yield hop
        hop *= 2


def _row(cost: Cost, slid: Slid) -> tuple[str, ...]:
    share = 100 * cost.products / max(slid.whole_products, 1)
    mark = f"> {cost.hop:,}" if cost.hop == slid.hop else f"{cost.hop:,}"
    state, phases = f"{cost.state_bytes:,} B", f"{cost.phases}"
    return (mark, f"{cost.products:,}", f"{share:.2f} %", state, phases, f"{cost.unpadded:,}")


def _both(deployment: Deployment) -> tuple[tuple[str, Deployment], ...]:
    """The stream, and the same network called with whole windows."""
    return ("stream_bytes", deployment), ("window_bytes", deployment.with_whole_windows)
