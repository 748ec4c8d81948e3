"""The Acme NPU: two cores, and an engine with a queue of two jobs beside them, around a scratchpad.

The engine leaves 32 bits for each element of a Clip, which the cores limit while the next job runs. On this machine
`acme_submit` has everything at once; the twin does not believe it before `acme_join`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tilewright.api import align_up, hookimpl
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Finish, Kernel, TileShape
from tilewright.api.platform import CopyPath, Engine, Memory, Platform

DRIVER = """\
static void acme_submit(const int8_t *x, int32_t *sums, int32_t count)
{
    for (int32_t i = 0; i < count; ++i) { sums[i] = x[i]; }
}
static void acme_join(int32_t behind)
{
    (void)behind; /* until the engine has no more jobs than that */
}
static void acme_limit(const int32_t *sums, int8_t *y, int32_t count, int32_t low, int32_t high)
{
    for (int32_t i = 0; i < count; ++i) { y[i] = (int8_t)(sums[i] < low ? low : sums[i] > high ? high : sums[i]); }
}
"""


def match(site: Site) -> str | None:
    """Vectors of int8."""
    return None if site.output.dtype is DType.I8 and len(site.output.shape) == 1 else "is no vector of int8"


def values(call: Call) -> Mapping[str, object]:
    """The limits, and where this core's share of a job begins."""
    node, y = call.site.node, call.operands["Y"]
    origin = call.job.get("Y", y).origin[0]
    return {
        "low": int(node.number("min", -128)),
        "high": int(node.number("max", 127)),
        "first": f"{y.origin[0]} - {origin}",
    }


def sum_bytes(tile: TileShape) -> int:
    """Of two jobs."""
    return 2 * align_up(4 * tile.extent("i"), 8)


CLIP = Kernel(
    name="acme.clip", op="Clip", target="acme-npu", engine="npu", match=match, access="i : X[i] -> Y[i]", values=values,
    scratch_bytes=sum_bytes, cycles=lambda tile: 40.0 + tile.extent("i"), source=DRIVER, includes=("<stdint.h>",),
    call="acme_submit(${X}, (int32_t *)${scratch}, ${loops['i']});",
    wait="acme_join(${behind});",
    finish=Finish(
        call="acme_limit((const int32_t *)${scratch} + (${first}), ${Y}, ${loops['i']}, ${low}, ${high});",
        parallel=("i",), cycles=lambda tile: 2.0 * tile.extent("i"),
    ),
)  # fmt: skip


def path(source: str, target: str) -> CopyPath:
    """A byte a cycle."""
    return CopyPath(source=source, target=target, channels=4, cycles=lambda size_bytes, rows: 20.0 * rows + size_bytes)


ACME_NPU = Platform(
    name="acme-npu", summary="Acme NPU: two cores, an engine with a queue, 4 KiB of scratchpad",
    memories=(Memory(name="dram", size_bytes=1 << 20), Memory(name="pad", size_bytes=4 << 10)),
    engines=(Engine(name="cores", cores=2), Engine(name="npu", queue=2, finishing_cores=2, preferred=True)),
    copies=(path("dram", "pad"), path("pad", "dram")), backing="dram", inner="pad", runners=("twin",),
)  # fmt: skip


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The only one."""
    return (ACME_NPU,)


@hookimpl
def tilewright_kernels() -> Iterable[Kernel]:
    """The only one."""
    return (CLIP,)
