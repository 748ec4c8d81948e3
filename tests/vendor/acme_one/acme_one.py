"""The Acme One: a core, a memory, a flash. It has no kernels: the portable C of tilewright computes everything."""

from __future__ import annotations

from collections.abc import Iterable

from tilewright.api import hookimpl
from tilewright.api.platform import Memory, Platform

ACME_ONE = Platform(
    name="acme-one",
    summary="Acme One: one core, 256 KiB of memory",
    memories=(
        Memory(name="tcm", size_bytes=256 * 1024, align=8),
        Memory(name="flash", size_bytes=4 * 1024 * 1024, kind="const"),
    ),
)


@hookimpl
def tilewright_platforms() -> Iterable[Platform]:
    """The only one."""
    return (ACME_ONE,)
